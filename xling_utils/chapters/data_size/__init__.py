"""Chapter 1: how much text it takes (R01, R02, R05, R20)."""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.chapters.data_size import figures, plan, word_map
    from xling_utils.chapters.data_size.shown import (
        any_two,
        classes_by_language,
        compared,
        distances,
        ends_of_training,
        explored,
        explorer_widget,
        headline,
        headline_table,
        inference,
        layers,
        parts_of_speech,
        runs,
        static_vectors,
        training_curve,
    )
else:
    __getattr__, __all__ = late(__file__)
