"""Texts that were costly to make, on disk: written aside with a checksum, renamed in one step, verified on read."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from xling_utils.core.writing import enough_space, held, write_aside

CHECKSUM = "# sha256 "


def keep(path: Path, text: str) -> None:
    """Puts ``text`` at ``path`` for :func:`load`. Raises :class:`UserError` on a full disk, and leaves nothing then."""
    with enough_space(path):
        _write(path, text)


def load(path: Path) -> str | None:
    """The text at ``path``, or None where there is none. One that is damaged counts as absent, and a line says so."""
    try:
        text = verified(path.read_bytes().decode("utf-8"))
    except OSError:
        return None
    except UnicodeDecodeError:
        text = None
    if text is None:
        print(f"{path} is damaged and counts as absent", file=sys.stderr)
    return text


def verified(whole: str) -> str | None:
    """The text in the content of a file of :func:`keep`, or None where it is damaged."""
    first, _, text = whole.partition("\n")
    return text if first == CHECKSUM + _digest(text) else None


def once(path: Path, identity: str, make: Callable[[], str]) -> str:
    """The text at ``path`` that was made of ``identity``; where there is none, what ``make`` gives, kept for the next.

    Of several processes one makes it, and the others wait. Where nothing can be written it is made at every call.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(held(path.with_suffix(".lock")))
        of, _, text = (load(path) or "").partition("\n")
        if of != identity:
            text = make()
            with suppress(OSError):
                _write(path, f"{identity}\n{text}")
        return text


def _write(path: Path, text: str) -> None:
    write_aside(path, f"{CHECKSUM}{_digest(text)}\n{text}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
