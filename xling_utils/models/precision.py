"""How precise products are in training: bfloat16 where the specification says so, on a processor that lacks it too.

Without instructions for bfloat16 PyTorch adds such products up one number at a time, twelve times as slowly as in
single precision. A product of two numbers in bfloat16 is exact in single precision, in which the instructions sum as
well: so it is computed there and rounded, to the same result but for the order of sums, seven times as fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from xling_utils.core.specs import TrainingSpec

PRODUCTS = {getattr(torch.ops.aten, name).default for name in ("mm", "addmm", "bmm", "baddbmm")}


def of(training: TrainingSpec) -> torch.dtype:
    """In what ``training`` computes products."""
    return torch.bfloat16 if training.precision == "bf16" else torch.float32


@cache
def is_native(precision: torch.dtype) -> bool:
    """Whether this machine has instructions for products in ``precision``."""
    if precision is torch.float32 or torch.cuda.is_available():
        return True
    return torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def casting(precision: torch.dtype, device: torch.device) -> torch.autocast:
    """Within it what is computed forward has products in ``precision``."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision is torch.bfloat16)


def emulating(precision: torch.dtype) -> AbstractContextManager[Any]:
    """Within it products in ``precision`` are computed by instructions of this machine, forward and backward."""
    return nullcontext() if is_native(precision) else Emulation()


class Emulation(TorchDispatchMode):
    """Within it products of bfloat16 are computed in single precision and rounded."""

    def __torch_dispatch__(  # type: ignore[override]
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """See :class:`torch.utils._python_dispatch.TorchDispatchMode`."""
        if func in PRODUCTS and args[0].dtype is torch.bfloat16:
            return func(*(factor.float() for factor in args), **(kwargs or {})).bfloat16()
        return func(*args, **(kwargs or {}))
