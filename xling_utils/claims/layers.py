"""Layers of runs of any depth, by name."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from xling_utils.core.errors import UserError


def of_layer(
    at: npt.NDArray[np.float64], deepest: npt.NDArray[np.float64], layer: Any, middle: int
) -> npt.NDArray[np.bool_]:
    """Which of the layers ``at`` are the ``layer`` that a selection names (:mod:`predicates`), each with the
    ``deepest`` of its run and ``middle`` as what chapters read single numbers at. Raises :class:`UserError` on a name
    that is none."""
    if isinstance(layer, int):
        return at == layer
    if layer in ("lower", "upper"):
        half = deepest // 2
        return at <= half if layer == "lower" else at > half
    if layer in ("first", "last"):
        return at == (0 if layer == "first" else deepest)
    if layer == "middle":
        return at == np.minimum(deepest, middle)
    try:
        depth = float(Fraction(layer))
    except (TypeError, ValueError, ArithmeticError):
        raise UserError(f"unknown layer {layer!r}; known: a number, first, last, middle, lower, upper, 8/12") from None
    return at == (depth * deepest).round()
