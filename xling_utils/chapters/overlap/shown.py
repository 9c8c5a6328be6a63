"""What chapter 3's notebook shows, of the chapter as it was opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from xling_utils.chapters.opening import Opened
from xling_utils.chapters.overlap import plan
from xling_utils.chapters.shared import contrast_figures as figures
from xling_utils.chapters.shared import layer_by_layer, published
from xling_utils.chapters.shared.contrasts import of_partners

TRANSFER = "inference and named entities"


def pieces(chapter: Opened) -> Any:
    """Figure: with and without pieces that the languages share."""
    paper = plan.paper_overlap(published.table)
    return _figure(chapter, paper, plan.OVERLAP, "with and without shared pieces")


def order(chapter: Opened) -> Any:
    """Figure: as the words of sentences are permuted, and with unigrams only."""
    told = "as the words of sentences are permuted, and with unigrams only"
    return _figure(chapter, plan.paper_order(published.table), plan.ORDER, told)


def domain(chapter: Opened) -> Any:
    """Figure: with text of the same and of another domain."""
    paper = plan.paper_domain(published.table)
    return _figure(chapter, paper, plan.DOMAIN, "with text of the same and of another domain")


def _figure(chapter: Opened, paper: pd.DataFrame, conditions: Sequence[str], told: str) -> Any:
    rows = figures.rows_of(chapter.shown, chapter.recorded, chapter.sizes, "condition", chapter.base)
    floor = figures.floors(of_partners(chapter.both, chapter.base))
    return figures.figure(pd.concat([rows, paper]), floor, conditions, f"Retrieval, {TRANSFER} {told}.")


def changes(chapter: Opened) -> pd.DataFrame:
    """Each condition against the one that it varies, in percent."""
    return plan.changes(figures.values(chapter.both, chapter.sizes, ["condition"], chapter.base))


def compared(chapter: Opened) -> Any:
    """Figure: any two conditions, layer by layer."""
    return layer_by_layer.figure(chapter.both, chapter.base)


def mixed(chapter: Opened) -> pd.DataFrame:
    """Inference by the languages of premise and hypothesis."""
    return plan.mixed(chapter.both, chapter.base)


def on_real_text(chapter: Opened) -> Any:
    """Figure: every condition in every language, on real text."""
    return figures.on_real_text(
        chapter, chapter.recorded, f"Real text: retrieval, {TRANSFER} by what the languages share."
    )
