"""What depends on a module: that module, and all of the package that it imports, itself or through others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from xling_utils.core import doors, identity

BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
"""Where a statement holds others."""


@cache
def digest(*modules: str) -> str:
    """The hash of all sources that what ``modules`` make depends on."""
    return identity.of(*sorted(frozenset().union(*map(of, modules))))


def of(module: str) -> frozenset[Path]:
    """The files of ``module`` and of everything of this package that it imports, wherever in a file the import stands.
    A name that comes through a door counts as the module behind it; what a door has beside it does not count."""
    found: set[Path] = set()
    waiting = [module]
    while waiting:
        path = _path(waiting.pop())
        if path not in found:
            found.add(path)
            waiting += _imported(path)
    return frozenset(found)


@cache
def _imported(path: Path) -> tuple[str, ...]:
    package = identity.PACKAGE.name
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = set()
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names if alias.name.partition(".")[0] == package}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == package:
            for alias in node.names:
                module = _behind(str(node.module), alias.name)
                if module == f"{node.module}.{alias.name}" and _is_door(module):
                    modules |= {_behind(module, name) for name in _used(tree, alias.asname or alias.name)}
                else:
                    modules.add(module)
    return tuple(sorted(modules))


def _statements(block: ast.AST) -> Iterator[ast.AST]:
    """All in ``block``, and in blocks within it: a tenth of the nodes, and imports are none of the others."""
    for name in BLOCKS:
        for node in getattr(block, name, ()):
            yield node
            yield from _statements(node)


def _used(tree: ast.AST, room: str) -> set[str]:
    """The names of a ``room`` that stand behind a dot."""
    dotted = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in dotted if isinstance(node.value, ast.Name) and node.value.id == room}


def _behind(module: str, name: str) -> str:
    """The module that ``name`` of ``module`` is, or stands in."""
    if doors.place(f"{module}.{name}", identity.PACKAGE.parent):
        return f"{module}.{name}"
    through = doors.imports(_path(module)).get(name) if _is_door(module) else None
    return _behind(through, name) if through else module


def _is_door(module: str) -> bool:
    return _path(module).name == "__init__.py"


def _path(module: str) -> Path:
    found = doors.place(module, identity.PACKAGE.parent)
    assert found, module
    return found
