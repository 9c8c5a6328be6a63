"""The one exception that a caller's mistake raises."""

from __future__ import annotations

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


def printable(text: str) -> str:
    """``text`` on one line, its characters that are not printable (line ends, control and format characters, halves of
    surrogates) as escapes such as ``\\x1b``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
