"""How precise products are in training: bfloat16 where the specification says so, on a processor that lacks it too.

Without instructions for bfloat16 PyTorch adds such products up one number at a time, twelve times as slowly as in
single precision. A product of two numbers in bfloat16 is exact in single precision, in which the instructions sum as
well: so it is computed there and rounded, to the same result but for the order of sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from xling_utils.core.specs import TrainingSpec


def of(training: TrainingSpec) -> torch.dtype:
    """In what ``training`` computes products."""
    return torch.bfloat16 if training.precision == "bf16" else torch.float32


@cache
def is_native(precision: torch.dtype) -> bool:
    """Whether this machine has instructions for products in ``precision``."""
    if precision is torch.float32 or torch.cuda.is_available():
        return True
    return torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


@contextmanager
def casting(precision: torch.dtype, device: torch.device) -> Iterator[None]:
    """What is computed within it has linear products in ``precision``, by instructions of this machine; so have their
    gradients."""
    with (
        torch.autocast(device.type, torch.bfloat16, enabled=precision is torch.bfloat16),
        nullcontext() if is_native(precision) else Emulation(),
    ):
        yield


def rounded(values: Tensor) -> Tensor:
    """Single precision -> the nearest numbers of bfloat16, in single precision."""
    return values.bfloat16().float()


class Emulation(TorchFunctionMode):
    """Within it linear products that autocast wants in bfloat16 are computed in single precision and rounded."""

    def __init__(self) -> None:
        super().__init__()
        self.cast: dict[Tensor, Tensor] = {}

    def __torch_function__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """See :class:`torch.overrides.TorchFunctionMode`."""
        if func is not F.linear or not torch.is_autocast_enabled("cpu"):
            return func(*args, **(kwargs or {}))
        with torch.autocast("cpu", enabled=False):
            return _Linear.apply(*map(self._rounded, _linear(*args, **(kwargs or {}))))[0]

    def _rounded(self, factor: Tensor | None) -> Tensor | None:
        """In bfloat16. As with autocast a weight is cast once, and the gradients of all its products are added to each
        other before they are cast back."""
        if factor is None:
            return None
        if not (factor.is_leaf and factor.requires_grad):
            return factor.bfloat16()
        if factor not in self.cast:
            self.cast[factor] = factor.bfloat16()
        return self.cast[factor]


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor | None]:
    return input, weight, bias


class _Linear(torch.autograd.Function):
    """:func:`torch.nn.functional.linear` of bfloat16; what it returns besides is kept for the gradients."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, weight: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:  # type: ignore[override]
        x, weight = x.float(), weight.float()
        return F.linear(x, weight, None if bias is None else bias.float()).bfloat16(), x, weight

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:  # type: ignore[override]
        _, x, weight = output
        ctx.mark_non_differentiable(x, weight)
        ctx.save_for_backward(x, weight)
        ctx.set_materialize_grads(False)
        ctx.has_bias = inputs[2] is not None

    @staticmethod
    def backward(ctx: Any, change: Tensor, *_: None) -> tuple[Tensor, Tensor, Tensor | None]:  # type: ignore[override]
        x, weight = ctx.saved_tensors
        change = change.flatten(0, -2)
        rows = change.float()
        of_x = (rows @ weight).view(x.shape).bfloat16()
        return of_x, (rows.T @ x.flatten(0, -2)).bfloat16(), change.sum(0) if ctx.has_bias else None
