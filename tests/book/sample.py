"""A two-page book with every kind of content, for tests that must not depend on what the chapters say."""

from __future__ import annotations

import shutil
from pathlib import Path

import jupytext
import papermill

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]


def make(root: Path) -> Path:
    """Lay out the sample book in ``root``: the real configuration, own pages, one executed notebook."""
    shutil.copy(REPOSITORY / "_config.yml", root)
    shutil.copytree(HERE / "sample", root, dirs_exist_ok=True)
    shutil.copy(REPOSITORY / "book" / "references.bib", root / "book")
    executed = root / "_build" / "executed"
    executed.mkdir(parents=True)
    source = root / "01_sample.ipynb"
    jupytext.write(jupytext.read(HERE / "sample" / "01_sample.py"), source)
    papermill.execute_notebook(
        source,
        executed / source.name,
        parameters={"rows": 30},
        kernel_name="python3",
        language="python",
        progress_bar=False,
        cwd=root,
    )
    return root
