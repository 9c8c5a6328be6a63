"""Tidy tables: their columns, and when rows that were kept are still those that would be measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from xling_utils import chapters, measures, records
from xling_utils.scales import scale as scale_of

CHAPTER = "01_data_size"


@pytest.mark.parametrize("chapter", chapters.MODULES)
def test_a_chapters_factors_are_columns_among_those_of_all(chapter: str) -> None:
    varied = chapters.module(chapter).COLUMNS
    found = measures.columns(chapter)
    assert found[:2] == ("experiment", "scale") and found[2 : 2 + len(varied)] == varied
    assert found[-5:] == ("value", "low", "high", "n", "run")
    assert len(set(found)) == len(found)
    assert list(measures.empty(chapter).columns) == list(found)
    scale = scale_of("smoke")
    for planned in chapters.module(chapter).grid(scale, ["fr"], 1, "all"):
        assert set(dict(planned.condition)) <= set(varied), "a condition that the table would lose"


def test_rows_are_kept_under_all_that_they_depend_on() -> None:
    scale = scale_of("smoke")
    first, second, *_ = chapters.module(CHAPTER).grid(scale, ["fr"], 1, "headline")
    known = measures.identity(CHAPTER, first, scale)
    assert known == measures.identity(CHAPTER, first, scale_of("smoke"))
    other = [
        measures.identity(CHAPTER, second, scale),
        measures.identity(CHAPTER, first, replace(scale, candidates=7)),
        measures.identity("02_window_size", first, scale),
    ]
    assert len({known, *other}) == 4


def test_every_room_that_rows_depend_on_is_there() -> None:
    package = Path(measures.__file__).parent
    for room in measures.ROOMS:
        assert list(package.glob(room)), room


def test_comparison_takes_a_number_for_the_same_however_its_column_was_read() -> None:
    which = {"experiment": "R12", "layers": 2, "task": "retrieval", "metric": "mrr", "step": None, "run": "a"}
    live = pd.DataFrame([which | {"value": 0.5, "low": 0.4, "high": 0.6, "n": 9}])
    recorded = live.assign(layers=2.0, step=float("nan"), value=0.25, low=0.0)
    recorded = pd.concat([recorded, recorded.assign(layers=4.0, value=0.1)])
    same = records.compare(live, recorded)
    assert same[["live", "recorded"]].to_numpy().tolist() == [[0.5, 0.25]]
    assert records.compare(live, recorded.assign(task="inference")).empty
