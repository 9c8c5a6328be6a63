"""What a chapter that only draws does not load: seconds of every kernel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = ("torch", "transformers", "datasets", "tokenizers", "accelerate", "gensim", "sklearn", "rfc3987_syntax")
DRAWING = tuple(path.stem for path in sorted((ROOT / "notebooks").glob("*.py")) if path.stem != "06_mds")
"""In the other an encoder answers."""
CHAPTER = """
import sys
from pathlib import Path

import jupytext

for name in {names}:
    cells = [cell for cell in jupytext.read(f"{{name}}.py").cells if cell.cell_type == "code"]
    for cell in cells[:{count}]:
        given = '\\nlive = "none"' if "parameters" in cell.metadata.get("tags", ()) else ""
        exec(compile(cell.source + given, name, "exec"))
print(*(name for name in {heavy} if name in sys.modules))
"""


def loaded(code: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "notebooks", capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize(("names", "count"), [(DRAWING, 2), (("07_cka",), None)])
def test_a_chapter_that_only_draws_loads_nothing_that_measures(names: tuple[str, ...], count: int | None) -> None:
    """The first two cells of each (its parameters, its measured rows), and one to its end."""
    assert loaded(CHAPTER.format(names=names, count=count, heavy=HEAVY)) == []


def test_the_pages_are_filled_without_what_measures() -> None:
    code = f"""
import sys
from xling_utils.book import front_page, ledger_page, numbers, rendering
numbers.values(), ledger_page.page(), front_page.figure("taken away")
print(*(name for name in {HEAVY} if name in sys.modules))
"""
    assert loaded(code) == []


def test_planning_builds_no_encoder_to_count_its_parameters() -> None:
    code = f"""
import sys
from xling_utils.chapters import planning
assert planning.plan("02_window_size", "paper", languages=["fr"], seeds=1)[0]["parameters"] > 1e8
print(*(name for name in {HEAVY} if name in sys.modules))
"""
    assert loaded(code) == []
