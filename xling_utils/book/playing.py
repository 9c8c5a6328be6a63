"""Chapters to play with: copies in ``_build/play``, opened in JupyterLab.

The folder lies inside the book, so a copy finds the records and the store; and no tracked file changes, however often
JupyterLab saves.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from xling_utils.book.notebooks import chapters, read
from xling_utils.core.errors import UserError


def play(root: Path, name: str | None, say: Callable[[str], None]) -> None:
    """Opens a copy of the chapter ``name`` of the book at ``root``, or the folder of all copies; JupyterLab takes this
    process over. A copy that is there already is somebody's work, and stays.

    Raises :class:`UserError` on an unknown chapter, and where JupyterLab is not installed.
    """
    import nbformat

    known = chapters(root)
    if name is not None and name not in known:
        raise UserError(f"unknown chapter {name!r} in {root / 'notebooks'}; known: {', '.join(known)}")
    if find_spec("jupyterlab") is None:
        raise UserError("JupyterLab is not installed: `make setup` installs it, as does `pip install jupyterlab`")
    folder = root / "_build/play"
    folder.mkdir(parents=True, exist_ok=True)
    for chapter in [name] if name else known:
        copy = folder / f"{chapter}.ipynb"
        if copy.exists():
            say(f"{copy}: as you left it; remove it to begin anew")
            continue
        notebook = read(root, chapter)
        del notebook.metadata["jupytext"]  # else a script is saved beside it
        nbformat.write(notebook, copy)
    opened = folder / f"{name}.ipynb" if name else folder
    os.execv(sys.executable, [sys.executable, "-m", "jupyterlab", str(opened)])
