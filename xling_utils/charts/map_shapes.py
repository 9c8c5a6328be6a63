"""The chart of the front page: words of two languages on a plane, frame by frame."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from xling_utils.charts.shapes import LANGUAGE_NAMES, framed

COLOURS, SHAPES = ("#1F83C4", "#D55E00"), ("circle", "square")
HEIGHT = 420
NARROW, LETTER, LINE, AWAY = 370, 6.5, 14, 6
"""Pixels: how wide a map is at least on which no name lies on another, a letter, a line, from a mark to its name."""
WORDS = "words"
"""Names of the marks begin so, for the page's style: they stand off lines and marks beneath."""
WRITTEN = 14
"""Pairs of words whose names stand on the map, at most."""


def word_map(
    rows: pd.DataFrame, *, languages: Sequence[str], worlds: Sequence[str], first: Sequence[str], description: str
) -> alt.LayerChart:
    """A mark for each word at ``x``, ``y``, a line from each to its translation, and what the frame is, in words; the
    frame and the ``world`` are chosen below. As many names are written as lie apart in the last frame, those of the
    concepts ``first`` before others, and in each frame those of them that lie apart there; of the one language right
    of the mark, of the other left of it.

    ``rows`` has columns ``frame``, ``step``, ``alignment``, ``chance``, ``concept``, ``language`` (one of two),
    ``word`` and ``world``."""
    last = int(rows["frame"].max())
    frame = alt.param(
        name="frame_shown",
        value=last,
        bind=alt.binding_range(min=0, max=last, step=1, name=f"Training, in {last} parts "),
    )
    world = alt.param(name="world_shown", value=worlds[0], bind=alt.binding_select(options=list(worlds), name="World "))
    widest = 1.08 * float(rows[["x", "y"]].abs().to_numpy().max())
    plane = alt.Scale(domain=[-widest, widest])  # of all frames; a direction of a projection has no unit, so no axis
    names = [LANGUAGE_NAMES[language] for language in languages]
    ended = rows[rows["frame"] == last]
    names_of = {of: _apart(table, first, languages[0], widest) for of, table in ended.groupby("world")}
    apart = {
        key: _apart(table[table["concept"].isin(names_of[key[0]])], names_of[key[0]], languages[0], widest)
        for key, table in rows.groupby(["world", "frame"])
    }
    named = [
        concept in apart[of, at] for concept, of, at in zip(rows["concept"], rows["world"], rows["frame"], strict=True)
    ]
    shown = alt.Chart().encode(
        x=alt.X("x:Q", title=None, axis=None, scale=plane), y=alt.Y("y:Q", title=None, axis=None, scale=plane)
    )
    joined = shown.mark_line(strokeWidth=1.2, color="#888888", opacity=0.7).encode(detail=alt.Detail("concept:N"))
    marks = shown.mark_point(size=42, filled=True, opacity=0.9).encode(
        color=alt.Color(
            "language:N", scale=alt.Scale(domain=names, range=COLOURS), legend=alt.Legend(title=None, orient="top")
        ),
        shape=alt.Shape("language:N", scale=alt.Scale(domain=names, range=SHAPES)),
        tooltip=[alt.Tooltip("word:N"), alt.Tooltip("language:N")],
    )
    written = [
        shown.transform_filter(f"datum.named && datum.language == '{name}'")
        .mark_text(dx=dx, align=align, fontSize=11, color="currentColor")  # type: ignore[arg-type]
        .encode(text=alt.Text("word:N"))
        .properties(name=f"{WORDS}_{name}")
        for name, dx, align in zip(names, (AWAY, -AWAY), ("left", "right"), strict=True)
    ]
    said = (
        shown.transform_aggregate(step="max(step)", alignment="max(alignment)", chance="max(chance)")
        .transform_calculate(
            said="(datum.step ? 'after ' + format(datum.step, ',') + ' steps' : 'before training') + "
            "': alignment ' + format(datum.alignment / datum.chance, '.1f') + ' times chance'"
        )
        .mark_text(align="left", baseline="top", fontSize=12, color="currentColor")
        .encode(x=alt.XValue(4), y=alt.YValue(2), text=alt.Text("said:N"))
    )
    table = rows.assign(language=rows["language"].map(LANGUAGE_NAMES), named=named)
    layers = alt.layer(joined, marks, *written, said, data=table).add_params(frame, world)
    chosen = layers.transform_filter("datum.frame == frame_shown && datum.world == world_shown")
    return framed(chosen, description, HEIGHT)


def _apart(frame: pd.DataFrame, first: Sequence[str], right: str, widest: float) -> list[str]:
    """Concepts of a ``frame`` whose names lie on none of the others, those ``first`` before others; names of the
    language ``right`` stand there."""
    placed: list[tuple[float, float, float]] = []
    chosen: list[str] = []
    of = dict(list(frame.groupby("concept")))
    for concept in dict.fromkeys([*first, *of]):
        own = []
        for word in of[concept].itertuples() if concept in of and len(chosen) < WRITTEN else ():
            x, y = ((at + widest) / (2 * widest) * size for at, size in ((word.x, NARROW), (word.y, HEIGHT)))
            long = AWAY + LETTER * len(word.word)
            own.append((x, x + long, y) if word.language == right else (x - long, x, y))
        inside = all(left > 0 and end < NARROW for left, end, _ in own)
        if own and inside and not any(_meet(each, other) for each in own for other in placed):
            chosen.append(concept)
            placed += own
    return chosen


def _meet(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and abs(one[2] - other[2]) < LINE
