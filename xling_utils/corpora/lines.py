"""Lines of a text file, plain or compressed: each is looked at before anybody reads it."""

from __future__ import annotations

import lzma
from codecs import BOM_UTF8
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from xling_utils.core.errors import UserError
from xling_utils.core.files import regular

LONGEST_LINE = 1_000_000  # bytes
LARGEST_RATIO = 100  # bytes unpacked for each of a compressed file or archive; text is compressed to a tenth at best
ALWAYS_READ = 1_000_000  # bytes, whatever the ratio
BLOCK = 1 << 18  # bytes


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields (number from 1, line without its line end), decompressing as it goes.

    Raises :class:`UserError` naming the file and the line where it is missing, empty, cut short or damaged,
    not UTF-8, unpacks to more than text does, or holds a NUL character or a line of more than a megabyte (never read
    whole).
    """
    number, text_seen = 0, False
    try:
        with regular(path).open("rb") as stream:
            pieces = _unpacked(stream) if path.suffix == ".xz" else iter(partial(stream.read, BLOCK), b"")
            for block in _blocks(path, pieces):
                lines = _sound(block, first=not number) or _one_by_one(path, block, number)
                yield from enumerate(lines, number + 1)
                number += block.count(b"\n")
                text_seen = text_seen or bool(block.removeprefix(BOM_UTF8).strip())
    except EOFError:
        raise UserError(f"{path}, after line {number}: xz data cut short; fetch the file again") from None
    except lzma.LZMAError as error:
        raise UserError(f"{path}, after line {number}: damaged xz data ({error}); fetch it again") from None
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    if not text_seen:
        raise UserError(f"{path}: the file is empty; fill it or remove it")


def _unpacked(stream: BinaryIO) -> Iterator[bytes]:
    """What is packed in ``stream``, one xz stream after another: ``lzma.open`` would end, and say nothing, at damage
    that stands after the first. Raises what ``lzma`` raises, and ``EOFError`` where one is cut short."""
    packed, first = b"", True
    while packed or first:
        unpacker, first = lzma.LZMADecompressor(), False
        while not unpacker.eof:
            if unpacker.needs_input and not packed and not (packed := stream.read(BLOCK)):
                raise EOFError
            yield unpacker.decompress(packed, BLOCK)
            packed = b""
        packed = unpacker.unused_data or stream.read(BLOCK)
        while packed and not (packed := packed.lstrip(b"\0")):  # padding
            packed = stream.read(BLOCK)


def _blocks(path: Path, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """What is in ``pieces`` of a file, some whole lines at a time, the last without its end where the file has none; no
    more of a line that is too long than shows it."""
    most = ALWAYS_READ + LARGEST_RATIO * path.stat().st_size
    read, rest = 0, b""
    for piece in pieces:
        read += len(piece)
        if read > most:
            raise UserError(f"{path}: unpacks to over {LARGEST_RATIO} times its size; no text does")
        whole = piece.rfind(b"\n") + 1
        if whole:
            yield rest + piece[:whole]
            rest = b""
        rest += piece[whole:]
        if len(rest) > LONGEST_LINE:
            break
    if rest:
        yield rest


def _sound(block: bytes, first: bool) -> list[str]:
    """The lines of a block in which nothing is wrong, and none where something may be; the first of a file may begin
    with a byte order mark."""
    if b"\0" in block or len(block) > LONGEST_LINE:
        return []
    try:
        text = block.decode("utf-8-sig" if first else "utf-8")
    except UnicodeDecodeError:
        return []
    lines = text.removesuffix("\n").split("\n")
    return [line.rstrip("\r") for line in lines] if "\r" in text else lines


def _one_by_one(path: Path, block: bytes, before: int) -> Iterator[str]:
    """The lines of a block that stand above the first in which something is wrong; then raises :class:`UserError`."""
    for number, line in enumerate(block.removesuffix(b"\n").split(b"\n"), before + 1):
        if len(line) > LONGEST_LINE:
            raise UserError(f"{path}, line {number}: over a megabyte; put one sentence on a line")
        if b"\0" in line:
            raise UserError(f"{path}, line {number}: a NUL character; is it UTF-16, or no text?")
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r")
        except UnicodeDecodeError as error:
            raise UserError(f"{path}, line {number}: not UTF-8 ({error.reason}); convert the file") from None
