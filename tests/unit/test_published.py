"""The papers' tables under book/published: they parse, have the columns that charts read, and agree with themselves.

Every table has ``task``, ``metric`` and ``value``; the spread, where printed, is a standard deviation. ``enfake``
is Fake-English. Differences and averages that a paper prints are rows, named ``difference`` and ``avg``.
"""

from pathlib import Path

import pandas as pd
import pytest

from xling_utils.chapters.shared import published

FOLDER = Path(__file__).resolve().parents[2] / "book" / "published"
SCORE = ["task", "metric", "value"]
SHAPE = ["parameters", "layers", "heads", "model", "train", "test", *SCORE]
TABLES = {
    "E_table_1_overlap": (["model", "condition", "train", "test", *SCORE, "spread", "mark"], 20),
    "E_table_2_word_order": (["model", "permuted", "train", "test", *SCORE, "spread"], 24),
    "E_table_3_unigrams": (["model", "unigrams_only", "train", "test", *SCORE, "spread"], 12),
    "E_table_4_depth": (SHAPE, 21),
    "E_table_5_heads": (SHAPE, 21),
    "E_table_6_parameters": (SHAPE, 33),
    "E_table_7_four_languages": (["parameters", "share", *SHAPE[1:]], 28),
    "E_table_8_next_sentence": (["model", "next_sentence", "train", "test", *SCORE, "spread"], 24),
    "E_table_9_language_marker": (["model", "marker", "train", "test", *SCORE, "spread"], 24),
    "E_table_10_tokenization": (["model", "tokens", "train", "test", *SCORE, "spread"], 36),
    "E_table_11_mixed_languages": (["model", "train", "premise", "hypothesis", *SCORE], 12),
    "C_table_1_dissection": (
        ["group", "condition", "domain", "merges", "anchors", "shared", "softmax", "train", "test", *SCORE],
        120,
    ),
}
METRICS = {"XNLI": "accuracy", "NER": "F1", "Parsing": "LAS"}
ROUNDING = 0.05 + 1e-9


def value(name: str, **where: object) -> float:
    """The one number of a table at ``where``."""
    table = published.table(name)
    for column, wanted in where.items():
        table = table[table[column] == wanted]
    (found,) = table["value"]
    return float(found)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_its_columns_and_every_number_once(name: str) -> None:
    columns, rows = TABLES[name]
    table = published.table(name)
    assert list(table.columns) == columns
    assert len(table) == rows
    assert not table.drop(columns=["value", "spread"], errors="ignore").duplicated().any()
    empty_by_right = {"spread", "mark", "train"} if name == "E_table_1_overlap" else {"spread"}
    assert not table.drop(columns=empty_by_right, errors="ignore").isna().any().any()
    assert table["value"].between(0, 100).all()
    assert (table["metric"] == table["task"].map(METRICS)).all()
    if "spread" in columns:
        assert (table["spread"].notna() == (table["task"] == "NER")).all()


@pytest.mark.parametrize("name", TABLES)
def test_numbers_are_written_as_printed(name: str) -> None:
    table = pd.read_csv(FOLDER / f"{name}.csv", dtype=str)
    assert table["value"].str.fullmatch(r"\d+\.\d").all()
    if "spread" in table:
        assert table["spread"].dropna().str.fullmatch(r"\d\.\d").all()
    if "parameters" in table:
        assert table["parameters"].str.fullmatch(r"\d+\.\d\d").all()


@pytest.mark.parametrize(
    ("name", "where", "printed"),
    [
        ("E_table_1_overlap", {"model": "en-ru", "condition": "overlap", "task": "NER"}, 57.1),
        ("E_table_1_overlap", {"model": "en-enfake", "test": "en", "condition": "no overlap", "task": "XNLI"}, 77.5),
        ("E_table_2_word_order", {"test": "hi", "permuted": 1.0, "task": "NER"}, 2.9),
        ("E_table_2_word_order", {"test": "es", "permuted": 0.25, "task": "XNLI"}, 68.9),
        ("E_table_3_unigrams", {"test": "es", "unigrams_only": "yes", "task": "NER"}, 15.0),
        ("E_table_4_depth", {"layers": 24, "test": "ru"}, 67.6),
        ("E_table_5_heads", {"heads": 6, "test": "enfake"}, 78.9),
        ("E_table_6_parameters", {"parameters": 4.23, "test": "ru"}, 46.6),
        ("E_table_7_four_languages", {"layers": 36, "heads": 3, "test": "hi"}, 47.8),
        ("E_table_8_next_sentence", {"next_sentence": "no", "test": "es", "task": "NER"}, 64.6),
        ("E_table_9_language_marker", {"marker": "yes", "test": "hi", "task": "NER"}, 61.0),
        ("E_table_10_tokenization", {"tokens": "words", "test": "ru", "task": "NER"}, 46.4),
        ("E_table_11_mixed_languages", {"premise": "hi", "hypothesis": "enfake"}, 55.6),
        ("C_table_1_dissection", {"condition": "Sep L1-6", "test": "ru", "task": "Parsing"}, 31.6),
        ("C_table_1_dissection", {"condition": "Extra anchors", "test": "zh", "task": "XNLI"}, 72.1),
    ],
)
def test_spot_values(name: str, where: dict[str, object], printed: float) -> None:
    assert value(name, **where) == printed


def test_the_averages_of_c_are_the_means_of_their_cells() -> None:
    table = published.table("C_table_1_dissection")
    wide = table.pivot(index=["condition", "task"], columns="test", values="value")
    assert len(wide) == 30
    off = (wide["avg"] - wide[["fr", "ru", "zh"]].mean(axis=1)).abs()
    assert off.max() <= ROUNDING, off.idxmax()


def test_the_default_of_c_is_the_one_that_chapter_1_shows() -> None:
    table = published.table("C_table_1_dissection")
    default = table[table["condition"] == "Default"].pivot(index="task", columns="test", values="value")
    for row in published.table("C_table_1_default").itertuples():
        assert list(default.loc[row.task, ["fr", "ru", "zh"]]) == [row.fr, row.ru, row.zh]


@pytest.mark.parametrize("name", ["E_table_4_depth", "E_table_5_heads", "E_table_6_parameters"])
def test_the_differences_of_e_are_source_less_target(name: str) -> None:
    wide = published.table(name).pivot(index=["parameters", "layers", "heads"], columns="test", values="value")
    pd.testing.assert_series_equal((wide["enfake"] - wide["ru"]).round(1), wide["difference"], check_names=False)


def test_the_word_piece_contribution_of_e_is_overlap_less_none() -> None:
    table = published.table("E_table_1_overlap")
    table = table[table["task"] == "XNLI"].assign(pair=table["model"].str.split("-").str[-1])
    wide = table.pivot(index="pair", columns="condition", values="value")
    assert list(wide.index) == ["enfake", "es", "hi", "ru"]
    drop = (wide["overlap"] - wide["no overlap"]).round(1)
    pd.testing.assert_series_equal(drop, wide["difference"], check_names=False)


def test_the_shares_of_table_7_are_of_its_first_row() -> None:
    table = published.table("E_table_7_four_languages")
    assert ((table["parameters"] / 132.78 * 100 - table["share"]).abs() <= 0.01).all()


@pytest.mark.parametrize("task", ["XNLI", "NER"])
@pytest.mark.parametrize("language", ["es", "hi", "ru"])
def test_the_base_condition_of_e_is_the_same_in_every_table(language: str, task: str) -> None:
    where = {"model": f"enfake-{language}", "test": language, "task": task}
    base = value("E_table_1_overlap", **where)
    assert value("E_table_2_word_order", **where, permuted=0.0) == base
    assert value("E_table_3_unigrams", **where, unigrams_only="no") == base
    assert value("E_table_8_next_sentence", **where, next_sentence="yes") == base
    assert value("E_table_9_language_marker", **where, marker="no") == base
    source = {**where, "test": "enfake"}
    ours = value("E_table_8_next_sentence", **source, next_sentence="yes")
    assert value("E_table_9_language_marker", **source, marker="no") == ours
    if task == "XNLI":
        mixed = {"model": f"enfake-{language}"}
        assert value("E_table_11_mixed_languages", **mixed, premise=language, hypothesis=language) == base
        assert value("E_table_11_mixed_languages", **mixed, premise="enfake", hypothesis="enfake") == ours


def test_the_base_encoder_of_e_is_the_same_in_every_table() -> None:
    base = {"parameters": 132.78, "layers": 12, "heads": 12}
    for name in ("E_table_4_depth", "E_table_5_heads", "E_table_6_parameters"):
        assert value(name, **base, test="enfake") == 79.0
        assert value(name, **base, test="ru") == value("E_table_1_overlap", model="enfake-ru", task="XNLI")


def test_every_pair_and_condition_is_there() -> None:
    for name in ("E_table_8_next_sentence", "E_table_9_language_marker", "E_table_10_tokenization"):
        table = published.table(name)
        factor = table.columns[1]
        counts = table.groupby(["model", factor, "test", "task"]).size()
        assert len(counts) == len(table) == 3 * table[factor].nunique() * 2 * 2


METHODS = ("original", "zero-mean", "mean difference shift")


def test_d_compares_three_methods_on_the_same_languages() -> None:
    tatoeba = published.table("D_table_2_tatoeba").pivot(index="language", columns="method", values="value")
    assert tatoeba.shape == (11, 3) and set(tatoeba) == set(METHODS)
    better = tatoeba["mean difference shift"] > tatoeba["original"]
    assert set(tatoeba.index[~better]) == {"hi", "ru", "vi"}  # as D says in section 4.3
    bucc = published.table("D_table_3_bucc").pivot(index=["split", "language"], columns="method", values="value")
    assert bucc.shape == (8, 3)
    assert (bucc["mean difference shift"] > bucc["original"]).all() and (bucc["original"] > bucc["zero-mean"]).all()


def test_token_sets_share_less_than_they_hold() -> None:
    sets = published.table("A_table_3_token_sets").set_index("language")
    assert (sets["shared_with_en"] <= sets["tokens"]).all() and len(sets) == 7
    assert sets.loc["en"].tolist() == [9140, 9140]


def test_a_converts_more_with_more_weight_and_its_best_is_the_best() -> None:
    table = published.table("A_table_2_token_translation")
    rates = table[table["metric"] == "convert_rate"].pivot(index=["source", "target"], columns="weight", values="value")
    assert rates.shape == (12, 3) and (rates[3] > rates[2]).all() and (rates[2] > rates[1]).all()
    best = table[table["metric"] == "best_bleu1"].set_index(["source", "target"])["value"]
    fixed = table[table["metric"] == "bleu1"].set_index(["source", "target"])["value"]
    assert (best >= fixed).all() and best["en", "zh"] == 23.21


def test_the_averages_of_a_table_4_are_those_printed() -> None:
    table = published.table("A_table_4_inference")
    for name, printed in (("all layers", 58.00), ("last 6 layers", 61.80), ("last 6 layers, shifted", 62.24)):
        rows = table[table["fine_tuned"] == name].set_index("language")["value"]
        assert rows.drop(["average", "en"], errors="ignore").mean() == pytest.approx(printed, abs=0.01)
        assert rows["average"] == printed
    weights = table.dropna(subset="weight").set_index("language")["weight"]
    assert len(weights) == 11 and weights["zh"] == 2.0
