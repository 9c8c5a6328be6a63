"""The appendix at smoke scale: every condition trained, measured, drawn, and nothing shown where nothing is known."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from tests import smoke
from xling_utils import chapters
from xling_utils.chapters.minimult import plan as minimult
from xling_utils.chapters.shared import published
from xling_utils.claims import listing
from xling_utils.claims.verdicts import UNTESTABLE
from xling_utils.measures.tasks.multilinguality_score import RETRIEVAL, TRANSLATION
from xling_utils.runs.store import RunStore

CHAPTER = minimult.CHAPTER


@pytest.fixture(scope="module")
def table(smoke_store: RunStore) -> pd.DataFrame:
    return smoke.table(smoke_store, CHAPTER, ("fr",), 1, "all")


def test_every_condition_is_measured_at_every_layer(table: pd.DataFrame) -> None:
    assert tuple(table.columns) == chapters.columns(CHAPTER)
    rows = table[table["metric"] == "p_at_1"].groupby(["condition", "task"])["layer"].agg(list)
    assert set(rows.index) == {(c, t) for c in minimult.CONDITIONS for t in (TRANSLATION, RETRIEVAL)}
    assert all(layers == [0, 1, 2] for layers in rows)
    assert table["value"].between(0, 1).all() and set(table["experiment"]) == {"minimult"}


def test_figure_table_and_verdicts(table: pd.DataFrame) -> None:
    none, paper = chapters.empty(CHAPTER), published.table("minimult_scores")
    assert {*paper["condition"], minimult.UNTRAINED_OWN} == set(minimult.CONDITIONS)
    assert paper["value"].between(0, 1).all()
    drawn = minimult.figure(table, none, none, paper).to_dict()
    shown = next(
        layer["encoding"]["color"]["scale"]["domain"] for layer in drawn["layer"] if "color" in layer["encoding"]
    )
    assert shown == ["this machine", "Dufter and Schütze"]
    assert json.dumps(drawn, allow_nan=False)  # one seed has no interval
    drawn = minimult.figure(none, table, table, paper).to_dict()
    shown = next(
        layer["encoding"]["color"]["scale"]["domain"] for layer in drawn["layer"] if "color" in layer["encoding"]
    )
    assert shown == ["controlled world", "Dufter and Schütze", "real text"]
    layers = minimult.layers(table)
    columns = ["task", "condition", "layer 0", "layer 1", "layer 2", "chance", "shuffled"]
    assert list(layers.columns) == columns and not layers.isna().any().any()
    assert list(layers["condition"]) == list(minimult.CONDITIONS) * 2
    found = listing.table(CHAPTER, "smoke", table, recorded=False)
    verdicts = dict(zip(found["id"], found["verdict"], strict=True))
    assert {*verdicts} == {"", *(f"M-0{number}" for number in range(1, 9))} and verdicts.pop("") == ""
    assert len(found) in (8 * 2 - 1, 8 * 2), "words and sentences of each, but for M-05 where one has no room"
    assert verdicts.pop("M-05").startswith(("cannot tell", UNTESTABLE)), "what has room for a loss hangs on the seed"
    assert {*verdicts.values()} == {"cannot tell"}


def test_without_runs_and_records_nothing_is_shown() -> None:
    none = chapters.empty(CHAPTER)
    assert minimult.figure(none, none, none, published.table("minimult_scores")) is None
    assert minimult.layers(none).empty and listing.table(CHAPTER, "smoke", none).empty
