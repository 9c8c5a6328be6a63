"""The chart of the front page: what is left when one thing is taken away."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from xling_utils.charts.contrast_shapes import placed
from xling_utils.charts.shapes import CONTRAST_MARKS, framed

WORLD_MARKS = {"controlled world": ("#1F83C4", "circle"), "real text": CONTRAST_MARKS["real text"]}
"""World -> colour and shape."""
LEAST, WHOLE, MOST = -0.1, 1.1, 1.7
"""Of shares, that are shown: from the first to the second, or where bars go beyond it, to the last."""
LINE = 30
"""Pixels of a thing."""


def shares(
    rows: pd.DataFrame, *, order: Sequence[str], groups: Sequence[str], x_title: str, description: str
) -> alt.LayerChart:
    """A line a thing, a mark a world with a bar from ``low`` to ``high``; the whole is at 100 %.

    ``rows`` has columns ``taken``, ``world``, ``left``, ``low``, ``high``, ``seeds``. Bars end, with
    an arrow where they go on, at -10 and 170 %; where none is longer, the axis ends at 110 %.
    """
    marks = [WORLD_MARKS[name] for name in groups]
    most = MOST if rows["high"].max() > WHOLE else WHOLE
    base = alt.Chart(placed(rows, groups, ["taken"], "world")).encode(
        y=alt.Y("taken:N", title=None, sort=list(order), axis=alt.Axis(labelLimit=230, ticks=False, domain=False)),
        yOffset=alt.YOffset("place:Q", scale=alt.Scale(domain=[-1, 1])),
        color=alt.Color(
            "world:N",
            scale=alt.Scale(domain=list(groups), range=[colour for colour, _ in marks]),
            legend=alt.Legend(title=None, orient="top"),
        ),
        tooltip=[
            alt.Tooltip("taken:N"),
            alt.Tooltip("world:N"),
            alt.Tooltip("left:Q", format=".0%"),
            alt.Tooltip("low:Q", format=".0%", title="95 % low"),
            alt.Tooltip("high:Q", format=".0%", title="95 % high"),
            alt.Tooltip("seeds:Q"),
        ],
    )
    x = alt.X(
        "left:Q",
        title=x_title,
        axis=alt.Axis(labelExpr="format(100 * datum.value, '.0f') + '\N{NO-BREAK SPACE}%'", tickCount=5),
        scale=alt.Scale(domain=[LEAST, most], nice=False),
    )
    bars = base.mark_rule(strokeWidth=2.5, clip=True).encode(x=alt.X("low:Q", title=x_title), x2=alt.X2("high:Q"))
    shape = alt.Shape("world:N", scale=alt.Scale(domain=list(groups), range=[shape for _, shape in marks]))
    points = base.mark_point(size=80, filled=True, opacity=1, clip=True).encode(x=x, shape=shape)
    beyond = [
        base.transform_filter(f"datum.{end} {sign} {edge}")
        .mark_point(size=45, filled=True, opacity=1, shape=shape)  # type: ignore[arg-type]
        .encode(x=alt.XDatum(edge))
        for end, sign, edge, shape in (("low", "<", LEAST, "triangle-left"), ("high", ">", most, "triangle-right"))
    ]
    lines = (
        alt.Chart(pd.DataFrame({"at": [0, 1]})).mark_rule(strokeDash=[4, 4], color="#888888").encode(x=alt.X("at:Q"))
    )
    return framed(alt.layer(lines, bars, points, *beyond), description, LINE * len(order))
