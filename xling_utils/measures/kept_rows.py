"""Tables of measured rows: as CSV text, and on disk, written aside with a checksum, renamed in one step, verified on
read."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from xling_utils.core import files, kept_text
from xling_utils.core.errors import UserError

NUMBERS = ("seed", "layer", "step", "value", "low", "high", "n")
"""The columns that hold numbers."""
KEYS = ("run", "beside")
"""The columns that hold keys of runs."""
FIRST_COLUMNS = ("task,", "experiment,")
"""How a table begins that was kept before there were checksums."""


def to_csv(frame: pd.DataFrame) -> str:
    """The table as CSV text, six significant digits."""
    buffer = io.StringIO()
    frame.to_csv(buffer, index=False, float_format="%.6g")
    return buffer.getvalue()


def from_csv(source: Path | io.StringIO, needed: Iterable[str] = ()) -> pd.DataFrame:
    """A table of :func:`to_csv`: only empty cells are missing, so that a word "NA" stays a word, and keys of runs stay
    text, of which one in some thousands would be read as a number.

    Raises :class:`UserError` where it cannot be read, lacks a column that is ``needed`` or has text for a number.
    """
    types = dict.fromkeys(KEYS, "str")
    return files.table(source, needed, NUMBERS, keep_default_na=False, na_values=[""], dtype=types)


def keep(path: Path, rows: pd.DataFrame) -> None:
    """Puts ``rows`` at ``path`` for :func:`load`. Raises :class:`UserError` on a full disk, and leaves nothing then."""
    kept_text.keep(path, to_csv(rows))


def is_kept(path: Path) -> bool:
    """Whether ``path`` holds the rows that were put there. If they are damaged, one line says so, and they count as
    absent."""
    if not path.exists():
        return False
    whole = _text(path) is not None
    if not whole:
        print(f"the kept rows {path} are damaged and count as absent", file=sys.stderr)
    return whole


def load(path: Path) -> pd.DataFrame:
    """The rows that :func:`keep` put there. Raises :class:`ValueError` if they are damaged, and :class:`UserError` if
    those of before there were checksums are no table."""
    text = _text(path)
    if text is None:
        raise ValueError(f"{path} is damaged")
    try:
        return from_csv(io.StringIO(text))
    except UserError:
        raise UserError(f"{path}: the kept rows are damaged; remove the file, and they are measured again") from None


def _text(path: Path) -> str | None:
    """The table of ``path``, or None if it is damaged. One kept before there were checksums has none."""
    try:
        whole = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return None
    return whole if whole.startswith(FIRST_COLUMNS) else kept_text.verified(whole)
