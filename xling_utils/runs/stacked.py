"""Runs of one shape, whatever they read, trained together as one stacked model.

A GPU spends most of a step of a small encoder on being told what to do: several encoders whose weights lie in one
tensor cost about as many calls as one. Each has its own text, batches, masks and checkpoints, the same as if it were
trained alone, so that either way continues what the other began; only sums are rounded in another order.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.func import functional_call, stack_module_state, vmap
from torch.nn import Parameter
from torch.nn import functional as F

from xling_utils.core.specs import RunSpec, TrainingSpec
from xling_utils.models import optimizers
from xling_utils.models.encoder import Block, Encoders
from xling_utils.runs.pretraining import Report, Trainee, learn
from xling_utils.runs.reading import Text
from xling_utils.runs.spent import Stopwatch

States = MutableMapping[Tensor, Any]

NEVER = -1e4
"""The bias of an id that an encoder lacks and another in its stack has: its probability is zero in single precision."""


def train(runs: Mapping[RunSpec, tuple[str, Path]], data: Path | None, report: Report) -> Iterator[Trainee]:
    """Trains ``runs``, which have one model and one training and whose languages share one encoder; each has its key
    and the folder of its checkpoints. Yields every run when it can be written. ``report`` is told what
    :func:`pretraining.train` tells of one run, and to which ``keys`` it applies: runs that were interrupted at
    different steps go on in a stack for each step.
    """
    watch = Stopwatch()
    trainees = [Trainee(spec, Text(spec, data, key), workdir) for spec, (key, workdir) in runs.items()]
    for trainee in trainees:
        trainee.resume()
    watch.lap([trainee.around for trainee in trainees])
    trainees.sort(key=lambda trainee: trainee.steps)
    for _, group in groupby(trainees, key=lambda trainee: trainee.steps):
        together, watch = list(group), Stopwatch()  # anew: between groups the caller writes
        training = together[0].spec.training
        assert training
        keys = [runs[trainee.spec][0] for trainee in together]
        learn(together, Stack(together, training), training, partial(_told, report, keys), watch)
        watch.lap([trainee.around for trainee in together])
        for trainee in together:
            trainee.extras |= trainee.spent()
            yield trainee


def _told(report: Report, keys: list[str], row: dict[str, Any]) -> None:
    report({**row, "keys": keys})


class Stack:
    """Trains several encoders at once; see :class:`xling_utils.runs.pretraining.Learner`."""

    def __init__(self, trainees: Sequence[Trainee], training: TrainingSpec) -> None:
        from accelerate import Accelerator

        self.accelerator = Accelerator(mixed_precision="no")
        self.replays: bool = self.accelerator.device.type == "cuda"
        self._trainees = trainees
        first = trainees[0].model
        size = max(_words(trainee.model) for trainee in trainees)
        padded = [_padded(trainee.model, size).to(self.accelerator.device) for trainee in trainees]
        self.model, (self._weights, _) = copy.deepcopy(first).to("meta"), stack_module_state(padded)
        for block in self.model.modules():
            if isinstance(block, Block):
                block.fused = False  # backward passes of the fused kernels refuse the strides and types of vmap
        names = {id(weight): name for name, weight in first.named_parameters()}
        self._bias = names[id(first.of(first.languages[0]).decoder_bias)]
        ids, words = torch.arange(size), torch.tensor([_words(trainee.model) for trainee in trainees])
        self._lacks = (ids >= words[:, None]).to(self.accelerator.device)
        matrices = {
            parts: [self._weights[names[id(weight)]] for weight in several]
            for parts, several in first.matrices().items()
        }
        self.optimizers = optimizers.build(self._weights.values(), matrices, training)
        for same in zip(*map(self._counterparts, trainees), strict=True):
            state, stacked, _, _ = same[0]
            state[stacked] = _together([states[weight] for _, _, states, weight in same], stacked)

    def losses(self, batch: dict[str, Tensor]) -> Tensor:
        """(encoders, rows, ...) of each tensor -> (encoders,)."""
        one = vmap(lambda weights, own: functional_call(self.model, weights, (), own), randomness="different")
        bias = self._weights[self._bias].masked_fill(self._lacks, NEVER)  # which weight decay would bring to life
        return one(self._weights | {self._bias: bias}, batch)

    @torch.no_grad()
    def hand_over(self) -> None:
        """Copies every layer of the stack to where it came from."""
        for number, trainee in enumerate(self._trainees):
            for state, stacked, states, weight in self._counterparts(trainee):
                weight.copy_(stacked[number, : len(weight)])
                states[weight] = {
                    name: (value[number, : len(weight)] if value.ndim else value).to("cpu", copy=True)
                    for name, value in state[stacked].items()
                }

    def _counterparts(self, trainee: Trainee) -> Iterator[tuple[States, Tensor, States, Tensor]]:
        """Every stacked weight and the trainee's own, each behind what its optimizer remembers."""
        for ours, theirs in zip(self.optimizers, trainee.optimizers, strict=True):
            for group, other in zip(ours.param_groups, theirs.param_groups, strict=True):
                for stacked, weight in zip(group["params"], other["params"], strict=True):
                    yield ours.state, stacked, theirs.state, weight


def _words(model: Encoders) -> int:
    return model.of(model.languages[0]).words.num_embeddings


def _padded(model: Encoders, size: int) -> Encoders:
    """A copy whose vocabulary has ``size`` ids."""
    model = copy.deepcopy(model)
    encoder = model.of(model.languages[0])
    encoder.words.weight = Parameter(_grown(encoder.words.weight.detach(), size))
    encoder.decoder_bias = Parameter(_grown(encoder.decoder_bias.detach(), size))
    return model


def _grown(tensor: Tensor, rows: int) -> Tensor:
    """``tensor`` with rows of zeros added, up to ``rows``."""
    return F.pad(tensor, (0, 0) * (tensor.ndim - 1) + (0, rows - len(tensor)))


def _together(states: Sequence[Mapping[str, Tensor]], stacked: Tensor) -> dict[str, Tensor]:
    """What optimizers remember of several weights as what one remembers of ``stacked``: counts of steps are equal."""
    return {
        name: torch.stack([_grown(state[name], stacked.shape[1]) for state in states]).to(stacked.device)
        if value.ndim
        else value.to(stacked.device, copy=True)
        for name, value in states[0].items()
    }
