"""Batches and masks as a pure function of (seed, step): a run can stop and go on, on any number of processes.

Every input is ``[CLS]`` and the next ``length - 1`` tokens of one language, sentences closed by ``[SEP]``: packed, so
that no position is padding. Inputs begin at sentences or, on request, cut the text into consecutive slices. Languages
take turns, row by row. For next sentence prediction an input is two halves, the second of which follows in the text
or comes from elsewhere; it begins as far from the start of a sentence in either case, so that only its content tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import get_args

import numpy as np

from xling_utils.errors import UserError
from xling_utils.specs import RandomWords, TrainingSpec
from xling_utils.tokenization import TokenStream

MASKED, REPLACED = 0.8, 0.1  # Devlin et al. 2019, sec. 3.1; the rest of the chosen tokens stay as they are
RANDOM_WORDS = get_args(RandomWords)


@dataclass(frozen=True)
class Batch:
    """``ids`` int64 (rows, length), corrupted; ``positions`` int64 (rows, masked), the chosen places in a
    row; ``labels`` int64 (rows, masked), the tokens that stood there; ``languages`` int64 (rows,), the number of
    each row's language. For next sentence prediction, ``segments`` int64 (rows, length), 0 or 1, and ``follows``
    int64 (rows,), 0 where the second half follows the first and 1 where it does not, as BERT counts them."""

    ids: np.ndarray
    positions: np.ndarray
    labels: np.ndarray
    languages: np.ndarray
    segments: np.ndarray | None = None
    follows: np.ndarray | None = None

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays there are, by name."""
        found = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {name: array for name, array in found if array is not None}

    def part(self, rank: int, world: int) -> Batch:
        """The rows of one of ``world`` processes. Raises :class:`UserError` where the shares would differ."""
        if len(self.ids) % world:
            raise UserError(f"training: a batch of {len(self.ids)} inputs does not divide among {world} processes")
        return Batch(**{name: array[rank::world] for name, array in self.arrays().items()})


class Batches:
    """Batches of a run. Raises :class:`UserError` where a language has fewer tokens than one input takes, and on random
    words of an unknown kind."""

    def __init__(
        self, streams: Mapping[str, TokenStream], training: TrainingSpec, seed: int, *, next_sentence: bool = False
    ) -> None:
        if training.random_words not in RANDOM_WORDS:
            raise UserError(f"training: unknown random words {training.random_words!r}; known: '', any, none")
        self.training, self.seed, self.next_sentence = training, seed, next_sentence
        self.masked = max(1, round(training.mask_rate * training.length))
        self.streams = list(streams.values())
        self.begins = np.array([stream.start for stream in self.streams], dtype=np.int64)
        self.masks = np.array([stream.mask for stream in self.streams], dtype=np.int64)
        self.starts: list[Sequence[int] | np.ndarray] = []
        taken = training.length - 1
        for language, stream in streams.items():
            room = len(stream.ids) - taken + 1  # places that an input can begin at
            if room < 1:
                raise UserError(f"corpus: {language} has {len(stream.ids)} tokens, one input takes {taken}")
            early = stream.starts[: np.searchsorted(stream.starts, room)]
            self.starts.append(range(0, room, taken) if training.sliced else early)

    def __call__(self, step: int) -> Batch:
        """The batch of ``step``, counted from 0."""
        length, rows = self.training.length, self.training.batch
        rng = np.random.default_rng([self.seed, step])
        draws = rng.random(rows)
        ids = np.empty((rows, length), dtype=np.int64)
        languages = (step * rows + np.arange(rows)) % len(self.streams)
        ids[:, 0] = self.begins[languages]
        for row, language in enumerate(languages.tolist()):
            start = self._start(language, draws[row])
            ids[row, 1:] = self.streams[language].ids[start : start + length - 1]
        pairs = self._paired(ids, languages, rng) if self.next_sentence else {}
        return Batch(*self._corrupted(ids, languages, rng), languages, **pairs)

    def _start(self, language: int, draw: float) -> int:
        starts = self.starts[language]
        return starts[int(draw * len(starts))]

    def _paired(self, ids: np.ndarray, languages: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Cuts each row in two, a separator between, and replaces the second half of about every other row."""
        rows, length = ids.shape
        middle = length // 2
        follows, draws = rng.integers(0, 2, size=(rows,)), rng.random((rows,))
        for row, language in enumerate(languages.tolist()):
            stream = self.streams[language]
            second = ids[row, middle:-1].copy()
            if follows[row]:
                start = self._start(language, draws[row]) + middle - 1
                second[:] = stream.ids[start : start + len(second)]
            ids[row, middle], ids[row, middle + 1 :] = stream.separator, second
        segments = np.broadcast_to((np.arange(length) > middle).astype(np.int64), ids.shape)
        return {"segments": segments.copy(), "follows": follows}

    def _corrupted(
        self, ids: np.ndarray, languages: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        every = np.array([stream.ordinary for stream in self.streams])
        low, high = every[languages, :1], every[languages, 1:]
        order = rng.random(ids.shape)
        order[(ids < low) | (ids >= high)] += 1.0  # special tokens only where a row has too few others
        positions = np.sort(np.argpartition(order, self.masked - 1, axis=1)[:, : self.masked], axis=1)
        labels = np.take_along_axis(ids, positions, axis=1)
        fate = rng.random(labels.shape)
        mask = self.masks[languages, None]
        if self.training.random_words == "none":
            others = np.broadcast_to(mask, labels.shape)
        elif self.training.random_words == "any":
            others = rng.integers(every.min(), every.max(), labels.shape)
        else:
            others = low + rng.integers(0, high[0, 0] - low[0, 0], labels.shape)  # languages own equally many ids
        shown = np.where(fate < MASKED, mask, np.where(fate < MASKED + REPLACED, others, labels))
        np.put_along_axis(ids, positions, shown, axis=1)
        return ids, positions, labels
