"""Disks that fill up while something is written: one line, nothing half written, and the next try is as good as the
first."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import datasets
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather

from xling_utils import corpora
from xling_utils.core import kept_text, memory_mapped
from xling_utils.core.errors import UserError
from xling_utils.core.specs import CorpusSpec
from xling_utils.measures import kept_rows

ROWS = [(f"sentence {number}", number) for number in range(2 * memory_mapped.ROWS)]
DRAFT = f".{os.getpid()}"
"""How drafts of kept corpora end."""
FULL = "no space left on the disk of"


def full(*_: object, **__: object) -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


def half(table: object, path: Path, **_: object) -> NoReturn:
    path.write_bytes(b"ARROW1 and no more")
    full()


write_batch = pa.ipc.RecordBatchFileWriter.write_batch


def once(writer: pa.ipc.RecordBatchFileWriter, batch: pa.RecordBatch) -> None:
    """Writes a first batch and no second."""
    if writer.stats.num_record_batches:
        full()
    write_batch(writer, batch)


def text(path: Path) -> object:
    kept_text.keep(path, "words\n" * 9)
    return kept_text.load(path)


def rows(path: Path) -> object:
    kept_rows.keep(path, pd.DataFrame({"task": ["a", "b"], "value": [0.5, 0.25]}))
    return kept_rows.load(path).to_dict()


def mapped(path: Path) -> object:
    return list(memory_mapped.rows(memory_mapped.text(ROWS)))


def corpus(path: Path) -> object:
    return corpora.load(CorpusSpec("controlled", ("en",), 20, seed=1))["en"].to_dict()


CASES: dict[str, tuple[Callable[[Path], object], Any, str, Callable[..., Any]]] = {
    "a text": (text, os, "fsync", full),
    "rows": (rows, os, "fsync", full),
    "mapped text": (mapped, pa.ipc.RecordBatchFileWriter, "write_batch", once),
    "a kept corpus": (corpus, feather, "write_feather", half),
}


@pytest.mark.parametrize("name", CASES)
def test_what_did_not_fit_is_not_there_and_fits_later(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt, *place, fault = CASES[name]
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "sound")
    expected = attempt(tmp_path / "sound.csv")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    before = set(tmp_path.rglob("*"))
    with monkeypatch.context() as patch, pytest.raises(UserError, match=FULL):
        patch.setattr(*place, fault)
        attempt(tmp_path / "here.csv")
    left = {path for path in set(tmp_path.rglob("*")) - before if path.is_file()}
    assert not {path for path in left if path.suffix not in (".lock", DRAFT)}
    assert attempt(tmp_path / "here.csv") == expected


def test_a_corpus_that_did_not_fit_takes_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path)
    monkeypatch.setattr(feather, "write_feather", half)
    with pytest.raises(UserError, match=FULL):
        corpus(tmp_path)
    assert not list(tmp_path.rglob(f"*{DRAFT}"))


class Disk(io.FileIO):
    """A file on a disk that may be full."""

    full = False

    def write(self, content: Any, /) -> int:
        return full() if self.full else super().write(content)


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """That of the temporary files."""
    disk = Disk(tmp_path / "lines", "w+b")
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: io.BufferedRandom(disk))  # type: ignore[type-var]
    return disk


MANY = ["line"] * 5_000


@pytest.mark.parametrize("lines", [["second"], MANY], ids=["few", "many"])
def test_lines_that_did_not_fit_are_not_there_and_fit_later(disk: Disk, lines: list[str]) -> None:
    with memory_mapped.Lines() as kept:
        first = kept.add(["first"])
        assert list(kept.read(first, 1)) == ["first"]
        disk.full = True
        with pytest.raises(UserError, match=FULL):
            kept.add(lines)
        disk.full = False
        third = kept.add(["third", "last"])
        assert list(kept.read(first, 3)) == ["first", "third", "last"] and list(kept.read(third, 1)) == ["third"]


@pytest.mark.parametrize("lines", [["first"], MANY], ids=["few", "many"])
def test_lines_on_a_disk_that_stays_full_end_in_the_same_line(disk: Disk, lines: list[str]) -> None:
    disk.full = True
    with pytest.raises(UserError, match=FULL), memory_mapped.Lines() as kept:
        kept.add(lines)
