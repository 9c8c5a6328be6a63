"""The chapters: which runs each asks for, what these are measured at, and how it is shown.

In: a chapter's name, a scale, languages, seeds. Out: its plan, its tidy table, its figures and widgets. A chapter is a
package with a ``plan``; what several use stands in ``shared``.
"""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.chapters import (
        architecture,
        cards,
        cka,
        data_size,
        distance,
        language_means,
        mds,
        minimult,
        overlap,
        probes,
        records,
        scatter,
        window_size,
    )
    from xling_utils.chapters.opening import Opened, opened
    from xling_utils.chapters.parameters import TEXTS, check_codes, check_parameters, of_ones_own, reads_real_text
    from xling_utils.chapters.planning import (
        ALL_SEEDS,
        MODULES,
        Chapter,
        Planned,
        declared,
        hours_of,
        operations,
        plan,
        size_of,
    )
    from xling_utils.chapters.readiness import named, ready
    from xling_utils.chapters.rows import columns, empty, labelled, planned, prepare, table
    from xling_utils.chapters.shared import published
    from xling_utils.chapters.shared.languages import beside_english, language
    from xling_utils.chapters.together import ahead
else:
    __getattr__, __all__ = late(__file__)
