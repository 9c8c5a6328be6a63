"""The door of a room: its names, imported when they are asked for.

What a room's ``__init__`` imports under ``TYPE_CHECKING`` is what others may use of it. Type checkers and editors read
these imports as they stand; at run time :func:`late` makes them one by one, since some of what lies behind a door takes
seconds to import.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def late(init: str) -> tuple[Callable[[str], Any], list[str]]:
    """The ``__getattr__`` and ``__all__`` of the room whose file is ``init``."""
    places = imports(Path(init))
    room = ".".join(Path(init).parent.relative_to(ROOT).parts)

    def of_room(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        whole = f"{places[name]}.{name}"
        return import_module(whole) if place(whole) else getattr(import_module(places[name]), name)

    return of_room, sorted(places)


def imports(path: Path) -> dict[str, str]:
    """What a door imports, under its own name: name -> the module that it is from."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {
        alias.asname or alias.name: str(node.module)
        for node in found
        for alias in node.names
        if node.module not in (__name__, "typing", "__future__")
    }


def place(module: str, root: Path = ROOT) -> Path | None:
    """The file of a module of this package, that of a room being its door; none where there is no such module."""
    folder = root.joinpath(*module.split("."))
    return next((path for path in (folder / "__init__.py", folder.with_suffix(".py")) if path.is_file()), None)
