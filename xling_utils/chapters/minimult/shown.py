"""What the appendix's notebook shows, of the chapter as it was opened."""

from __future__ import annotations

from typing import Any

import pandas as pd

from xling_utils.chapters.minimult import plan
from xling_utils.chapters.opening import Opened
from xling_utils.chapters.shared import published


def figure(chapter: Opened) -> Any:
    """Figure: every condition; of this machine, recorded, on real text, and the paper's."""
    real = chapter.on_real_text.recorded
    return plan.figure(chapter.shown, chapter.recorded, real, published.table("minimult_scores"))


def layers(chapter: Opened) -> pd.DataFrame | None:
    """Precision at each layer; none where nothing was measured."""
    return plan.layers(chapter.both) if len(chapter.both) else None
