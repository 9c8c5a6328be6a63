"""Appendix: text, weights and order of a run varied apart."""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.chapters.scatter import plan
    from xling_utils.chapters.scatter.shown import figure, sources, what_few_seeds_see
else:
    __getattr__, __all__ = late(__file__)
