"""Charts over the weight of a shift: lines with intervals, for the layer that a slider picks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from xling_utils.charts.layer_shapes import bounds, kind_colours
from xling_utils.charts.shapes import measure_choice


def over_weights(
    rows: pd.DataFrame, *, kinds: Sequence[str], measures: Sequence[str], languages: Sequence[str], layers: int,
    layer: int, description: str,
) -> alt.LayerChart:  # fmt: skip
    """A line a kind over weights with bars from ``low`` to ``high``, for the language and measure chosen from lists
    below and the layer of a slider, ``layer`` at first.

    ``rows`` has columns ``kind``, ``measure``, ``language``, ``layer``, ``weight``, ``value``, ``low``, ``high``,
    ``seeds``. The legend picks a kind.
    """
    language = alt.param(
        name="language_shown", value=languages[0], bind=alt.binding_select(options=list(languages), name="Language ")
    )
    slider = alt.param(
        name="layer_shown", value=layer, bind=alt.binding_range(min=0, max=layers, step=1, name="Layer ")
    )
    chosen = "datum.measure == measure_shown && datum.language == language_shown && datum.layer == layer_shown"
    chart = _weights(alt.Chart(rows).transform_filter(chosen), kinds, None)
    chart = chart.add_params(measure_choice(measures), language, slider)
    return chart.properties(width="container", height=260, description=description).configure_view(stroke=None)


def over_weights_only(rows: pd.DataFrame, *, kinds: Sequence[str], y_title: str, description: str) -> alt.LayerChart:
    """The same of one measure, language and layer, with nothing to choose but the legend."""
    chart = _weights(alt.Chart(rows), kinds, y_title)
    return chart.properties(width="container", height=220, description=description).configure_view(stroke=None)


def _weights(rows: alt.Chart, kinds: Sequence[str], y_title: str | None) -> Any:
    pick = alt.selection_point(fields=["kind"], bind="legend", name="kind_pick")
    base = rows.encode(
        x=alt.X("weight:Q", title="weight of the shift", axis=alt.Axis(tickMinStep=1)),
        color=kind_colours(kinds),
        opacity=alt.condition(pick, alt.value(1.0), alt.value(0.12)),
        tooltip=["kind:N", "weight:Q", alt.Tooltip("value:Q", format=".3f"), *bounds(), "seeds:Q"],
    )
    y = alt.Y("value:Q", title=y_title, scale=alt.Scale(zero=True))
    lines = base.mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=60)).encode(y=y)
    bars = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", title=y_title), y2="high:Q")
    return alt.layer(bars.add_params(pick), lines)


def by_language(
    rows: pd.DataFrame, *, kinds: Sequence[str], measures: Sequence[str], languages: Sequence[str], description: str
) -> alt.LayerChart:
    """A line a language, a mark a kind with a bar from ``low`` to ``high``, for the measure chosen from a list below.

    ``rows`` has columns ``kind``, ``measure``, ``language``, ``value``, ``low``, ``high``, ``seeds``. The legend picks
    a kind.
    """
    pick = alt.selection_point(fields=["kind"], bind="legend", name="kind_pick")
    base = (
        alt.Chart(rows)
        .transform_filter("datum.measure == measure_shown")
        .encode(
            y=alt.Y("language:N", sort=list(languages), title=None, axis=alt.Axis(grid=True)),
            yOffset=alt.YOffset("kind:N", sort=list(kinds)),
            color=kind_colours(kinds),
            opacity=alt.condition(pick, alt.value(1.0), alt.value(0.12)),
            tooltip=["language:N", "kind:N", alt.Tooltip("value:Q", format=".3f"), *bounds(), "seeds:Q"],
        )
    )
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=None), x2="high:Q")
    marks = base.mark_point(size=55, filled=True).encode(x=alt.X("value:Q", title=None, scale=alt.Scale(zero=False)))
    chart = alt.layer(bars.add_params(pick), marks).add_params(measure_choice(measures))
    height = 34 * len(languages)
    return chart.properties(width="container", height=height, description=description).configure_view(stroke=None)
