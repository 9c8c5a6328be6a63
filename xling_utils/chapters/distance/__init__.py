"""Appendix: a close and a distant language beside English, in the same seeds (of R06, R10, R19, R20 and R33)."""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.chapters.distance import plan
    from xling_utils.chapters.distance.shown import figure, less
else:
    __getattr__, __all__ = late(__file__)
