"""How weights are updated: Muon for the matrices between layers, AdamW for all other weights, one cycle of rates.

Muon (Jordan et al. 2024) replaces the momentum of a matrix by the orthogonal matrix that is nearest to it, up to the
precision of five Newton-Schulz steps, so that all directions of a matrix learn alike. ``torch.optim.Muon`` does the
same to one matrix at a time; here matrices of one shape go together, those of several stacked encoders too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from xling_utils.core.specs import TrainingSpec
from xling_utils.models import precision

ADAM_BETAS = (0.9, 0.98)
MUON_MOMENTUM = 0.95
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
"""Coefficients of the odd polynomial whose iteration sends all singular values to about 1 (Jordan et al. 2024)."""
NEWTON_SCHULZ_STEPS = 5

# PyTorch keeps its compiler out of these methods, and imports it to do so: a second of every process that trains.
for _name in ("add_param_group", "zero_grad", "state_dict", "load_state_dict"):
    _method = getattr(torch.optim.Optimizer, _name).__wrapped__
    _method.__dynamo_disable = _method

Matrices = Mapping[int, list[nn.Parameter]]
"""Weights (..., rows, columns) by the number of matrices that each holds, one below the other."""


def build(
    parameters: Iterable[nn.Parameter], matrices: Matrices, training: TrainingSpec
) -> list[torch.optim.Optimizer]:
    """The optimizers of a run. ``matrices`` are those of its ``parameters`` that lie between layers: Muon takes them
    where ``training.hidden_rate`` is given, AdamW takes all others."""
    hidden = matrices if training.hidden_rate else {}
    taken = {id(parameter) for several in hidden.values() for parameter in several}
    rest = [parameter for parameter in parameters if id(parameter) not in taken]
    adamw = AdamW(rest, training.learning_rate, ADAM_BETAS, weight_decay=training.weight_decay, fused=True)
    if not hidden:
        return [adamw]
    groups = [{"params": several, "parts": parts} for parts, several in hidden.items()]
    return [Muon(groups, training.hidden_rate, training.weight_decay, precision.of(training)), adamw]


def one_cycle(warmup: float, steps: int, step: int) -> float:
    """The share of its peak that a rate has at ``step``, counted from 0: a linear rise over the share ``warmup`` of
    ``steps``, a linear fall to zero after it."""
    warm = max(1, round(warmup * steps))
    return min((step + 1) / warm, (steps - step) / max(1, steps - warm))


def set_rates(optimizers: Iterable[torch.optim.Optimizer], share: float) -> None:
    """Every rate becomes ``share`` of its peak, which is the one that its optimizer began with."""
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = group.setdefault("initial_lr", group["lr"]) * share


class AdamW(torch.optim.AdamW):
    """PyTorch's, whose ``step`` imports the compiler too."""

    step = torch.no_grad()(inspect.unwrap(torch.optim.AdamW.step))


class Muon(torch.optim.Optimizer):
    """Momentum, Nesterov's look ahead, orthogonalisation in ``products``, decoupled weight decay.

    Parameters are (..., rows, columns); ``parts`` of their group is the number of matrices in each, one below the
    other. A step has the size ``lr``, times sqrt(rows / columns) of a matrix with more rows than columns.
    """

    def __init__(self, groups: list[dict[str, Any]], lr: float, weight_decay: float, products: torch.dtype) -> None:
        super().__init__(groups, {"lr": lr, "weight_decay": weight_decay, "parts": 1})
        self.products = products

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Updates every parameter that has a gradient."""
        for group in self.param_groups:
            shapes: dict[torch.Size, list[tuple[Tensor, Tensor]]] = {}
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["momentum"] = torch.zeros_like(parameter)
                momentum = state["momentum"]
                momentum.lerp_(parameter.grad, 1 - MUON_MOMENTUM)
                ahead = parameter.grad.lerp(momentum, MUON_MOMENTUM)
                pieces_of = (tensor.chunk(group["parts"], -2) for tensor in (parameter, ahead))
                for piece, change in zip(*pieces_of, strict=True):
                    shapes.setdefault(piece.shape, []).append((piece, change))
            for shape, pieces in shapes.items():
                changes = orthogonal(torch.stack([change for _, change in pieces]), self.products)
                rate = group["lr"] * max(1.0, shape[-2] / shape[-1]) ** 0.5
                for (piece, _), change in zip(pieces, changes.unbind(), strict=True):
                    piece.mul_(1 - group["lr"] * group["weight_decay"]).add_(change, alpha=-rate)


def orthogonal(matrices: Tensor, products: torch.dtype = torch.float32) -> Tensor:
    """About the nearest orthogonal matrix of each of ``matrices`` (..., rows, columns), in their type: singular values
    between about 0.7 and 1.2 (Jordan et al. 2024). ``products`` are computed so precisely."""
    a, b, c = NEWTON_SCHULZ
    shape = matrices.shape
    x = matrices.reshape(-1, *shape[-2:]).to(products)
    tall = shape[-2] > shape[-1]
    x = x.mT if tall else x
    x = x / x.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    x, rounded = (x, _as_is) if precision.is_native(products, x.device) else (x.float(), precision.rounded)
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = rounded(x @ x.mT)
        x = rounded(torch.baddbmm(x, rounded(torch.baddbmm(gram, gram, gram, beta=b, alpha=c)), x, beta=a))
    return (x.mT if tall else x).reshape(shape).to(matrices.dtype)


def _as_is(values: Tensor) -> Tensor:
    return values
