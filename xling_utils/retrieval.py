"""Word and sentence retrieval by nearest neighbours: reciprocal rank, precision at k, CSLS, chance and intervals.

All rankings are computed in blocks of sources and of targets, so memory does not grow with their product. Ties
count against the model: a constant vector never scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xling_utils.errors import UserError

Array = npt.NDArray[np.floating]

BLOCK = 4096
CSLS_NEIGHBOURS = 10


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval and the number of things it was computed over."""

    value: float
    low: float
    high: float
    n: int


def mean_reciprocal_rank(sources: Array, targets: Array, gold: Sequence[set[int]]) -> float:
    """Mean of 1 / rank of each source's best-ranked translation (A, eq. 2), by cosine.

    ``sources`` (n, d) and ``targets`` (m, d) of any float type; ``gold[i]`` holds the rows of ``targets`` that
    translate source i, and the best of them counts. Raises :class:`UserError` on shapes that do not match.
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
    x, y = _checked(sources, targets, gold)
    if method not in ("cosine", "csls"):
        raise UserError(f"retrieval: unknown method {method!r}; known: cosine, csls")
    discount = _hubness(y, x) / 2 if method == "csls" else np.zeros(len(y), dtype=x.dtype)
    found = np.empty(len(x), dtype=np.int64)
    for rows in _blocks(len(x)):
        pairs = [(i, j) for i, own in enumerate(gold[rows]) for j in own]
        index, column = np.array(pairs).T
        scores = np.einsum("pd,pd->p", x[rows][index], y[column]) - discount[column]
        best = np.full(len(x[rows]), -np.inf, dtype=x.dtype)
        np.maximum.at(best, index, scores)
        above = np.zeros(len(best), dtype=np.int64)
        tolerance = 16 * np.finfo(x.dtype).eps  # the same product may round differently in a block
        for columns in _blocks(len(y)):
            block = x[rows] @ y[columns].T - discount[columns]
            here = (column >= columns.start) & (column < columns.stop)
            block[index[here], column[here] - columns.start] = -np.inf
            above += (block >= best[:, None] - tolerance).sum(axis=1)
        found[rows] = above + 1
    return found


def nearest(sources: Array, targets: Array, k: int) -> tuple[npt.NDArray[np.int64], Array]:
    """The ``k`` nearest targets of each source by cosine: rows (n, k) int64, and similarities (n, k)."""
    x, y = _normalised(sources), _normalised(targets)
    similarity = x @ y.T
    order = np.argsort(-similarity, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(similarity, order, axis=1)


def chance_reciprocal_rank(candidates: int, gold: Sequence[set[int]]) -> float:
    """Expected mean reciprocal rank of a random order of ``candidates`` targets, competing translations aside."""
    total = 0.0
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, candidates + 1))])
    for own in gold:
        count = candidates - len(own) + 1
        total += _expected_best(count, len(own), harmonic)
    return total / len(gold)


def _expected_best(count: int, own: int, harmonic: Array) -> float:
    """E[1 / rank] of the best of ``own`` translations among ``count - 1`` others, translations not competing."""
    if own == 1:
        return float(harmonic[count] / count)
    others = count - 1
    survive, expected = 1.0, 0.0  # survive: chance that the first r - 1 others all precede every translation
    for rank in range(1, others + 2):
        first_here = own / (others - rank + 1 + own)
        expected += survive * first_here / rank
        survive *= 1 - first_here
    return expected


def bootstrap(values: Array, seed: int = 0, draws: int = 2000) -> Interval:
    """Mean of ``values`` (n,) with a 95 % percentile bootstrap interval over items."""
    values = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(seed)
    means = np.array([values[rng.integers(0, len(values), len(values))].mean() for _ in range(draws)])
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(values.mean()), float(low), float(high), len(values))


def over_seeds(values: Sequence[float]) -> Interval:
    """Mean over seeds with Student's 95 % interval; a single seed has no interval (NaN bounds)."""
    from scipy.stats import t

    numbers = np.asarray(values, dtype=np.float64)
    mean = float(numbers.mean())
    if len(numbers) < 2:
        return Interval(mean, float("nan"), float("nan"), len(numbers))
    half = float(t.ppf(0.975, len(numbers) - 1) * numbers.std(ddof=1) / len(numbers) ** 0.5)
    return Interval(mean, mean - half, mean + half, len(numbers))


def _checked(sources: Array, targets: Array, gold: Sequence[set[int]]) -> tuple[Array, Array]:
    if sources.ndim != 2 or targets.ndim != 2 or sources.shape[1] != targets.shape[1]:
        raise UserError(f"retrieval: sources {sources.shape} and targets {targets.shape} do not match")
    if len(gold) != len(sources) or not len(sources):
        raise UserError(f"retrieval: {len(sources)} sources, {len(gold)} gold sets")
    if any(not own for own in gold):
        raise UserError("retrieval: a source has no translation; leave it out")
    if max(max(own) for own in gold) >= len(targets):
        raise UserError(f"retrieval: a gold row lies outside the {len(targets)} targets")
    return _normalised(sources), _normalised(targets)


def _normalised(x: Array) -> Array:
    x = np.asarray(x)
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.where(norms > 0, norms, 1)


def _hubness(points: Array, others: Array) -> Array:
    """Mean similarity of each of ``points`` to its nearest neighbours among ``others``."""
    k = min(CSLS_NEIGHBOURS, len(others))
    means = np.empty(len(points), dtype=points.dtype)
    for rows in _blocks(len(points)):
        best = np.full((len(points[rows]), k), -np.inf, dtype=points.dtype)
        for columns in _blocks(len(others)):
            block = np.concatenate([best, points[rows] @ others[columns].T], axis=1)
            best = np.partition(block, -k, axis=1)[:, -k:]
        means[rows] = best.mean(axis=1)
    return means


def _blocks(n: int) -> Iterator[slice]:
    return (slice(i, min(i + BLOCK, n)) for i in range(0, n, BLOCK))
