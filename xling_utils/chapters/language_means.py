"""Chapter 5: where is the language in an encoder, and what is left without it? (R21 to R23)"""

from __future__ import annotations

from typing import Any

import pandas as pd

from xling_utils.chapters import Planned
from xling_utils.chapters.joint import D_LAYER, TRAINED, UNTRAINED, grid, interval, layer_at
from xling_utils.language_means import ALL, LANGUAGE_MEANS
from xling_utils.sentence_retrieval import METHODS
from xling_utils.verdicts import Verdict, direction

__all__ = ["CHAPTER", "COLUMNS", "experiment", "grid", "tasks"]

CHAPTER = "05_language_means"
COLUMNS = ("model", "method", "unit")
"""``method`` says what was done with the languages' means, ``unit`` what these are means of."""
EXPERIMENTS = {"p_at_1": "R22", "mined_f1": "R23"}
ORIGINAL, ZERO_MEAN, SHIFT = METHODS


def tasks(planned: Planned) -> tuple[str, ...]:
    """The one task of the chapter."""
    return (LANGUAGE_MEANS,)


def experiment(condition: dict[str, Any], row: dict[str, Any]) -> str | None:
    """Retrieval is R22, mining R23, and all that is read off states and tokens R21."""
    return EXPERIMENTS.get(row["metric"], "R21")


def of(table: pd.DataFrame, metric: str, method: str | None, model: str = TRAINED, unit: str = "token") -> pd.DataFrame:
    """Rows of one metric, model and method (``None``: of what has none), with means over ``unit``."""
    rows = table[(table["metric"] == metric) & (table["model"] == model)]
    rows = rows[rows["method"].isna() if method is None else rows["method"] == method]
    return rows[rows["unit"].isna() | (rows["unit"] == unit)]


def values(table: pd.DataFrame, metric: str, method: str, layer: int | None = None, **which: str) -> pd.Series:
    """Values at one layer (``None``: the mean of all) by seed and language."""
    rows = of(table, metric, method, **which)
    rows = rows if layer is None else rows[rows["layer"] == layer]
    return rows.groupby(["seed", "source"])["value"].mean()


def verdicts(table: pd.DataFrame) -> list[Verdict]:
    """What A and D claim of the languages' means, tested at D's depth where a layer must be chosen."""
    layer = layer_at(D_LAYER, table)

    def gain(metric: str, first: str, second: str, at: int | None) -> Any:
        return interval(values(table, metric, first, at) - values(table, metric, second, at))

    found = [
        direction(
            "A linear probe tells the language of a token less well without the language's mean", "A sec. 4.1",
            "probe accuracy over all layers, original - zero-mean", gain("probe_accuracy", ORIGINAL, ZERO_MEAN, None),
        ),
        direction(
            "Training puts more of the variance between the languages", "A sec. 4.1",
            f"share of variance over all layers, {TRAINED} - {UNTRAINED}",
            interval(
                values(table, "variance_between", ORIGINAL)
                - values(table, "variance_between", ORIGINAL, model=UNTRAINED)
            ),
        ),
    ]  # fmt: skip
    for metric, name, where in (("p_at_1", "Retrieval", "D Table 2"), ("mined_f1", "Mining", "D Table 3")):
        for text, first, second in (
            ("gains by the shift", SHIFT, ORIGINAL),
            ("loses by zero-mean", ORIGINAL, ZERO_MEAN),
            ("gains more by the shift than by zero-mean", SHIFT, ZERO_MEAN),
        ):
            quantity = f"{'P@1' if metric == 'p_at_1' else 'F1'} at layer {layer}, {first} - {second}"
            found.append(direction(f"{name} {text}", where, quantity, gain(metric, first, second, layer)))
    for method in (ORIGINAL, ZERO_MEAN):
        learned = values(table, "p_at_1", method, layer) - values(table, "p_at_1", method, layer, model=UNTRAINED)
        quantity = f"P@1 at layer {layer}, {method}, {TRAINED} - {UNTRAINED}"
        found.append(direction(f"What is found is learned (control, {method})", "–", quantity, interval(learned)))
    return [verdict for verdict in found if verdict.interval.n]


def languages(table: pd.DataFrame) -> list[str]:
    """The languages beside English that a table measures, in its order."""
    return [language for language in dict.fromkeys(table["source"]) if language not in ("en", ALL)]
