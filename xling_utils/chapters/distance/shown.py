"""What the notebook on distance shows, of the chapter as it was opened."""

from __future__ import annotations

from math import isnan
from typing import Any

import pandas as pd

from xling_utils.chapters.distance.plan import DEFAULT, DISTANT
from xling_utils.chapters.opening import Opened
from xling_utils.chapters.shared import contrast_figures as figures
from xling_utils.chapters.shared.contrasts import targets
from xling_utils.measures import Interval

CONDITIONS = (DEFAULT, *DISTANT)


def figure(chapter: Opened) -> Any:
    """Figure: every condition in each of its languages, for the measure that the reader picks; none of no runs."""
    from xling_utils.charts.shapes import ORIGIN

    found = chapter.both
    rows = figures.means_of_languages(figures.each_language(found, chapter.sizes, "condition"), "condition")
    rows[ORIGIN] = "this machine" if found is chapter.measured else "recorded"
    floor = figures.floors(found[found["target"].isin(targets(found))])
    told = "Retrieval, inference and named entities of a close and of distant languages, condition by condition."
    return figures.figure(rows, floor, CONDITIONS, told)


def less(chapter: Opened) -> pd.DataFrame | None:
    """How much more the close language has than a distant one, condition by condition and paired by seed: a mean with
    its 95 % interval in each measure. None where there is nothing to compare."""
    from xling_utils.charts import LANGUAGE_NAMES

    every = figures.each_language(chapter.both, chapter.sizes, "condition")
    if chapter.base not in every:
        return None
    close = every.pop(chapter.base)
    found: list[dict[str, str | None]] = [
        {
            "condition": condition,
            "more than": LANGUAGE_NAMES[language],
            **{figures.short(measure): _more(close, rows, condition, measure) for measure in figures.MEASURES},
        }
        for condition in CONDITIONS
        for language, rows in every.items()
        if condition in rows["condition"].unique()
    ]
    return pd.DataFrame(found) if found else None


def _more(close: pd.DataFrame, distant: pd.DataFrame, condition: str, measure: str) -> str | None:
    of = [rows[(rows["condition"] == condition) & (rows["measure"] == measure)] for rows in (close, distant)]
    more: Interval = figures.paired(*(rows.drop(columns="partner") for rows in of)).drawn()
    if not more.n:
        return None
    return f"{more.value:z.2f}" + ("" if isnan(more.low) else f" ({more.low:z.2f} to {more.high:z.2f})")
