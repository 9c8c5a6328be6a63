"""What chapter 4's notebook shows, of the chapter as it was opened."""

from __future__ import annotations

from typing import Any

import pandas as pd

from xling_utils.chapters.architecture import figures
from xling_utils.chapters.architecture.plan import of_factor
from xling_utils.chapters.opening import Opened
from xling_utils.chapters.shared import contrast_figures, layer_by_layer, published
from xling_utils.chapters.shared.contrasts import of_partners


def factor(chapter: Opened, name: str) -> Any:
    """Figure: the levels of one factor; on this machine, in the records, and in the paper that has them."""
    live, kept = (of_factor(table, name, chapter.sizes) for table in (chapter.shown, chapter.recorded))
    rows = contrast_figures.rows_of(live, kept, chapter.sizes, "level", chapter.base)
    if name in figures.PRINTED:
        rows = pd.concat([rows, figures.paper(name, published.table)])
    levels = figures.levels(name, rows, chapter.sizes)
    floor = contrast_figures.floors(of_partners(chapter.both, chapter.base))
    return contrast_figures.figure(rows, floor, levels, f"Retrieval and transfer by {name}.")


def paper_parameters() -> pd.DataFrame:
    """What E prints of the number of parameters."""
    return figures.paper_parameters(published.table)


def changes(chapter: Opened) -> pd.DataFrame:
    """Each level against the base run, in percent."""
    return figures.changes(chapter.both, chapter.sizes, chapter.base)


def compared(chapter: Opened) -> Any:
    """Figure: any two levels, layer by layer."""
    return layer_by_layer.figure(figures.named(chapter.both), chapter.base)


def on_real_text(chapter: Opened) -> Any:
    """Figure: every level in every language, on real text."""
    told = "Real text: retrieval, inference and named entities by what the encoder is like."
    return contrast_figures.on_real_text(chapter, figures.named(chapter.recorded), told)
