"""Chapter 3: what the languages must share (R06 to R11)."""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.chapters.overlap import plan
    from xling_utils.chapters.overlap.shown import changes, compared, domain, mixed, on_real_text, order, pieces
else:
    __getattr__, __all__ = late(__file__)
