"""Shapes of figures and tables, and what draws them without a network; of this project's science they know nothing.

In: tidy rows. Out: Altair charts, HTML tables.
"""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.charts import (
        bar_shapes,
        contrast_shapes,
        layer_shapes,
        level_shapes,
        map_shapes,
        offline,
        pair_shapes,
        shapes,
        share_shapes,
        shift_shapes,
        tables,
    )
    from xling_utils.charts.layer_shapes import over_layers
    from xling_utils.charts.offline import enable
    from xling_utils.charts.shapes import LANGUAGE_NAMES
    from xling_utils.charts.tables import of_claims, of_earlier_recipe, show
else:
    __getattr__, __all__ = late(__file__)
