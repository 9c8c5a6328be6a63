"""What the sub-commands of ``xling`` share: how they are set up and what they print."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from xling_utils.core.errors import printable

OPTIONS: dict[str, Any] = {"rich_markup_mode": None, "add_completion": False}
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def to_json(value: Any) -> str:
    """The value as JSON to read: characters that cannot be seen are escaped."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def aligned(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as aligned text, one column a key of the first row."""
    if not rows:
        return ""
    names = list(rows[0])
    cells = [names] + [["" if row[n] is None else printable(str(row[n])) for n in names] for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)
    return "\n".join(line.rstrip() for line in lines)


def show_usage_error(error: typer.TyperException) -> int:
    """Prints a mistake in the words of a command as one line, or the help that was asked for; the exit code."""
    context = getattr(error, "ctx", None)
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    if "\n" in message:  # the help that a command without arguments asks for
        print(message)
    else:
        path = context.command_path if context else "xling"
        print(f"{path}: {printable(message.rstrip('.'))} (see {path} --help)", file=sys.stderr)
    return 2
