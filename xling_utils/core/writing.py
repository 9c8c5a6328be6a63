"""Files of our own, written with care: locks, full disks, and what must have reached the disk."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xling_utils.core.errors import UserError


@contextmanager
def held(path: Path, wait: bool = True) -> Iterator[bool]:
    """Holds the file ``path`` for this process, once no other does; without ``wait``, yields whether none did."""
    import fcntl

    with path.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


@contextmanager
def enough_space(path: Path, setting: str = "XLING_STORE") -> Iterator[None]:
    """Turns a full disk, whichever library met it, into one line for the user, who may change the ``setting``."""
    try:
        yield
    except Exception as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        if not full and "No space left on device" not in str(error):
            raise
        raise UserError(
            f"no space left on the disk of {path}: free some, or set {setting} to a folder on "
            "another disk, and start again (finished runs and checkpoints are kept)"
        ) from error


@contextmanager
def writable(path: Path, setting: str = "XLING_STORE") -> Iterator[None]:
    """The same for a place that cannot be written at all."""
    try:
        with enough_space(path, setting):
            yield
    except OSError as error:
        raise UserError(
            f"cannot write {path}: {error.strerror}; set {setting} to a folder that can be written"
        ) from error


def sha256(path: Path) -> str:
    """Of the file, in hexadecimal digits."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def write_aside(path: Path, text: str) -> None:
    """Writes ``text`` beside ``path``, forces it to the disk and puts it there in one step; an error leaves what was
    there."""
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        with draft.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
    finally:
        draft.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Writes ``value`` and forces it to the disk."""
    with path.open("w", encoding="utf-8") as handle:
        json.dump(value, handle, indent=1, ensure_ascii=False)
        handle.write("\n")
        handle.flush()
        os.fsync(handle.fileno())


def sync(path: Path) -> None:
    """Forces a file or a folder to the disk; some network file systems cannot sync folders."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(descriptor)
