"""Text and arrays on disk: they read as in memory, take none, and leave nothing behind."""

from __future__ import annotations

import errno
import tempfile
import tracemalloc
from pathlib import Path

import datasets
import numpy as np
import pytest

from xling_utils import corpora, on_disk, tokenization
from xling_utils.batches import Batches
from xling_utils.errors import UserError
from xling_utils.specs import Change, CorpusSpec, TokenizerSpec, TrainingSpec

ROWS = [(f"sentence {i} ,\u2028 \U00040041 .", i // 3) for i in range(on_disk.ROWS + 5)]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_text_reads_as_in_memory(temporary: Path) -> None:
    text = on_disk.text(iter(ROWS))
    assert list(on_disk.rows(text)) == ROWS
    assert text.features == {"text": datasets.Value("string"), "document": datasets.Value("int64")}
    assert not list(temporary.iterdir())


def test_no_text_is_an_empty_dataset() -> None:
    assert len(on_disk.text([])) == 0 and list(on_disk.rows(on_disk.text([]))) == []


def test_what_fails_while_text_is_written_comes_through(temporary: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        on_disk.text((str(1 // (3 - i)), i) for i in range(5))
    assert not list(temporary.iterdir())


def test_an_array_grows_and_is_then_whole(temporary: Path) -> None:
    growing = on_disk.Growing(np.int32)
    for part in ([1, 2], [], np.arange(3, 5000)):
        growing.extend(part)
    array = growing.mapped()
    assert array.dtype == np.int32 and array.tolist() == list(range(1, 5000)) and growing.length == 4999
    array[0] = 7  # stays here
    assert not list(temporary.iterdir())


def test_an_empty_array_is_one() -> None:
    assert on_disk.Growing(np.bool_).mapped().shape == (0,)


def test_lines_are_read_in_any_order(temporary: Path) -> None:
    with on_disk.Lines() as lines:
        places = [lines.add(part) for part in (["first", ""], [], ["third \u2028 \r line"])]
        assert list(lines.read(places[2], 1)) == ["third \u2028 \r line"]
        assert list(lines.read(places[0], 2)) == ["first", ""]
        assert lines.add(["last"]) > places[2] and list(lines.read(places[1], 0)) == []
    assert not list(temporary.iterdir())


def test_a_full_disk_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, _: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    growing = on_disk.Growing(np.int32)
    monkeypatch.setattr(growing, "_file", Full())
    with pytest.raises(UserError, match=r"no space left on the disk of .* or set TMPDIR to a folder on another disk"):
        growing.extend([1])


def _peak(sentences: int) -> tuple[int, int]:
    """The bytes that Python and numpy hold at most while text is written, changed, encoded and cut into batches, and
    its tokens."""
    corpus = CorpusSpec("controlled", ("en",), sentences, 1, changes=(Change("permuted", ("en",), 0.5),))
    rows = ((f"word{i % 100} and others", i // 10) for i in range(sentences))
    tracemalloc.start()
    text = corpora._changed(on_disk.text(rows), corpus, "en", None, False)
    coder = tokenization.Coder(tokenization.build(TokenizerSpec(size=60), {"en": text}))
    stream = coder.stream(text)
    Batches({"en": stream}, TrainingSpec(steps=1, batch=8, length=24), 1)(0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, len(stream.ids)


def test_memory_does_not_grow_with_the_corpus() -> None:
    _peak(100)  # what libraries keep
    (small, few), (large, many) = _peak(3 * on_disk.ROWS), _peak(15 * on_disk.ROWS)
    assert many == 5 * few
    assert (large - small) / (many - few) < 0.5  # bytes a token; lists and arrays take over twenty
