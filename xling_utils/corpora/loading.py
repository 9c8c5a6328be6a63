"""Text for every scale, behind one door: what a :class:`CorpusSpec` means, wherever the text comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b, sha256
from pathlib import Path
from typing import TYPE_CHECKING

from xling_utils.core import memory_mapped
from xling_utils.core.errors import UserError
from xling_utils.core.specs import LANGUAGES, Change, CorpusSpec, Form, written_language
from xling_utils.corpora import directory
from xling_utils.corpora.directory import given

if TYPE_CHECKING:
    from datasets import Dataset

SOURCES = ("controlled", "directory")
HELD_OUT_SENTENCES = 500
"""Sentences a language set aside to measure the masked language modelling loss on."""
CHANGES = ("fake", "permuted", "unigrams", "code_switched", "reversed")
GRADED = ("permuted", "code_switched")
"""The changes that there can be more or less of."""


def load(
    spec: CorpusSpec, data: Path | None = None, *, form: Form = "lower", held_out: bool = False
) -> dict[str, Dataset]:
    """Language -> sentences, as columns ``text`` (words separated by spaces) and ``document`` (int64).

    ``held_out`` asks for ``HELD_OUT_SENTENCES`` sentences of documents that training never sees, or for as many of real
    text as there are. ``form`` concerns real text only; the controlled world keeps the case its words are written in.

    ``spec.changes`` change held-out text as they change training text (``"unigrams"`` by its own frequencies),
    in their order, but for ``"fake"``: that is how a language is spelt, wherever its words stand, so a word
    switched into or out of a faked language has its faked spelling, and the place of ``"fake"`` among the
    changes means nothing. ``"code_switched"`` takes English and one other language, and dictionary entries of one
    unit on each side (``transforms.code_switch``). A smaller corpus is the beginning of a larger one, unless
    ``"unigrams"`` are drawn.

    Raises :class:`UserError` where a language has no text, or not enough, and on changes or domains that cannot
    be (see :class:`Change`; domains are those of ``controlled.world.DOMAINS``, or names of files with text).
    """
    _check(spec, data)
    count = HELD_OUT_SENTENCES if held_out else spec.sentences
    from xling_utils.corpora import kept

    if spec.source == "controlled":
        texts = {
            lang: _controlled(written_language(lang), count, spec.seed, held_out, domain)
            for lang, domain in _domains(spec)
        }
    else:
        texts = {
            lang: kept.sample(
                given(data), written_language(lang), count, spec.seed, form=form, held_out=held_out, domain=domain
            )
            for lang, domain in _domains(spec)
        }
    return {lang: _changed(text, spec, lang, data, held_out) for lang, text in texts.items()}


def _controlled(language: str, count: int, seed: int, held_out: bool, domain: str | None) -> Dataset:
    from xling_utils.corpora import controlled, kept

    return kept.controlled(
        "text",
        (language, count, seed, held_out, domain),
        lambda: controlled.text(language, count, seed, held_out=held_out, domain=domain),
    )


def _domains(spec: CorpusSpec) -> list[tuple[str, str | None]]:
    """Each language of the corpus with the domain of its text."""
    return list(zip(spec.languages, spec.domains or (None,) * len(spec.languages), strict=True))


def fingerprint(spec: CorpusSpec, data: Path | None = None) -> str:
    """Identity of what ``spec`` reads: a hash of the real files (and of the dictionary, where words are switched),
    or of the controlled world."""
    _check(spec, data)
    if spec.source == "controlled":
        from xling_utils.corpora import controlled

        return controlled.fingerprint(tuple(dict.fromkeys(map(written_language, spec.languages))))
    found = directory.fingerprint(
        given(data), map(written_language, spec.languages), [domain for _, domain in _domains(spec)]
    )
    if any(change.kind == "code_switched" for change in spec.changes):
        other = next(lang for lang in spec.languages if lang != "en")
        found = sha256(f"{found}\n{dictionary(spec.source, other, data)}".encode()).hexdigest()
    return found


def dictionary(source: str, language: str, data: Path | None = None) -> list[tuple[str, str]]:
    """(English word, ``language`` word) pairs of the source's bilingual dictionary, normalised as its text is."""
    if source == "controlled":
        from xling_utils.corpora.controlled import lexicon

        return lexicon.dictionary(language)
    return directory.dictionary(given(data), language)


def respelled(spec: CorpusSpec, language: str) -> Callable[[str], str]:
    """How a word or a line of ``language`` (from a dictionary or a test, normalised as the text is) is spelt in
    this corpus: in Fake-English letters where a ``"fake"`` change names the language, else as it is."""
    if any(change.kind == "fake" and language in change.languages for change in spec.changes):
        from xling_utils.corpora.transforms import fake_english

        return fake_english
    return str


def _changed(text: Dataset, spec: CorpusSpec, language: str, data: Path | None, held_out: bool) -> Dataset:
    changes = [change for change in spec.changes if language in change.languages]
    if not changes:
        return text
    respell = respelled(spec, language)
    sentences: Iterable[list[str]] = (respell(line).split(" ") for line, _ in memory_mapped.rows(text))
    for change in changes:
        if change.kind != "fake":
            sentences = _rewritten(sentences, change, spec, language, data, held_out)
    documents = (document for _, document in memory_mapped.rows(text))
    return memory_mapped.text(zip(map(" ".join, sentences), documents, strict=True))


def _rewritten(
    sentences: Iterable[list[str]], change: Change, spec: CorpusSpec, language: str, data: Path | None, held_out: bool
) -> Iterable[list[str]]:
    import numpy as np

    from xling_utils.corpora import transforms

    stream = f"{spec.seed}/{language}/{change.kind}/{'held out' if held_out else 'training'}"
    rng = np.random.default_rng(int.from_bytes(blake2b(stream.encode(), digest_size=16).digest()))
    if change.kind == "reversed":
        return (words[::-1] for words in sentences)
    if change.kind == "permuted":
        return (transforms.permute_words(words, change.amount, rng) for words in sentences)
    if change.kind == "unigrams":
        return transforms.resample_unigrams(list(sentences), rng)
    translations = _translations(spec, language, data)
    return (transforms.code_switch(words, translations, rng, batch_rate=change.amount) for words in sentences)


def _translations(spec: CorpusSpec, language: str, data: Path | None) -> dict[str, list[str]]:
    """Word of ``language`` -> translations into the corpus' other language, both as they are spelt there."""
    other = next(lang for lang in spec.languages if lang != language)
    here, there = respelled(spec, language), respelled(spec, other)
    found: dict[str, list[str]] = {}
    for english, foreign in dictionary(spec.source, other if language == "en" else language, data):
        word, translation = (english, foreign) if language == "en" else (foreign, english)
        if " " not in word and " " not in translation:
            found.setdefault(here(word), []).append(there(translation))
    return found


def _check(spec: CorpusSpec, data: Path | None) -> None:
    if spec.source not in SOURCES:
        raise UserError(f"corpus: unknown source {spec.source!r}; known: {', '.join(SOURCES)}")
    if spec.source == "directory":
        given(data)
    if not spec.languages:
        raise UserError("corpus: no language given")
    if twice := [lang for i, lang in enumerate(spec.languages) if lang in spec.languages[:i]]:
        raise UserError(f"corpus: language {twice[0]!r} is named twice; name each once")
    unknown = [
        lang for lang in spec.languages if spec.source == "controlled" and written_language(lang) not in LANGUAGES
    ]
    if unknown:
        raise UserError(f"corpus: unknown language {unknown[0]!r}; known: {' '.join(LANGUAGES)}")
    if spec.sentences < 1:
        raise UserError(f"corpus: {spec.sentences} sentences a language; give at least 1")
    if spec.domains and len(spec.domains) != len(spec.languages):
        raise UserError(f"corpus: {len(spec.domains)} domains for {len(spec.languages)} languages; give one for each")
    for change in spec.changes:
        _check_change(change, spec)
    pairs = [(change.kind, lang) for change in spec.changes for lang in change.languages]
    if again := [pair for i, pair in enumerate(pairs) if pair in pairs[:i]]:
        raise UserError("corpus: change {!r} of {!r} is given twice; give it once".format(*again[0]))


def _check_change(change: Change, spec: CorpusSpec) -> None:
    if change.kind not in CHANGES:
        raise UserError(f"corpus: unknown change {change.kind!r}; known: {', '.join(CHANGES)}")
    name = f"corpus: change {change.kind!r}"
    if not change.languages:
        raise UserError(f"{name} names no language; name some of {' '.join(spec.languages)}")
    if absent := [lang for lang in change.languages if lang not in spec.languages]:
        raise UserError(f"{name} names {absent[0]!r}, which the corpus lacks; it has {' '.join(spec.languages)}")
    if not 0 <= change.amount <= 1:
        raise UserError(f"{name} has amount {change.amount}; give a share from 0 to 1")
    if change.kind not in GRADED and change.amount != 1:
        raise UserError(f"{name} has amount {change.amount}; it is done wholly or not at all, so leave it at 1")
    if change.kind == "code_switched" and (len(spec.languages) != 2 or "en" not in spec.languages):
        raise UserError(f"{name} needs English and one other language; the corpus has {' '.join(spec.languages)}")
