"""Text and arrays that grow on disk and are then mapped into memory: what a run holds does not grow with its corpus.

They lie in temporary files (``TMPDIR``) that have no name once they are open, so nothing is left behind, however a
process ends.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from xling_utils.core.writing import enough_space

if TYPE_CHECKING:
    from datasets import Dataset

ROWS = 2000
"""Sentences that are held at a time."""


def text(rows: Iterable[tuple[str, int]]) -> Dataset:
    """Rows of (sentence, number of its document) as a dataset with columns ``text`` (string) and ``document`` (int64).

    Raises :class:`UserError` on a full disk."""
    import pyarrow as pa
    from datasets import Dataset

    schema = pa.schema({"text": pa.string(), "document": pa.int64()})
    remaining = iter(rows)
    with _room(), tempfile.TemporaryFile() as file:
        with pa.ipc.new_file(file, schema) as writer:
            while batch := list(islice(remaining, ROWS)):
                writer.write_batch(pa.record_batch([list(column) for column in zip(*batch, strict=True)], schema))
        file.flush()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        table = pa.ipc.open_file(pa.py_buffer(mapped)).read_all()
    return Dataset(table, fingerprint=uuid4().hex)  # one of its own making would be a hash of all text


def rows(dataset: Dataset) -> Iterator[tuple[str, int]]:
    """(sentence, number of its document) of a dataset with such columns, a few at a time."""
    for batch in dataset.iter(batch_size=ROWS):
        yield from zip(batch["text"], batch["document"], strict=True)


class Lines:
    """Lines of text, put down in one order and read in another; a context, which ends with them. Raises
    :class:`UserError` on a full disk."""

    def __enter__(self) -> Lines:
        self._file, self._end = tempfile.TemporaryFile(), 0
        return self

    def __exit__(self, *error: object) -> None:
        with _room():  # what the disk had no room for is tried again
            self._file.close()

    def add(self, lines: Iterable[str]) -> int:
        """Puts down ``lines`` without line feeds, and says where."""
        place, added = self._end, "".join(f"{line}\n" for line in lines).encode()
        with _room():
            self._file.seek(place)
            self._file.write(added)
            self._file.flush()
        self._end += len(added)
        return place

    def read(self, place: int, count: int) -> Iterator[str]:
        """``count`` lines from ``place`` on."""
        self._file.seek(place)
        for line in islice(self._file, count):
            yield line.decode().removesuffix("\n")


class Growing:
    """A one-dimensional array of ``dtype``. Raises :class:`UserError` on a full disk."""

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self.dtype, self.length = np.dtype(dtype), 0
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  (the mapping outlives it)

    def extend(self, values: npt.ArrayLike) -> None:
        """Adds ``values`` at the end."""
        added = np.asarray(values, self.dtype)
        with _room():
            self._file.write(added.tobytes())
        self.length += len(added)

    def mapped(self) -> npt.NDArray[Any]:
        """All of it, (length,); nothing can be added any more. What is written to the array stays in this process."""
        with _room():
            self._file.flush()
        with self._file:
            if not self.length:  # nothing cannot be mapped
                return np.empty(0, self.dtype)
            return np.memmap(self._file, self.dtype, mode="c", shape=(self.length,)).view(np.ndarray)


@contextmanager
def _room() -> Iterator[None]:
    with enough_space(Path(tempfile.gettempdir()), setting="TMPDIR"):
        yield
