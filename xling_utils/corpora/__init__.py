"""Text for every scale, behind one door: what a :class:`CorpusSpec` means, wherever the text comes from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from xling_utils.errors import UserError
from xling_utils.specs import LANGUAGES, CorpusSpec

if TYPE_CHECKING:
    from datasets import Dataset

SOURCES = ("controlled", "directory")
HELD_OUT_SENTENCES = 500
"""Sentences a language set aside to measure the masked language modelling loss on."""


def load(
    spec: CorpusSpec, data: Path | None = None, *, lowercase: bool = True, held_out: bool = False
) -> dict[str, Dataset]:
    """Language -> sentences, as columns ``text`` (words separated by spaces) and ``document`` (int64).

    ``held_out`` asks for ``HELD_OUT_SENTENCES`` sentences of documents that training never sees. ``lowercase``
    concerns real text only; the controlled world keeps the case its words are written in. Raises
    :class:`UserError` where a language has no text, or not enough.
    """
    _check(spec, data)
    count = HELD_OUT_SENTENCES if held_out else spec.sentences
    if spec.source == "controlled":
        from xling_utils.corpora import controlled

        return {lang: controlled.text(lang, count, spec.seed, held_out=held_out) for lang in spec.languages}
    from xling_utils.corpora import directory

    return {
        lang: directory.sample(_given(data), lang, count, spec.seed, lowercase=lowercase, held_out=held_out)
        for lang in spec.languages
    }


def fingerprint(spec: CorpusSpec, data: Path | None = None) -> str:
    """Identity of the text that ``spec`` reads: a hash of the real files, or of the controlled world."""
    _check(spec, data)
    if spec.source == "controlled":
        from xling_utils.corpora import controlled

        return controlled.fingerprint(spec.languages)
    from xling_utils.corpora import directory

    return directory.fingerprint(_given(data), spec.languages)


def dictionary(source: str, language: str, data: Path | None = None) -> list[tuple[str, str]]:
    """(English word, ``language`` word) pairs of the source's bilingual dictionary, normalised as its text is."""
    if source == "controlled":
        from xling_utils.corpora.controlled import lexicon

        return lexicon.dictionary(language)
    from xling_utils.corpora import directory

    return directory.dictionary(_given(data), language)


def _check(spec: CorpusSpec, data: Path | None) -> None:
    if spec.source not in SOURCES:
        raise UserError(f"corpus: unknown source {spec.source!r}; known: {', '.join(SOURCES)}")
    if spec.source == "directory":
        _given(data)
    if not spec.languages:
        raise UserError("corpus: no language given")
    unknown = [lang for lang in spec.languages if spec.source == "controlled" and lang not in LANGUAGES]
    if unknown:
        raise UserError(f"corpus: unknown language {unknown[0]!r}; known: {' '.join(LANGUAGES)}")
    if spec.sentences < 1:
        raise UserError(f"corpus: {spec.sentences} sentences a language; give at least 1")


def _given(data: Path | None) -> Path:
    if data is None:
        raise UserError("this scale reads real text: give --data DIR or set XLING_DATA")
    return data
