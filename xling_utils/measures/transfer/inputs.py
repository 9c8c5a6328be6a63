"""Labelled text as padded batches of ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from xling_utils.core.errors import UserError
from xling_utils.measures.transfer.readers import Reader

CHUNK = 50
"""Batches that are sorted by length together: long enough that little is padded, short enough to stay random."""


@dataclass(frozen=True)
class Input:
    """One input: its ``ids`` and ``segments``; the ``places`` that are answered for (none: the input as a whole)
    and the numbers of their ``labels``."""

    ids: list[int]
    segments: list[int]
    places: list[int]
    labels: list[int]


@dataclass(frozen=True)
class Batch:
    """``ids``, ``mask`` and ``segments`` int64 (batch, length), padded on the right; ``rows`` and ``places`` int64
    (answers,), where the answers are; ``labels`` int64 (answers,), in the order of ``numbers``, the inputs'."""

    numbers: list[int]
    ids: Tensor
    mask: Tensor
    segments: Tensor
    rows: Tensor
    places: Tensor
    labels: Tensor


def paired(
    reader: Reader,
    premises: Sequence[str],
    hypotheses: Sequence[str],
    labels: Sequence[int],
    languages: tuple[str, str],
) -> list[Input]:
    """``[CLS] premise [SEP] hypothesis [SEP]``, the longer of the two cut until it fits (as BERT does);
    ``languages`` of premise and hypothesis."""
    inputs = []
    ends = [reader.separator(language) for language in languages]
    both = (reader.encode(languages[0], premises), reader.encode(languages[1], hypotheses))
    room = reader.limit - 3
    for first, second, label in zip(*both, labels, strict=True):
        second = second[: max(room - len(first), room // 2)]
        first = first[: room - len(second)]
        ids = [reader.start, *first, ends[0], *second, ends[1]]
        inputs.append(Input(ids, [0] * (len(first) + 2) + [1] * (len(second) + 1), [], [label]))
    return inputs


def tagged(
    reader: Reader, sentences: Sequence[Sequence[str]], labels: Sequence[Sequence[int]], language: str
) -> list[Input]:
    """``[CLS] words [SEP]``, answered at the first piece of each word (C, sec. 3.2); words that do not fit are
    left out, and so are their answers."""
    inputs = []
    distinct = list({word: None for words in sentences for word in words})
    pieces_of = dict(zip(distinct, reader.encode(language, distinct), strict=True))
    for words, numbers in zip(sentences, labels, strict=True):
        ids, places = [reader.start], []
        for pieces in map(pieces_of.__getitem__, words):
            pieces = pieces or [reader.unknown]
            if len(ids) + len(pieces) >= reader.limit:
                break
            places.append(len(ids))
            ids += pieces
        ids.append(reader.separator(language))
        inputs.append(Input(ids, [0] * len(ids), places, list(numbers[: len(places)])))
    return inputs


def batches(
    inputs: Sequence[Input], size: int, padding: int, device: torch.device, rng: np.random.Generator | None = None
) -> Iterator[Batch]:
    """All ``inputs`` in batches of about equal lengths: by length, or with ``rng`` in random order."""
    if not inputs:
        raise UserError("transfer: no input; give at least one labelled item")
    order = np.arange(len(inputs)) if rng is None else rng.permutation(len(inputs))
    step = len(inputs) if rng is None else CHUNK * size
    groups: list[list[int]] = []
    for start in range(0, len(order), step):
        chunk = sorted(order[start : start + step].tolist(), key=lambda number: len(inputs[number].ids))
        groups += [chunk[i : i + size] for i in range(0, len(chunk), size)]
    for group in range(len(groups)) if rng is None else rng.permutation(len(groups)).tolist():
        yield _batch(inputs, groups[group], padding, device)


def _batch(inputs: Sequence[Input], numbers: list[int], padding: int, device: torch.device) -> Batch:
    chosen = [inputs[number] for number in numbers]
    length = max(len(item.ids) for item in chosen)
    grid = np.zeros((3, len(chosen), length), dtype=np.int64)
    grid[0] = padding
    for row, item in enumerate(chosen):
        grid[0, row, : len(item.ids)] = item.ids
        grid[1, row, : len(item.ids)] = 1
        grid[2, row, : len(item.ids)] = item.segments
    rows = np.repeat(np.arange(len(chosen)), [len(item.places) for item in chosen])
    flat = [rows, [p for item in chosen for p in item.places], [x for item in chosen for x in item.labels]]
    ids, mask, segments = torch.from_numpy(grid).to(device)
    answers = [torch.from_numpy(np.asarray(values, dtype=np.int64)).to(device) for values in flat]
    return Batch(numbers, ids, mask, segments, *answers)
