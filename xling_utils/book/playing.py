"""Notebooks to play with: copies in ``_build/play``, opened in JupyterLab.

The folder lies inside the book, so a copy finds the records and the store; and no tracked file changes, however often
JupyterLab saves.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from xling_utils.book.notebooks import KERNEL, chapters, read
from xling_utils.core.errors import UserError
from xling_utils.core.files import source

if TYPE_CHECKING:
    from nbformat import NotebookNode

EXPERIMENT = "experiment"
"""The page on one's own: its blocks of Python are cells."""


def play(root: Path, name: str | None, say: Callable[[str], None]) -> None:
    """Opens a copy of the chapter ``name`` of the book at ``root``, or of :data:`EXPERIMENT`; without a name, the
    folder with copies of all. JupyterLab takes this process over. A copy that is there already is somebody's work, and
    stays.

    Raises :class:`UserError` on an unknown name, and where JupyterLab is not installed.
    """
    import nbformat

    known = chapters(root) + [EXPERIMENT] * _page(root).is_file()
    if name is not None and name not in known:
        raise UserError(f"unknown chapter {name!r} in {root / 'notebooks'}; known: {', '.join(known)}")
    if find_spec("jupyterlab") is None:
        raise UserError("JupyterLab is not installed: `make setup` installs it, with all that the book needs")
    folder = root / "_build/play"
    folder.mkdir(parents=True, exist_ok=True)
    for each in [name] if name else known:
        copy = folder / f"{each}.ipynb"
        if copy.exists():
            say(f"{copy}: as you left it; remove it to begin anew")
        else:
            aside = folder / f".{each}.ipynb"  # half a copy would stay for good
            nbformat.write(_notebook(root, each), aside)
            aside.replace(copy)
    opened = folder / f"{name}.ipynb" if name else folder
    os.execv(sys.executable, [sys.executable, "-m", "jupyterlab", str(opened)])


def _page(root: Path) -> Path:
    return root / "book/run" / f"{EXPERIMENT}.md"


def _notebook(root: Path, name: str) -> NotebookNode:
    """Not paired with a script, which would be saved beside it."""
    import jupytext

    notebook = jupytext.reads(source(_page(root)), fmt="md") if name == EXPERIMENT else read(root, name)
    del notebook.metadata["jupytext"]
    notebook.metadata["kernelspec"] = KERNEL
    return notebook
