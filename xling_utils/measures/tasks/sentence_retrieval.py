"""Which sentence of another language says the same? Retrieval by mean vectors, as they are, without their language's
mean, and moved by the difference of the means (D, sec. 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xling_utils.core.errors import UserError
from xling_utils.measures.encoders.hidden_states import LanguageModel
from xling_utils.measures.metrics.retrieval import nearest, ranks
from xling_utils.measures.names import METHODS
from xling_utils.measures.rows import row

Array = npt.NDArray[np.floating]


def sentence_vectors(lm: LanguageModel, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
    """What stands for each sentence at every layer, float32 (layers + 1, sentences, d): unless the model was opened
    with another ``pooling``, the mean of its tokens, special ones left out (D, sec. 4.1, says "all token embeddings").
    A sentence without a token has a zero vector."""
    if not len(sentences):
        raise UserError("sentence retrieval: no sentences")
    found: npt.NDArray[np.float32] | None = None
    for batch in lm.states(sentences):
        vectors = batch.pooled(lm.pooling).cpu().numpy()
        if found is None:
            found = np.empty((len(vectors), len(sentences), vectors.shape[-1]), dtype=np.float32)
        found[:, batch.rows] = vectors
    assert found is not None
    return found


def placed(source: Array, target: Array, means: tuple[Array, Array], method: str) -> tuple[Array, Array]:
    """Vectors of two languages (n, d) and (m, d) put where ``method`` has them meet; ``means`` (d,) of both languages,
    of other text. Raises :class:`UserError` on an unknown method."""
    if method not in METHODS:
        raise UserError(f"unknown method {method!r}; known: {', '.join(METHODS)}")
    if method == "zero-mean":
        return source - means[0], target - means[1]
    return (source, target) if method == "original" else (source - means[0] + means[1], target)


def rows(
    vectors: Mapping[str, Array], means: Mapping[str, Array], source: str, target: str, task: str
) -> Iterator[dict[str, Any]]:
    """Tidy rows ``task, metric, source, target, layer, value, low, high, n, method``: the share of sentences whose
    translation is the nearest (``p_at_1``), by cosine, at every layer and for every one of ``METHODS``.

    ``vectors[language]`` (layers + 1, n, d), row by row translations of each other; ``means[language]``
    (layers + 1, d). Bounds are of a 95 % bootstrap over sentences. Raises :class:`UserError` if the languages have
    different numbers of sentences.
    """
    one, other = vectors[source], vectors[target]
    if one.shape != other.shape:
        raise UserError(
            f"{task}: {one.shape[1]} sentences in {source}, {other.shape[1]} in {target}; they must be translations, "
            "line by line"
        )
    gold = [{number} for number in range(one.shape[1])]
    for layer in range(len(one)):
        for method in METHODS:
            x, y = placed(one[layer], other[layer], (means[source][layer], means[target][layer]), method)
            yield row(task, "p_at_1", source, target, layer, ranks(x, y, gold) == 1, method=method)


def mined(source: Array, target: Array, gold: Sequence[tuple[int, int]]) -> tuple[npt.NDArray[np.int64], float]:
    """What mining translations out of two unaligned texts finds, and the threshold on cosine that was used.

    Each of ``source`` (n, d) proposes its nearest of ``target`` (m, d); pairs above a threshold count as found. The
    threshold is the best on the sources with even numbers, in the middle of the gap that it may lie in (of equal
    similarities, between which no threshold lies, it takes all); what is
    returned are the right, the found and the gold pairs of each source with an odd number, int64 (n // 2, 3): none of
    the pairs that are scored has chosen it. ``gold`` are pairs of rows, one a source. Raises :class:`UserError` if a
    half has none.
    """
    index, similarity = nearest(source, target, 1)
    known = dict(gold)
    wanted = np.array([row in known for row in range(len(source))])
    right = np.array([known.get(row) == int(column) for row, column in enumerate(index[:, 0])])
    if not wanted[::2].any() or not wanted[1::2].any():
        raise UserError("mining: each half of the sources needs a pair; give more pairs")
    order = np.argsort(-similarity[::2, 0], kind="stable")
    scores = 2 * np.cumsum(right[::2][order]) / (np.arange(1, len(order) + 1) + wanted[::2].sum())
    proposed, best = similarity[::2, 0][order], int(scores.argmax())
    threshold = float(proposed[best : best + 2].mean())
    found = similarity[1::2, 0] >= threshold
    return np.stack([right[1::2] & found, found, wanted[1::2]], axis=1).astype(np.int64), threshold
