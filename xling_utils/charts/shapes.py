"""Charts of the book: one look, the same colour for a model everywhere, safe for colour-blind readers.

Colours follow Okabe and Ito. Every chart takes tidy rows and returns Altair, with a description for readers who
cannot see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import altair as alt
import pandas as pd

from xling_utils.charts.name_sides import EDGE, SIDES, sides

MODEL_COLOURS = {
    "BERT": "#1F83C4",
    "BERT, equal epochs": "#77B8E0",
    "word2vec": "#E69F00",
    "GloVe": "#009E73",
    "untrained": "#999999",
    "shuffled dictionary": "#CC79A7",
}


class _Names(dict[str, str]):
    """Names by code; a language without one is called by its code."""

    def __missing__(self, code: str) -> str:
        return code


LANGUAGE_NAMES = _Names({
    "en": "English", "fr": "French", "es": "Spanish", "de": "German", "el": "Greek", "bg": "Bulgarian",
    "ru": "Russian", "tr": "Turkish", "ar": "Arabic", "vi": "Vietnamese", "th": "Thai", "zh": "Chinese",
    "hi": "Hindi", "sw": "Swahili", "ur": "Urdu",
    "bxr": "Buryat", "fo": "Faroese", "ga": "Irish", "hsb": "Upper Sorbian", "kk": "Kazakh", "kmr": "Kurmanji",
    "sme": "Northern Sami",
})  # fmt: skip
"""Of the book's fifteen, and of the others whose trees chapter 6 reads."""
SOURCE_SHAPES = {"this machine": "circle", "recorded": "diamond"}
ORIGIN = "origin"
"""Column of a figure's rows that says which of these they are, where ``shown`` says another thing."""
SHOWN_COLOURS = {
    "this machine": "#1F83C4", "recorded": "#4C9BD0", "paper": "#D55E00",
    "paper E": "#D55E00", "paper C": "#CC79A7", "Dufter and Schütze": "#D55E00", "real text": "#009E73",
    "word2vec, with identical pairs": "#F5CF80", "GloVe, with identical pairs": "#80CEB9", **MODEL_COLOURS,
}  # fmt: skip
PAPER_SHAPES = {"paper E": "square", "paper C": "triangle", "Dufter and Schütze": "square"}
_HUES = ("#1F83C4", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8A6FBF")
LANGUAGE_MARKS = {
    name: (_HUES[number % len(_HUES)], ("circle", "square")[number // len(_HUES)])
    for number, name in enumerate(
        ("French", "Russian", "German", "Chinese", "Spanish", "Arabic", "Hindi",
         "Turkish", "Greek", "Bulgarian", "Vietnamese", "Thai", "Swahili", "Urdu")
    )
}  # fmt: skip
"""Language -> colour and shape: a hue of its own for each that chapters 2 to 4 read as real text. Two others may share
one, then their shapes differ."""
MEAN = "mean of these languages"
CONTRAST_MARKS = {
    MEAN: ("#7A7A7A", "diamond"),
    "controlled world": (SHOWN_COLOURS["recorded"], "diamond"),
    **{name: (SHOWN_COLOURS[name], shape) for name, shape in (SOURCE_SHAPES | PAPER_SHAPES).items()},
    "real text": (SHOWN_COLOURS["real text"], "triangle"),
    **LANGUAGE_MARKS,
}
WIDTH, HEIGHT = 640, 260
"""Of a figure where nothing fits it to its column: in a notebook, as a picture."""
NAME_OF_A_LINE, NAME_OF_A_LANGUAGE = 48, 40  # pixels
HIGH_CHANCE = 0.2
"""From which on an axis begins near it: below it there is nothing to see."""


def colours(models: Sequence[str]) -> alt.Color:
    """The colour channel of ``models``, in that order; an unknown one is a mistake of ours (KeyError)."""
    domain = list(dict.fromkeys(models))
    scale = alt.Scale(domain=domain, range=[MODEL_COLOURS[name] for name in domain])
    return alt.Color("model:N", scale=scale, legend=alt.Legend(title=None, orient="top", columns=3, labelLimit=240))


def intervals(
    rows: pd.DataFrame,
    *,
    x: str,
    x_order: Sequence[str],
    models: Sequence[str],
    y_title: str,
    chance: pd.DataFrame,
    description: str,
) -> alt.LayerChart:
    """Models side by side at each ``x``: a bar from ``low`` to ``high`` over seeds and a mark at ``value``.

    ``rows`` has columns ``x``, ``model``, ``language``, ``shown`` (a key of ``SOURCE_SHAPES``), ``value``, ``low``,
    ``high``, ``seeds``; ``chance`` has ``language`` and ``value``. The legend selects a model; where there are
    several languages, a list below the chart selects one.
    """
    pick = alt.selection_point(fields=["model"], bind="legend", name="model_pick")
    languages = list(rows["language"].unique())
    where = "datum.language == language_shown" if len(languages) > 1 else "true"
    base = alt.Chart(rows).transform_filter(where)
    words_below_each_other = alt.Axis(labelAngle=0, labelExpr="split(datum.label, ' ')")
    base = base.encode(
        x=alt.X(f"{x}:N", sort=list(x_order), title=None, axis=words_below_each_other),
        xOffset=alt.XOffset("model:N", sort=list(models)),
        color=colours(models),
        opacity=alt.condition(pick, alt.value(1.0), alt.value(0.12)),
        tooltip=tooltip("model:N", f"{x}:N", alt.Tooltip("shown:N", title="source")),
    )
    sources = [name for name in SOURCE_SHAPES if name in rows["shown"].unique()]
    shape = alt.Shape(
        "shown:N",
        scale=alt.Scale(domain=sources, range=[SOURCE_SHAPES[name] for name in sources]),
        legend=alt.Legend(title=None, orient="top"),
    )
    near_chance = bool(chance["value"].min() >= HIGH_CHANCE)
    y = alt.Y("value:Q", title=y_title, scale=alt.Scale(zero=not near_chance))
    bars = base.mark_rule(strokeWidth=2.5).encode(y=alt.Y("low:Q", title=y_title), y2=alt.Y2("high:Q"))
    marks = base.mark_point(size=75, filled=True, opacity=1).encode(y=y, shape=shape)
    layers = [bars.add_params(pick), marks]
    chart = alt.layer(*layers, chance_line(chance, where))
    if len(languages) > 1:
        chosen = alt.binding_select(options=languages, name="Language ")
        chart = chart.add_params(alt.param(name="language_shown", value=languages[0], bind=chosen))
    return _framed(chart, description, room=NAME_OF_A_LINE)


def chance_line(chance: pd.DataFrame, where: str = "true") -> alt.LayerChart | alt.FacetChart:
    """Dashed lines at ``chance["value"]``, the value of a random order, with its name to the right of the chart,
    where no mark is; of the rows ``where`` an expression holds (each layer filters for itself: it has its own data)."""
    data = chance.assign(label=[f"chance\n{value:.3f}" for value in chance["value"]])
    base = alt.Chart(data).transform_filter(where)
    # Of the text's colour, it is seen on a line of any.
    line = base.mark_rule(strokeDash=[4, 4], color="currentColor").encode(y=alt.Y("value:Q"))
    name = base.mark_text(align="left", dx=5, dy=-3, color="currentColor", fontSize=11, lineBreak="\n")
    return line + name.encode(y=alt.Y("value:Q"), x=alt.XValue("width"), text=alt.Text("label:N"))


def curves(rows: pd.DataFrame, *, layer: int, y_title: str, chance: pd.DataFrame, description: str) -> alt.LayerChart:
    """A line for each seed over training steps, and their mean in bold, at the layer that the slider picks: ``layer``
    at first; no slider where there is one layer. Columns ``step, seed, series, layer, value``.

    Clicking the legend isolates a series.
    """
    pick = alt.selection_point(fields=["series"], bind="legend", name="series_pick")
    names = list(rows["series"].unique())
    palette = {"BERT": MODEL_COLOURS["BERT"], "shuffled dictionary": MODEL_COLOURS["shuffled dictionary"],
               "untrained": MODEL_COLOURS["untrained"]}  # fmt: skip
    colour = alt.Color(
        "series:N",
        scale=alt.Scale(domain=names, range=[palette[name] for name in names]),
        legend=alt.Legend(title=None, orient="top"),
    )
    picked = layer_choice(layer, int(rows["layer"].max()))
    several = rows["layer"].nunique() > 1
    base = alt.Chart(rows.round({"value": 4})).encode(
        x=alt.X("step:Q", title="training steps"),
        color=colour,
        opacity=alt.condition(pick, alt.value(0.9), alt.value(0.08)),
    )
    base = base.transform_filter(f"datum.layer == {picked.name}") if several else base
    thin = base.mark_line(strokeWidth=1, strokeOpacity=0.4).encode(
        y=alt.Y("value:Q", title=y_title),
        detail=alt.Detail("seed:N"),
        tooltip=[
            alt.Tooltip("series:N"),
            alt.Tooltip("seed:N"),
            alt.Tooltip("step:Q"),
            alt.Tooltip("value:Q", format=".3f"),
        ],
    )
    bold = base.mark_line(strokeWidth=3, point=True).encode(y=alt.Y("mean(value):Q", title=y_title))
    drawn = alt.layer(thin.add_params(pick), bold, chance_line(chance))
    return _framed(drawn.add_params(picked) if several else drawn, description, room=NAME_OF_A_LINE)


def whose_choice(rows: pd.DataFrame) -> alt.Parameter:
    """The list below a chart that picks one of what a column ``whose`` of ``rows`` names, the first at first, as
    ``whose_shown``."""
    whose = list(rows["whose"].unique())
    return alt.param(name="whose_shown", value=whose[0], bind=alt.binding_select(options=whose, name="Values of "))


def layer_choice(layer: int, layers: int) -> alt.Parameter:
    """The slider below a chart that picks a layer, ``layer`` at first, as ``layer_shown``."""
    slider = alt.binding_range(min=0, max=layers, step=1, name="Layer ")
    return alt.param(name="layer_shown", value=layer, bind=slider)


def within(rows: alt.Chart, most: str = "1") -> alt.Chart:
    """``rows`` with ``bottom`` and ``top``: the ends of their intervals, but not beyond 0 and ``most``, an expression,
    where the measure ends; none where there is no interval."""
    ends = {"bottom": "max(0, datum.low)", "top": f"min({most}, datum.high)"}
    return rows.transform_calculate(**{name: f"isValid(datum.low) ? {end} : null" for name, end in ends.items()})


def measure_choice(measures: Sequence[str], name: str = "Measure ") -> alt.Parameter:
    """The list below a chart, called ``name``, that picks one of ``measures``, as ``measure_shown``; of one alone there
    is no list."""
    chosen = alt.binding_select(options=list(measures), name=name) if len(measures) > 1 else alt.Undefined
    return alt.param(name="measure_shown", value=measures[0], bind=chosen)


def named_beside(measure: alt.Parameter, side: Literal["bottom", "left"] = "bottom") -> alt.TitleParams:
    """The chosen ``measure`` as the title of the axis on that side of a chart; an axis itself cannot say what is
    chosen."""
    return alt.TitleParams(alt.ExprRef(measure.name), orient=side, anchor="middle", fontSize=11, offset=8)


def distances(rows: pd.DataFrame, *, description: str) -> alt.LayerChart:
    """Retrieval against typological distance, a point a language. Columns ``language, distance, value, low,
    high, script``."""
    base = alt.Chart(rows.assign(side=sides(rows))).encode(
        x=alt.X(
            "distance:Q",
            title="word order distance from English",
            axis=alt.Axis(labelExpr="datum.value < 0 ? '' : datum.label"),  # no distance is below zero
            scale=alt.Scale(zero=False, padding=EDGE),
        ),
        tooltip=tooltip("language:N", alt.Tooltip("distance:Q", format=".2f"), "script:N"),
    )
    colour = alt.Color(
        "script:N",
        scale=alt.Scale(domain=["Latin", "other"], range=["#1F83C4", "#D55E00"]),
        legend=alt.Legend(title="script", orient="top"),
    )
    rule = base.mark_rule(strokeWidth=1.5).encode(
        y=alt.Y("low:Q", title="mean reciprocal rank"), y2=alt.Y2("high:Q"), color=colour
    )
    y = alt.Y("value:Q", scale=alt.Scale(zero=False, padding=8))
    point = base.mark_point(size=70, filled=True, opacity=1).encode(y=y, color=colour)
    names = [
        base.transform_filter(f"datum.side == '{side}'")
        .mark_text(dx=dx, dy=dy, align=align, fontSize=11, color="currentColor")
        .encode(y=alt.Y("value:Q"), text=alt.Text("language:N"))
        for side, (dx, dy, align) in SIDES.items()
    ]
    return _framed(alt.layer(rule, point, *names), description, room=NAME_OF_A_LANGUAGE)


def tooltip(*names: str | alt.Tooltip) -> list[alt.Tooltip]:
    """What is said of a mark: its ``names``, its value with the interval, and over how many seeds."""
    low, high = (alt.Tooltip(f"{end}:Q", format=".3f", title=f"95 % {end}") for end in ("low", "high"))
    # altair compares a string with all of its classes, every time, to find the one that it stands for
    said = [alt.Tooltip(name) if isinstance(name, str) else name for name in names]
    return [*said, alt.Tooltip("value:Q", format=".3f"), low, high, alt.Tooltip("seeds:Q")]


def framed(chart: Any, description: str, height: Any = HEIGHT, **more: Any) -> Any:
    """The chart with its size and its description."""
    # Names below stand off those beside the axes: in some readers' fonts they would touch where the axes meet.
    config = alt.Config(view=alt.ViewConfig(stroke=None), axisX=alt.AxisConfig(labelPadding=4))
    return chart.properties(width=WIDTH, height=height, description=description, config=config, **more)


def _framed(chart: Any, description: str, room: int = 5) -> Any:
    """``room`` in pixels is for names that stand to the right of the axes."""
    return framed(chart, description, padding={"left": 5, "top": 5, "right": room, "bottom": 5})
