"""Chapter 4: what the encoder must be like (R12 to R19)."""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.chapters.architecture import figures, plan
    from xling_utils.chapters.architecture.shown import changes, compared, factor, on_real_text, paper_parameters
else:
    __getattr__, __all__ = late(__file__)
