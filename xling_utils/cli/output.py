"""What the sub-commands of ``xling`` share: how they are set up and what they print."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xling_utils.core import startup
from xling_utils.core.errors import UserError, printable

if TYPE_CHECKING:
    from xling_utils.book import ChapterFailure

OPTIONS: dict[str, Any] = {"rich_markup_mode": None, "add_completion": False}
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

KEPT = "what was finished is kept, the same command continues"
HINTS = (
    dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM), f"; {KEPT}")
    | dict.fromkeys((errno.ENAMETOOLONG, errno.ELOOP), "")
    | dict.fromkeys((errno.ENOTDIR, errno.EEXIST, errno.EISDIR), "; a file or folder is in the way: move it")
)
"""What to do after errors of the system that are told in one line; of a name that no file can have nothing."""

DataDirectory = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", envvar="XLING_DATA", help="The directory of real text."),
]


def say(line: str) -> None:
    """Prints a line at once, in one piece: chapters that are executed at a time speak from threads of their own, and
    ``print`` writes what ends a line apart."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


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


def show_system_error(error: OSError) -> int:
    """Prints an error of the system as one line; the exit code. Raises one that :data:`HINTS` lacks again, unless the
    working directory is gone, which explains it."""
    try:
        Path.cwd()
    except FileNotFoundError as gone:
        print(f"xling: the working directory: {gone.strerror}; change to one that exists", file=sys.stderr)
        return 2
    if error.errno not in HINTS:
        raise error
    name = printable(str(error.filename or "writing"))
    print(f"xling: {name:.200}: {error.strerror}{HINTS[error.errno]}", file=sys.stderr)
    return 2


def reported(failures: Sequence[ChapterFailure]) -> int:
    """The exit code of chapters of which ``failures`` did not run to their end."""
    for failure in failures:
        print(f"xling: {failure.chapter}: {failure.message} [log: {failure.log}]", file=sys.stderr)
    if not failures:
        return 0
    return 2 if all(failure.user for failure in failures) else 1


def root() -> Path:
    """The folder of the book. Raises :class:`UserError` outside of one."""
    from xling_utils.core.project import project_root

    found = project_root()
    if found is None:
        raise UserError(f"{Path.cwd()} is not in a book: change to the folder that holds _toc.yml and notebooks/")
    startup.check_memory()
    return found
