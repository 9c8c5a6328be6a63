"""The chart of chapters 2 to 4 and the appendix: what each condition leaves of a measure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import cycle

import altair as alt
import pandas as pd

from xling_utils.charts.shapes import (
    CONTRAST_MARKS,
    LANGUAGE_MARKS,
    MEAN,
    framed,
    measure_choice,
    named_beside,
    tooltip,
    within,
)

TWO_LINES = (
    "split(replace(replace(datum.label, regexp('^(?=.{20})(.*?), '), '$1,|'), "
    "regexp('^(?=[^|]{20})([^|]{8,18}) ([^|]+)$'), '$1|$2'), '|')"
)
"""The label of an axis, a long one broken at its comma or at a space."""
CENTRED = {"condition": {"test": f"length({TWO_LINES}) > 1", "value": -6}, "value": 0}
"""Of two lines the first would stand beside the tick."""
EDGE = 0.005
"""Values below it are drawn at the edge."""
APART = 0.35
"""Of a mark's place, between the marks of a condition and those of the next."""
NAME_OF_A_FLOOR = 28
"""Pixels for it between the axes and the legend, of which it would look like a part."""


def contrasts(
    rows: pd.DataFrame, floors: pd.DataFrame, *, conditions: Sequence[str], measures: Sequence[str], description: str
) -> alt.LayerChart:
    """One line a condition, for the measure chosen from a list below: a mark at ``value``, a bar from ``low`` to
    ``high`` over seeds, but not beyond 0 and 1. Marks stand around the middle of their line, those of languages side by
    side beneath :data:`MEAN`.

    ``rows`` has columns ``condition``, ``measure``, ``shown`` (a key of ``CONTRAST_MARKS``, or another language),
    ``value``, ``low``, ``high`` (no bar where they are NaN), ``seeds``; ``floors`` (``measure``, ``name``, ``value``)
    are drawn as dashed lines.
    """
    measure = measure_choice(measures)
    two_lines = alt.Axis(labelLimit=150, grid=True, labelExpr=TWO_LINES, labelOffset=CENTRED)
    known = [name for name in CONTRAST_MARKS if name in rows["shown"].unique()]
    others = [name for name in rows["shown"].unique() if name not in CONTRAST_MARKS]
    marked = {name: CONTRAST_MARKS[name] for name in known}
    free = [mark for mark in LANGUAGE_MARKS.values() if mark not in marked.values()] or list(LANGUAGE_MARKS.values())
    marked |= dict(zip(others, cycle(free), strict=False))
    shown = list(marked)
    legend = alt.Legend(title=None, orient="top", values=_of_measure(rows, shown), offset=NAME_OF_A_FLOOR)
    beneath = [name for name in shown if MEAN in shown and (name in LANGUAGE_MARKS or name in others)]
    beside = {name: "languages" if name in beneath else name for name in shown}
    heights = list(dict.fromkeys(beside.values()))
    most = len(heights) / 2 + (APART if len(heights) > 1 else 0)
    base = (
        within(
            alt.Chart(
                placed(rows.assign(beside=rows["shown"].map(beside)), heights, ["condition", "measure"], "beside")
            )
        )
        .transform_filter("datum.measure == measure_shown")
        .encode(
            y=alt.Y("condition:N", sort=list(conditions), title=None, axis=two_lines),
            yOffset=alt.YOffset("place:Q", scale=alt.Scale(domain=[-most, most])),
            color=alt.Color(
                "shown:N",
                scale=alt.Scale(domain=shown, range=[marked[name][0] for name in shown]),
                legend=legend,
            ),
            tooltip=tooltip("condition:N", alt.Tooltip("shown:N", title="source")),
        )
    )
    at_edge = 10 if rows["value"].min() < EDGE else 0  # pixels, so that no mark stands on names of conditions
    x = alt.X("value:Q", title=None, scale=alt.Scale(zero=True, padding=at_edge, nice=not at_edge))
    bars = base.mark_rule(strokeWidth=2.5).encode(x=alt.X("bottom:Q", title=None), x2=alt.X2("top:Q"))
    marks = base.mark_point(filled=True, opacity=1).encode(
        x=x,
        size=alt.condition(alt.FieldOneOfPredicate("shown", beneath), alt.value(60), alt.value(110)),
        shape=alt.Shape(
            "shown:N",
            scale=alt.Scale(domain=shown, range=[marked[name][1] for name in shown]),
            legend=legend,
        ),
    )
    chart = alt.layer(bars, marks, *floor_lines(floors))
    line_height = max(36, 14 * len(heights))  # room for the marks of a condition, one below the other
    height = max(120, line_height * len(conditions))
    return framed(chart.add_params(measure), description, height, title=named_beside(measure))


def floor_lines(floors: pd.DataFrame) -> tuple[alt.Chart, alt.Chart]:
    """What knowing nothing gets at the measure that is chosen, ``floors`` as in :func:`contrasts`: dashed lines, and
    their names above the axes, where no mark is."""
    line = alt.Chart(floors).transform_filter("datum.measure == measure_shown").encode(x=alt.X("value:Q"))
    name = line.mark_text(baseline="bottom", dy=-3, color="currentColor", fontSize=11)
    return line.mark_rule(strokeDash=[4, 4], color="#888888"), name.encode(y=alt.YValue(0), text=alt.Text("name:N"))


def placed(rows: pd.DataFrame, shown: Sequence[str], line: Sequence[str], told: str) -> pd.DataFrame:
    """With ``place``, that of a mark in its line: those of ``shown``, which the column ``told`` names, that a ``line``
    (a value of these columns) has stand around its middle, in order."""
    there = [(name, set(of[told])) for name, of in rows.groupby(list(line))]
    places = {
        (*name, mark): number - (len(marks) - 1) / 2
        for name, marks in there
        for number, mark in enumerate(mark for mark in shown if mark in marks)
    }
    keys = zip(*(rows[column] for column in (*line, told)), strict=True)
    return rows.assign(place=[places[key] for key in keys])


def _of_measure(rows: pd.DataFrame, shown: Sequence[str]) -> alt.ExprRef:
    """Those of ``shown`` that the chosen measure has, for the legend."""
    by = {name: [mark for mark in shown if mark in set(of["shown"])] for name, of in rows.groupby("measure")}
    return alt.ExprRef(f"({json.dumps(by)})[measure_shown]")
