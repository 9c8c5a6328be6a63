"""Maps between two spaces: the rotation that brings one nearest to the other, and what is done to both before.

C fits them on word, contextual-word and sentence representations (sec. 5.1.1), to ask how much of one space is found
again in another that never saw it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from xling_utils.core.errors import UserError

Array = npt.NDArray[np.floating]


def procrustes(x: Array, y: Array) -> npt.NDArray[np.float64]:
    """The rotation or reflection W, float64 (d, d), that minimises ``|x W - y|`` (Schönemann 1966; C, eq. 1).

    ``x`` and ``y`` (n, d) of any float type, row by row the same things in two spaces. Raises :class:`UserError` on
    shapes that do not match, no rows and numbers that are not finite.
    """
    return procrustes_of_blocks([(x, y)])


def procrustes_of_blocks(blocks: Iterable[tuple[Array, Array]]) -> npt.NDArray[np.float64]:
    """:func:`procrustes` of pairs of blocks of rows: memory grows with d squared, not with the number of rows."""
    from scipy.linalg import orthogonal_procrustes

    product: npt.NDArray[np.float64] | None = None
    for x, y in blocks:
        if x.ndim != 2 or x.shape != y.shape:
            raise UserError(f"Procrustes: {x.shape} and {y.shape} do not match")
        block = x.astype(np.float64).T @ y.astype(np.float64)
        product = block if product is None else product + block
    if product is None or not product.any():
        raise UserError("Procrustes: nothing to align; give at least one pair of vectors that are not zero")
    if not np.isfinite(product).all():
        raise UserError("Procrustes: a vector holds numbers that are not finite")
    # Only the product of both sides counts, and the identity makes it the product.
    return orthogonal_procrustes(np.eye(len(product)), product)[0]


def iterative_normalization(x: Array, rounds: int = 5) -> npt.NDArray[np.float32]:
    """``x`` (n, d) with rows of length 1 whose mean is zero, nearly: both are done in turn, ``rounds`` times
    (Zhang et al. 2019, sec. 4), the mean last. A zero row, of a word that was never seen, has no direction: it stays
    zero and does not count in the mean."""
    x = np.array(x, dtype=np.float32)
    if x.ndim != 2 or not len(x) or not np.isfinite(x).all():
        raise UserError(f"normalization: takes a finite (n, d) array, not {x.shape}")
    seen = x.any(axis=1)
    of = x[seen]
    for _ in range(rounds if len(of) else 0):
        lengths = np.linalg.norm(of, axis=1, keepdims=True)
        of /= np.where(lengths > 0, lengths, 1)
        of -= of.mean(axis=0, dtype=np.float64).astype(np.float32)
    x[seen] = of
    return x
