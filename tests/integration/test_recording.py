"""Training and measuring where nothing is installed but what they need: no Jupyter, no charts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pandas as pd
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.given import write
from xling_utils import chapters
from xling_utils.chapters import MODULES
from xling_utils.chapters.window_size import plan as window_size
from xling_utils.core.scales import FIRST_REPORTED_SEED, scale
from xling_utils.measures import kept_rows
from xling_utils.measures.tasks import registry
from xling_utils.runs.store import RunStore

ROOT = Path(__file__).resolve().parents[2]
GROUP = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["measuring"]
AT_ONCE = ("torch", "numpy", "pandas", "tokenizers", "transformers", "accelerate", "safetensors")
"""What may be imported before it is known what is measured."""

HIDE = """import sys
from importlib.machinery import PathFinder

HIDDEN = {hidden}


class WithoutThem(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if path is None and name in HIDDEN else super().find_spec(name, path, target)


sys.meta_path[:] = [WithoutThem if finder is PathFinder else finder for finder in sys.meta_path]
"""
MAIN = "from xling_utils.cli.main import main; main()"


def needed(lines: list[str] | tuple[str, ...]) -> set[str]:
    """The distributions of ``lines`` and all that these need."""
    found: set[str] = set()
    waiting = [Requirement(line) for line in lines]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name not in found and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            try:
                waiting += [Requirement(line) for line in requires(name) or ()]
            except PackageNotFoundError:  # of another platform
                continue
            found.add(name)
    return found


def lean(folder: Path, lines: list[str] | tuple[str, ...], code: str, *arguments: str) -> subprocess.CompletedProcess:
    """Runs ``code`` in ``folder``, and its child processes, where only ``lines`` and what they need can be imported."""
    installed = needed([*lines, "setuptools"])
    hidden = {
        module
        for module, owners in packages_distributions().items()
        if not installed & set(map(canonicalize_name, owners)) and not module.startswith(("_", "xling"))
    }
    assert {"altair", "papermill", "ipywidgets", "IPython", "nbformat", "jupytext"} <= hidden
    (folder / "hook").mkdir(exist_ok=True)
    (folder / "hook/sitecustomize.py").write_text(HIDE.format(hidden=hidden))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XLING_")}
    environment |= {"PYTHONPATH": f"{folder / 'hook'}{os.pathsep}{ROOT}", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "_toc.yml").write_text("")
    (tmp_path / "notebooks").mkdir()
    return tmp_path


def test_what_a_measure_needs_is_imported_where_it_measures(tmp_path: Path) -> None:
    modules = (f"xling_utils.chapters.{name}.plan" for name in MODULES.values())
    code = f"import xling_utils.cli.main, xling_utils.book.recording, xling_utils.runs.worker, {', '.join(modules)}"
    done = lean(tmp_path, AT_ONCE, code)
    assert (done.returncode, done.stderr) == (0, "")
    assert "No module named 'altair'" in lean(tmp_path, AT_ONCE, "import altair").stderr


def test_rows_are_those_of_measures_without_anything_else(book: Path) -> None:
    options = ["--scale", "smoke", "--seeds", "1", "-p", "languages", "[fr]", "-p", "live", "headline"]
    done = lean(book, GROUP, MAIN, "run", "--records-only", "02_window_size", *options)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"02_window_size: measuring\n02_window_size: done after \d+ s\n", done.stdout)
    assert "2/2 runs" in done.stderr and "measuring" in done.stderr
    written = book / "_build/records/02_window_size.smoke.csv"
    assert not (book / "_build/executed").exists()

    rows = kept_rows.from_csv(written)
    assert set(rows["window"]) == {24, 12}
    key = rows.loc[rows["window"] == 12, "run"].iloc[0]
    run = RunStore(book / "runs").get(key)
    assert run is not None
    condition = {column: rows.loc[rows["run"] == key, column].iloc[0] for column in window_size.COLUMNS}
    measured = pd.concat(
        [registry.rows(task, [run], scale("smoke"), None) for task in ("word retrieval", "NLI", "NER")]
    )
    here = book / "here.csv"
    here.write_text(kept_rows.to_csv(chapters.labelled("02_window_size", condition, run.spec.seed, measured, "smoke")))
    there = rows[rows["run"] == key].reset_index(drop=True)
    pd.testing.assert_frame_equal(there, kept_rows.from_csv(here), check_dtype=False, rtol=1e-4)
    runs = pd.read_csv(written.with_suffix(".runs.csv"))
    assert set(runs["run"]) == set(rows["run"])

    before = written.read_bytes()
    again = lean(book, GROUP, MAIN, "run", "--records-only", "02_window_size", *options)
    assert (again.returncode, written.read_bytes()) == (0, before)
    assert "measuring:" not in again.stderr and "runs" not in again.stderr, "everything is kept"

    further = ["-p", "first_seed", str(FIRST_REPORTED_SEED + 3)]
    done = lean(book, GROUP, MAIN, "run", "--records-only", "02_window_size", *options, *further)
    assert done.returncode == 0, done.stderr
    both = kept_rows.from_csv(written)
    assert list(dict.fromkeys(both["seed"])) == [FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + 3]
    assert written.read_bytes().startswith(before), "the rows of other seeds stay"
    told = pd.read_csv(written.with_suffix(".runs.csv"))
    assert set(told["run"]) == set(both["run"]) and told["run"].is_unique and len(told) == 4
    whole = written.read_bytes()
    assert lean(book, GROUP, MAIN, "run", "--records-only", "02_window_size", *options, *further).returncode == 0
    assert written.read_bytes() == whole
    further[-1] = str(FIRST_REPORTED_SEED)
    assert lean(book, GROUP, MAIN, "run", "--records-only", "02_window_size", *options, *further).returncode == 0
    assert written.read_bytes() == whole, "the first seed may come after the others"


def test_failures_are_collected_one_line_each(book: Path) -> None:
    for language in ("en", "fr"):
        write(book / "text" / language / "a.txt", "One line .\n" * 40)
    chapters = ["05_language_means", "06_mds"]
    options = ["--scale", "natural", "--data", ".", "-p", "languages", "[fr]"]
    done = lean(book, GROUP, MAIN, "run", "--records-only", *options, *chapters)
    assert done.returncode == 2
    told = re.findall(r"^xling: (\w+): \1: nothing can be measured: no nli/", done.stderr, re.MULTILINE)
    assert told == chapters and done.stderr.count("\n") == 2
    assert "Traceback" in (book / "_build/logs/06_mds.records.log").read_text()
    assert not (book / "_build/records").exists()
