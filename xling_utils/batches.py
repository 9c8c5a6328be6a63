"""Batches and masks as a pure function of (seed, step): a run can stop and go on, on any number of processes.

Every input is ``[CLS]`` and the next ``length - 1`` tokens of one language from the start of a sentence on,
sentences closed by ``[SEP]``: packed, so that no position is padding. Languages take turns, row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xling_utils.errors import UserError
from xling_utils.specs import TrainingSpec
from xling_utils.tokenization import CLS, FIRST, MASK, TokenStream

MASKED, REPLACED = 0.8, 0.1  # Devlin et al. 2019, sec. 3.1; the rest of the chosen tokens stay as they are


@dataclass(frozen=True)
class Batch:
    """``ids`` int64 (rows, length), corrupted; ``positions`` int64 (rows, masked), the chosen places in a
    row; ``labels`` int64 (rows, masked), the tokens that stood there."""

    ids: np.ndarray
    positions: np.ndarray
    labels: np.ndarray

    def part(self, rank: int, world: int) -> Batch:
        """The rows of one of ``world`` processes. Raises :class:`UserError` where the shares would differ."""
        if len(self.ids) % world:
            raise UserError(f"training: a batch of {len(self.ids)} inputs does not divide among {world} processes")
        return Batch(self.ids[rank::world], self.positions[rank::world], self.labels[rank::world])


class Batches:
    """Batches of a run. Raises :class:`UserError` where a language has fewer tokens than one input takes."""

    def __init__(
        self, streams: dict[str, TokenStream], training: TrainingSpec, vocabulary_size: int, seed: int
    ) -> None:
        self.training, self.vocabulary_size, self.seed = training, vocabulary_size, seed
        self.masked = max(1, round(training.mask_rate * training.length))
        self.sources: Sequence[tuple[np.ndarray, np.ndarray]] = []
        for language, stream in streams.items():
            starts = stream.starts[stream.starts <= len(stream.ids) - (training.length - 1)]
            if not len(starts):
                raise UserError(
                    f"corpus: {language} has {len(stream.ids)} tokens, one input takes {training.length - 1}"
                )
            self.sources = [*self.sources, (stream.ids, starts)]

    def __call__(self, step: int) -> Batch:
        """The batch of ``step``, counted from 0."""
        length, rows = self.training.length, self.training.batch
        rng = np.random.default_rng([self.seed, step])
        draws = rng.random(rows)
        ids = np.empty((rows, length), dtype=np.int64)
        ids[:, 0] = CLS
        for row in range(rows):
            tokens, starts = self.sources[(step * rows + row) % len(self.sources)]
            start = starts[int(draws[row] * len(starts))]
            ids[row, 1:] = tokens[start : start + length - 1]
        return self._corrupted(ids, rng)

    def _corrupted(self, ids: np.ndarray, rng: np.random.Generator) -> Batch:
        order = rng.random(ids.shape)
        order[ids < FIRST] += 1.0  # special tokens are chosen only where a row has too few others
        positions = np.sort(np.argpartition(order, self.masked - 1, axis=1)[:, : self.masked], axis=1)
        labels = np.take_along_axis(ids, positions, axis=1)
        fate = rng.random(labels.shape)
        others = rng.integers(FIRST, self.vocabulary_size, labels.shape)
        shown = np.where(fate < MASKED, MASK, np.where(fate < MASKED + REPLACED, others, labels))
        np.put_along_axis(ids, positions, shown, axis=1)
        return Batch(ids, positions, labels)
