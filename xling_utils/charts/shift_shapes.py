"""Charts over the weight of a shift: lines with intervals, for the layer that a slider picks."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from xling_utils.charts.contrast_shapes import NAME_OF_A_FLOOR, floor_lines
from xling_utils.charts.layer_shapes import by_kind, lines
from xling_utils.charts.shapes import framed, layer_choice, measure_choice, named_beside

WEIGHT = alt.X("weight:Q", title="weight of the shift", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(padding=14))

MOST = "datum.measure == 'BLEU-1' ? 100 : 1"
"""Where the chosen measure ends: BLEU is in percent."""
ROOM = 60
"""Pixels to the right of the axes, for differences."""


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
    chosen = "datum.measure == measure_shown && datum.language == language_shown && datum.layer == layer_shown"
    measure = measure_choice(measures)
    chart = lines(alt.Chart(rows).transform_filter(chosen), kinds, WEIGHT, None, most=MOST)
    chart = chart.add_params(measure, language, layer_choice(layer, layers))
    return framed(chart, description, title=named_beside(measure, "left"))


def over_weights_only(rows: pd.DataFrame, *, kinds: Sequence[str], y_title: str, description: str) -> alt.LayerChart:
    """The same of one measure, language and layer, with nothing to choose but the legend."""
    return framed(lines(alt.Chart(rows), kinds, WEIGHT, y_title), description, 220)


def by_language(
    rows: pd.DataFrame, floors: pd.DataFrame, *, kinds: Sequence[str], measures: Sequence[str], gain: str,
    description: str,
) -> alt.LayerChart:  # fmt: skip
    """A line a language, the best first, a mark a kind with a bar from ``low`` to ``high``, for the measure chosen from
    a list below; to the right a difference, under the heading ``gain``.

    ``rows`` has columns ``kind``, ``measure``, ``language``, ``value``, ``low``, ``high``, ``seeds`` and
    ``gained``, the difference of the language, in one of its rows and missing in the others; ``floors`` as
    ``contrast_shapes.contrasts`` takes them. The legend picks a kind.
    """
    measure = measure_choice(measures)
    chosen = alt.Chart(rows).transform_filter("datum.measure == measure_shown")
    pick, base = by_kind(chosen, kinds, "language:N", "kind:N", offset=NAME_OF_A_FLOOR)
    best_first = alt.EncodingSortField("value", "max", "descending")
    base = base.encode(y=alt.Y("language:N", sort=best_first, title=None, axis=alt.Axis(grid=True)))
    marked = base.encode(yOffset=alt.YOffset("kind:N", sort=list(kinds)))
    bars = marked.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=None), x2=alt.X2("high:Q"))
    marks = marked.mark_point(size=55, filled=True, opacity=1).encode(
        x=alt.X("value:Q", title=None, scale=alt.Scale(zero=False))
    )
    text = alt.MarkDef(type="text", align="left", dx=6, fontSize=11, color="currentColor")
    gained = (
        base.transform_filter("isValid(datum.gained)")
        .mark_text()
        .encode(
            x=alt.XValue("width"),
            text=alt.Text("gained:Q", format="+.3f"),
            color=alt.ColorValue("currentColor"),
            opacity=alt.OpacityValue(1),
        )
    )
    gained.mark = text
    heading = alt.Chart(pd.DataFrame({"gain": [gain]}), mark=text).encode(
        x=alt.XValue("width"), y=alt.YValue(-8), text=alt.Text("gain:N")
    )
    chart = alt.layer(bars.add_params(pick), marks, *floor_lines(floors), gained, heading).add_params(measure)
    height = 34 * rows["language"].nunique()
    return framed(
        chart,
        description,
        height,
        title=named_beside(measure),
        padding={"left": 5, "top": 5, "right": ROOM, "bottom": 5},
    )
