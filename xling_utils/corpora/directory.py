"""Real text from a data directory: sentences, documents, dictionaries, and what must not be trained on.

The layout (every file plain, or xz-compressed with ``.xz`` after its name, UTF-8, one item a line):

    text/<language>/*.txt                    sentences; a blank line ends a document
    dictionaries/muse/en-<language>.train.txt and .test.txt   "word translation"
    dictionaries/wiktionary/en-<language>.tsv                 "word<TAB>translation"
    vocab/bert-base-multilingual-cased.vocab.txt              (plain only)
    tatoeba/*-en.<language>, bucc2018/*.<language>, parallel/<name>/<language>.txt   tests
No test sentence reaches a model as text: a line that equals one of ``tatoeba``, ``bucc2018`` or ``parallel``
is left out. The parallel folders ``bible_nt`` and ``msdocs`` are cut from the text, so they are no tests.
"""

from __future__ import annotations

import heapq
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from glob import escape
from hashlib import blake2b, sha256
from itertools import chain, islice, repeat
from os import scandir
from pathlib import Path
from typing import TYPE_CHECKING

from xling_utils.core import identity, memory_mapped
from xling_utils.core.errors import UserError
from xling_utils.core.files import regular
from xling_utils.core.specs import LANGUAGES, Form
from xling_utils.corpora.lines import read_lines
from xling_utils.corpora.text import normalise

if TYPE_CHECKING:
    from datasets import Dataset

Pair = tuple[str, str]

LONGEST_DOCUMENT = 600  # lines; what runs on longer is a list of sentences, not a document
CHUNK = 20  # lines
TEXT = (".txt", ".txt.xz")
CUT_FROM_TEXT = ("bible_nt", "msdocs")


def given(data: Path | None) -> Path:
    """The data directory. Raises :class:`UserError` where there is none."""
    if data is None:
        raise UserError("this scale reads real text: name its directory (data=DIR; of a command --data, XLING_DATA)")
    return data


def existing(path: Path) -> Path | None:
    """``path``, or the same with ``.xz`` after its name, or ``None`` when there is neither.

    Raises :class:`UserError` when there are both, and on a pipe or a device.
    """
    found = [p for p in (path, path.with_name(path.name + ".xz")) if p.exists()]
    if len(found) > 1:
        raise UserError(f"{found[1]}: stands beside the same file uncompressed; remove one of the two")
    return regular(found[0]) if found else None


def languages(data: Path) -> tuple[str, ...]:
    """The languages that have text in ``data``: the book's own in its order, then any others by name."""
    present = {path.parent.name for path in data.glob("text/*/[!.]*") if path.name.endswith(TEXT)}
    return (*(x for x in LANGUAGES if x in present), *sorted(present - set(LANGUAGES)))


def text_files(data: Path, language: str, domain: str | None = None) -> list[Path]:
    """The files with text of ``language``, by name; of a ``domain``, the one of that name. Raises :class:`UserError`
    when there are none, on a link to nothing, and on a folder that cannot be read."""
    folder = listed(data / "text" / language)
    if domain is not None and Path(domain).name != domain:
        raise UserError(f"{domain!r:.80} is no domain: it is the name of a file in {folder}, without .txt")
    wanted = "*" if domain is None else domain
    pattern = "[!.]*" if domain is None else escape(wanted)  # hidden files are copies that editors and systems keep
    found = (path for end in TEXT for path in folder.glob(pattern + end))
    names = {path.name.removesuffix(".xz") for path in found}
    if not names:
        known = ", ".join(languages(data)) or "none"
        raise UserError(f"{folder}: no text ({wanted}.txt or {wanted}.txt.xz); languages with text in {data}: {known}")
    return [_reached(folder / name) for name in sorted(names)]


def _reached(path: Path) -> Path:
    """:func:`existing`, of a name that is there."""
    if (found := existing(path)) is None:
        raise UserError(f"{path}: a link to nothing; fetch what it stands for, or remove it")
    return found


def listed(folder: Path) -> Path:
    """``folder``. Raises :class:`UserError` if it cannot be read: to look for files in it would find none."""
    try:
        with suppress(FileNotFoundError, NotADirectoryError), scandir(folder):
            return folder
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror or error}; make it readable") from None
    return folder


def protected_files(data: Path, language: str) -> list[Path]:
    """The files whose lines in ``language`` are tests of sentence retrieval, so no text to train on. Raises
    :class:`UserError` on a folder of them that cannot be read."""
    name = escape(language)
    for folder in ("tatoeba", "bucc2018", "parallel"):
        listed(data / folder)
    for folder in data.glob("parallel/*/"):
        listed(folder)
    patterns = (f"tatoeba/*-en.{name}", f"bucc2018/*.{name}", f"parallel/*/{name}.txt")
    found = [path for pattern in patterns for end in ("", ".xz") for path in data.glob(pattern + end)]
    return sorted(path for path in found if path.parent.name not in CUT_FROM_TEXT)


def protected_sentences(data: Path, language: str) -> set[str]:
    """The normalised lower-case sentences of :func:`protected_files`."""
    return {normalise(line) for path in protected_files(data, language) for line in protected_lines(path)} - {""}


def protected_lines(path: Path) -> Iterator[str]:
    """Those of one of :func:`protected_files`, without the number that BUCC has before each."""
    numbered = path.parent.name == "bucc2018"
    yield from (line.split("\t", 1)[-1] if numbered else line for _, line in read_lines(path))


def sentences(data: Path, language: str, *, form: Form = "lower", held_out: bool = False) -> Iterator[tuple[int, str]]:
    """Yields (document, normalised sentence) over all text of ``language``, in file order.

    Documents are numbered from 0 over all files. A tenth of them, chosen by a hash of their content and so
    the same on every machine, is held out: ``held_out`` says which side to read. Test sentences are left out.
    """
    tests = protected_sentences(data, language)
    number = 0
    for document in chain.from_iterable(map(documents, text_files(data, language))):
        if _held_out(_digest(document)) == held_out:
            kept = _kept(document, tests, form)
            yield from ((number, sentence) for sentence in kept)
            number += bool(kept)


def sample(
    data: Path,
    language: str,
    sentences: int,
    seed: int,
    *,
    form: Form = "lower",
    held_out: bool = False,
    domain: str | None = None,
) -> Dataset:
    """``sentences`` sentences of ``language`` in whole documents (the last one is cut), drawn by ``seed`` from all its
    text, or from the file of that ``domain``.

    Returns columns ``text`` (string, normalised) and ``document`` (int64, from 0 in the order drawn). The
    order depends on the seed and on the documents' content alone, so a smaller sample is the beginning of a
    larger one with the same seed. ``held_out`` draws from the tenth that training never sees (see :func:`sentences`),
    where fewer will do. The sample grows on disk (:mod:`memory_mapped`). Raises :class:`UserError` when there are fewer
    to train on, and when nothing is held out.
    """
    tests = protected_sentences(data, language)
    drawn: list[tuple[int, int, int]] = []  # a heap of ranks, sentences and places, the document drawn last on top
    total = 0
    with memory_mapped.Lines() as lines:
        for document in chain.from_iterable(map(documents, text_files(data, language, domain))):
            digest = _digest(document)
            if _held_out(digest) != held_out:
                continue
            rank = int.from_bytes(blake2b(digest, key=str(seed).encode(), digest_size=8).digest())
            if total >= sentences and drawn and rank > -drawn[0][0]:
                continue
            if kept := _kept(document, tests, form):
                heapq.heappush(drawn, (-rank, len(kept), lines.add(kept)))
                total += len(kept)
            while drawn and total - drawn[0][1] >= sentences:
                total -= heapq.heappop(drawn)[1]
        if not total and held_out:
            raise UserError(
                f"{data / 'text' / language}: of ten documents one is held out, and there are too few; "
                "put blank lines between documents, or add some"
            )
        if total < sentences and not held_out:
            raise UserError(
                f"{data / 'text' / language}: {total} sentences to train on, {sentences} asked for; "
                "ask for fewer (-p sentences) or add text"
            )
        order = enumerate(sorted(drawn, key=lambda item: -item[0]))
        found = ((line, number) for number, (_, count, place) in order for line in lines.read(place, count))
        return memory_mapped.text(islice(found, sentences))


def documents(path: Path) -> Iterator[list[str]]:
    """Raw documents of one text file: lists of lines that are not blank.

    What runs on for longer than any real document, as shuffled sentences do, comes in chunks of 20 lines.
    """
    lines: list[str] = []
    limit = LONGEST_DOCUMENT
    for _, line in read_lines(path):
        if line.strip():
            lines.append(line)
        if lines and (not line.strip() or len(lines) == limit):
            limit = CHUNK if len(lines) == limit else limit
            yield from _pieces(lines, limit)
            lines = []
        if not line.strip():
            limit = LONGEST_DOCUMENT
    yield from _pieces(lines, limit)


def _pieces(lines: list[str], size: int) -> Iterator[list[str]]:
    return (lines[start : start + size] for start in range(0, len(lines), size))


def _digest(document: list[str]) -> bytes:
    return blake2b("\n".join(document).encode(), digest_size=16).digest()


def _held_out(digest: bytes) -> bool:
    return int.from_bytes(digest) % 10 == 0


def _kept(document: list[str], tests: Container[str], form: Form) -> list[str]:
    normalised = (normalise(line, form=form) for line in document)
    return [s for s in normalised if s and (s if form == "lower" else normalise(s)) not in tests]


def changed(data: Path, what: str) -> UserError:
    """Of ``what`` in ``data``, which was something else when it was asked for."""
    return UserError(f"{data}: {what} changed while it was read; run it again")


def fingerprint(data: Path, languages: Iterable[str], domains: Iterable[str | None] = repeat(None)) -> str:
    """sha256 over names, sizes and contents of every file that decides what the text of ``languages`` is, each of its
    one of ``domains``."""
    read = zip(languages, domains, strict=False)
    files = [path for x, domain in read for path in (*text_files(data, x, domain), *protected_files(data, x))]
    return fingerprint_of(files, data)


def fingerprint_of(files: Iterable[Path], data: Path) -> str:
    """sha256 over names (in ``data``), sizes and contents of ``files``, in whatever order they come."""
    whole = sha256()
    for path in sorted(set(files)):
        told = f"{path.relative_to(data).as_posix()}\t{path.stat().st_size}\t{identity.of_file(path.resolve())}\n"
        whole.update(told.encode(errors="surrogateescape"))  # names may be in no encoding
    return whole.hexdigest()


def dictionary_files(data: Path, language: str) -> list[Path]:
    """The files :func:`dictionary` reads: MUSE's two parts where it has the language, else Wiktionary."""
    folder = data / "dictionaries"
    muse = [path for part in ("train", "test") if (path := existing(folder / "muse" / f"en-{language}.{part}.txt"))]
    if len(muse) == 2:
        return muse
    if not muse and (path := existing(folder / "wiktionary" / f"en-{language}.tsv")):
        return [path]
    wanted = f"muse/en-{language}.train.txt and muse/en-{language}.test.txt, or wiktionary/en-{language}.tsv"
    raise UserError(f"{folder}: no dictionary for {language}; it needs {wanted}, plain or .xz")


def dictionary(data: Path, language: str, *, form: Form = "lower") -> list[Pair]:
    """(English word, translation) pairs in file order, normalised as the text is, each once.

    In a file with tabs (Wiktionary) an entry of several words is left out. Pairs of identical strings are kept. Raises
    :class:`UserError` naming file and line where a line does not have two columns.
    """
    pairs = []
    for path in dictionary_files(data, language):
        for _, *columns in dictionary_lines(path):
            if [len(column.split()) for column in columns] != [1, 1]:
                continue
            source, target = (normalise(column, form=form) for column in columns)
            if source and target:
                pairs.append((source, target))
    return list(dict.fromkeys(pairs))


def dictionary_lines(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yields number and columns of each line of a dictionary that is not blank. Raises :class:`UserError` naming file
    and line where there are not two."""
    for number, line in read_lines(path):
        columns = line.split("\t") if "\t" in line else line.split()
        if columns and (len(columns) != 2 or not all(column.strip() for column in columns)):
            raise UserError(f"{path}, line {number}: not two columns; write 'word translation'")
        if columns:
            yield number, columns[0], columns[1]


def mbert_vocabulary(data: Path) -> Path:
    """The vocabulary of ``bert-base-multilingual-cased``. Raises :class:`UserError` when it is missing."""
    path = data / "vocab" / "bert-base-multilingual-cased.vocab.txt"
    if not path.is_file():
        raise UserError(f"{path}: no such file; it is the vocab.txt of bert-base-multilingual-cased")
    return path
