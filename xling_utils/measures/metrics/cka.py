"""How alike two sets of representations are: linear CKA.

Centred kernel alignment of Kornblith et al. (2019, eq. 4 to 6), which C uses (sec. 5.2). It is invariant to
rotation and to scale, so it asks for the same shape, wherever it lies. Without debiasing it is inflated where the
number of examples is near that of dimensions; with it, the Hilbert-Schmidt independence criterion is estimated
without bias (Song et al. 2012, eq. 5) and two unrelated sets have 0 on average.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from xling_utils.core.errors import UserError

Array = npt.NDArray[np.floating]

FEWEST = 4
"""Examples that the estimate without bias takes at least."""
CONSTANT = 1e-6
"""What examples may differ by, as a share of the largest number, and still be one: what rounding does to float32."""


def linear_cka(x: Array, y: Array, debiased: bool = False) -> float:
    """Linear CKA of two representations of the same examples: ``x`` (n, d1) and ``y`` (n, d2) of any float type,
    computed in float64 from products of features, (d1, d2).

    1 for representations that differ by rotation and scale; NaN if either is constant (:data:`CONSTANT`). Raises
    :class:`UserError` on shapes that do not match, fewer than four examples and numbers that are not finite.
    """
    if x.ndim != 2 or y.ndim != 2 or len(x) != len(y):
        raise UserError(f"CKA: representations {x.shape} and {y.shape} are not of the same examples")
    if len(x) < FEWEST:
        raise UserError(f"CKA: takes at least {FEWEST} examples, not {len(x)}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise UserError("CKA: a representation holds numbers that are not finite")
    if _constant(x) or _constant(y):
        return float("nan")
    x, y = (side - side.mean(axis=0, dtype=np.float64) for side in (x, y))
    scale = _alike(x, x, debiased) * _alike(y, y, debiased)
    return _alike(x, y, debiased) / scale**0.5 if scale > 0 else float("nan")


def between_layers(x: Array, y: Array) -> npt.NDArray[np.float64]:
    """Debiased linear CKA of every layer with every layer, float64 (layers of x, layers of y): ``x`` (layers, n, d1)
    and ``y`` (layers, n, d2) of the same examples. As :func:`linear_cka` has it, from products of examples, (n, n).

    Raises :class:`UserError` on different and on fewer than four examples.
    """
    if x.shape[1] != y.shape[1] or x.shape[1] < FEWEST:
        raise UserError(f"CKA: representations {x.shape} and {y.shape} are not of the same examples, {FEWEST} or more")
    sides = [np.stack([_products(layer) for layer in side]) for side in (x, y)]
    own = [np.einsum("lij,lij->l", side, side) for side in sides]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.einsum("lij,mij->lm", *sides, optimize=True) / np.sqrt(np.outer(*own))


def _products(x: Array) -> npt.NDArray[np.float64]:
    """Products of centred examples (n, n), made so that the sum of two such matrices' products estimates the
    Hilbert-Schmidt criterion without bias (Song et al. 2012, eq. 5, as Szekely and Rizzo 2014, def. 3, centre it). NaN
    where all examples are one, whose products are alike but for their diagonal."""
    if _constant(x):
        return np.full((len(x), len(x)), np.nan)
    x = x.astype(np.float64)
    products = x @ x.T
    np.fill_diagonal(products, 0)
    n = len(x)
    sums = products.sum(axis=0)
    products += sums.sum() / ((n - 1) * (n - 2)) - (sums[:, None] + sums[None]) / (n - 2)
    np.fill_diagonal(products, 0)
    return products


def _constant(x: Array) -> bool:
    return bool(np.abs(x - x[0]).max() <= CONSTANT * np.abs(x).max())


def _alike(x: Array, y: Array, debiased: bool) -> float:
    """The squared Frobenius norm of the product of centred features; or its estimate without bias, for which the
    examples' squared lengths are needed too."""
    whole = float(((x.T @ y) ** 2).sum())
    if not debiased:
        return whole
    n, x_squares, y_squares = len(x), (x**2).sum(axis=1), (y**2).sum(axis=1)
    each = float(x_squares.sum() * y_squares.sum())
    return whole - n / (n - 2) * float(x_squares @ y_squares) + each / ((n - 1) * (n - 2))
