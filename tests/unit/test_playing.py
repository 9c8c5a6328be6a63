"""`xling play`: which copies are made, and which are left."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest

from tests.blocks import blocks
from tests.conftest import Call
from tests.given import ROOT
from xling_utils.book import playing

CHAPTERS = ("01_data_size", "02_window_size")


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of two chapters and the page on one's own experiment."""
    (tmp_path / "_toc.yml").touch()
    (tmp_path / "book/run").mkdir(parents=True)
    (tmp_path / "notebooks").mkdir()
    for name in (*(f"notebooks/{chapter}.py" for chapter in CHAPTERS), "book/run/experiment.md"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What JupyterLab was asked to open, in its place."""
    found: list[str] = []

    def begin(_: str, command: list[str]) -> None:
        assert command[:3] == [sys.executable, "-m", "jupyterlab"]
        found.extend(command[3:])

    monkeypatch.setattr(os, "execv", begin)
    return found


def test_a_chapter_is_copied_once_and_paired_with_nothing(book: Path, xling: Call, opened: list[str]) -> None:
    assert xling(book, "play", CHAPTERS[0]).returncode == 0
    copy = book / f"_build/play/{CHAPTERS[0]}.ipynb"
    assert opened == [str(copy)] and list(copy.parent.iterdir()) == [copy]
    made = jupytext.read(copy)
    assert [cell.source for cell in made.cells] == [
        cell.source for cell in jupytext.read(book / f"notebooks/{CHAPTERS[0]}.py").cells
    ]
    assert "formats" not in made.metadata.get("jupytext", {}) and made.metadata["kernelspec"]["name"] == "python3"
    copy.write_text("somebody's", encoding="utf-8")
    assert "as you left it" in xling(book, "play", CHAPTERS[0]).stdout
    assert copy.read_text(encoding="utf-8") == "somebody's"


def test_half_a_copy_is_nobodys_work(
    book: Path, xling: Call, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object, path: Path) -> None:
        path.write_text("{", encoding="utf-8")
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(nbformat, "write", interrupted)
        with pytest.raises(OSError, match="no space"):
            playing.play(book, CHAPTERS[0], print)
    assert xling(book, "play", CHAPTERS[0]).returncode == 0
    assert jupytext.read(opened[0]).cells
    assert [path.name for path in (book / "_build/play").iterdir()] == [f"{CHAPTERS[0]}.ipynb"]


def test_all_are_copied_where_none_is_named(book: Path, xling: Call, opened: list[str]) -> None:
    assert xling(book, "play").returncode == 0
    copies = sorted(path.stem for path in (book / "_build/play").iterdir())
    assert opened == [str(book / "_build/play")] and copies == [*CHAPTERS, "experiment"]


def test_the_blocks_of_the_page_are_the_cells_of_the_experiment(book: Path, xling: Call, opened: list[str]) -> None:
    xling(book, "play", "experiment")
    cells = jupytext.read(opened[0]).cells
    page = [block.text.rstrip() for block in blocks() if block.page == "book/run/experiment.md"]
    assert [cell.source for cell in cells if cell.cell_type == "code"] == page


def test_without_jupyterlab_it_is_one_line(book: Path, xling: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "find_spec", lambda name: None)
    done = xling(book, "play", CHAPTERS[0])
    assert done.returncode == 2 and done.stderr.startswith("xling: JupyterLab is not installed: ")
    assert not (book / "_build").exists()
