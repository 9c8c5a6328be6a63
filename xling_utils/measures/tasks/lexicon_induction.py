"""Can a rotation bring the words of one model onto those of another that reads another language? (C, sec. 5.1.1)"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from xling_utils import corpora
from xling_utils.core.scales import Scale
from xling_utils.measures.encoders.stored_run import Reading, check_same_shape, other_language
from xling_utils.measures.metrics.procrustes import iterative_normalization, procrustes
from xling_utils.measures.metrics.retrieval import ranks
from xling_utils.measures.names import WORD_ALIGNMENT
from xling_utils.measures.rows import row
from xling_utils.measures.tasks.word_retrieval import restrict
from xling_utils.runs import Run

SPLIT_SEED = 0
"""Of the halves of a dictionary, the same for every run."""


def rows(run: Run, beside: Run | None, scale: Scale, data: Path | None) -> Iterator[dict[str, Any]]:
    """Tidy rows ``task, metric, source, target, layer, value, low, high, n`` of a model that reads English, ``run``,
    and one that reads another language, ``beside`` (``None``: the same); static vectors are one layer.

    ``p_at_1_csls``: for how many English words of one half of the dictionary the nearest word of the other language,
    by CSLS among all that the dictionary names, is a translation, after iterative normalization and the rotation
    that was fitted on the other half; ``p_at_1_shuffled``: the same after a rotation fitted on shuffled pairs. Raises
    :class:`UserError` if ``run`` does not read English or nothing reads another language, on models of different width
    or depth, and if no pair of the dictionary is in the text.
    """
    other_run = beside or run
    target = other_language(WORD_ALIGNMENT, run, other_run)
    check_same_shape(WORD_ALIGNMENT, run, other_run)
    english = Reading(run, scale, data)
    other = english if beside is None else Reading(beside, scale, data)
    pairs = [(s, t) for s, t in corpora.dictionary(run.spec.corpus.source, target, data) if s != t]
    dictionary = restrict(pairs, english.counts["en"], other.counts[target], target, 0)
    order = np.random.default_rng(SPLIT_SEED).permutation(len(dictionary.sources))
    fitted, tested = np.array_split(order, 2)
    answers = np.array([min(dictionary.gold[number]) for number in fitted])
    shuffled = np.random.default_rng(SPLIT_SEED).permutation(answers)
    gold = [dictionary.gold[number] for number in tested]
    layers = zip(english.vectors("en", dictionary.sources), other.vectors(target, dictionary.targets), strict=True)
    for layer, (x, y) in enumerate(layers):
        x, y = iterative_normalization(x), iterative_normalization(y)
        for metric, partners in (("p_at_1_csls", answers), ("p_at_1_shuffled", shuffled)):
            rotation = procrustes(x[fitted], y[partners]).astype(np.float32)
            right = ranks(x[tested] @ rotation, y, gold, method="csls") == 1
            yield row(WORD_ALIGNMENT, metric, "en", target, layer, right)
