"""What chapter 2's notebook shows, of the chapter as it was opened."""

from __future__ import annotations

from typing import Any

import pandas as pd

from xling_utils.chapters.opening import Opened
from xling_utils.chapters.rows import empty
from xling_utils.chapters.shared import contrast_figures as figures
from xling_utils.chapters.shared import layer_by_layer
from xling_utils.chapters.shared.contrasts import of_partners
from xling_utils.chapters.window_size.plan import named, names

BERT, STATIC = "BERT", "word2vec"


def inputs(chapter: Opened) -> Any:
    """Figure: retrieval and transfer by the length of the training inputs."""
    sizes, description = chapter.sizes, "retrieval, inference and named entities by the length of the training inputs."
    if chapter.record_of_real_text:
        return figures.on_real_text(chapter, named(chapter.recorded, BERT, sizes), f"Real text: {description}")
    live, kept = (named(table, BERT, sizes) for table in (chapter.shown, chapter.recorded))
    rows = figures.rows_of(live, kept, sizes, "condition", chapter.base)
    return figures.figure(
        rows, figures.floors(of_partners(chapter.both, chapter.base)), names(sizes), f"Word {description}"
    )


def input_changes(chapter: Opened) -> pd.DataFrame:
    """What shorter inputs change, in percent of what the longest have above chance."""
    found = figures.values(named(chapter.both, BERT, chapter.sizes), chapter.sizes, ["condition"], chapter.base)
    return figures.differences(found, "condition", names(chapter.sizes)[0])


def compared(chapter: Opened) -> Any:
    """Figure: any two lengths of the encoder's inputs, layer by layer."""
    return layer_by_layer.figure(named(chapter.both, BERT, chapter.sizes), chapter.base)


def static_windows(chapter: Opened) -> Any:
    """Figure: retrieval of word2vec by the width of its window; none without runs of word2vec (``live = "all"``)."""
    sizes = chapter.sizes
    rows, description = named(chapter.both, STATIC, sizes), "word retrieval of word2vec by the width of its window."
    if chapter.record_of_real_text:
        return figures.on_real_text(chapter, rows, f"Real text: {description}")
    if rows.empty:
        return None
    none = empty(chapter.name)
    sources = (none, rows) if len(chapter.recorded) else (rows, none)
    drawn = figures.rows_of(*sources, sizes, "condition", chapter.base)
    conditions = list(rows["condition"].unique())
    return figures.figure(
        drawn, figures.floors(of_partners(chapter.both, chapter.base)), conditions, description.capitalize()
    )
