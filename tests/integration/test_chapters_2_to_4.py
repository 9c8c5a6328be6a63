"""Every run of chapters 2 to 4 at smoke scale: trained, stored, measured, labelled, drawn."""

from __future__ import annotations

import pandas as pd
import pytest

from tests import smoke
from xling_utils.chapters.architecture import figures as architecture_figures
from xling_utils.chapters.architecture import plan as architecture
from xling_utils.chapters.overlap import plan as overlap
from xling_utils.chapters.shared import contrast_figures, published
from xling_utils.chapters.window_size import plan as window_size
from xling_utils.claims import listing
from xling_utils.core.scales import scale
from xling_utils.runs.store import RunStore

SMOKE, LANGUAGES = scale("smoke"), ("fr", "es", "de")


@pytest.fixture(scope="module")
def tables(smoke_store: RunStore) -> dict[str, pd.DataFrame]:
    chapters = ("02_window_size", "03_overlap", "04_architecture")
    return {chapter: smoke.table(smoke_store, chapter, LANGUAGES, 1, "all") for chapter in chapters}


def test_every_experiment_has_rows(tables: dict[str, pd.DataFrame]) -> None:
    experiments = set().union(*(table["experiment"] for table in tables.values()))
    assert experiments == {f"R{n:02d}" for n in (3, 4, *range(6, 20), 33)}
    for table in tables.values():
        assert set(table["task"]) == {"word retrieval", "NLI", "NER"}
        assert table["value"].between(0, 1).all()


def test_mixed_pairs_are_those_of_one_encoder_for_all(tables: dict[str, pd.DataFrame]) -> None:
    rows = tables["03_overlap"]
    assert set(rows.loc[rows["experiment"] == "R11", "condition"]) == set(overlap.EXPERIMENTS)
    shown = overlap.mixed(rows, "fr")
    assert list(shown.columns) == ["condition", "en / en", "fr / fr", "en / fr", "fr / en"]
    rows = tables["04_architecture"]
    mixed = rows[rows["metric"] == "accuracy_mixed"]
    assert "separate" not in set(mixed["factor"])


def drawn(rows: pd.DataFrame, table: pd.DataFrame, conditions: list[str]) -> dict:
    floors = contrast_figures.floors(table[table["target"] == "fr"])
    chart = contrast_figures.figure(rows, floors, conditions, "A description.")
    return chart.to_dict()


def test_figures_show_every_condition(tables: dict[str, pd.DataFrame]) -> None:
    none = pd.DataFrame()
    windows = window_size.named(tables["02_window_size"], "BERT", SMOKE)
    rows = contrast_figures.rows_of(windows, none, SMOKE, "condition", "fr")
    assert set(rows["condition"]) == set(window_size.names(SMOKE))
    assert drawn(rows, windows, window_size.names(SMOKE))["description"] == "A description."
    rows = contrast_figures.rows_of(tables["03_overlap"], none, SMOKE, "condition", "fr")
    both = pd.concat([rows, overlap.paper_overlap(published.table)])
    assert set(both["shown"]) == {"this machine", "paper E", "paper C"}
    assert drawn(both, tables["03_overlap"], list(overlap.OVERLAP))
    for factor in list(architecture.EXPERIMENTS)[1:]:
        own = architecture.of_factor(tables["04_architecture"], factor, SMOKE)
        rows = contrast_figures.rows_of(own, none, SMOKE, "level", "fr")
        levels = architecture_figures.levels(factor, rows, SMOKE)
        assert levels and set(levels) == set(rows["condition"])
        assert drawn(rows, own, levels)


def test_claims_are_tested_and_one_seed_decides_nothing(tables: dict[str, pd.DataFrame]) -> None:
    for chapter, table in tables.items():
        alone = listing.table(chapter, "smoke", table, recorded=False)
        assert len(alone) >= 5 and alone["this machine"].dropna().str.endswith("(1)").all(), chapter
        assert (alone["verdict"] != "").equals(alone["id"] != ""), "a verdict a claim"
        said = set(alone["verdict"].str.replace(r" \(\d of \d tests\)|; .* not asked", "", regex=True))
        assert said <= {"cannot tell", "not testable at this size", ""}, chapter
