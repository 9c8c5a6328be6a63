"""Sentences that say the same in several languages: for comparing and aligning spaces, never for training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from xling_utils.core.errors import UserError
from xling_utils.core.specs import Form
from xling_utils.corpora import controlled, directory, kept, labelled
from xling_utils.corpora.lines import read_lines
from xling_utils.corpora.text import normalise

if TYPE_CHECKING:
    from datasets import Dataset

Key = TypeVar("Key")
MULTIWAY_SEED, PAIRS_SEED, UNALIGNED_SEED = 1, 2, 3
"""Of the controlled world's draws, which have nothing to do with the seeds of runs."""


def multiway(
    source: str, languages: Sequence[str], count: int, *, data: Path | None = None, form: Form = "lower"
) -> dict[str, list[str]]:
    """The same sentences in every one of ``languages``, row by row: ``count``, or as many as there are.

    Controlled, or the premises and hypotheses of XNLI's test files (C, sec. 5.1.3 and 5.2), in their order: each
    premise stands there three times in a row. Raises :class:`UserError` on files of unequal length.
    """
    if source == "controlled":
        return _controlled(languages, count, MULTIWAY_SEED)
    found = {}
    for language in languages:
        rows = labelled.inference(source, language, "test", data=data, form=form)
        found[language] = [*rows["premise"], *rows["hypothesis"]]
    _aligned({language: len(lines) for language, lines in found.items()}, "XNLI test files")
    return {language: lines[:count] for language, lines in found.items()}


def distinct(said: Mapping[Key, Sequence[str]], count: int) -> dict[Key, list[str]]:
    """The first ``count`` rows of what :func:`multiway` gives, or as many as there are, of which none has the words of
    another in any language (or form of one)."""
    seen: dict[Key, set[str]] = {language: set() for language in said}
    rows: list[tuple[str, ...]] = []
    for row in zip(*said.values(), strict=True):
        if len(rows) == count:
            break
        if not any(text in seen[language] for language, text in zip(said, row, strict=True)):
            rows.append(row)
            for language, text in zip(said, row, strict=True):
                seen[language].add(text)
    return {language: [row[column] for row in rows] for column, language in enumerate(said)}


def pairs(
    source: str, language: str, count: int, *, data: Path | None = None, form: Form = "lower"
) -> tuple[list[str], list[str]]:
    """English sentences and their translations into ``language``: ``count`` of the controlled world, drawn apart from
    those of :func:`multiway` (short ones recur: of 500 a tenth stands among 2,000 of these), or Tatoeba's, as many as
    there are up to ``count``, those left out of which nothing is left in one of the two.

    Raises :class:`UserError` on a missing file and on files of unequal length.
    """
    if source == "controlled":
        found = _controlled(("en", language), count, PAIRS_SEED)
        return found["en"], found[language]
    data = directory.given(data)
    lines = {}
    for side in ("en", language):
        path = directory.existing(data / "tatoeba" / f"{language}-en.{side}")
        if path is None:
            raise UserError(f"{data / 'tatoeba'}: no {language}-en.{side}; Tatoeba has no pair en-{language} here")
        lines[side] = [normalise(line, form=form) for _, line in read_lines(path)]
    _aligned({side: len(found) for side, found in lines.items()}, f"tatoeba/{language}-en")
    rows = [row for row in zip(lines["en"], lines[language], strict=True) if all(row)][:count]
    return [english for english, _ in rows], [other for _, other in rows]


@dataclass(frozen=True)
class Unaligned:
    """Two texts with translations among their sentences: ``gold`` pairs of rows (of ``other``, of ``english``)."""

    english: list[str]
    other: list[str]
    gold: list[tuple[int, int]]


def unaligned(
    source: str, language: str, count: int, *, data: Path | None = None, form: Form = "lower"
) -> Unaligned | None:
    """Texts to mine translations from, at most ``count`` sentences of each: BUCC's where there are any of ``language``
    with English, else ``None``; in the controlled world a third of either has its translation in the other, and of the
    others some by chance (of 400 about 20), which count as none.

    Raises :class:`UserError` naming file and line of a gold pair that is none.
    """
    if source == "controlled":
        third = count // 3
        said = _controlled(("en", language), 5 * third, UNALIGNED_SEED)
        gold = [(row, row) for row in range(third)]
        return Unaligned(said["en"][: 3 * third], said[language][:third] + said[language][3 * third :], gold)
    stem = directory.given(data) / "bucc2018" / f"{language}-en.dev"
    gold_file = directory.existing(stem.with_name(f"{stem.name}.gold"))
    if gold_file is None:
        return None
    texts = {side: _numbered(stem, side, count, form) for side in ("en", language)}
    gold = []
    for number, line in read_lines(gold_file):
        pair = line.split("\t")
        if len(pair) != 2 or not all(
            name.startswith(f"{side}-") for name, side in zip(pair, (language, "en"), strict=True)
        ):
            raise UserError(f"{gold_file}, line {number}: write {language}-NUMBER, a tab and en-NUMBER")
        rows = [texts[side][0].get(name) for name, side in zip(pair, (language, "en"), strict=True)]
        if rows[0] is not None and rows[1] is not None:
            gold.append((rows[0], rows[1]))
    return Unaligned(texts["en"][1], texts[language][1], gold)


def aligned(
    name: str, languages: Sequence[str], *, data: Path | None = None, form: Form = "lower"
) -> dict[str, list[str]]:
    """Text of one's own that says the same in every one of ``languages``, line by line: ``parallel/NAME/*.txt`` of the
    directory ``data``, normalised. A line that is blank in one of the languages is left out in all.

    Its lines are kept out of what is trained on. Raises :class:`UserError` where a language has no file, on files of
    unequal length, and on sets that are cut from the text that there is to train on.
    """
    if data is None:
        raise UserError(
            f"aligned text {name}: name the directory that holds parallel/{name} (--data DIR or XLING_DATA)"
        )
    folder = data / "parallel" / name
    if name in directory.CUT_FROM_TEXT:
        raise UserError(f"{folder}: its lines stand in the text that is trained on; it is no test")
    lines = {}
    for language in languages:
        path = directory.existing(folder / f"{language}.txt") if folder.parent == data / "parallel" else None
        if path is None:
            known = ", ".join(sorted(path.name for path in (data / "parallel").glob("*") if path.is_dir())) or "none"
            raise UserError(f"{folder}: no {language}.txt, plain or .xz; aligned text in {data / 'parallel'}: {known}")
        lines[language] = [normalise(line, form=form) for _, line in read_lines(path)]
    _aligned({language: len(found) for language, found in lines.items()}, str(folder))
    kept = [row for row in zip(*lines.values(), strict=True) if all(row)]
    _aligned({language: len(kept) for language in lines}, str(folder))
    return {language: [row[column] for row in kept] for column, language in enumerate(lines)}


def _numbered(stem: Path, side: str, count: int, form: Form) -> tuple[dict[str, int], list[str]]:
    """Name of a sentence -> its row, and the sentences."""
    path = directory.existing(stem.with_name(f"{stem.name}.{side}"))
    if path is None:
        raise UserError(f"{stem}.{side}: no such file, plain or .xz, beside {stem.name}.gold")
    names: dict[str, int] = {}
    lines: list[str] = []
    for number, line in read_lines(path):
        name, tab, text = line.partition("\t")
        if not tab or not text.strip():
            raise UserError(f"{path}, line {number}: write the sentence's name, a tab and the sentence")
        names[name] = len(lines)
        lines.append(normalise(text, form=form))
        if len(lines) == count:
            break
    return names, lines


def _controlled(languages: Sequence[str], count: int, seed: int) -> dict[str, list[str]]:
    """Each language by itself: what it says does not depend on what else says it."""

    def said(language: str) -> Dataset:
        from datasets import Dataset

        rows = controlled.parallel((language,), count, seed)
        return Dataset.from_dict({"text": [" ".join(token.form for token in row[language]) for row in rows]})

    return {
        language: kept.controlled("parallel", (language, count, seed), partial(said, language))["text"][:]
        for language in languages
    }


def _aligned(counts: dict[str, int], what: str) -> None:
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{language} {count}" for language, count in counts.items())
        raise UserError(f"{what}: lines must be translations of each other, but their numbers differ: {listed}")
    if not min(counts.values()):
        raise UserError(f"{what}: no line; give at least one")
