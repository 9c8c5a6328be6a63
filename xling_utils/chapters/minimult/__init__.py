"""The appendix: the conditions of Dufter & Schütze (2020)."""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.chapters.minimult import plan
    from xling_utils.chapters.minimult.shown import figure, layers
else:
    __getattr__, __all__ = late(__file__)
