"""A small book to run documented commands in, as they are written.

Its scales have the sizes of ``smoke``, by a hook in every Python process; its chapter trains, measures and records, and
draws nothing, since the tests of the book look at the figures. ``DIR`` is a directory of real text, all of it spoken by
the controlled world.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import jupytext
import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from xling_utils.corpora import controlled, labelled, parallel
from xling_utils.corpora.controlled.lexicon import dictionary

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = ("02_window_size",)
"""Those that the documented commands name: the one with the fewest runs. (`xling probe` has tests of its own.)"""
LANGUAGES = ("en", "fr", "es", "de", "ru", "zh", "hi")
"""Of the real text."""
NEW_LANGUAGE = "nl"
"""Of the page on languages: not one of the book's."""
SHRINK = """from dataclasses import replace

from xling_utils.core import scales

for name in ("controlled", "natural"):
    scales._SCALES[name] = replace(scales._SCALES["smoke"], source=scales._SCALES[name].source)
"""
TOC = "format: jb-book\nroot: book/intro\nchapters:\n" + "".join(f"  - file: notebooks/{name}\n" for name in CHAPTERS)


def make(place: Path) -> dict[str, str]:
    """Lays the book out in ``place`` and returns the environment that commands run in."""
    for name in ("_config.yml", "Makefile", "pyproject.toml", "requirements.lock", "CITATION.cff"):
        shutil.copyfile(ROOT / name, place / name)
        os.utime(place / name, (0, 0))  # older than .venv, so that make takes that as it is
    (place / "_toc.yml").write_text(TOC, encoding="utf-8")
    (place / ".venv").symlink_to(sys.prefix)
    shutil.copytree(ROOT / "book", place / "book", ignore=shutil.ignore_patterns("*.md"))
    (place / "book/intro.md").write_text("# A small book\n", encoding="utf-8")
    (place / "notebooks").mkdir()
    for name in CHAPTERS:
        notebook = _without_figures(ROOT / "notebooks" / f"{name}.py")
        jupytext.write(notebook, place / "notebooks" / f"{name}.py", fmt="py:percent")
        jupytext.write(notebook, place / "notebooks" / f"{name}.ipynb")
    _write_text(place / "DIR")
    (place / "hook").mkdir()
    (place / "hook/sitecustomize.py").write_text(SHRINK, encoding="utf-8")
    (place / "home").mkdir()
    given = {name: value for name, value in os.environ.items() if not name.startswith(("XLING_", "MAKE"))}
    return given | {
        "PYTHONPATH": f"{place / 'hook'}{os.pathsep}{ROOT}",
        "PATH": f"{place / '.venv/bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(place / "home"),
        "HF_HUB_OFFLINE": "1",
    }


def share_ledger(place: Path) -> None:
    """A checkout at ``place``, with the book's claims and records, tests no claim again that was tested here."""
    (ROOT / "_build/ledger").mkdir(parents=True, exist_ok=True)
    (place / "_build").mkdir()
    (place / "_build/ledger").symlink_to(ROOT / "_build/ledger")


def _without_figures(path: Path) -> nbformat.NotebookNode:
    """A chapter's title, and its code up to the measured table; then what records that."""
    notebook = jupytext.read(path)
    (measuring,) = [n for n, cell in enumerate(notebook.cells) if "= opened(" in cell.source]
    code = [cell for cell in notebook.cells[: measuring + 1] if cell.cell_type == "code"]
    lines = [line for cell in notebook.cells for line in cell.source.splitlines()]
    title, (recording,) = lines[0], [line for line in lines if "chapter.record()" in line]
    notebook.cells = [new_markdown_cell(title), *code, new_code_cell(recording)]
    return notebook


def _write_text(data: Path) -> None:
    for language in LANGUAGES:
        _write_language(data, language, language)
    _write_language(data, NEW_LANGUAGE, "de")


def _write_language(data: Path, code: str, speaks: str) -> None:
    """What the pages ask of a language, under the name ``code``, in one that the controlled world ``speaks``."""
    lines = documents(speaks, 2_000)
    thrice = [*lines, ""] * 3  # held-out text takes a tenth, and needs 500 lines
    write_lines(data / "text" / code / "world.txt", thrice)
    for split, name in (("train", "nli/multinli15k/train"), ("dev", "nli/xnli/dev"), ("test", "nli/xnli/test")):
        if split == "test" or code == "en":
            pairs = labelled.inference("controlled", speaks, split, count=300)
            columns = zip(pairs["premise"][:], pairs["hypothesis"][:], pairs["label"][:], strict=True)
            write_lines(data / f"{name}.{code}.tsv", ["\t".join(row) for row in columns])
    for split, name in (("train", "ner/panx/train"), ("test", "ner/panx/dev")):
        tagged = labelled.named_entities("controlled", speaks, split, count=1_000 if split == "train" else 200)
        pairs = zip(tagged["words"][:], tagged["tags"][:], strict=True)
        words = ["\n".join("\t".join(pair) for pair in zip(*both, strict=True)) + "\n" for both in pairs]
        write_lines(data / f"{name}.{code}.tsv", words)
    if code != "en":
        words = [" ".join(pair) for pair in dictionary(speaks) if not any(" " in word for word in pair)]
        write_lines(data / "dictionaries" / "muse" / f"en-{code}.train.txt", words[::2])
        write_lines(data / "dictionaries" / "muse" / f"en-{code}.test.txt", words[1::2])


def documents(language: str, sentences: int) -> list[str]:
    """What the controlled world says in ``language``, as lines of a file with an empty one between documents."""
    rows = controlled.text(language, sentences, 0)
    lines, last = [], 0
    for line, document in zip(rows["text"][:], rows["document"][:], strict=True):
        lines += [""] * (document != last) + [line]
        last = document
    return lines


def write_lines(path: Path, lines: list[str]) -> None:
    """A file, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def as_real_data(folder: Path, languages: Iterable[str], count: int) -> Path:
    """``folder`` in the layout of real data, in which the controlled world speaks: ``count`` documents' lines of text a
    language, and what sentences and their translations are measured on."""
    for language in languages:
        write_lines(folder / "text" / language / "world.txt", documents(language, count))
        pairs = labelled.inference("controlled", language, "test", count=60)
        columns = zip(pairs["premise"][:], pairs["hypothesis"][:], pairs["label"][:], strict=True)
        write_lines(folder / "nli" / "xnli" / f"test.{language}.tsv", ["\t".join(row) for row in columns])
        if language != "en":
            english, other = parallel.pairs("controlled", language, 40)
            write_lines(folder / "tatoeba" / f"{language}-en.en", english)
            write_lines(folder / "tatoeba" / f"{language}-en.{language}", other)
    return folder
