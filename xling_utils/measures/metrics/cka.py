"""How alike two sets of representations are: linear CKA, in memory that does not grow with the number of examples.

Centred kernel alignment of Kornblith et al. (2019, eq. 4 to 6), which C uses (sec. 5.1). It is invariant to
rotation and to scale, so it asks for the same shape, wherever it lies. Without debiasing it is inflated where the
number of examples is near that of dimensions; with it, the Hilbert-Schmidt independence criterion is estimated
without bias (Song et al. 2012, eq. 5) and two unrelated sets have 0 on average.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from xling_utils.core.errors import UserError

Array = npt.NDArray[np.floating]
Sums = npt.NDArray[np.float64]

BLOCK = 8192
FEWEST = 4
"""Examples that the estimate without bias takes at least."""


def linear_cka(x: Array, y: Array, debiased: bool = False) -> float:
    """Linear CKA of two representations of the same examples: ``x`` (n, d1) and ``y`` (n, d2) of any float type.

    1 for representations that differ by rotation and scale; NaN if either is constant. Raises :class:`UserError` on
    shapes that do not match, fewer than four examples and numbers that are not finite.
    """
    if x.ndim != 2 or y.ndim != 2 or len(x) != len(y):
        raise UserError(f"CKA: representations {x.shape} and {y.shape} are not of the same examples")
    blocks = (slice(start, start + BLOCK) for start in range(0, len(x), BLOCK))
    return float(cka_of_layers(((x[None, rows], y[None, rows]) for rows in blocks), debiased)[0, 0])


def cka_of_layers(blocks: Iterable[tuple[Array, Array]], debiased: bool = False) -> Sums:
    """Linear CKA of every layer of one encoder with every layer of another, float64 (layers 1, layers 2).

    ``blocks`` are states of the same examples, (layers 1, n, d1) and (layers 2, n, d2), a block at a time; memory
    is that of the products of features, whatever the number of examples. Raises as :func:`linear_cka` does.
    """
    pairs: _Products | None = None
    for x, y in blocks:
        if pairs is None:
            pairs = _Products(x, y)
        pairs.add(x, y)
    if pairs is None or pairs.n < FEWEST:
        raise UserError(f"CKA: takes at least {FEWEST} examples, not {pairs.n if pairs else 0}")
    return pairs.cka(debiased)


class _Side:
    """Sums over the examples of one encoder's layers, all of features less the first block's mean: subtracting a
    constant changes no result and keeps the sums small."""

    def __init__(self, x: Array) -> None:
        layers, _, width = x.shape
        self.shift = x.mean(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
        self.sum: Sums = np.zeros((layers, width))
        self.gram: Sums = np.zeros((layers, width, width))
        self.weighted: Sums = np.zeros((layers, width))  # sum of |x|^2 x
        self.squares: Sums = np.zeros(layers)  # sum of |x|^2
        self.fourth: Sums = np.zeros(layers)  # sum of |x|^4

    def add(self, x: Array) -> tuple[Array, Array]:
        """Takes in a block; returns it shifted, (layers, n, d), and its squared lengths, (layers, n)."""
        x = x.astype(np.float32) - self.shift
        norms = np.einsum("lnd,lnd->ln", x, x)
        if not np.isfinite(norms).all():
            raise UserError("CKA: a representation holds numbers that are not finite")
        self.sum += x.sum(axis=1, dtype=np.float64)
        self.gram += x.transpose(0, 2, 1) @ x
        self.weighted += (norms[:, None, :] @ x)[:, 0]
        self.squares += norms.sum(axis=1, dtype=np.float64)
        self.fourth += (norms.astype(np.float64) ** 2).sum(axis=1)
        return x, norms


class _Products:
    """What linear CKA needs to know of two encoders' layers."""

    def __init__(self, x: Array, y: Array) -> None:
        self.n, self.sides = 0, (_Side(x), _Side(y))
        self.product: Sums = np.zeros((len(x), len(y), x.shape[2], y.shape[2]))
        self.norms: Sums = np.zeros((len(x), len(y)))  # sum of |x|^2 |y|^2
        self.x_by_y: Sums = np.zeros((len(x), len(y), x.shape[2]))  # sum of x |y|^2
        self.y_by_x: Sums = np.zeros((len(x), len(y), y.shape[2]))  # sum of |x|^2 y

    def add(self, x: Array, y: Array) -> None:
        if x.ndim != 3 or y.ndim != 3 or x.shape[1] != y.shape[1]:
            raise UserError(f"CKA: representations {x.shape} and {y.shape} are not of the same examples")
        self.n += x.shape[1]
        (x, x_norms), (y, y_norms) = self.sides[0].add(x), self.sides[1].add(y)
        for layer, own in enumerate(x):
            self.product[layer] += own.T @ y
        self.norms += x_norms.astype(np.float64) @ y_norms.T
        self.x_by_y += np.einsum("lnd,mn->lmd", x, y_norms, optimize=True)
        self.y_by_x += np.einsum("ln,mnd->lmd", x_norms, y, optimize=True)

    def cka(self, debiased: bool) -> Sums:
        one, other = self.sides
        own_x, own_y = (
            np.array([self._alike(s, i, s, i, s.gram[i], s.fourth[i], s.weighted[i], s.weighted[i], debiased)
                      for i in range(len(s.gram))])
            for s in self.sides
        )  # fmt: skip
        cross = np.array(
            [[self._alike(one, i, other, j, self.product[i, j], self.norms[i, j], self.x_by_y[i, j],
                          self.y_by_x[i, j], debiased)
              for j in range(len(own_y))] for i in range(len(own_x))]
        )  # fmt: skip
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.sqrt(np.outer(own_x, own_y))
            return np.where(scale > 0, cross / scale, np.nan)

    def _alike(
        self, one: _Side, i: int, other: _Side, j: int, product: Sums, norms: float, x_by_y: Sums, y_by_x: Sums,
        debiased: bool,
    ) -> float:  # fmt: skip
        """The squared Frobenius norm of the centred ``product`` of two layers; or its estimate without bias, for
        which the examples' squared lengths are needed too."""
        n = self.n
        mean_x, mean_y = one.sum[i] / n, other.sum[j] / n
        whole = float(((product - n * np.outer(mean_x, mean_y)) ** 2).sum())
        if not debiased:
            return whole
        x_length, y_length = float(mean_x @ mean_x), float(mean_y @ mean_y)
        x_squares, y_squares = float(one.squares[i]), float(other.squares[j])
        # The sum of |x - mean|^2 |y - mean|^2, each factor written as |x|^2 - 2 x mean + |mean|^2.
        both = norms - 2 * x_by_y @ mean_x - 2 * y_by_x @ mean_y + 4 * mean_x @ product @ mean_y
        both += x_squares * y_length + y_squares * x_length - 3 * n * x_length * y_length
        each = (x_squares - n * x_length) * (y_squares - n * y_length)
        return float(whole - n / (n - 2) * both + each / ((n - 1) * (n - 2)))
