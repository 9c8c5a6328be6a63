"""The chart of the front page: words of two languages on a plane, frame by frame."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from xling_utils.charts.shapes import LANGUAGE_NAMES, framed

COLOURS, SHAPES = ("#1F83C4", "#D55E00"), ("circle", "square")
HEIGHT = 420


def word_map(
    rows: pd.DataFrame, *, languages: Sequence[str], worlds: Sequence[str], description: str
) -> alt.LayerChart:
    """A mark for each word at ``x``, ``y``, a line from each to its translation, and what the frame is, in words; the
    frame and the ``world`` are chosen below.

    ``rows`` has columns ``frame``, ``step``, ``alignment``, ``chance``, ``concept``, ``language`` (one of two),
    ``word``, ``world``, and ``named``, whether the word is written."""
    last = int(rows["frame"].max())
    frame = alt.param(name="frame_shown", value=last, bind=alt.binding_range(min=0, max=last, step=1, name="Training "))
    world = alt.param(name="world_shown", value=worlds[0], bind=alt.binding_select(options=list(worlds), name="World "))
    widest = 1.08 * float(rows[["x", "y"]].abs().to_numpy().max())
    plane = alt.Scale(domain=[-widest, widest])  # of all frames; a direction of a projection has no unit, so no axis
    names = [LANGUAGE_NAMES[language] for language in languages]
    shown = (
        alt.Chart(rows.assign(language=rows["language"].map(LANGUAGE_NAMES)))
        .transform_filter("datum.frame == frame_shown && datum.world == world_shown")
        .encode(x=alt.X("x:Q", title=None, axis=None, scale=plane), y=alt.Y("y:Q", title=None, axis=None, scale=plane))
    )
    joined = shown.mark_line(strokeWidth=1.2, color="#888888", opacity=0.7).encode(detail="concept:N")
    marks = shown.mark_point(size=42, filled=True, opacity=0.9).encode(
        color=alt.Color(
            "language:N", scale=alt.Scale(domain=names, range=COLOURS), legend=alt.Legend(title=None, orient="top")
        ),
        shape=alt.Shape("language:N", scale=alt.Scale(domain=names, range=SHAPES)),
        tooltip=["word:N", "language:N"],
    )
    written = (
        shown.transform_filter("datum.named")
        .mark_text(dx=6, align="left", fontSize=11, color="currentColor")
        .encode(text="word:N")
    )
    said = (
        shown.transform_aggregate(step="max(step)", alignment="max(alignment)", chance="max(chance)")
        .transform_calculate(
            said="(datum.step ? 'after ' + format(datum.step, ',') + ' steps' : 'before training') + "
            "': alignment ' + format(datum.alignment / datum.chance, '.1f') + ' times chance'"
        )
        .mark_text(align="left", baseline="top", fontSize=12, color="currentColor")
        .encode(x=alt.value(4), y=alt.value(2), text="said:N")
    )
    return framed(alt.layer(joined, marks, written, said).add_params(frame, world), description, HEIGHT)
