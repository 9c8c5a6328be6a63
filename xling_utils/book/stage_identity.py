"""What of a staged book shows on pages other than its own: when that changes, all pages are rendered anew."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from xling_utils.book import glossary_notes
from xling_utils.core.identity import PACKAGE

_TOOLS = ("jupyter-book", "sphinx", "myst-nb", "sphinx-book-theme", "vl-convert-python")
_MODULES = (
    "charts/offline.py",
    "book/book_renderer.py",
    "book/rendering.py",
    "book/stage_identity.py",
    "book/chapter_pages.py",
)
_HEADING = re.compile(r"^(?:#+ .*|\(.+\)=)$", re.MULTILINE)
"""A line of Markdown that is one, or a label."""


def of(root: Path, wanted: Mapping[Path, bytes]) -> str:
    """A hash of what shapes every page of the book at ``root``, of which the files ``wanted`` are staged; when it
    changes nothing of the old stage is of use."""
    digest = hashlib.sha256()
    for relative, content in sorted(wanted.items()):
        if relative.parts[0] not in ("book", "notebooks") or relative.suffix == ".bib":
            digest.update(f"{relative.as_posix()} {len(content)}\n".encode() + content)
        elif names := _named_elsewhere(root, relative, content):
            digest.update(f"{relative.as_posix()} {names}\n".encode())
    for module in _MODULES:
        digest.update((PACKAGE / module).read_bytes())
    digest.update(" ".join(version(tool) for tool in _TOOLS).encode())
    return digest.hexdigest()


def _named_elsewhere(root: Path, relative: Path, content: bytes) -> list[str]:
    """The headings, labels, terms and figures of a page: sidebars and references of others show them or their
    numbers."""
    found: list[str] = []
    if relative.suffix == ".md":
        found += _HEADING.findall(content.decode())
        found += glossary_notes.definitions(root / relative)
    for cell in json.loads(content)["cells"] if relative.suffix == ".ipynb" else ():
        figure = cell["metadata"].get("mystnb", {}).get("figure")
        if cell["cell_type"] == "markdown":
            found += _HEADING.findall("".join(cell["source"]))
        elif figure and cell.get("outputs"):
            found.append(figure["name"])
    return found
