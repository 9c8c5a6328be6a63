"""The one exception that a caller's mistake raises, and errors as lines."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST = 10_000
"""Characters of a message: the line that it quotes may be a megabyte."""


class UserError(Exception):
    """A mistake of the caller: one line that says what is wrong, where, and what to do.

    The command line prints it on stderr and exits with 2; a notebook shows it as the failed cell's error. Messages
    quote what stands in files and on command lines, so what cannot be seen, moves the cursor or turns the direction of
    writing is spelt as an escape.
    """

    def __init__(self, message: str) -> None:
        if len(message) > LONGEST:
            message = f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
        super().__init__(printable(message))

    def _render_traceback_(self) -> list[str]:
        """What IPython shows instead of a traceback."""
        return [f"UserError: {self}"]


def first_line(error: Exception) -> str:
    """What a library's error says first, or its kind."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].strip()[:200]


def named(error: BaseException) -> str:
    """An error as one line: a mistake of the caller as it is, any other with its kind."""
    return " ".join((str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}").split())


def each_once(befell: Iterable[tuple[str, str]]) -> str:
    """Pairs of a message and what it befell, as one line that gives every message once."""
    found: dict[str, list[str]] = {}
    for message, what in befell:
        found.setdefault(message, []).append(what)
    return " | ".join(f"{message} [{'; '.join(several)}]" for message, several in found.items())


def printable(text: str) -> str:
    """``text`` on one line, its characters that are not printable (line ends, control and format characters, halves of
    surrogates) as escapes such as ``\\x1b``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
