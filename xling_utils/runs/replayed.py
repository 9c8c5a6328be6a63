"""Steps of a training that a GPU is told once and repeats."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

Batch = dict[str, torch.Tensor]

WARM_UPS = 3
"""Steps before the recording, in which libraries choose their kernels and take their memory."""


class Replayed:
    """``backward`` as a CUDA graph. A step of a small encoder is hundreds of calls, each of which takes longer to make
    than to carry out.

    Takes a batch (name -> tensor on the GPU, the same shapes at every step) and returns the losses, (encoders,); every
    weight of ``optimizers`` then has its gradient. ``backward`` does the same the slow way. It must not wait for the
    GPU and must do the same whatever the batch holds.
    """

    def __init__(self, backward: Callable[[Batch], torch.Tensor], optimizers: Iterable[torch.optim.Optimizer]) -> None:
        self._backward = backward
        self._weights = [
            weight for optimizer in optimizers for group in optimizer.param_groups for weight in group["params"]
        ]
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, batch: Batch) -> torch.Tensor:
        if self._graph is None:
            self._graph = self._recorded(batch)
        for name, tensor in batch.items():
            self._batch[name].copy_(tensor)
        self._graph.replay()
        for weight, gradient in zip(self._weights, self._gradients, strict=True):
            weight.grad = gradient
        return self._losses.clone()

    def _recorded(self, batch: Batch) -> torch.cuda.CUDAGraph:
        """Leaves the places that a replay reads from and writes to."""
        self._batch = {name: tensor.clone() for name, tensor in batch.items()}
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(WARM_UPS):
                self._backward(self._batch)
                self._forget()
        torch.cuda.current_stream().wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._losses = self._backward(self._batch)
        self._gradients = [weight.grad for weight in self._weights]
        return graph

    def _forget(self) -> None:
        for weight in self._weights:
            weight.grad = None
