"""Chapter 5: how much of a language is one vector (R21 to R23)."""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.chapters.language_means import figures, plan
    from xling_utils.chapters.language_means.figures import beside_paper, identity, mining, retrieval, token_sets, units
    from xling_utils.chapters.language_means.shown import layer_widget
else:
    __getattr__, __all__ = late(__file__)
