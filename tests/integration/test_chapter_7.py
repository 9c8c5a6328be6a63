"""Chapter 7 at smoke scale: pairs of runs trained, compared, kept, and recorded with the provenance of both."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from tests import smoke
from xling_utils import chapters
from xling_utils.chapters import records
from xling_utils.chapters.cka import figures as cka_figures
from xling_utils.chapters.cka import plan as cka
from xling_utils.claims import listing
from xling_utils.core.scales import FIRST_REPORTED_SEED
from xling_utils.measures import pool
from xling_utils.runs.store import RunStore


@pytest.fixture(scope="module")
def table(smoke_store: RunStore) -> pd.DataFrame:
    return smoke.table(smoke_store, "07_cka", ("fr",), 1, "headline")


def test_every_pair_is_measured(table: pd.DataFrame) -> None:
    assert tuple(table.columns) == chapters.columns("07_cka")
    assert set(table["encoders"]) == {*cka.ENCODERS, cka.STATIC}
    assert set(table["experiment"]) == {"R28", "R29", "R30", "R31"}
    assert table["value"].between(-0.2, 1).all()
    alone = table.loc[table["beside"].isna(), "encoders"]
    assert set(alone) == {cka.BILINGUAL}
    assert (table["run"] != table["beside"]).all()
    assert len(listing.table("07_cka", "smoke", table, recorded=False)) >= 12
    assert cka_figures.heat_map(table) and cka_figures.retrieval(table) and cka_figures.words(table)


def test_two_encoders_of_english_are_the_most_alike(table: pd.DataFrame) -> None:
    mean = table[table["metric"] == "cka_debiased"].groupby("encoders")["value"].mean()
    assert mean[cka.SAME] == mean.max() and mean[cka.RANDOM] == mean.min()


def test_a_second_call_reads_what_was_measured(table: pd.DataFrame, smoke_store: RunStore, monkeypatch) -> None:
    monkeypatch.setenv("XLING_STORE", str(smoke_store.root))
    monkeypatch.setattr(pool, "ProcessPoolExecutor", None)  # nothing may be measured again
    pd.testing.assert_frame_equal(table, chapters.table("07_cka", "smoke", ("fr",), 1, "headline"))


def test_records_name_both_runs(table: pd.DataFrame, smoke_store: RunStore, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(records, "checkout", lambda what: tmp_path)
    path = records.write("07_cka", "smoke", table, smoke_store)
    runs = pd.read_csv(path.with_name("07_cka.smoke.runs.csv"))["run"]
    assert set(runs) == set(table["run"]) | set(table["beside"].dropna())


def test_several_that_add_to_the_records_at_once_lose_no_seed(
    table: pd.DataFrame, smoke_store: RunStore, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(records, "checkout", lambda what: tmp_path)
    seeds = range(40, 52)
    with ThreadPoolExecutor(len(seeds)) as several:
        add = partial(records.write, "07_cka", "smoke", store=smoke_store, add=True)
        (path, *_) = several.map(lambda seed: add(table.assign(seed=seed)), seeds)
    assert set(pd.read_csv(path)["seed"]) == set(seeds)


def test_the_plan_lists_both_runs_of_a_pair(smoke_store: RunStore, table: pd.DataFrame, monkeypatch) -> None:
    monkeypatch.setenv("XLING_STORE", str(smoke_store.root))
    rows = pd.DataFrame(chapters.plan("07_cka", "smoke"))
    of_two = rows[(rows["condition"] == f"encoders={cka.MONOLINGUAL}") & (rows["seed"] == FIRST_REPORTED_SEED)]
    assert not rows.duplicated(["languages", "seed", "parameters", "operations"]).any(), "a run counts once"
    assert {"en", "fr"} <= set(of_two["languages"]) and of_two[of_two["languages"] == "fr"]["stored"].all()
