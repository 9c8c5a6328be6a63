"""Bars with intervals: a language at a layer that the reader picks, and groups side by side."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from xling_utils.charts.shapes import MODEL_COLOURS, SHOWN_COLOURS, framed, layer_choice, tooltip


def by_layer(rows: pd.DataFrame, *, languages: Sequence[str], layers: int, description: str) -> alt.LayerChart:
    """Bars a language at the layer that the slider picks. Columns ``language, layer, value, low, high, seeds``."""
    layer = layer_choice(layers // 2, layers)
    base = (
        alt.Chart(rows)
        .transform_filter(f"datum.layer == {layer.name}")
        .encode(x=alt.X("language:N", sort=list(languages), title=None, axis=alt.Axis(labelAngle=-40)))
    )
    top = float(rows["high"].fillna(rows["value"]).max())
    y = alt.Y("value:Q", title="mean reciprocal rank", scale=alt.Scale(domain=[0, top]))
    bars = base.mark_bar(color=MODEL_COLOURS["BERT"]).encode(y=y, tooltip=tooltip("language:N", "layer:Q"))
    return framed(alt.layer(bars, *_whiskers(base)).add_params(layer), description)


def grouped_bars(rows: pd.DataFrame, *, groups: Sequence[str], description: str) -> alt.LayerChart:
    """For each group the values of what is shown (keys of ``SHOWN_COLOURS``) side by side. Columns ``group, shown,
    value, low, high, seeds``."""
    shown = list(rows["shown"].unique())
    base = alt.Chart(rows).encode(
        x=alt.X("group:N", sort=list(groups), title=None, axis=alt.Axis(labelAngle=-40)),
        xOffset=alt.XOffset("shown:N", sort=shown),
        color=alt.Color(
            "shown:N",
            scale=alt.Scale(domain=shown, range=[SHOWN_COLOURS[name] for name in shown]),
            legend=alt.Legend(title=None, orient="top", columns=2, labelLimit=240),
        ),
        tooltip=tooltip("group:N", "shown:N"),
    )
    bars = base.mark_bar().encode(y=alt.Y("value:Q", title="mean reciprocal rank"))
    return framed(alt.layer(bars, *_whiskers(base)), description)


def _whiskers(base: alt.Chart) -> tuple[alt.Chart, alt.Chart]:
    """Intervals that are seen before the page and before bars of any colour: in the text's, within the page's."""
    ends = {"y": alt.Y("low:Q"), "y2": alt.Y2("high:Q")}
    inner = base.mark_rule(strokeWidth=2).encode(**ends, color=alt.ColorValue("currentColor"))
    return base.mark_rule(strokeWidth=3.5).encode(**ends, color=alt.ColorValue("Canvas")), inner
