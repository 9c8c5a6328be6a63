"""Any two conditions beside each other at every layer, chosen by the reader: from disk, without a kernel."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from xling_utils.charts.layer_shapes import BESIDE, HUES
from xling_utils.charts.shapes import framed, measure_choice, tooltip, whose_choice, within

FIRST, SECOND, *_ = HUES
CHANCE = "chance"


def pairs(
    rows: pd.DataFrame, *, conditions: Sequence[str], measures: Sequence[str], description: str
) -> alt.LayerChart:
    """Two lines over the layers with bars from ``low`` to ``high``, and chance: lists below the chart choose the two of
    ``conditions``, whose values they are (a language's, over seeds, or those of one seed) and the measure.

    ``rows`` has columns ``condition`` (:data:`CHANCE` among them), ``whose``, ``measure``, ``layer``, ``value``,
    ``low``, ``high``, ``seeds``.
    """
    first, second = (
        alt.param(name=name, value=value, bind=alt.binding_select(options=list(conditions), name=label))
        for name, label, value in (
            ("first_shown", "Compare ", conditions[0]),
            ("second_shown", "with ", conditions[1]),
        )
    )
    of = whose_choice(rows)
    x = alt.X("layer:O", title="layer", axis=alt.Axis(labelAngle=0))
    y = alt.Y("value:Q", title="mean reciprocal rank", scale=alt.Scale(zero=True))
    chosen = (
        within(alt.Chart())  # `rows`, which all layers share: Altair writes them once
        .transform_filter("datum.whose == whose_shown")
        .transform_filter("datum.measure == measure_shown")
    )
    nothing = alt.Chart(pd.DataFrame([{}]))  # for marks of the legend
    layers = [
        chosen.transform_filter(f"datum.condition == '{CHANCE}'")
        .mark_rule(strokeDash=[4, 4], color="#888888")
        .encode(y=alt.Y("mean(value):Q"))
    ]
    for name, colour, aside, above in ((first.name, FIRST, -BESIDE, -30), (second.name, SECOND, BESIDE, -14)):
        one = chosen.transform_filter(f"datum.condition == {name}").encode(
            x=x, tooltip=tooltip("condition:N", "layer:O")
        )
        bars = one.mark_rule(strokeWidth=2, color=colour, xOffset=aside)
        layers += [
            one.mark_line(strokeWidth=2.5, color=colour, xOffset=aside).encode(y=y),
            bars.encode(y=alt.Y("bottom:Q", title="mean reciprocal rank"), y2=alt.Y2("top:Q")),
            one.mark_point(size=75, filled=True, opacity=1, color=colour, xOffset=aside).encode(y=y),
            nothing.mark_point(size=75, filled=True, opacity=1, color=colour, x=4, y=above),
            nothing.mark_text(align="left", fontSize=12, color="currentColor", x=14, y=above).encode(
                text=alt.TextValue(alt.ExprRef(name))
            ),
        ]
    chart = alt.layer(*layers, data=rows)
    return framed(chart.add_params(first, second, of, measure_choice(measures)), description)
