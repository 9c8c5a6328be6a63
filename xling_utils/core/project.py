"""Where the book is."""

from __future__ import annotations

from pathlib import Path

from xling_utils.core.errors import UserError


def project_root() -> Path | None:
    """The book's folder: the nearest one at or above the working directory that holds ``_toc.yml`` and
    ``notebooks/``; ``None`` outside of a book."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "_toc.yml").is_file() and (folder / "notebooks").is_dir():
            return folder
    return None


def checkout(what: str) -> Path:
    """:func:`project_root`, for ``what`` cannot do without. Raises :class:`UserError` outside of one."""
    found = project_root()
    if found is None:
        raise UserError(f"{what}: run this inside a checkout of the book (no _toc.yml found here or above)")
    return found
