"""Text and arrays on disk: they read as in memory, take none, and leave nothing behind."""

from __future__ import annotations

import errno
import gc
import tempfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import datasets
import numpy as np
import pytest

from xling_utils.core import memory_mapped
from xling_utils.core.errors import UserError
from xling_utils.core.specs import Change, CorpusSpec, TokenizerSpec, TrainingSpec
from xling_utils.corpora import loading
from xling_utils.models import tokenization
from xling_utils.runs.batches import Batches

ROWS = [(f"sentence {i} ,\u2028 \U00040041 .", i // 3) for i in range(memory_mapped.ROWS + 5)]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_text_reads_as_in_memory(temporary: Path) -> None:
    def read() -> Iterator[tuple[str, int]]:
        for row in ROWS:
            assert not list(temporary.iterdir()), "what is being written has no name that an end could leave behind"
            yield row

    text = memory_mapped.text(read())
    assert list(memory_mapped.rows(text)) == ROWS
    assert text.features == {"text": datasets.Value("string"), "document": datasets.Value("int64")}
    assert not list(temporary.iterdir())


def test_no_text_is_an_empty_dataset() -> None:
    assert len(memory_mapped.text([])) == 0 and list(memory_mapped.rows(memory_mapped.text([]))) == []


def test_what_fails_while_text_is_written_comes_through(temporary: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        memory_mapped.text((str(1 // (3 - i)), i) for i in range(5))
    assert not list(temporary.iterdir())


def test_an_array_grows_and_is_then_whole(temporary: Path) -> None:
    growing = memory_mapped.Growing(np.int32)
    for part in ([1, 2], [], np.arange(3, 5000)):
        growing.extend(part)
    array = growing.mapped()
    assert array.dtype == np.int32 and array.tolist() == list(range(1, 5000)) and growing.length == 4999
    array[0] = 7  # stays here
    assert not list(temporary.iterdir())


def test_an_empty_array_is_one() -> None:
    assert memory_mapped.Growing(np.bool_).mapped().shape == (0,)


def test_lines_are_read_in_any_order(temporary: Path) -> None:
    with memory_mapped.Lines() as lines:
        places = [lines.add(part) for part in (["first", ""], [], ["third \u2028 \r line"])]
        assert list(lines.read(places[2], 1)) == ["third \u2028 \r line"]
        assert list(lines.read(places[0], 2)) == ["first", ""]
        assert lines.add(["last"]) > places[2] and list(lines.read(places[1], 0)) == []
    assert not list(temporary.iterdir())


def test_a_full_disk_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, _: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    growing = memory_mapped.Growing(np.int32)
    monkeypatch.setattr(growing, "_file", Full())
    with pytest.raises(UserError, match=r"no space left on the disk of .* or set TMPDIR to a folder on another disk"):
        growing.extend([1])


def _peak(sentences: int) -> tuple[int, int]:
    """The bytes that Python and numpy hold at most while text is written, changed, encoded and cut into batches, and
    its tokens."""
    corpus = CorpusSpec("controlled", ("en",), sentences, 1, changes=(Change("permuted", ("en",), 0.5),))
    rows = ((f"word{i % 100} and others", i // 10) for i in range(sentences))
    gc.collect()  # whatever else waits for it would be counted here, or not
    tracemalloc.start()
    text = loading._changed(memory_mapped.text(rows), corpus, "en", None, False)
    coder = tokenization.Coder(tokenization.build(TokenizerSpec(size=60), {"en": text}))
    stream = coder.stream(text)
    Batches({"en": stream}, TrainingSpec(steps=1, batch=8, length=24), 1)(0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, len(stream.ids)


def test_memory_does_not_grow_with_the_corpus() -> None:
    _peak(100)  # what libraries keep
    (small, few), (large, many) = _peak(3 * memory_mapped.ROWS), _peak(15 * memory_mapped.ROWS)
    assert many == 5 * few
    assert (large - small) / (many - few) < 2  # bytes a token; an array of pieces takes four, lists over twenty
