"""Layers of runs of any depth, by name."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd

from xling_utils.core.errors import UserError


def of_layers(rows: pd.DataFrame, layer: Any, middle: int) -> pd.DataFrame:
    """The ``rows`` of a ``layer`` as a selection names it (:mod:`predicates`), each with the ``deepest`` of its run and
    ``middle`` as what chapters read single numbers at; all of them without one. Raises :class:`UserError` on a name
    that is none."""
    if layer is None or rows.empty:
        return rows
    if isinstance(layer, list):
        return pd.concat([of_layers(rows, each, middle) for each in layer])
    at, deepest = rows["layer"], rows["deepest"]
    if isinstance(layer, int):
        return rows[at == layer]
    if layer in ("lower", "upper"):
        half = deepest // 2
        return rows[at <= half] if layer == "lower" else rows[at > half]
    if layer in ("first", "last"):
        return rows[at == (0 if layer == "first" else deepest)]
    if layer == "middle":
        return rows[at == deepest.clip(upper=middle)]
    try:
        depth = float(Fraction(layer))
    except (TypeError, ValueError, ArithmeticError):
        raise UserError(f"unknown layer {layer!r}; known: a number, first, last, middle, lower, upper, 8/12") from None
    return rows[at == (depth * deepest).round()]
