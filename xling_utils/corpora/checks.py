"""``xling data check``: is every piece of a data directory there, readable and of the right shape?

Nothing is loaded whole. A directory with text alone is a valid one: what is absent is reported as missing and
only damage is reported as broken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from glob import escape
from itertools import pairwise
from pathlib import Path

from xling_utils.core.errors import UserError
from xling_utils.core.specs import LANGUAGES
from xling_utils.corpora import counts, treebanks
from xling_utils.corpora.directory import (
    documents,
    existing,
    languages,
    mbert_vocabulary,
    protected_files,
    protected_lines,
    text_files,
)
from xling_utils.corpora.label_files import tagged_sentences
from xling_utils.corpora.lines import read_lines

ENTITY_TAG = "O|[BI]-[A-Z]+"
POS_TAG = "[A-Z]+|_"
MBERT_SIZE = 119_547

Count = Callable[[Path], int]


@dataclass(frozen=True)
class Finding:
    """One line of the report. ``level`` is ``"ok"``, ``"missing"``, ``"note"`` or ``"broken"``; ``line`` is
    the line of ``path`` that is broken; ``counts`` is what was counted (see :func:`summary`)."""

    level: str
    what: str
    path: Path
    line: int | None
    message: str
    counts: dict[str, int | float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Piece:
    """Files of one kind, one for each of ``languages``. ``count`` returns a file's lines or raises
    :class:`UserError`; in an ``aligned`` piece all files have as many. One that is absent is missed where a chapter
    reads it (``read``), which most have no other file for."""

    path: str
    count: Count
    languages: tuple[str, ...]
    aligned: bool = False
    read: bool = True


def check(data: Path, only: Collection[str] = ()) -> Iterator[Finding]:
    """Everything found in ``data``, piece by piece, as it is found; of the languages ``only``, whatever they are, if
    some are named; else of the book's and of all that have text. Raises :class:`UserError` when it is no directory."""
    if not data.is_dir():
        raise UserError(f"{data}: no such directory")
    return _once(_found(data, only))


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Without damage that was told: a file may be looked at twice, as text, or a test of it, and as a piece."""
    told: set[str] = set()
    for finding in findings:
        if finding.level != "broken" or finding.message not in told:
            yield finding
            told.add(finding.message)


def _found(data: Path, only: Collection[str]) -> Iterator[Finding]:
    yield from _text(data, only)
    yield from () if only else _vocabulary(data)
    of = only or tuple(dict.fromkeys((*LANGUAGES, *languages(data))))
    for piece in (*_pieces(data, of), *_read_with_all(data, of), *_parallel_pieces(data, of)):
        yield from _piece(data, piece)
    for language in _mined(data, of):
        yield from _bucc_gold(data, language)
    yield from _stray_tags(data, only)
    yield from _trees(data, only)


def summary(findings: Collection[Finding]) -> list[dict[str, int | float | str]]:
    """One row a language with text: language, files, documents, sentences, megabytes, test_sentences."""
    return [finding.counts for finding in findings if finding.what == "text" and finding.counts]


def _pieces(data: Path, languages: Collection[str]) -> Iterator[Piece]:
    """Of ``languages``, those that a kind of files has."""
    others = tuple(language for language in languages if language != "en")
    for piece in _every_piece(data, tuple(languages), others):
        if of := tuple(language for language in piece.languages if language in languages):
            yield replace(piece, languages=of)


def _every_piece(data: Path, languages: tuple[str, ...], others: tuple[str, ...]) -> Iterator[Piece]:
    entities = partial(counts.table, columns=2, separator=" ", last=ENTITY_TAG)
    tags = partial(counts.table, columns=2, separator="\t", last=POS_TAG)
    folder = data / "dictionaries"
    stands_in = {x for x in others if any(folder.glob(f"wiktionary/en-{escape(x)}.tsv*"))}
    muse = tuple(x for x in others if x not in stands_in or any(folder.glob(f"muse/en-{escape(x)}.*")))
    for part in ("train", "test"):
        yield Piece(f"dictionaries/muse/en-{{}}.{part}.txt", counts.dictionary, muse)
    yield Piece("dictionaries/wiktionary/en-{}.tsv", counts.dictionary, others, read=False)
    for part in ("dev", "test"):
        yield Piece(f"nli/xnli/{part}.{{}}.tsv", counts.inference, languages, aligned=True)
    yield Piece("nli/multinli15k/train.{}.tsv", counts.inference, languages, aligned=True)
    for part in ("train", "dev"):
        yield Piece(f"ner/panx/{part}.{{}}.tsv", counts.entities, languages)
    for part in ("train", "dev", "test"):
        yield Piece(f"ner/masakhaner1/{part}.{{}}.txt", entities, ("sw",), read=False)
        yield Piece(f"pos/xtreme_udpos/{part}.{{}}.tsv", tags, languages, read=False)
        yield Piece(f"pos/masakhapos/{part}.{{}}.txt", partial(tags, separator=" "), ("sw",), read=False)
        topics = partial(counts.table, columns=3, separator="\t")
        yield Piece(f"classification/sib200/{{}}/{part}.tsv", topics, languages, aligned=True, read=False)


def _mined(data: Path, languages: Collection[str]) -> list[str]:
    """Those of ``languages`` whose texts translations are mined from: Chinese, and what else ``data`` has."""
    present = {path.name.partition("-")[0] for path in data.glob("bucc2018/*-en.dev.*")}
    return [language for language in languages if language == "zh" or language in present]


def _read_with_all(data: Path, languages: Collection[str]) -> Iterator[Piece]:
    """Of other languages than ``languages``: no test of theirs is learned from, so all are read."""
    present = {path.name.split(".")[1] for path in data.glob("ner/panx/dev.*.tsv*")}
    if others := tuple(sorted(present - set(languages))):
        yield Piece("ner/panx/dev.{}.tsv", counts.entities, others)


def _parallel_pieces(data: Path, languages: Collection[str]) -> Iterator[Piece]:
    for language in _mined(data, languages):
        yield Piece(
            f"bucc2018/{language}-en.dev.{{}}", partial(counts.table, columns=2, separator="\t"), (language, "en")
        )
    for language in languages:
        if language != "en":
            yield Piece(f"tatoeba/{language}-en.{{}}", counts.lines, (language, "en"), aligned=True)
    for folder in sorted(path for path in data.glob("parallel/*") if path.is_dir()):
        names = {path.name.removesuffix(".xz") for path in folder.iterdir()}
        if present := tuple(x for x in languages if f"{x}.txt" in names):
            yield Piece(f"parallel/{folder.name}/{{}}.txt", counts.lines, present, aligned=True)


def _stray_tags(data: Path, only: Collection[str]) -> Iterator[Finding]:
    """A note for each file whose ``I-`` tags do not all continue an entity."""
    for path in sorted(data.glob("ner/panx/*.tsv*")):
        if only and path.name.split(".")[1] not in only:
            continue
        places: list[int] = []
        try:
            for first, _, tags in tagged_sentences(path):
                strays = (tag[0] == "I" and before == "O" for before, tag in pairwise(["O", *tags]))
                places += [first + i for i, stray in enumerate(strays) if stray]
        except UserError:
            continue  # reported as a piece of its own
        if places:
            message = f"{len(places)} I- tags after O, the first in line {places[0]}; reading makes them B-"
            yield Finding("note", "stray I- tags", path, places[0], message)


def _piece(data: Path, piece: Piece) -> Iterator[Finding]:
    counts: dict[Path, int] = {}
    absent = []
    for language in piece.languages:
        wanted = data / piece.path.format(language)
        try:
            if path := existing(wanted):
                counts[path] = piece.count(path)
            else:
                absent.append(language)
        except UserError as error:
            yield _broken(piece.path, wanted, error)
    usual = Counter(counts.values()).most_common(1)[0][0] if counts else 0
    for path, count in counts.items():
        if piece.aligned and count != usual:
            message = f"{path}: {count} lines where its translations have {usual}; fetch it again"
            yield Finding("broken", piece.path, path, None, message)
    if counts:
        message = f"{len(counts)} files, {sum(counts.values()):,} lines"
        yield Finding("ok", piece.path, data / piece.path, None, message)
    if absent and piece.read:
        wanted = data / piece.path.format("<language>")
        yield Finding("missing", piece.path, wanted, None, f"no file for {' '.join(absent)}")


def _broken(what: str, path: Path, error: UserError) -> Finding:
    place = re.search(r" line (\d+): ", str(error))
    return Finding("broken", what, path, int(place[1]) if place else None, str(error))


def _text(data: Path, only: Collection[str]) -> Iterator[Finding]:
    present = [language for language in languages(data) if language in only or not only]
    absent = [language for language in only or LANGUAGES if language not in present]
    if only or not present:
        which = " ".join(absent) if only else "any language"
        lacks = f"{data / 'text'}: no text of {which}; languages with text: {' '.join(languages(data)) or 'none'}"
        yield from [Finding("broken", "text", data / "text", None, lacks)] if absent else []
    elif absent:
        yield Finding("missing", "text", data / "text", None, f"no text for {' '.join(absent)}")
    for language in present:
        yield from _text_of(data, language)


def _text_of(data: Path, language: str) -> Iterator[Finding]:
    folder = data / "text" / language
    tests: set[str] = set()
    files = found = sentences = size = 0
    leaks: Counter[str] = Counter()
    try:
        paths, tested = text_files(data, language), protected_files(data, language)
    except UserError as error:
        yield _broken("text", folder, error)
        return
    for path in tested:
        try:
            tests.update(line.strip().lower() for line in protected_lines(path))
        except UserError as error:
            yield _broken("tests", path, error)
    for path in paths:
        try:
            for document in documents(path):
                found += 1
                sentences += len(document)
                size += sum(len(line.encode()) + 1 for line in document)
                leaks[path.name] += sum(line.strip().lower() in tests for line in document)
            files += 1
        except UserError as error:
            yield _broken("text", path, error)
    megabytes = round(size / 1e6, 2)
    message = f"{sentences:,} sentences in {found:,} documents, {megabytes} MB in {files} files"
    counts: dict[str, int | float | str] = {"language": language, "files": files, "documents": found}
    counts |= {"sentences": sentences, "megabytes": megabytes, "test_sentences": leaks.total()}
    yield Finding("ok", "text", folder, None, f"{language}: {message}", counts)
    if leaks.total():
        where = ", ".join(f"{name} {count}" for name, count in leaks.most_common(3) if count)
        message = f"{language}: {leaks.total()} or more lines are test sentences ({where}); reading leaves them out"
        yield Finding("note", "leakage", folder, None, message)


def _vocabulary(data: Path) -> Iterator[Finding]:
    path = data / "vocab" / "bert-base-multilingual-cased.vocab.txt"
    if not path.exists():
        yield Finding("missing", "vocab", path, None, f"no {path.name}")
        return
    try:
        pieces = Counter(line for _, line in read_lines(mbert_vocabulary(data)))
    except UserError as error:
        yield _broken("vocab", path, error)
        return
    absent = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} - set(pieces)
    if absent or len(pieces) != MBERT_SIZE or pieces.total() != MBERT_SIZE:
        message = f"{path}: {len(pieces):,} distinct of {pieces.total():,} pieces instead of {MBERT_SIZE:,}"
        message += f"; without {' '.join(sorted(absent))}" if absent else ""
        yield Finding("broken", "vocab", path, None, f"{message}; fetch it again")
    else:
        yield Finding("ok", "vocab", path, None, f"{MBERT_SIZE:,} pieces")


def _bucc_gold(data: Path, other: str) -> Iterator[Finding]:
    path = data / "bucc2018" / f"{other}-en.dev.gold"
    try:
        if not (gold := existing(path)):
            yield Finding("missing", "bucc2018/gold", path, None, "no gold pairs")
            return
        sides = (existing(data / "bucc2018" / f"{other}-en.dev.{language}") for language in (other, "en"))
        yield Finding("ok", "bucc2018/gold", gold, None, f"{counts.gold(gold, filter(None, sides))} pairs")
    except UserError as error:
        yield _broken("bucc2018/gold", path, error)


def _trees(data: Path, only: Collection[str]) -> Iterator[Finding]:
    files = sorted(p for p in data.glob("ud/*/*") if p.name.removesuffix(".xz").endswith(".conllu"))
    files = [path for path in files if not only or path.name.partition("_")[0] in only]
    trees, read = 0, set[Path]()
    try:
        read = treebanks.files_read(data)
    except UserError as error:
        yield _broken("ud", data / "ud", error)
    for path in files:
        try:
            trees += counts.trees(path) if path in read else counts.conllu(path)
        except UserError as error:
            yield _broken("ud", path, error)
    if files:
        yield Finding("ok", "ud", data / "ud", None, f"{len(files)} files, {trees:,} trees")
    else:
        yield Finding("missing", "ud", data / "ud", None, "no treebank (ud/*/*.conllu)")
