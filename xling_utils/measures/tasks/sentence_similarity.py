"""Have two encoders the same shape, and can a rotation bring one onto the other? (C, sec. 5)

English is read by one encoder, the other language by the same or by another, and both read translations: CKA of
their mean-pooled sentences, and retrieval after a rotation that was fitted on other sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from xling_utils.core.errors import UserError
from xling_utils.core.scales import Scale
from xling_utils.measures.encoders.subject import Subject
from xling_utils.measures.metrics.cka import linear_cka
from xling_utils.measures.metrics.procrustes import iterative_normalization, procrustes
from xling_utils.measures.metrics.retrieval import ranks
from xling_utils.measures.names import SIMILARITY
from xling_utils.measures.rows import row
from xling_utils.measures.tasks.sentence_retrieval import sentence_vectors
from xling_utils.runs import Run

SENTENCES = {"smoke": (80, 40), "controlled": (2_000, 500), "natural": (10_000, 1_000), "paper": (10_000, 1_000)}
"""By scale: translations that CKA is measured and rotations are fitted on (C: 10,000), and those to be found."""
Array = npt.NDArray[np.float32]


def of_models(subject: Subject, beside: Subject, scale: Scale, target: str) -> Iterator[dict[str, Any]]:
    """Tidy rows ``task, metric, source, target, layer, value, low, high, n`` of ``subject``, which reads English,
    and of ``beside``, which reads ``target`` and may be the same.

    Metrics at every layer of the shallower: ``cka`` and ``cka_debiased`` of mean-pooled translations; ``p_at_1``, the
    share of sentences whose translation is the nearest by cosine, and ``p_at_1_rotated``, the same after iterative
    normalization and the rotation that was fitted on the sentences of the former (see :func:`parallel.pairs`). Where
    ``target`` is English two models compare themselves on the same sentences. Raises :class:`UserError` if ``subject``
    does not read English.
    """
    if "en" not in subject.languages:
        raise UserError(f"similarity: {subject.key} does not read English")
    fitted_on, tested_on = SENTENCES[scale.name]
    said = subject.said(fitted_on, *dict.fromkeys(("en", target)))
    if subject.aligned:  # whose other half is to be found
        said = {language: lines[::2] for language, lines in said.items()}
    shared = sentence_vectors(subject, said["en"]), sentence_vectors(beside, said[target])
    for metric, debiased in (("cka", False), ("cka_debiased", True)):
        for layer, (x, y) in enumerate(zip(*shared, strict=False)):  # as deep as the shallower one
            yield row(SIMILARITY, metric, "en", target, layer, linear_cka(x, y, debiased), n=len(said["en"]))
    if target == "en":
        return
    english, translations = subject.pairs(target, tested_on)
    if subject.aligned:
        english, translations = english[1::2], translations[1::2]
    tested = sentence_vectors(subject, english), sentence_vectors(beside, translations)
    gold = [{number} for number in range(tested[0].shape[1])]
    for layer, (x, y) in enumerate(zip(*tested, strict=False)):
        yield row(SIMILARITY, "p_at_1", "en", target, layer, ranks(x, y, gold) == 1)
        fitted = procrustes(*(iterative_normalization(side[layer]) for side in shared))
        x, y = iterative_normalization(x), iterative_normalization(y)
        rotated = ranks(x @ fitted.astype(np.float32), y, gold) == 1
        yield row(SIMILARITY, "p_at_1_rotated", "en", target, layer, rotated)


def rows(run: Run, beside: Run | None, scale: Scale, data: Path | None) -> Iterator[dict[str, Any]]:
    """:func:`of_models` of stored encoders: of English, and of the other language beside it (``None``: the same)."""
    other = beside or run
    target = next((language for language in other.spec.corpus.languages if language != "en"), "en")
    subject = Subject.of_run(run, data)
    yield from of_models(subject, subject if other.key == run.key else Subject.of_run(other, data), scale, target)
