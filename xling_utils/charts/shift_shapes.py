"""Charts over the weight of a shift: lines with intervals, for the layer that a slider picks."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from xling_utils.charts.layer_shapes import by_kind, lines
from xling_utils.charts.shapes import framed, measure_choice

WEIGHT = alt.X("weight:Q", title="weight of the shift", axis=alt.Axis(tickMinStep=1))


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
    chart = lines(alt.Chart(rows).transform_filter(chosen), kinds, WEIGHT, None)
    return framed(chart.add_params(measure_choice(measures), language, slider), description)


def over_weights_only(rows: pd.DataFrame, *, kinds: Sequence[str], y_title: str, description: str) -> alt.LayerChart:
    """The same of one measure, language and layer, with nothing to choose but the legend."""
    return framed(lines(alt.Chart(rows), kinds, WEIGHT, y_title), description, 220)


def by_language(
    rows: pd.DataFrame, *, kinds: Sequence[str], measures: Sequence[str], languages: Sequence[str], description: str
) -> alt.LayerChart:
    """A line a language, a mark a kind with a bar from ``low`` to ``high``, for the measure chosen from a list below.

    ``rows`` has columns ``kind``, ``measure``, ``language``, ``value``, ``low``, ``high``, ``seeds``. The legend picks
    a kind.
    """
    chosen = alt.Chart(rows).transform_filter("datum.measure == measure_shown")
    pick, base = by_kind(chosen, kinds, "language:N", "kind:N")
    base = base.encode(
        y=alt.Y("language:N", sort=list(languages), title=None, axis=alt.Axis(grid=True)),
        yOffset=alt.YOffset("kind:N", sort=list(kinds)),
    )
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=None), x2="high:Q")
    marks = base.mark_point(size=55, filled=True).encode(x=alt.X("value:Q", title=None, scale=alt.Scale(zero=False)))
    chart = alt.layer(bars.add_params(pick), marks).add_params(measure_choice(measures))
    return framed(chart, description, 34 * len(languages))
