"""Chapter 5: where is the language in an encoder, and what is left without it? (R21 to R23)"""

from __future__ import annotations

from typing import Any

import pandas as pd

from xling_utils.chapters.planning import Chapter, Planned
from xling_utils.chapters.shared.joint import TRAINED, grid
from xling_utils.measures.names import ALL, LANGUAGE_MEANS, METHODS

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


DECLARED = Chapter(CHAPTER, COLUMNS, grid, tasks, experiment)


def of(table: pd.DataFrame, metric: str, method: str | None, model: str = TRAINED, unit: str = "token") -> pd.DataFrame:
    """Rows of one metric, model and method (``None``: of what has none), with means over ``unit``."""
    rows = table[(table["metric"] == metric) & (table["model"] == model)]
    rows = rows[rows["method"].isna() if method is None else rows["method"] == method]
    return rows[rows["unit"].isna() | (rows["unit"] == unit)]


def languages(table: pd.DataFrame) -> list[str]:
    """The languages beside English that a table measures, in its order."""
    return [language for language in table["source"].unique() if language not in ("en", ALL)]
