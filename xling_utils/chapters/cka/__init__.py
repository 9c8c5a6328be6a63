"""Chapter 7: do encoders that never met have the same shape? (R28 to R32)"""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.chapters.cka import figures, plan
    from xling_utils.chapters.cka.figures import correlation, heat_map, retrieval, transfer, words
    from xling_utils.chapters.language_means.shown import layer_widget
else:
    __getattr__, __all__ = late(__file__)
