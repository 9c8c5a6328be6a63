"""What is measured on runs and on any language model.

In: stored runs or an opened model, and the name of a task. Out: tidy rows; kept, and measured again when a source that
can change them does. ``metrics`` are pure functions on arrays, ``encoders`` an opened model however it was found,
``tasks`` and ``transfer`` what is asked of it.
"""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.measures import kept_rows, names, pool
    from xling_utils.measures.encoders import bundled, bundled_text, hub
    from xling_utils.measures.encoders.examined import examine
    from xling_utils.measures.encoders.hidden_states import POOLINGS, LanguageModel
    from xling_utils.measures.encoders.language_identity import variance_share, without_means
    from xling_utils.measures.encoders.predictions import predicted
    from xling_utils.measures.encoders.representations import centred, language_means, shifted
    from xling_utils.measures.encoders.stored_run import Reading, masked_lm
    from xling_utils.measures.encoders.subject import Subject
    from xling_utils.measures.metrics.cka import linear_cka
    from xling_utils.measures.metrics.intervals import Estimate, Interval, over_seeds, share_of_means
    from xling_utils.measures.metrics.procrustes import iterative_normalization, procrustes
    from xling_utils.measures.metrics.retrieval import (
        chance_reciprocal_rank,
        mean_reciprocal_rank,
        nearest,
        precision_at_k,
    )
    from xling_utils.measures.metrics.translation import bleu1, convert_rate
    from xling_utils.measures.pool import MeasuresFailed, ensure_rows
    from xling_utils.measures.tasks import registry, report_card, sentence_similarity
    from xling_utils.measures.tasks.registry import ROW, measure
    from xling_utils.measures.tasks.word_retrieval import Dictionary, dictionary
else:
    __getattr__, __all__ = late(__file__)
