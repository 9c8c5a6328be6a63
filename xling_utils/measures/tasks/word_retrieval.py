"""Word retrieval on a stored run: dictionaries in, tidy rows out (A, sec. 3.1.1; B, sec. 2.1.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from xling_utils import corpora
from xling_utils.core.errors import UserError
from xling_utils.core.scales import Scale
from xling_utils.corpora import treebanks
from xling_utils.corpora.controlled import lexicon
from xling_utils.measures.encoders.representations import centred
from xling_utils.measures.encoders.stored_run import Reading
from xling_utils.measures.metrics.retrieval import chance_reciprocal_rank, reciprocal_ranks
from xling_utils.measures.names import WORDS
from xling_utils.measures.rows import row
from xling_utils.models.encoder import Encoder
from xling_utils.runs import Run

Array = npt.NDArray[np.float32]
Lookup = Callable[[Sequence[str]], Array]
"""Words -> their vectors (layers + 1, words, d)."""

OPEN_CLASSES = ("NOUN", "VERB", "ADV", "ADJ")
CLOSED_CLASSES = ("ADP", "AUX", "CCONJ", "DET", "INTJ", "NUM", "PART", "PRON", "SCONJ")
MINIMUM_COUNT = 5
"""Contexts a word needs in the measuring text before its mean vector is trusted."""
ALIKE = 0.5
"""Share of the letters of two words, from which on they are spelt alike (:func:`spelt_alike`)."""


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
        return replace(self, gold=[self.gold[i] for i in order])

    def without_others(self) -> Dictionary:
        """The same with the dictionary's own targets as the only candidates."""
        return replace(self, targets=self.targets[: self.dictionary_targets])

    @property
    def unlike(self) -> npt.NDArray[np.bool_]:
        """The control for spelling: which sources have no translation that is spelt alike, bool (sources,)."""
        pairs = zip(self.sources, self.gold, strict=True)
        return np.array([not any(spelt_alike(s, self.targets[t]) for t in own) for s, own in pairs])

    def of_sources(self, words: Container[str]) -> Dictionary:
        """The same, asked only for those of its sources that are among ``words``."""
        kept = [row for row, source in enumerate(self.sources) if source in words]
        return replace(self, sources=[self.sources[row] for row in kept], gold=[self.gold[row] for row in kept])


def spelt_alike(word: str, other: str) -> bool:
    """Whether so much of two words is in blocks that they have in common (Ratcliff and Obershelp 1988, as ``difflib``
    has it) that one may be guessed from the other: *night* and *nuit*, not *water* and *eau*."""
    return SequenceMatcher(None, word, other, autojunk=False).ratio() >= ALIKE


def restrict(
    pairs: Sequence[tuple[str, str]], source: Counter[str], target: Counter[str], language: str, candidates: int
) -> Dictionary:
    """Keeps the pairs whose words stand often enough in the text, counted in ``source`` and ``target``; of other
    words of the language, those among its ``candidates`` most frequent.

    A translation of several units (Chinese characters, Vietnamese syllables) counts if each of its units does.
    Raises :class:`UserError` if nothing is left.
    """

    def common(word: str, counts: Counter[str]) -> bool:
        return all(counts[unit] >= MINIMUM_COUNT for unit in word.split())

    kept = [(s, t) for s, t in pairs if common(s, source) and common(t, target)]
    if not kept:
        raise UserError(
            f"dictionary en-{language}: none of its {len(pairs)} pairs has both words {MINIMUM_COUNT} times in the "
            "text that is counted; read more sentences, or is it written unlike the text (case, script, spaces)?"
        )
    sources = sorted({s for s, _ in kept})
    own = sorted({t for _, t in kept})
    row = {word: i for i, word in enumerate(own)}
    others = [word for word, _ in target.most_common(candidates) if word not in row]
    targets = own + [word for word in others if target[word] >= MINIMUM_COUNT]
    gold: dict[str, set[int]] = {}
    for s, t in kept:
        gold.setdefault(s, set()).add(row[t])
    return Dictionary(language, sources, targets, len(own), [gold[s] for s in sources])


def dictionary(reading: Reading, language: str, candidates: int = 0, *, identical: bool = False) -> Dictionary:
    """The dictionary of English and ``language``, spelt as the run's text is, restricted to its common words.

    Pairs of ``identical`` strings come on request; they are those of the usual spelling, so that a language is asked
    for the same words when it is spelt otherwise. Raises :class:`UserError` if no pair is left.
    """
    pairs = corpora.dictionary(reading.run.spec.corpus.source, language, reading.data)
    return _spelt(reading, language, [(s, t) for s, t in pairs if identical or s != t], candidates)


def _spelt(reading: Reading, language: str, pairs: Iterable[tuple[str, str]], candidates: int) -> Dictionary:
    corpus, counts = reading.run.spec.corpus, reading.counts
    here, there = corpora.respelled(corpus, "en"), corpora.respelled(corpus, language)
    pairs = [(here(s), there(t)) for s, t in pairs]
    return restrict(pairs, counts["en"], counts[language], language, candidates)


@dataclass(frozen=True)
class _Questions:
    """What a language is asked: the dictionary and candidates, the one with identical pairs, and, where parts of speech
    are known, the one with function words, with the part of speech of each of its sources. Those of controlled words
    are the lexicon's, those of real ones what the English treebank calls them most often (B: OntoNotes)."""

    main: Dictionary
    full: Dictionary
    tagged: Dictionary
    tags: npt.NDArray[np.str_]

    @classmethod
    def of(cls, reading: Reading, language: str) -> _Questions:
        main = dictionary(reading, language, reading.scale.candidates)
        full = dictionary(reading, language, identical=True)
        spelt = corpora.respelled(reading.run.spec.corpus, "en")
        if reading.run.spec.corpus.source == "controlled":
            entries = lexicon.tagged_dictionary(language)
            tagged = _spelt(reading, language, [(s, t) for s, t, _ in entries if s != t], 0)
            tag_of = {spelt(source): tag for source, _, tag in entries}
        else:
            known = treebanks.commonest_tags(reading.data, "en")
            tag_of = {spelt(word): tag for word, tag in known.items() if tag in (*OPEN_CLASSES, *CLOSED_CLASSES)}
            tagged = main.without_others().of_sources(tag_of)
        return cls(main, full, tagged, np.array([tag_of[source] for source in tagged.sources], dtype=str))

    @property
    def all(self) -> list[Dictionary]:
        return [self.main, self.full, self.tagged]


def rows(run: Run, scale: Scale, data: Path | None) -> Iterator[dict[str, Any]]:
    """Tidy rows of one run, English against each of its other languages: ``task, metric, source, target, layer,
    step, value, low, high, n``.

    The dictionary holds the words that stand often enough in the beginning of the text, as much of it as the scale's
    *small* corpus is, so that both data sizes are asked the same questions. Metrics: ``mrr`` (dictionary candidates,
    plain cosine: A's), ``mrr_centred`` (each language's mean taken out first), ``mrr_vocabulary`` (centred, among
    the full vocabulary), ``mrr_unlike`` (as ``mrr_centred``, for English words with no translation that is spelt
    alike), ``mrr_identical`` (as ``mrr``, with the pairs of identical strings that the others leave out),
    ``mrr_shuffled`` (centred, shuffled dictionary), ``chance`` and ``chance_vocabulary``. ``low`` and ``high`` bound
    a 95 % bootstrap interval over dictionary words. Where parts of speech are known there are rows of ``mrr`` with a
    ``part_of_speech``; snapshots, rows of ``mrr_centred`` a ``step``. Raises :class:`UserError` if the
    run does not read English and another language, and if no pair of a dictionary is in the text.
    """
    reading = Reading(run, scale, data)
    asked = {language: _Questions.of(reading, language) for language in reading.others}
    english = _lookup(reading, "en", (d.sources for questions in asked.values() for d in questions.all))
    for language, questions in asked.items():
        other = _lookup(reading, language, (d.targets for d in questions.all))
        for layer, x, y in _layers(english, other, questions.main):
            for metric, value in _measures(x, y, questions.main, run.spec.seed):
                yield row(WORDS, metric, "en", language, layer, value)
        for layer, x, y in _layers(english, other, questions.full):
            yield row(WORDS, "mrr_identical", "en", language, layer, _reciprocal_ranks(x, y, questions.full.gold))
        if questions.tagged.sources:
            for layer, x, y in _layers(english, other, questions.tagged):
                yield from _by_part_of_speech(x, y, questions.tagged, questions.tags, layer)
    for step, encoder in reading.snapshots():
        english = _lookup(reading, "en", (questions.main.sources for questions in asked.values()), encoder)
        for language, questions in asked.items():
            own = questions.main.without_others()
            other = _lookup(reading, language, [own.targets], encoder)
            for layer, x, y in _layers(english, other, own):
                values = _reciprocal_ranks(centred(x), centred(y), own.gold)
                yield row(WORDS, "mrr_centred", "en", language, layer, values, step=step)


def _lookup(reading: Reading, language: str, lists: Iterable[Sequence[str]], snapshot: Encoder | None = None) -> Lookup:
    """The vectors of all words of ``lists``, from one reading of the text."""
    words = dict.fromkeys(word for some in lists for word in some)
    row = {word: number for number, word in enumerate(words)}
    vectors = reading.vectors(language, list(words), snapshot)
    return lambda wanted: vectors[:, [row[word] for word in wanted]]


def _layers(english: Lookup, other: Lookup, dictionary: Dictionary) -> Iterator[tuple[int, Array, Array]]:
    """Layer by layer, the vectors of a dictionary's sources and targets."""
    pairs = zip(english(dictionary.sources), other(dictionary.targets), strict=True)
    return ((layer, x, y) for layer, (x, y) in enumerate(pairs))


def _reciprocal_ranks(x: Array, y: Array, gold: Sequence[set[int]]) -> npt.NDArray[np.floating]:
    """1 / rank of each source; a translation without a vector (see :meth:`Reading.vectors`) ranks last."""
    seen = set(np.flatnonzero(y.any(axis=1)).tolist())
    values = reciprocal_ranks(x, y, [own & seen or own for own in gold])
    values[[not own & seen for own in gold]] = 1 / len(y)
    return values


def _by_part_of_speech(
    x: Array, y: Array, dictionary: Dictionary, tags: npt.NDArray[np.str_], layer: int
) -> Iterator[dict[str, Any]]:
    """Rows of ``mrr`` by part of speech of the English word, function words included (B, sec. 2.5)."""
    closed = np.isin(tags, CLOSED_CLASSES)
    values = _reciprocal_ranks(x, y, dictionary.gold)
    for name, mask in [("closed", closed), ("open", ~closed), *((tag, tags == tag) for tag in OPEN_CLASSES)]:
        if mask.any():
            yield row(WORDS, "mrr", "en", dictionary.language, layer, values[mask], part_of_speech=name)


def _measures(
    x: Array, y: Array, dictionary: Dictionary, seed: int
) -> Iterator[tuple[str, npt.NDArray[np.floating] | float]]:
    own = y[: dictionary.dictionary_targets]
    middle, own_middle = centred(x), centred(own)
    yield "mrr", _reciprocal_ranks(x, own, dictionary.gold)
    without_means = _reciprocal_ranks(middle, own_middle, dictionary.gold)
    yield "mrr_centred", without_means
    if (unlike := dictionary.unlike).any():
        yield "mrr_unlike", without_means[unlike]
    yield "mrr_vocabulary", _reciprocal_ranks(middle, centred(y), dictionary.gold)
    yield "mrr_shuffled", _reciprocal_ranks(middle, own_middle, dictionary.shuffled(seed).gold)
    yield "chance", chance_reciprocal_rank(len(own), dictionary.gold)
    yield "chance_vocabulary", chance_reciprocal_rank(len(y), dictionary.gold)
