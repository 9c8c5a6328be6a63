"""Chapter 6: what moving a sentence by the difference of two means does (R24 to R27)."""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.chapters.mds import figures, plan
    from xling_utils.chapters.mds.figures import (
        best,
        grid_of,
        inference,
        inference_beside_paper,
        over_weights,
        strayed,
        syntax,
    )
    from xling_utils.chapters.mds.shown import of_this_machine, tried
else:
    __getattr__, __all__ = late(__file__)
