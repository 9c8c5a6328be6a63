"""Word retrieval on a stored run: dictionaries in, tidy rows out (A, sec. 3.1.1; B, sec. 2.1.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

from xling_utils import corpora, encoder, tokenization
from xling_utils.corpora.controlled import lexicon
from xling_utils.errors import UserError
from xling_utils.pretraining import SNAPSHOTS, TOKENIZER_FILE, VECTORS_FILE
from xling_utils.representations import centred, contextual_words, static_words
from xling_utils.retrieval import bootstrap, chance_reciprocal_rank, reciprocal_ranks
from xling_utils.scales import Scale
from xling_utils.specs import EncoderSpec, StaticSpec
from xling_utils.store import Run

OPEN_CLASSES = ("NOUN", "VERB", "ADV", "ADJ")
CLOSED_CLASSES = ("ADP", "AUX", "CCONJ", "DET", "INTJ", "NUM", "PART", "PRON", "SCONJ")
MINIMUM_COUNT = 5
"""Contexts a word needs in the measuring text before its mean vector is trusted."""


@dataclass(frozen=True)
class Dictionary:
    """A bilingual dictionary restricted to words of the text: distinct English ``sources``, their translations.

    ``targets`` are the candidates, the dictionary's own targets first (``dictionary_targets`` of them), then the
    most frequent other words of the language; ``gold[i]`` holds the rows of ``targets`` that translate source i.
    """

    language: str
    sources: list[str]
    targets: list[str]
    dictionary_targets: int
    gold: list[set[int]]

    def shuffled(self, seed: int) -> Dictionary:
        """The negative control: the translations of all sources, dealt out anew among them."""
        order = np.random.default_rng(seed).permutation(len(self.gold))
        return Dictionary(
            self.language, self.sources, self.targets, self.dictionary_targets, [self.gold[i] for i in order]
        )


def counted_words(text: Any) -> Counter[str]:
    """How often each space-separated word stands in a dataset's ``text`` column."""
    return Counter(word for batch in text.iter(batch_size=5000) for line in batch["text"] for word in line.split())


def restrict(
    pairs: Sequence[tuple[str, str]],
    source: Counter[str],
    target: Counter[str],
    language: str,
    candidates: int,
    *,
    identical: bool = False,
) -> Dictionary:
    """Keeps the pairs whose words stand often enough in the text; pairs of ``identical`` strings on request.

    A translation of several units (Chinese characters, Vietnamese syllables) counts if each of its units does.
    Raises :class:`UserError` if nothing is left.
    """

    def common(word: str, counts: Counter[str]) -> bool:
        return all(counts[unit] >= MINIMUM_COUNT for unit in word.split())

    kept = [(s, t) for s, t in pairs if (identical or s != t) and common(s, source) and common(t, target)]
    if not kept:
        raise UserError(
            f"dictionary en-{language}: none of its {len(pairs)} pairs has both words in the corpus; "
            "is it written like the text (case, script, spaces)?"
        )
    sources = sorted({s for s, _ in kept})
    own = sorted({t for _, t in kept})
    others = [word for word, _ in target.most_common(candidates) if word not in set(own)]
    targets = own + [word for word in others if target[word] >= MINIMUM_COUNT]
    row = {word: i for i, word in enumerate(own)}
    gold: dict[str, set[int]] = {}
    for s, t in kept:
        gold.setdefault(s, set()).add(row[t])
    return Dictionary(language, sources, targets, len(own), [gold[s] for s in sources])


def rows(run: Run, scale: Scale, data: Path | None) -> Iterator[dict[str, Any]]:
    """Tidy rows of one run: ``task, metric, source, target, layer, step, value, low, high, n``.

    The dictionary holds the words that stand often enough in the scale's *small* corpus of the same seed, so
    that both data sizes are asked the same questions (the small corpus is a part of the large one). Metrics:
    ``mrr`` (dictionary candidates, plain cosine: A's), ``mrr_centred`` (each language's mean taken out first),
    ``mrr_vocabulary`` (centred, among the full vocabulary), ``mrr_identical`` (as ``mrr``, with the pairs of
    identical strings that the others leave out), ``mrr_shuffled`` (centred, shuffled dictionary), ``chance``
    and ``chance_vocabulary``. ``low`` and ``high`` bound a 95 % bootstrap interval over dictionary words.
    Snapshots give rows of ``mrr_centred`` a ``step``; controlled text, rows of ``mrr`` a ``part_of_speech``.
    """
    spec = run.spec
    lowercase = spec.tokenizer.kind != "mbert"
    texts = corpora.load(spec.corpus, data, lowercase=lowercase)
    small = replace(spec.corpus, sentences=min(spec.corpus.sentences, scale.sentences[0]))
    counts = {lang: counted_words(text) for lang, text in corpora.load(small, data, lowercase=lowercase).items()}
    tokenizer = tokenization.load(run.path / TOKENIZER_FILE)
    streams = {}
    if isinstance(spec.model, EncoderSpec):
        streams = {lang: tokenization.stream(tokenizer, text) for lang, text in texts.items()}
    length = (spec.training or scale.training).length

    def vectors(model: Any, language: str, words: Sequence[str]) -> npt.NDArray[np.float32]:
        pieces = tokenization.encode_words(tokenizer, words)
        if isinstance(spec.model, StaticSpec):
            return static_words(model, pieces)[None]
        return contextual_words(model, streams[language], pieces, length, scale.context_tokens).vectors

    model = _model(run)
    snapshots = [
        (int(path.stem), encoder.load(run.path, f"{SNAPSHOTS}/{path.name}"))
        for path in sorted((run.path / SNAPSHOTS).glob("*.safetensors"))
    ]
    for language in spec.corpus.languages:
        if language == "en":
            continue
        pairs = corpora.dictionary(spec.corpus.source, language, data)
        dictionary = restrict(pairs, counts["en"], counts[language], language, scale.candidates)
        x = vectors(model, "en", dictionary.sources)
        y = vectors(model, language, dictionary.targets)
        for layer, (sources, others) in enumerate(zip(x, y, strict=True)):
            for metric, value in _measures(sources, others, dictionary, spec.seed):
                yield _row(language, metric, layer, value)
        own = dictionary.targets[: dictionary.dictionary_targets]
        for step, earlier in snapshots:
            x, y = vectors(earlier, "en", dictionary.sources), vectors(earlier, language, own)
            for layer, (sources, others) in enumerate(zip(x, y, strict=True)):
                values = reciprocal_ranks(centred(sources), centred(others), dictionary.gold)
                yield _row(language, "mrr_centred", layer, values) | {"step": step}
        full = restrict(pairs, counts["en"], counts[language], language, 0, identical=True)
        x, y = vectors(model, "en", full.sources), vectors(model, language, full.targets)
        for layer, (sources, others) in enumerate(zip(x, y, strict=True)):
            yield _row(language, "mrr_identical", layer, reciprocal_ranks(sources, others, full.gold))
        if spec.corpus.source == "controlled":
            yield from _by_part_of_speech(language, counts, partial(vectors, model))


def _by_part_of_speech(
    language: str,
    counts: dict[str, Counter[str]],
    vectors: Callable[[str, Sequence[str]], npt.NDArray[np.float32]],
) -> Iterator[dict[str, Any]]:
    """Rows of ``mrr`` by part of speech of the English word, function words included (B, sec. 2.5)."""
    tagged = lexicon.tagged_dictionary(language)
    pairs = [(source, target) for source, target, _ in tagged]
    dictionary = restrict(pairs, counts["en"], counts[language], language, 0)
    tag_of = {source: tag for source, _, tag in tagged}
    tags = np.array([tag_of[source] for source in dictionary.sources])
    closed = np.isin(tags, CLOSED_CLASSES)
    x, y = vectors("en", dictionary.sources), vectors(language, dictionary.targets)
    for layer, (sources, others) in enumerate(zip(x, y, strict=True)):
        values = reciprocal_ranks(sources, others, dictionary.gold)
        groups = [("closed", closed), ("open", ~closed), *((tag, tags == tag) for tag in OPEN_CLASSES)]
        for name, mask in groups:
            if mask.any():
                yield _row(language, "mrr", layer, values[mask]) | {"part_of_speech": name}


def _measures(
    x: npt.NDArray[np.float32], y: npt.NDArray[np.float32], dictionary: Dictionary, seed: int
) -> Iterator[tuple[str, npt.NDArray[np.floating] | float]]:
    own = y[: dictionary.dictionary_targets]
    yield "mrr", reciprocal_ranks(x, own, dictionary.gold)
    yield "mrr_centred", reciprocal_ranks(centred(x), centred(own), dictionary.gold)
    yield "mrr_vocabulary", reciprocal_ranks(centred(x), centred(y), dictionary.gold)
    yield "mrr_shuffled", reciprocal_ranks(centred(x), centred(own), dictionary.shuffled(seed).gold)
    yield "chance", chance_reciprocal_rank(len(own), dictionary.gold)
    yield "chance_vocabulary", chance_reciprocal_rank(len(y), dictionary.gold)


def _row(language: str, metric: str, layer: int, values: npt.NDArray[np.floating] | float) -> dict[str, Any]:
    if isinstance(values, float):
        value, low, high, n = values, float("nan"), float("nan"), 0
    else:
        interval = bootstrap(values)
        value, low, high, n = interval.value, interval.low, interval.high, interval.n
    return {"task": "word retrieval", "metric": metric, "source": "en", "target": language, "layer": layer,
            "step": None, "value": value, "low": low, "high": high, "n": n}  # fmt: skip


def _model(run: Run) -> Any:
    if isinstance(run.spec.model, EncoderSpec):
        return encoder.load(run.path)
    return load_file(run.path / VECTORS_FILE)["vectors"]
