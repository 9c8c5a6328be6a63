"""Chapters 5 and 6 at smoke scale: one encoder of three languages, its means, and what a shift makes of it."""

from __future__ import annotations

import pandas as pd
import pytest

from tests import smoke
from xling_utils import chapters
from xling_utils.chapters.language_means import figures as means_figures
from xling_utils.chapters.language_means import plan as language_means
from xling_utils.chapters.mds import figures as mds_figures
from xling_utils.chapters.shared import joint
from xling_utils.claims import listing
from xling_utils.core.scales import FIRST_REPORTED_SEED, scale
from xling_utils.measures.tasks import token_translation
from xling_utils.runs.store import RunStore

LANGUAGES = ("fr", "zh")
LAYERS = scale("smoke").multilingual.encoder.layers


@pytest.fixture(scope="module")
def tables(smoke_store: RunStore) -> dict[str, pd.DataFrame]:
    chapters_of_one_encoder = ("05_language_means", "06_mds")
    return {chapter: smoke.table(smoke_store, chapter, LANGUAGES, 2, "headline") for chapter in chapters_of_one_encoder}


def test_both_chapters_look_into_the_same_runs(tables: dict[str, pd.DataFrame]) -> None:
    runs = {chapter: set(table["run"]) for chapter, table in tables.items()}
    assert runs["05_language_means"] == runs["06_mds"] and len(runs["06_mds"]) == 4
    for chapter, table in tables.items():
        assert tuple(table.columns) == chapters.columns(chapter)
        assert set(table["model"]) == {joint.TRAINED, joint.UNTRAINED}


def test_every_layer_language_and_method_is_measured(tables: dict[str, pd.DataFrame]) -> None:
    table = tables["05_language_means"]
    found = table[(table["model"] == joint.TRAINED) & (table["seed"] == FIRST_REPORTED_SEED)]
    per_language = (LAYERS + 1) * 5  # original, and two methods with two kinds of means
    assert (found["metric"] == "p_at_1").sum() == len(LANGUAGES) * per_language
    assert (found["metric"] == "mined_f1").sum() == len(LANGUAGES) * (LAYERS + 1) * 3
    assert set(table["experiment"]) == {"R21", "R22", "R23"}
    assert not found.drop(columns=["method", "unit", "layer", "step", "low", "high"]).isna().any().any()


def test_without_their_means_no_variance_lies_between_languages(tables: dict[str, pd.DataFrame]) -> None:
    table = tables["05_language_means"]
    shares = {
        method: language_means.of(table, "variance_between", method)["value"] for method in ("original", "zero-mean")
    }
    assert (shares["original"].to_numpy() > shares["zero-mean"].to_numpy()).all()
    probe = language_means.of(table, "probe_accuracy", "original")["value"]
    assert probe.min() > 1.2 * language_means.of(table, "random", None)["value"].iloc[0]


def test_figures_tables_and_verdicts_of_chapter_5(tables: dict[str, pd.DataFrame]) -> None:
    table = tables["05_language_means"]
    assert means_figures.identity(table).to_dict()
    assert means_figures.by_method(table, "mined_f1", "F1", "A description.").to_dict()
    assert means_figures.by_method(table[table["metric"] != "mined_f1"], "mined_f1", "F1", "") is None
    beside = means_figures.beside_paper(table, "p_at_1", "D_table_2_tatoeba").set_index("language")
    assert beside.loc["French", "original, paper"] == 64.3 and beside.shape == (2, 6)
    assert (
        means_figures.token_sets(table)["shared with English"].iloc[0] == means_figures.token_sets(table)["tokens"][0]
    )
    assert len(means_figures.units(table)) == LAYERS + 1
    assert len(listing.table("05_language_means", "smoke", table, recorded=False)) >= 10


def test_nothing_converts_unmoved_and_both_directions_are_there(tables: dict[str, pd.DataFrame]) -> None:
    table = tables["06_mds"]
    table = table[table["task"] == token_translation.TOKEN_TRANSLATION]
    assert {tuple(pair) for pair in table[["source", "target"]].drop_duplicates().to_numpy()} == {
        ("en", "fr"), ("fr", "en"), ("en", "zh"), ("zh", "en"),
    }  # fmt: skip
    trained = table[table["model"] == joint.TRAINED]
    metrics = {"convert_rate", "bleu1", "third_rate"}
    assert set(trained["metric"]) == metrics
    assert len(trained) == 2 * 4 * (LAYERS + 1) * len(token_translation.WEIGHTS) * len(metrics)
    still = trained[trained["weight"] == 0].groupby(["seed", "source", "target", "metric"])["value"]
    assert (still.nunique(dropna=False) == 1).all(), "a weight of 0 is the same at every layer"


def test_figures_tables_and_verdicts_of_chapter_6(tables: dict[str, pd.DataFrame]) -> None:
    table = tables["06_mds"]
    assert mds_figures.over_weights(table).to_dict() and mds_figures.grid_of(table).to_dict()
    best = mds_figures.best(table).set_index("direction")
    assert best.loc["English to French", "best, paper"] == 12.18
    assert (best["best BLEU-1"] > best["unmoved"] - 1e-6).all()
    assert len(listing.table("06_mds", "smoke", table, recorded=False)) >= 14
    assert {"R24", "R25", "R26", "R27"} == set(table["experiment"])
    assert mds_figures.inference(table).to_dict() and mds_figures.syntax(table).to_dict()
    alone = table[table["task"] == token_translation.TOKEN_TRANSLATION]
    assert mds_figures.syntax(alone) is None
    assert len(listing.table("06_mds", "smoke", alone, recorded=False)) >= 7
    beside = mds_figures.inference_beside_paper(table).set_index("language")
    assert beside.loc["French", "last 6 layers, paper"] == 72.95 and beside.loc["French", "weight"] > 0


def test_one_seed_is_judged_over_languages(tables: dict[str, pd.DataFrame]) -> None:
    table = tables["06_mds"]
    one = listing.table("06_mds", "smoke", table[table["seed"] == FIRST_REPORTED_SEED], recorded=False)
    assert one["this machine"].str.contains(f"({len(LANGUAGES)} languages)", regex=False).any()


def test_the_plan_names_the_multilingual_run() -> None:
    rows = chapters.plan("05_language_means", "smoke")
    assert {row["condition"] for row in rows} == {f"model={joint.TRAINED}", f"model={joint.UNTRAINED}"}
    assert all(row["languages"].count("-") == 14 for row in rows)
