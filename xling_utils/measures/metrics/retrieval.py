"""Word and sentence retrieval by nearest neighbours: reciprocal rank, precision at k, chance and intervals.

All rankings are computed in blocks of sources and of targets, so memory does not grow with their product.
Ties count against the model: a constant vector never scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from xling_utils.core.errors import UserError
from xling_utils.measures.metrics.intervals import Interval

Array = npt.NDArray[np.floating]

BLOCK = 4096
RESAMPLED = 1 << 18
"""Items that are drawn at a time."""
CSLS_NEIGHBOURS = 10


def mean_reciprocal_rank(sources: Array, targets: Array, gold: Sequence[set[int]]) -> float:
    """Mean of 1 / rank of each source's best-ranked translation (A, eq. 2), by cosine.

    ``sources`` (n, d) and ``targets`` (m, d) of any float type (products are float32); ``gold[i]`` holds the
    rows of ``targets`` that translate source i, and the best of them counts. Raises :class:`UserError` on
    shapes that do not match, a source without translation and numbers that are not finite.
    """
    return float(reciprocal_ranks(sources, targets, gold).mean())


def reciprocal_ranks(sources: Array, targets: Array, gold: Sequence[set[int]]) -> Array:
    """1 / rank for each source, float64 (n,); see :func:`mean_reciprocal_rank`."""
    return 1.0 / ranks(sources, targets, gold)


def precision_at_k(
    sources: Array, targets: Array, gold: Sequence[set[int]], k: int = 1, method: str = "cosine"
) -> float:
    """Share of sources with a translation among the ``k`` nearest targets.

    ``method`` is ``"cosine"`` or ``"csls"`` (cross-domain similarity local scaling with ten neighbours,
    Conneau et al. 2018, eq. 4).
    """
    return float((ranks(sources, targets, gold, method) <= k).mean())


def ranks(sources: Array, targets: Array, gold: Sequence[set[int]], method: str = "cosine") -> npt.NDArray[np.int64]:
    """Rank, from 1, of each source's best translation among all targets, int64 (n,).

    Other targets that tie with it rank before it; further translations of the same source do not.
    """
    _check(sources, targets, gold)
    if method not in ("cosine", "csls"):
        raise UserError(f"retrieval: unknown method {method!r}; known: cosine, csls")
    discount: Array = np.zeros(len(targets), dtype=np.float32)
    if method == "csls":
        discount = _hubness(targets, sources) / np.float32(2)
    tolerance = 4 * sources.shape[1] ** 0.5 * np.finfo(np.float32).eps  # what a float32 product may be off by
    found = np.empty(len(sources), dtype=np.int64)
    for rows in _blocks(len(sources)):
        x = _unit(sources, rows)
        own, column = np.array([(i, j) for i, rows_of in enumerate(gold[rows]) for j in rows_of]).T
        best = _best_scores(x, targets, discount, own, column)
        above = np.zeros(len(x), dtype=np.int64)
        for columns in _blocks(len(targets)):
            scores = x @ _unit(targets, columns).T
            scores -= discount[columns]
            here = (column >= columns.start) & (column < columns.stop)
            scores[own[here], column[here] - columns.start] = -np.inf
            above += (scores >= (best - tolerance)[:, None]).sum(axis=1)
        found[rows] = above + 1
    return found


def _best_scores(
    x: Array, targets: Array, discount: Array, own: npt.NDArray[np.int64], column: npt.NDArray[np.int64]
) -> Array:
    """The score of each source's best translation; pair p is row ``own[p]`` of x and target ``column[p]``."""
    best = np.full(len(x), -np.inf)
    for pairs in _blocks(len(own)):
        y = _unit(targets, column[pairs])
        scores = np.einsum("pd,pd->p", x[own[pairs]], y, dtype=np.float64) - discount[column[pairs]]
        np.maximum.at(best, own[pairs], scores)
    return best.astype(x.dtype)


def nearest(sources: Array, targets: Array, k: int) -> tuple[npt.NDArray[np.int64], Array]:
    """The ``k`` nearest targets of each source by cosine: rows (n, k) int64, and similarities (n, k). Raises
    :class:`UserError` on shapes that do not match and numbers that are not finite."""
    _check_widths(sources, targets)
    k = min(k, len(targets))
    index = np.empty((len(sources), k), dtype=np.int64)
    similarity = np.empty((len(sources), k), dtype=np.float32)
    for rows in _blocks(len(sources)):
        x = _unit(sources, rows)
        which, best = np.empty((len(x), 0), dtype=np.int64), np.empty((len(x), 0), dtype=np.float32)
        for columns in _blocks(len(targets)):
            values, places = _largest(x @ _unit(targets, columns).T, k)
            best = np.concatenate([best, values], axis=1)
            which = np.concatenate([which, places + columns.start], axis=1)
            best, places = _largest(best, k)
            which = np.take_along_axis(which, places, axis=1)
        order = np.lexsort((which, -best), axis=1)
        index[rows], similarity[rows] = np.take_along_axis(which, order, 1), np.take_along_axis(best, order, 1)
    return index, similarity


def _largest(scores: Array, k: int) -> tuple[Array, npt.NDArray[np.int64]]:
    """The ``k`` largest of each row, or as many as there are, in any order: values and columns."""
    import torch  # it takes them in parallel, and in half the time of numpy's partition

    values, columns = torch.topk(torch.from_numpy(scores), min(k, scores.shape[1]), dim=1, sorted=False)
    return values.numpy(), columns.numpy()


def chance_reciprocal_rank(candidates: int, gold: Sequence[set[int]]) -> float:
    """Expected mean reciprocal rank of a random order of ``candidates`` targets; as in :func:`ranks`,
    translations of one source do not compete. Raises :class:`UserError` where no source is given, or one with more
    translations than there are candidates, or with none."""
    if not gold or not 0 < min(map(len, gold)) <= max(map(len, gold)) <= candidates:
        raise UserError(f"retrieval: each source takes from 1 to {candidates} translations, all the candidates")
    sizes = Counter(len(own) for own in gold)
    return sum(n * _expected_best(candidates - own, own) for own, n in sizes.items()) / len(gold)


def _expected_best(others: int, own: int) -> float:
    """E[1 / rank] of the best of ``own`` translations among ``others``, translations not competing."""
    before = np.arange(others)  # others that precede it: one more with chance (others - before) / (all left)
    survive = np.cumprod(np.concatenate([[1.0], (others - before) / (others - before + own)]))
    first_here = own / (others - np.arange(others + 1) + own)
    return float((survive * first_here / np.arange(1, others + 2)).sum())


def bootstrap(values: Array, seed: int = 0, draws: int = 2000) -> Interval:
    """Mean of ``values`` (n,) with a 95 % percentile bootstrap interval over items."""
    values = np.asarray(values, dtype=np.float64)
    low, high = np.percentile(resampled_sums(values, seed, draws) / len(values), [2.5, 97.5])
    return Interval(float(values.mean()), float(low), float(high), len(values))


def resampled_sums(values: npt.NDArray[Any], seed: int = 0, draws: int = 2000) -> Array:
    """Sums over ``values`` (n,) or (n, columns) of ``draws`` bootstrap samples of their rows: (draws,) or
    (draws, columns)."""
    return _resampled(len(values), seed, draws) @ values


@lru_cache(maxsize=8)  # most intervals are over one of a few dictionaries or test sets
def _resampled(items: int, seed: int, draws: int) -> Array:
    """How often each item is drawn, float32 (draws, items). Items are drawn one by one and counted, some resamples at
    a time: multinomial draws take five times as long."""
    rng = np.random.default_rng(seed)
    found = np.empty((draws, items), dtype=np.float32)
    for rows in _blocks(draws, max(1, RESAMPLED // items)):
        block = found[rows]
        places = rng.integers(0, items, block.shape) + np.arange(len(block))[:, None] * items
        block[:] = np.bincount(places.ravel(), minlength=block.size).reshape(block.shape)
    return found


def _check(sources: Array, targets: Array, gold: Sequence[set[int]]) -> None:
    _check_widths(sources, targets)
    if len(gold) != len(sources) or not len(sources):
        raise UserError(f"retrieval: {len(sources)} sources, {len(gold)} gold sets")
    if any(not own for own in gold):
        raise UserError("retrieval: a source has no translation; leave it out")
    if max(map(max, gold)) >= len(targets) or min(map(min, gold)) < 0:
        raise UserError(f"retrieval: a gold row lies outside the {len(targets)} targets")


def _check_widths(sources: Array, targets: Array) -> None:
    if sources.ndim != 2 or targets.ndim != 2 or sources.shape[1] != targets.shape[1]:
        raise UserError(f"retrieval: sources {sources.shape} and targets {targets.shape} do not match")


def _unit(x: Array, rows: slice | npt.NDArray[np.int64]) -> Array:
    """``x[rows]`` as float32 at length 1; zero vectors stay zero."""
    block = np.asarray(x[rows], dtype=np.float32)
    norms = np.linalg.norm(block, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise UserError("retrieval: a vector holds numbers that are not finite, so it has no rank")
    return block / np.where(norms > 0, norms, 1)


def _hubness(points: Array, others: Array) -> Array:
    """Mean similarity of each of ``points`` to its nearest neighbours among ``others``, float32."""
    k = min(CSLS_NEIGHBOURS, len(others))
    means = np.empty(len(points), dtype=np.float32)
    for rows in _blocks(len(points)):
        x = _unit(points, rows)
        best = np.empty((len(x), 0), dtype=np.float32)
        for columns in _blocks(len(others)):
            values, _ = _largest(x @ _unit(others, columns).T, k)
            best, _ = _largest(np.concatenate([best, values], axis=1), k)
        means[rows] = best.mean(axis=1)
    return means


def _blocks(n: int, size: int = BLOCK) -> Iterator[slice]:
    return (slice(i, min(i + size, n)) for i in range(0, n, size))
