"""Fine-tuning a reader with a head of its own on English, and what it then answers in any language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from xling_utils.core.specs import TrainingSpec
from xling_utils.measures.transfer.inputs import Batch, Input, batches
from xling_utils.measures.transfer.readers import Reader
from xling_utils.models import optimizers

WEIGHT_DECAY = 0.01
WARM_UP = 0.1
TEST_BATCH = 256


@dataclass(frozen=True)
class Recipe:
    """How a task is learned: ``items`` of English to train on (``None``: all there are) in ``epochs`` passes of
    batches of ``batch``, at a ``learning_rate`` that rises over a tenth of the steps and falls to zero;
    ``held_out`` items of dev and of test. Where ``hidden_rate`` is given, Muon takes the matrices between the layers of
    a reader that names them (:meth:`Reader.matrices`), at that rate. Products are in single precision: in batches this
    small bfloat16 gains a fifth, and answers would hang on the processor."""

    items: int | None
    epochs: int
    batch: int
    learning_rate: float
    held_out: int | None
    hidden_rate: float = 0.0

    def training(self, items: int) -> TrainingSpec:
        """The same on so many ``items``, as what is said of training."""
        return TrainingSpec(
            steps=self.epochs * -(-items // self.batch),
            batch=self.batch,
            learning_rate=self.learning_rate,
            warmup=WARM_UP,
            weight_decay=WEIGHT_DECAY,
            hidden_rate=self.hidden_rate,
        )


class Model(nn.Module):
    """A reader with a head: called with a language and a batch of it, it gives scores, and it is trained on their
    ``loss``."""

    reader: Reader

    def loss(self, language: str, batch: Batch) -> Tensor:
        """Of the scores against the labels: a number."""
        return F.cross_entropy(self(language, batch), batch.labels)


class Classifier(Model):
    """A label for a pair of texts, by a linear layer on ``[u, v, |u - v|, u * v]``, where u and v are the means of
    the last layer over premise and hypothesis, each with the special tokens of its segment.

    These are the features of Conneau et al. (2017, sec. 3.1). A linear layer on ``[CLS]``, the papers' choice,
    needs more than small encoders have: they never learned to gather anything there.
    """

    def __init__(self, reader: Reader, labels: int) -> None:
        super().__init__()
        self.reader, self.head = reader, nn.Linear(4 * reader.width, labels)

    def forward(self, language: str, batch: Batch) -> Tensor:
        """Scores, (batch, labels)."""
        states = self.reader.states(language, batch.ids, batch.mask, batch.segments)
        second = batch.segments.to(states.dtype)
        first = batch.mask.to(states.dtype) - second
        u, v = ((states * part[..., None]).sum(1) / part.sum(1, keepdim=True).clamp(min=1) for part in (first, second))
        return self.head(torch.cat([u, v, (u - v).abs(), u * v], dim=1))


class Tagger(Model):
    """A label for each word, by a linear layer on the last layer at its first piece (C, sec. 3.2)."""

    def __init__(self, reader: Reader, labels: int) -> None:
        super().__init__()
        self.reader, self.head = reader, nn.Linear(reader.width, labels)

    def forward(self, language: str, batch: Batch) -> Tensor:
        """Scores, (words of the batch, labels)."""
        states = self.reader.states(language, batch.ids, batch.mask, batch.segments)
        return self.head(states[batch.rows, batch.places])


def fine_tune(
    model: Model, train: Sequence[Input], dev: Callable[[], float], recipe: Recipe, seed: int, language: str = "en"
) -> list[float]:
    """Trains ``model`` on ``train`` and leaves it as it was after the epoch with the best ``dev()``, the first of
    equals; returns ``dev()`` after every epoch. On one CPU the result is a function of the arguments alone.

    Parameters without ``requires_grad`` stay as they are, bit for bit.
    """
    device = _device(model)
    rng = np.random.default_rng(seed)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    training = recipe.training(len(train))
    several = optimizers.build(trained, model.reader.matrices(), training)
    step, scores, best = 0, [], [parameter.detach().clone() for parameter in trained]
    for _ in range(recipe.epochs):
        model.train()
        for batch in batches(train, recipe.batch, model.reader.padding, device, rng):
            optimizers.set_rates(several, optimizers.one_cycle(training.warmup, training.steps, step))
            model.loss(language, batch).backward()
            for optimizer in several:
                optimizer.step()
                optimizer.zero_grad()
            step += 1
        scores.append(dev())
        if scores[-1] > max(scores[:-1], default=-1.0):
            best = [parameter.detach().clone() for parameter in trained]
    with torch.no_grad():
        for parameter, value in zip(trained, best, strict=True):
            parameter.copy_(value)
    model.eval()
    return scores


@torch.no_grad()
def answers(model: Model, inputs: Sequence[Input], language: str) -> list[list[int]]:
    """The best label of each input, or of each of its places."""
    model.eval()
    found: list[list[int]] = [[] for _ in inputs]
    for batch in batches(inputs, TEST_BATCH, model.reader.padding, _device(model)):
        best = model(language, batch).argmax(dim=-1).tolist()
        for number in batch.numbers:
            count = len(inputs[number].places) if isinstance(model, Tagger) else 1
            found[number], best = best[:count], best[count:]
    return found


def _device(model: nn.Module) -> torch.device:
    return next(model.parameters()).device
