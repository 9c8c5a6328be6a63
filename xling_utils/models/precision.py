"""How precise products are in training: bfloat16 where the specification says so, on a processor that lacks it too.

Without instructions for bfloat16 PyTorch adds such products up one number at a time, twelve times as slowly as in
single precision. A product of two numbers in bfloat16 is exact in single precision, in which the instructions sum as
well: so it is computed there and rounded, to the same result but for the order of sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from xling_utils.core.specs import TrainingSpec


def of(training: TrainingSpec) -> torch.dtype:
    """In what ``training`` computes products."""
    return torch.bfloat16 if training.precision == "bf16" else torch.float32


def is_native(precision: torch.dtype, device: torch.device) -> bool:
    """Whether ``device`` has instructions for products in ``precision``."""
    return precision is torch.float32 or device.type != "cpu" or _processor_has_bfloat16()


@cache
def _processor_has_bfloat16() -> bool:
    return torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


@contextmanager
def casting(precision: torch.dtype, device: torch.device) -> Iterator[None]:
    """What is computed within it has the products of :func:`linear` in ``precision``, by instructions of this machine;
    so have their gradients."""
    with (
        torch.autocast(device.type, torch.bfloat16, enabled=precision is torch.bfloat16),
        nullcontext() if is_native(precision, device) else emulation(),
    ):
        yield


@contextmanager
def emulation() -> Iterator[None]:
    """Within it :func:`linear` computes what is bfloat16 in single precision, and rounds."""
    token = _weights.set({})
    try:
        yield
    finally:
        _weights.reset(token)


_weights: ContextVar[dict[Tensor, Tensor] | None] = ContextVar("weights", default=None)
"""The weights that were cast within the :func:`emulation` of now."""


def rounded(values: Tensor) -> Tensor:
    """Single precision -> the nearest numbers of bfloat16, in single precision."""
    return values.bfloat16().float()


class Linear(nn.Linear):
    """The layer of :func:`linear`."""

    def forward(self, input: Tensor) -> Tensor:
        """(..., in) -> (..., out)."""
        return linear(input, self.weight, self.bias)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """:func:`torch.nn.functional.linear`, as precise as :func:`casting` says: (..., in), (out, in), (out,) ->
    (..., out)."""
    weights = _weights.get()
    if weights is None:
        return F.linear(input, weight, bias)
    with torch.autocast("cpu", enabled=False):
        x, matrix = (_cast(factor, weights).float() for factor in (input, weight))
        return F.linear(x, matrix, None if bias is None else _cast(bias, weights).float()).bfloat16()


def _cast(factor: Tensor, weights: dict[Tensor, Tensor]) -> Tensor:
    """In bfloat16. As with autocast a weight is cast once, and the gradients of all its products are added to each
    other before they are cast back."""
    if not (factor.is_leaf and factor.requires_grad):
        return factor.bfloat16()
    if factor not in weights:
        weights[factor] = factor.bfloat16()
    return weights[factor]
