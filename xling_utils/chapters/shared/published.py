"""The papers' own numbers, as printed: one CSV a table under ``book/published``, named after the table."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from xling_utils.core.errors import UserError
from xling_utils.core.files import table as read_table
from xling_utils.core.project import project_root


def table(name: str) -> pd.DataFrame:
    """``book/published/NAME.csv``. Raises :class:`UserError` naming the tables there are."""
    folder = (project_root() or Path()) / "book" / "published"
    path = folder / f"{name}.csv"
    if not path.exists():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.csv"))) or "none"
        raise UserError(f"published: no table {name!r} under {folder}; there: {known}")
    return read_table(path)
