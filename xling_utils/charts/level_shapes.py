"""The chart of the appendix on scatter: values by the levels of what was varied."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from xling_utils.charts.shapes import framed, measure_choice

SOURCE_COLOURS = {"text": "#1F83C4", "weights": "#D55E00", "order": "#009E73"}
LINE = 17  # pixels


def levels(rows: pd.DataFrame, *, choices: Sequence[str], description: str) -> alt.LayerChart:
    """A line a ``level`` of a ``source`` (a key of ``SOURCE_COLOURS``), a mark for each ``value`` on it and a bar at
    their mean, for the ``condition`` chosen from a list below."""
    chosen = measure_choice(choices, "Of ")
    base = (
        alt.Chart(rows)
        .transform_filter(f"datum.condition == {chosen.name}")
        .encode(
            y=alt.Y("level:N", sort=list(rows["level"].unique()), title=None, axis=alt.Axis(grid=True)),
            color=alt.Color(
                "source:N",
                scale=alt.Scale(domain=list(SOURCE_COLOURS), range=list(SOURCE_COLOURS.values())),
                legend=None,  # the lines say it
            ),
        )
    )
    x = alt.X("value:Q", title="mean reciprocal rank, centred", scale=alt.Scale(zero=False))
    marks = base.mark_point(size=45, filled=True, opacity=0.7).encode(
        x=x, tooltip=[alt.Tooltip("level:N"), alt.Tooltip("value:Q", format=".3f")]
    )
    means = base.mark_tick(thickness=3, size=LINE - 4).encode(x=alt.X("mean(value):Q"))
    height = LINE * rows["level"].nunique()
    return framed(alt.layer(marks, means).add_params(chosen), description, height)
