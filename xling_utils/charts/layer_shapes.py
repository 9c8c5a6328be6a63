"""Charts over the layers of an encoder: a heat map, and lines with intervals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import altair as alt
import pandas as pd

from xling_utils.charts.shapes import MODEL_COLOURS, framed, measure_choice, tooltip, whose_choice, within
from xling_utils.core.errors import UserError

HUES, GREYS = ("#1F83C4", "#D55E00", "#009E73", "#CC79A7"), ("#8C8C8C", "#B58A5A")
"""Of what a chart tells apart, in its order; grey, and a greyish brown, is what nothing was learned for."""
UNLEARNED = ("untrained", "commonest label")
"""In the name of a kind that needs no learning."""
STATIC = ("word2vec", "GloVe")
"""Models that have their colour in every chart."""
LIGHT = ("#eef5fb", "#5ba3cf")
"""From 0 to 1, so light that dark text can be read on all of it."""
SHADES = ("#f4f8fc", "#0b4f82")
"""From 0 to 1, where no text stands on them."""
FIELDS, NUMBERS = "fields", "numbers"
"""Names of marks, for the page's style: on a dark page their colours are turned round."""
NARROW, SQUARE = 420, 24  # pixels
ONE_WORD_A_LINE = "split(datum.label, ' ')"
"""So that labels fit side by side on a phone."""
BESIDE = 4
"""Pixels between the bars of two kinds at the same place, so that none covers another."""


def heat_map(
    rows: pd.DataFrame, *, columns: Sequence[str], measures: Sequence[str], description: str, x_title: str | None = None
) -> alt.LayerChart:
    """A column a kind, a row a layer, layer 0 at the bottom; the measure is chosen from a list below, and of which
    seeds, where ``whose`` names several beside all.

    ``rows`` has columns ``kind`` (one of ``columns``), ``measure``, ``whose``, ``layer``, ``value``, ``low``, ``high``,
    ``seeds``.
    """
    base, choices = _chosen(rows, measure_choice(measures))
    base = base.encode(
        x=alt.X("kind:N", sort=list(columns), title=x_title, axis=alt.Axis(labelAngle=0, labelExpr=ONE_WORD_A_LINE)),
        y=alt.Y("layer:O", sort="descending", title="layer"),
        tooltip=tooltip("kind:N", "layer:O"),
    )
    colour = alt.Color("value:Q", scale=alt.Scale(range=list(LIGHT), domain=[0, 1]), legend=None)
    text = base.mark_text(fontSize=12, color="#222222").encode(text=alt.Text("value:Q", format=".2f"))
    fields = base.mark_rect().encode(color=colour).properties(name=FIELDS)
    chart = alt.layer(fields, text.properties(name=NUMBERS)).add_params(*choices)
    return framed(chart, description, 34 * rows["layer"].nunique())


def profiles(
    rows: pd.DataFrame,
    *,
    kinds: Sequence[str],
    measures: Sequence[str],
    y_title: str,
    description: str,
    choice: str = "Measure ",
) -> alt.LayerChart:
    """A line a kind over layers with a bar from ``low`` to ``high``; chosen from lists below as in :func:`heat_map`,
    the measure's called ``choice``.

    ``rows`` as :func:`heat_map` takes them. The legend picks a kind.
    """
    x = alt.X("layer:O", title="layer", axis=alt.Axis(labelAngle=0))
    chosen, choices = _chosen(rows, measure_choice(measures, choice))
    return framed(lines(chosen, kinds, x, y_title).add_params(*choices), description)


def _chosen(rows: pd.DataFrame, measure: alt.Parameter) -> tuple[alt.Chart, list[alt.Parameter]]:
    """The rows of the measure and of the seeds that are chosen, and what they are chosen with."""
    rows, of = rows.round({"value": 4, "low": 4, "high": 4}), whose_choice(rows)
    if rows["whose"].nunique() <= 2:  # all seeds, and the only one
        rows, choices = rows[rows["whose"] == rows["whose"].iloc[0]], [measure]
    else:
        choices = [measure, of]
    chosen = alt.Chart(rows)
    for choice, column in zip(choices, ("measure", "whose"), strict=False):
        chosen = chosen.transform_filter(f"datum.{column} == {choice.name}")
    return chosen, choices


def over_layers(tables: Sequence[pd.DataFrame], metrics: Sequence[str]) -> alt.LayerChart:
    """Tidy rows of one's own over the layers: a line a metric, with bars from ``low`` to ``high``.

    ``tables`` have columns ``metric``, ``layer``, ``value``, ``low``, ``high``, and one row a metric and layer. Raises
    :class:`UserError` without a table or a metric, where there is no row of one, or several of one at a layer.
    """
    if not (len(tables) and len(metrics)):
        raise UserError("nothing to draw over layers: give at least one table and one metric")
    rows = pd.concat(tables, ignore_index=True)
    for metric in metrics:
        if (own := rows[rows["metric"] == metric]).empty:
            raise UserError(f"no rows of {metric!r}; there are {', '.join(rows['metric'].unique())}")
        if own["layer"].duplicated().any():
            raise UserError(f"several rows of {metric!r} at a layer: choose among them first")
    shown = rows[rows["metric"].isin(list(metrics))]
    shown = shown[["metric", "layer", "value", "low", "high"]].rename(columns={"metric": "kind"}).assign(seeds=1)
    x = alt.X("layer:O", title="layer", axis=alt.Axis(labelAngle=0))
    return framed(lines(alt.Chart(shown), metrics, x, None), f"{', '.join(metrics)} at every layer.")


def lines(rows: alt.Chart, kinds: Sequence[str], x: alt.X, y_title: str | None, most: str = "1") -> Any:
    """A line a kind over ``x`` with bars from ``low`` to ``high``, but not beyond 0 and ``most``, an expression, where
    the measure ends; the legend picks a kind."""
    pick, base = by_kind(within(rows, most), kinds, "kind:N", str(x.shorthand))
    y, bottom = alt.Y("value:Q", title=y_title, scale=alt.Scale(zero=True)), alt.Y("bottom:Q", title=y_title)
    there = _there(rows, kinds)
    drawn = []
    for number, kind in enumerate(there):
        aside = BESIDE * (number - (len(there) - 1) / 2)
        one = base.transform_filter(f"datum.kind == {json.dumps(kind)}").encode(x=x)
        points = alt.OverlayMarkDef(size=60, xOffset=aside)
        drawn += [
            one.mark_rule(strokeWidth=2, xOffset=aside).encode(y=bottom, y2=alt.Y2("top:Q")),
            one.mark_line(strokeWidth=2.5, xOffset=aside, point=points).encode(y=y),
        ]
    first, *others = drawn
    return alt.layer(first.add_params(pick), *others)


def _there(rows: alt.Chart, kinds: Sequence[str]) -> list[str]:
    """Those of ``kinds`` that ``rows`` has."""
    return [kind for kind in kinds if kind in set(rows.data["kind"])]


def by_kind(rows: alt.Chart, kinds: Sequence[str], *told: str, offset: int = 18) -> tuple[alt.Parameter, alt.Chart]:
    """``rows`` in a colour a kind, of which a click on the legend, ``offset`` pixels above, picks one; tooltips say the
    columns ``told``."""
    pick = alt.selection_point(fields=["kind"], bind="legend", name="kind_pick")
    there = _there(rows, kinds)
    hues, greys = cycle(HUES), cycle(GREYS)
    of_models = {kind: MODEL_COLOURS[name] for kind in there for name in STATIC if kind.startswith(name)}
    palette = [
        of_models.get(kind) or next(greys if any(name in kind for name in UNLEARNED) else hues) for kind in there
    ]
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=there, range=palette),
        legend=alt.Legend(title=None, orient="top", columns=2, labelLimit=240, offset=offset),
    )
    faint = alt.condition(pick, alt.value(1.0), alt.value(0.12))
    return pick, rows.encode(color=colour, opacity=faint, tooltip=tooltip(*told))


def over_depth(rows: pd.DataFrame, kinds: Sequence[str], y_title: str, description: str) -> alt.LayerChart:
    """A line a kind over the depth of models that differ in their number of layers, 0 the embeddings and 1 the last
    block. ``rows`` has columns ``kind``, ``depth``, ``value``, ``low``, ``high``, ``seeds``."""
    x = alt.X("depth:Q", title="depth, from the embeddings to the last block", axis=alt.Axis(tickCount=5))
    return _narrow(framed(lines(alt.Chart(rows), kinds, x, y_title), description), NARROW)


def between_layers(rows: pd.DataFrame, x_title: str, y_title: str, description: str) -> alt.Chart:
    """A square a pair of layers, darker the higher ``value`` is. ``rows`` has columns ``layer``, upwards, and
    ``beside_layer``, to the right."""
    chart = alt.Chart(rows, name=FIELDS).mark_rect().encode(
        x=alt.X("beside_layer:O", sort="ascending", title=x_title, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("layer:O", sort="descending", title=y_title),
        color=alt.Color("value:Q", title=None, scale=alt.Scale(range=list(SHADES), domain=[0, 1], clamp=True)),
        tooltip=[alt.Tooltip("layer:O"), alt.Tooltip("beside_layer:O"), alt.Tooltip("value:Q", format=".2f")],
    )  # fmt: skip
    sides = [min(NARROW, max(SQUARE * rows[side].nunique(), 150)) for side in ("layer", "beside_layer")]
    return _narrow(framed(chart, description, sides[0]), sides[1])


def _narrow(chart: Any, width: int) -> Any:
    """For a picture that a phone shows as a whole."""
    letters = {"labelFontSize": 13, "titleFontSize": 13}
    return chart.properties(width=width).configure_axis(**letters).configure_legend(labelFontSize=13)
