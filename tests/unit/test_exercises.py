"""What chapters give their readers to do: a question before the first figure, exercises, and solutions that run."""

from __future__ import annotations

import re
from pathlib import Path

import jupytext
import pytest

from tests import blocks
from xling_utils.book.own_run import OF_THE_RECORD
from xling_utils.chapters import opened

SOLUTIONS = [block for block in blocks.blocks() if block.page.startswith("notebooks/") and block.kind == "python"]
SEED, LEVELS = 31, ("fr", "de")


@pytest.mark.parametrize("block", SOLUTIONS, ids=str)
def test_a_solution_runs_and_prints_numbers(block: blocks.Block, capsys: pytest.CaptureFixture[str]) -> None:
    chapter = opened(Path(block.page).stem, "controlled", list(LEVELS), 1, "none")
    assert len(chapter.recorded)
    exec(block.text, {"chapter": chapter})
    printed = capsys.readouterr().out
    assert printed.strip() and not re.search(r"\bnan\b|Empty|NaN(?=.*\n\Z)", printed), printed


@pytest.mark.parametrize("path", blocks.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_chapter_says_what_it_shows_and_asks_before_its_first_figure(path: Path) -> None:
    cells = jupytext.read(path).cells
    assert ":::{admonition} In this chapter\n- " in cells[0].source
    figure = next(number for number, cell in enumerate(cells) if "mystnb" in cell.metadata)
    before = cells[figure - 1]
    assert before.source.startswith(":::{dropdown} Before you look: ") and OF_THE_RECORD in before.metadata["tags"]
    (exercises,) = (cell for cell in cells if cell.source.startswith("## Exercises"))
    numbered = re.findall(r"^\*\*(\d)\.\*\* ", exercises.source, re.MULTILINE)
    assert numbered == [str(number + 1) for number in range(len(numbered))] and len(numbered) >= 2
    assert exercises.source.count(":::{dropdown} A solution\n```python\n") == len(numbered)
    assert OF_THE_RECORD in exercises.metadata["tags"], "the rows of a run of one's own may lack what is asked for"
