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

from xling_utils.alignment import iterative_normalization, procrustes
from xling_utils.corpora import parallel
from xling_utils.errors import UserError
from xling_utils.lens import of_run
from xling_utils.retrieval import bootstrap, ranks
from xling_utils.scales import Scale
from xling_utils.sentence_retrieval import sentence_vectors
from xling_utils.similarity import cka_of_layers
from xling_utils.store import Run

SIMILARITY = "similarity"
"""The task's name."""
SENTENCES = {"smoke": (80, 40), "controlled": (2_000, 500), "natural": (10_000, 1_000), "paper": (10_000, 1_000)}
"""By scale: translations that CKA is measured and rotations are fitted on (C: 10,000), and those to be found."""
Array = npt.NDArray[np.float32]


def rows(run: Run, beside: Run | None, scale: Scale, data: Path | None) -> Iterator[dict[str, Any]]:
    """Tidy rows ``task, metric, source, target, layer, value, low, high, n`` of an encoder that reads English, ``run``,
    and one that reads the other language, ``beside`` (``None``: the same).

    Metrics at every layer: ``cka`` and ``cka_debiased`` of mean-pooled translations; ``p_at_1``, the share of sentences
    whose translation is the nearest by cosine, and ``p_at_1_rotated``, the same after iterative normalization and the
    rotation that was fitted on the sentences of the former, which are others. Two encoders that read the same language
    compare themselves on the same sentences. Raises :class:`UserError` if ``run`` does not read English.
    """
    other = beside or run
    if "en" not in run.spec.corpus.languages:
        raise UserError(f"similarity: run {run.key} does not read English")
    target = next((language for language in other.spec.corpus.languages if language != "en"), "en")
    source = run.spec.corpus.source
    lowercase = run.spec.tokenizer.kind != "mbert"
    fitted_on, tested_on = SENTENCES[scale.name]
    languages = tuple(dict.fromkeys(("en", target)))
    multiway = parallel.multiway(source, languages, fitted_on, data=data, lowercase=lowercase)
    shared = _both(run, other, multiway["en"], multiway[target])
    for metric, debiased in (("cka", False), ("cka_debiased", True)):
        matrix = cka_of_layers([shared], debiased)
        for layer in range(min(matrix.shape)):
            yield _row(metric, target, layer, float(matrix[layer, layer]), n=len(multiway["en"]))
    if target == "en":
        return
    tested = _both(run, other, *parallel.pairs(source, target, tested_on, data=data, lowercase=lowercase))
    gold = [{row} for row in range(tested[0].shape[1])]
    for layer, (x, y) in enumerate(zip(*tested, strict=True)):
        yield _row("p_at_1", target, layer, ranks(x, y, gold) == 1)
        fitted = procrustes(*(iterative_normalization(side[layer]) for side in shared))
        x, y = iterative_normalization(x), iterative_normalization(y)
        yield _row("p_at_1_rotated", target, layer, ranks(x @ fitted.astype(np.float32), y, gold) == 1)


def _both(run: Run, other: Run, english: list[str], translations: list[str]) -> tuple[Array, Array]:
    """Mean-pooled sentences, (layers + 1, sentences, d) each."""
    first = of_run(run)
    second = first if other.key == run.key else of_run(other)
    return sentence_vectors(*first, english), sentence_vectors(*second, translations)


def _row(
    metric: str, target: str, layer: int, values: npt.NDArray[Any] | float, n: int | None = None
) -> dict[str, Any]:
    row = {"task": SIMILARITY, "metric": metric, "source": "en", "target": target, "layer": layer}
    if isinstance(values, float):
        return row | {"value": values, "n": n}
    found = bootstrap(values)
    return row | {"value": found.value, "low": found.low, "high": found.high, "n": found.n}
