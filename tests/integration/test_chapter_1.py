"""Chapter 1 end to end at smoke scale, through the real papermill and the real command line."""

import html
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from tests import smoke
from tests.given import ROOT
from xling_utils import chapters
from xling_utils.chapters.data_size import explorer
from xling_utils.chapters.data_size import plan as data_size
from xling_utils.charts.offline import VEGALITE
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale
from xling_utils.measures import names, pool
from xling_utils.runs.ensuring import ensure
from xling_utils.runs.store import RunStore


@pytest.fixture(scope="module")
def table(smoke_store: RunStore) -> pd.DataFrame:
    return smoke.table(smoke_store, "01_data_size", ("fr",), 1, "headline")


def test_every_measure_is_there(table: pd.DataFrame) -> None:
    kinds = {"mrr", "mrr_centred", "mrr_vocabulary", "mrr_unlike", "mrr_identical", "mrr_shuffled"}
    words = table[table["task"] == names.WORDS]
    assert set(words["metric"]) == kinds | {"chance", "chance_vocabulary"}
    assert {"accuracy", "majority", "accuracy_random_labels"} <= set(table.loc[table["experiment"] == "R02", "metric"])
    assert set(table["model"]) == set(data_size.MODELS)
    assert table["value"].between(0, 1).all()
    assert set(table.loc[table["experiment"] == "R05", "part_of_speech"]) >= {"open", "closed", "NOUN", "VERB"}
    assert list(table.columns) == list(chapters.columns("01_data_size"))


def test_both_sizes_are_asked_the_same_words(table: pd.DataFrame) -> None:
    chance = table[(table["metric"] == "chance") & (table["layer"] == 0)]
    assert chance["value"].nunique() == 1


def test_a_second_call_reads_what_was_measured(table: pd.DataFrame, smoke_store: RunStore, monkeypatch) -> None:
    monkeypatch.setenv("XLING_STORE", str(smoke_store.root))
    monkeypatch.setattr(pool, "ProcessPoolExecutor", None)  # nothing may be measured again
    again = chapters.table("01_data_size", "smoke", ("fr",), 1, "headline")
    pd.testing.assert_frame_equal(table, again)


@pytest.fixture
def explored(smoke_store: RunStore, table: pd.DataFrame) -> explorer.Explorer:
    spec = scale("smoke").bert(("en", "fr"), 600, 11, data_size.SNAPSHOTS)
    return explorer.Explorer.of(ensure([spec], store=smoke_store, progress=False)[spec], scale("smoke"))


def test_explorer_and_its_widget(explored: explorer.Explorer) -> None:
    word = explored.dictionary.sources[0]
    found = explored.neighbours(word, 1)
    cosines = [cosine for _, cosine, _ in found.words]
    assert cosines == sorted(cosines, reverse=True)
    with pytest.raises(UserError, match="not among"):
        explored.neighbours("<b>", 1)
    with pytest.raises(UserError, match="layer 9"):
        explored.neighbours(word, 9)
    box = explorer.widget(explored)
    first = explored.start()
    assert (box.children[0].value, box.children[1].value) == first
    before = box.children[2].value
    assert html.escape(explored.neighbours(*first).told) in before
    box.children[0].value = "xyzzy"
    assert "xyzzy" in box.children[2].value and "not among" in box.children[2].value
    box.children[0].value = explored.dictionary.sources[1]
    assert box.children[2].value != before


def test_words_from_data_are_escaped(explored: explorer.Explorer) -> None:
    explored.dictionary.targets[:] = ["<script>"] * len(explored.dictionary.targets)
    assert "<script>" not in explorer.widget(explored).children[2].value


def test_papermill_runs_the_notebook_directly(smoke_store: RunStore, table: pd.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "out.ipynb"
    command = [sys.executable, "-m", "papermill", "notebooks/01_data_size.ipynb", str(out), "--kernel", "python3"]
    given = ["-p", "scale", "smoke", "-p", "seeds", "1", "-y", "languages: [fr]"]
    environment = {**os.environ, "XLING_STORE": str(smoke_store.root)}
    done = subprocess.run([*command, *given], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    notebook = nbformat.read(out, as_version=4)
    shown = [o for cell in notebook.cells for o in cell.get("outputs", []) if "data" in o]
    assert sum(VEGALITE in o["data"] for o in shown) >= 6
    assert sum('class="in-page neighbours"' in o["data"].get("text/html", "") for o in shown) == 1, "for its page"
