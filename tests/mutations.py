"""Inputs as they go wrong: a sound file with bytes flipped, lines cut, columns swapped, other encodings and worse.

`survives` runs a reader on many of them: whatever it meets, it returns or raises a :class:`UserError` of one line, and
soon. The same inputs come every time, so a test that passes does not fail tomorrow.
"""

from __future__ import annotations

import io
import json
import lzma
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xling_utils.cli.main import main
from xling_utils.core.errors import UserError

SECONDS = 60.0
"""What a reader may take for one small input; the machine may be busy."""

COUNTS = [pytest.param(20, id="short"), pytest.param(500, id="soak", marks=pytest.mark.soak)]
"""Mutated inputs a reader, for ``pytest.mark.parametrize("count", COUNTS)``."""

MARKUP = "<script>alert(1)</script>"
STRANGE = [
    *(MARKUP, '"><img src=x onerror=alert(1)>', "</SCRIPT >", "&lt;b&gt;", "{{ 7*7 }}", "`x`{=html}", "$(id)"),
    *("\0", "\ufeff", "\u202e", "\u200f", "\u2028", "\x85", "\x0b", "\x1c", "\r", "\r\n", "\x1b[31m", "\ufffd"),
    *("\u0301\u0316" * 40, "\U0001f469\u200d\U0001f52c", "\u0130", "1\u0660", "²", "\ud800"),
    *("-1", "0", "1e999", "NaN", "Infinity", "99999999999999999999999", "null", "true", "[]", "{}", "''", "%s%n", "~"),
    *("../../../../etc/passwd", "/etc/passwd", "C:\\x", "[[" * 600, "x" * 100_000, "\t" * 50, ",,,,", "- &a [*a]"),
]
VALUES = [None, True, 0, -1, 1.5, 10**12, float("nan"), float("inf"), "", [], {}, [[]], [None], {"a": {}}, ["en", "en"]]
ENCODINGS = ("utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252", "utf-8-sig", "shift_jis", "koi8-r")
NUMBER = re.compile(rb"-?\d+")


@st.composite
def mutated(draw: st.DrawFn, original: bytes) -> bytes:
    """``original`` after one to four mutations."""
    content = original
    for mutate in draw(st.lists(st.sampled_from(MUTATIONS), min_size=1, max_size=4)):
        content = mutate(draw, content)
    return content


def _place(draw: st.DrawFn, content: bytes) -> int:
    return draw(st.integers(0, len(content)))


def _flipped(draw: st.DrawFn, content: bytes) -> bytes:
    changed = bytearray(content or b"\0")
    for _ in range(draw(st.integers(1, 8))):
        changed[draw(st.integers(0, len(changed) - 1))] ^= draw(st.integers(1, 255))
    return bytes(changed)


def _cut_short(draw: st.DrawFn, content: bytes) -> bytes:
    return content[: _place(draw, content)]


def _without_a_part(draw: st.DrawFn, content: bytes) -> bytes:
    first, second = sorted((_place(draw, content), _place(draw, content)))
    return content[:first] + content[second:]


def _lines_shuffled(draw: st.DrawFn, content: bytes) -> bytes:
    """Lines left out, or twice, or in another order."""
    lines = content.split(b"\n")
    chosen = draw(st.lists(st.integers(0, len(lines) - 1), max_size=2 * len(lines)))
    return b"\n".join(lines[number] for number in chosen)


def _columns_swapped(draw: st.DrawFn, content: bytes) -> bytes:
    lines = content.split(b"\n")
    separator = draw(st.sampled_from([b"\t", b" ", b",", b":"]))
    for _ in range(draw(st.integers(1, 5))):
        number = draw(st.integers(0, len(lines) - 1))
        columns = lines[number].split(separator)
        lines[number] = separator.join(draw(st.permutations(columns))[: draw(st.integers(0, len(columns) + 1))])
    return b"\n".join(lines)


def _in_another_encoding(draw: st.DrawFn, content: bytes) -> bytes:
    return content.decode("utf-8", "replace").encode(draw(st.sampled_from(ENCODINGS)), "replace")


def _with_something_strange(draw: st.DrawFn, content: bytes) -> bytes:
    place = _place(draw, content)
    return content[:place] + draw(st.sampled_from(STRANGE)).encode("utf-8", "surrogatepass") + content[place:]


def _with_a_word_replaced(draw: st.DrawFn, content: bytes) -> bytes:
    words = list(re.finditer(rb"\w+", content))
    if not words:
        return content
    word = words[draw(st.integers(0, len(words) - 1))]
    strange = draw(st.sampled_from(STRANGE)).encode("utf-8", "surrogatepass")
    return content[: word.start()] + strange + content[word.end() :]


def _with_another_number(draw: st.DrawFn, content: bytes) -> bytes:
    numbers = list(NUMBER.finditer(content))
    if not numbers:
        return content
    number = numbers[draw(st.integers(0, len(numbers) - 1))]
    other = draw(st.one_of(st.integers(), st.floats(), st.sampled_from(["", "x", "1" * 400, "-0", "0x10"])))
    return content[: number.start()] + str(other).encode() + content[number.end() :]


def _with_another_value_in_json(draw: st.DrawFn, content: bytes) -> bytes:
    """One value of it, however deep, replaced or left out."""
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        return content
    at, places = whole, []
    while isinstance(at, dict | list) and at:
        place = draw(st.sampled_from(sorted(at))) if isinstance(at, dict) else draw(st.integers(0, len(at) - 1))
        places.append((at, place))
        at = at[place]
    if not places:
        return content
    holder, place = places[draw(st.integers(0, len(places) - 1))]
    if draw(st.booleans()):
        holder[place] = draw(st.one_of(st.sampled_from(STRANGE), st.sampled_from(VALUES)))
    else:
        del holder[place]
    return json.dumps(whole).encode("utf-8", "surrogatepass")


def _with_a_huge_line(draw: st.DrawFn, content: bytes) -> bytes:
    place = _place(draw, content)
    return content[:place] + draw(st.sampled_from([b"a", b" ", b"\t", b"9"])) * 1_100_000 + content[place:]


def _any_bytes(draw: st.DrawFn, content: bytes) -> bytes:
    return draw(st.binary(max_size=200))


MUTATIONS = (
    *(_flipped, _cut_short, _without_a_part, _lines_shuffled, _columns_swapped, _in_another_encoding),
    *(_with_something_strange, _with_a_word_replaced, _with_another_number, _with_a_huge_line, _any_bytes),
    *(_with_another_value_in_json,) * 2,
)


@contextmanager
def within(seconds: float = SECONDS) -> Iterator[None]:
    """Raises TimeoutError in what takes longer."""

    def too_long(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def survives(read: Callable[[], object], path: Path, count: int, written: Callable[[bytes], bytes] = bytes) -> None:
    """Runs ``read`` on the file ``path``, which must be sound, and on ``count`` mutations of it, each ``written`` to it
    (packed, for one). A number that it returns is an exit code.

    A :class:`UserError` must be one line without control characters that names the file, or its folder.
    """
    with within():
        code = read()
    assert not isinstance(code, int) or code == 0, f"{path} is refused as it is"
    found = path.read_bytes()
    sound = found if written is bytes else _unwritten(path, written)

    @settings(
        max_examples=count, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(mutated(sound))
    def once(content: bytes) -> None:
        path.write_bytes(written(content))
        with within():
            try:
                read()
            except UserError as error:
                line = str(error)
                assert line.isprintable() and len(line) < 100_000, line
                named = (path.name, path.stem, path.parent.name)
                assert any(name in line.lower() for name in map(str.lower, named)), f"{line!r} does not name {path}"

    try:
        once()
    finally:
        path.write_bytes(found)


def _unwritten(path: Path, written: Callable[[bytes], bytes]) -> bytes:
    content = lzma.decompress(path.read_bytes())
    assert written(content), "only what xz can undo is written"
    return content


def answered(*arguments: str) -> int:
    """The exit code of ``xling`` with ``arguments``, in this process; what it printed is as documented."""
    printed = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    with (
        patch.object(sys, "argv", ["xling", *arguments]),
        redirect_stdout(printed[0]),
        redirect_stderr(printed[1]),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    out, err = (stream.buffer.getvalue().decode("utf-8") for stream in printed)  # type: ignore[attr-defined]
    code = ended.value.code or 0
    assert code in (0, 1, 2), err
    assert "Traceback" not in err
    assert all(line.isprintable() for line in (*out.split("\n"), *err.split("\n"))), out + err
    assert err or code != 2, "a mistake without a line that says so"
    return int(code)
