"""Sentences that say the same in several languages: for comparing and aligning spaces, never for training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xling_utils.corpora import controlled, directory, labelled
from xling_utils.corpora.text import normalise
from xling_utils.errors import UserError

MULTIWAY_SEED, PAIRS_SEED = 1, 2
"""Of the controlled world's draws, which have nothing to do with the seeds of runs."""


def multiway(
    source: str, languages: Sequence[str], count: int, *, data: Path | None = None, lowercase: bool = True
) -> dict[str, list[str]]:
    """The same ``count`` sentences in every one of ``languages``, row by row.

    Controlled, or the premises and hypotheses of XNLI's test files (C, sec. 5.1.3 and 5.2), in their order. Raises
    :class:`UserError` where there are fewer and on files of unequal length.
    """
    if source == "controlled":
        return _controlled(languages, count, MULTIWAY_SEED)
    found = {}
    for language in languages:
        rows = labelled.inference(source, language, "test", data=data, lowercase=lowercase)
        found[language] = [*rows["premise"], *rows["hypothesis"]]
    _aligned({language: len(lines) for language, lines in found.items()}, "XNLI test files", count)
    return {language: lines[:count] for language, lines in found.items()}


def pairs(
    source: str, language: str, count: int, *, data: Path | None = None, lowercase: bool = True
) -> tuple[list[str], list[str]]:
    """English sentences and their translations into ``language``: ``count`` of the controlled world, other than those
    of :func:`multiway`, or Tatoeba's, as many as there are up to ``count``.

    Raises :class:`UserError` on a missing file and on files of unequal length.
    """
    if source == "controlled":
        found = _controlled(("en", language), count, PAIRS_SEED)
        return found["en"], found[language]
    if data is None:
        raise UserError("parallel sentences: name the directory of real text (--data DIR or XLING_DATA)")
    lines = {}
    for side in ("en", language):
        path = directory.existing(data / "tatoeba" / f"{language}-en.{side}")
        if path is None:
            raise UserError(f"{data / 'tatoeba'}: no {language}-en.{side}; Tatoeba has no pair en-{language} here")
        lines[side] = [normalise(line, lowercase=lowercase) for _, line in directory.read_lines(path)]
    _aligned({side: len(found) for side, found in lines.items()}, f"tatoeba/{language}-en", 1)
    return lines["en"][:count], lines[language][:count]


def _controlled(languages: Sequence[str], count: int, seed: int) -> dict[str, list[str]]:
    said = controlled.parallel(tuple(languages), count, seed)
    return {language: [" ".join(t.form for t in row[language]) for row in said] for language in languages}


def _aligned(counts: dict[str, int], what: str, fewest: int) -> None:
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{language} {count}" for language, count in counts.items())
        raise UserError(f"{what}: lines must be translations of each other, but their numbers differ: {listed}")
    if min(counts.values()) < fewest:
        raise UserError(f"{what}: {min(counts.values())} lines, {fewest} are needed")
