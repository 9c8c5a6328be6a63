"""Batches and masks as a pure function of (seed, step): a run can stop and go on, on any number of processes.

Every input is ``[CLS]`` and the next ``length - 1`` tokens of one language, sentences closed by ``[SEP]``: packed, so
that no position is padding. Inputs begin at sentences or, on request, cut the text into consecutive slices. Languages
take turns, row by row. For next sentence prediction an input is two halves, the second of which follows in the text
or comes from elsewhere; it begins as far from the start of a sentence in either case, so that only its content tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import get_args

import numpy as np
import torch

from xling_utils.core.errors import UserError
from xling_utils.core.specs import RandomWords, TrainingSpec
from xling_utils.models.tokenization import TokenStream

MASKED, REPLACED = 0.8, 0.1  # Devlin et al. 2019, sec. 3.1; the rest of the chosen tokens stay as they are
RANDOM_WORDS = get_args(RandomWords)
TOKENS_SENT = 2**16
"""How many tokens of batches are made at once and sent to the device together, a batch at least."""


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
    """Batches of a run, of text that it trains on or that is ``held_out``. Raises :class:`UserError` where a language
    has fewer tokens than one input takes, and on random words of an unknown kind."""

    def __init__(
        self,
        streams: Mapping[str, TokenStream],
        training: TrainingSpec,
        seed: int,
        *,
        next_sentence: bool = False,
        held_out: bool = False,
    ) -> None:
        if training.random_words not in RANDOM_WORDS:
            raise UserError(f"training: unknown random words {training.random_words!r}; known: '', any, none")
        self.training, self.seed, self.next_sentence = training, seed, next_sentence
        self.masked = max(1, round(training.mask_rate * training.length))
        self.streams = list(streams.values())
        self.begins = np.array([stream.start for stream in self.streams], dtype=np.int64)
        self.masks = np.array([stream.mask for stream in self.streams], dtype=np.int64)
        self.ordinary = np.array([stream.ordinary for stream in self.streams])
        self.starts: list[np.ndarray] = []
        taken = training.length - 1
        for language, stream in streams.items():
            room = len(stream.ids) - taken + 1  # places that an input can begin at
            if room < 1:
                raise UserError(
                    f"corpus: the{' held-out' * held_out} text of {language} has {len(stream.ids)} tokens, one "
                    f"input takes {taken}; give more text, or shorter inputs (length)"
                )
            early = stream.starts[: np.searchsorted(stream.starts, room)]
            self.starts.append(np.arange(0, room, taken) if training.sliced else early)

    def __call__(self, step: int) -> Batch:
        """The batch of ``step``, counted from 0."""
        return self.several(range(step, step + 1))[0]

    def several(self, steps: range) -> list[Batch]:
        """The batches of ``steps``, which cost about half as much together as one by one."""
        length, rows = self.training.length, self.training.batch
        drawn = [self._draws(step) for step in steps]
        draws = {name: np.concatenate([found[name] for found in drawn]) for name in drawn[0]}
        languages = np.arange(steps.start * rows, steps.stop * rows) % len(self.streams)
        ids = np.empty((len(languages), length), dtype=np.int64)
        ids[:, 0] = self.begins[languages]
        ids[:, 1:] = self._text(languages, draws["places"], 0, length - 1)
        pairs = self._paired(ids, languages, draws) if self.next_sentence else {}
        whole = Batch(*self._corrupted(ids, languages, draws), languages, **pairs).arrays()
        starts = range(0, len(ids), rows)
        return [Batch(**{name: array[start : start + rows] for name, array in whole.items()}) for start in starts]

    def _draws(self, step: int) -> dict[str, np.ndarray]:
        """All that is random in the batch of ``step``, whatever the text."""
        length, rows = self.training.length, self.training.batch
        rng = np.random.default_rng([self.seed, step])
        draws: dict[str, np.ndarray] = {"places": rng.random(rows)}
        if self.next_sentence:
            draws |= {"follows": rng.integers(0, 2, size=rows), "second places": rng.random(rows)}
        draws |= {"order": rng.random((rows, length)), "fate": rng.random((rows, self.masked))}
        if self.training.random_words == "any":
            draws["others"] = rng.integers(self.ordinary.min(), self.ordinary.max(), (rows, self.masked))
        elif not self.training.random_words:
            low, high = self.ordinary[0]  # languages own equally many ids
            draws["others"] = rng.integers(0, high - low, (rows, self.masked))
        return draws

    def _text(self, languages: np.ndarray, draws: np.ndarray, offset: int, length: int) -> np.ndarray:
        """``length`` tokens (rows, length) that stand ``offset`` tokens behind the places that ``draws`` (rows,) name,
        from 0 to 1, in the text of ``languages`` (rows,)."""
        found = np.empty((len(languages), length), dtype=np.int64)
        for language, (stream, starts) in enumerate(zip(self.streams, self.starts, strict=True)):
            rows = np.flatnonzero(languages == language)
            first = starts[(draws[rows] * len(starts)).astype(np.int64)] + offset
            found[rows] = stream.ids[first[:, None] + np.arange(length)]
        return found

    def _paired(self, ids: np.ndarray, languages: np.ndarray, draws: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Cuts each row in two, a separator between, and replaces the second half of about every other row."""
        length = ids.shape[1]
        middle = length // 2
        second, other = ids[:, middle:-1].copy(), np.flatnonzero(draws["follows"])
        second[other] = self._text(languages[other], draws["second places"][other], middle - 1, length - middle - 1)
        separators = np.array([stream.separator for stream in self.streams])
        ids[:, middle], ids[:, middle + 1 :] = separators[languages], second
        segments = np.broadcast_to((np.arange(length) > middle).astype(np.int64), ids.shape)
        return {"segments": segments.copy(), "follows": draws["follows"]}

    def _corrupted(
        self, ids: np.ndarray, languages: np.ndarray, draws: dict[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        low, high = self.ordinary[languages, :1], self.ordinary[languages, 1:]
        order = draws["order"]
        order[(ids < low) | (ids >= high)] += 1.0  # special tokens only where a row has too few others
        positions = np.sort(np.argpartition(order, self.masked - 1, axis=1)[:, : self.masked], axis=1)
        labels = np.take_along_axis(ids, positions, axis=1)
        fate, mask = draws["fate"], self.masks[languages, None]
        if self.training.random_words == "none":
            others: np.ndarray = mask
        else:
            others = draws["others"] if self.training.random_words else low + draws["others"]
        shown = np.where(fate < MASKED, mask, np.where(fate < MASKED + REPLACED, others, labels))
        np.put_along_axis(ids, positions, shown, axis=1)
        return ids, positions, labels


def sent(
    sources: Sequence[Batches], steps: range, device: torch.device, rank: int = 0, world: int = 1
) -> Iterator[dict[str, torch.Tensor]]:
    """For each of ``steps`` the batches of all ``sources``, a part of ``world`` of their rows: (sources, rows, ...) of
    each tensor on ``device``. They are made and sent many at a time."""
    training = sources[0].training
    many = max(1, TOKENS_SENT // (training.batch * training.length))
    for first in range(steps.start, steps.stop, many):
        several = range(first, min(first + many, steps.stop))
        made = [[batch.part(rank, world).arrays() for batch in source.several(several)] for source in sources]
        arrays = {
            name: np.array([[one[name] for one in group] for group in zip(*made, strict=True)]) for name in made[0][0]
        }
        tensors = {name: torch.from_numpy(array).to(device) for name, array in arrays.items()}
        yield from ({name: values[number] for name, values in tensors.items()} for number in range(len(several)))
