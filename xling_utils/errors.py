"""The one exception that a caller's mistake raises."""

from __future__ import annotations


class UserError(Exception):
    """A mistake of the caller: one line that says what is wrong, where, and what to do.

    The command line prints it on stderr and exits with 2; a notebook shows it as the failed cell's error.
    """

    def _render_traceback_(self) -> list[str]:
        """What IPython shows instead of a traceback."""
        return [f"UserError: {self}"]
