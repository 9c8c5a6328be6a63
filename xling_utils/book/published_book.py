"""What the published book was made of: as long as that is the same, it is not rendered again.

``_build/html.made_of`` names it, and the pages that came of it: one that was changed or removed is made again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xling_utils.core import identity, kept_text
from xling_utils.core.project import project_root

STATIC = Path(__file__).parent / "static"


def made_of(root: Path, executed: Sequence[Path], asked: Sequence[object]) -> str:
    """A hash of all that the book at ``root`` is rendered from: its configuration, its pages with all that lies beside
    them (records, claims, models), the ``executed`` notebooks, what was ``asked`` for, this package, what it gives to
    browsers, and what else is installed. Numbers and the ledger come from the book that the command is typed in. The
    folder counts, since Sphinx's own notes do not move to another."""
    books = dict.fromkeys((root, project_root() or root))
    return identity.of(
        *(root / name for name in ("_config.yml", "_toc.yml")),
        *executed,
        *(identity.of_folder(book / "book") for book in books),
        *(identity.package(), identity.of_folder(STATIC), identity.installed()),
        *(str(root.absolute()), repr(asked)),
    )


def is_there(html: Path, made_of: str) -> bool:
    """Whether ``html`` holds the pages that were rendered from this, as they were."""
    return html.is_dir() and kept_text.load(_note(html)) == _line(html, made_of)


def note(html: Path, made_of: str) -> None:
    """Remembers that the pages of ``html`` were rendered from this."""
    kept_text.keep(_note(html), _line(html, made_of))


def _note(html: Path) -> Path:
    return html.with_name("html.made_of")


def _line(html: Path, made_of: str) -> str:
    return f"{made_of} {identity.of_folder(html)}\n"
