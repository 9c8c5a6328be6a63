"""Chapter 2: how wide a window it takes (R03, R04)."""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.chapters.window_size import plan
    from xling_utils.chapters.window_size.shown import compared, input_changes, inputs, static_windows
else:
    __getattr__, __all__ = late(__file__)
