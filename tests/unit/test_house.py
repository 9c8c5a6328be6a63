"""The plan of the package: rooms, one direction, doors, no circle."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import xling_utils
from xling_utils.core import doors

PACKAGE = Path(xling_utils.__file__).parent
ROOMS = ("core", "corpora", "models", "runs", "measures", "chapters", "claims", "book", "cli")
"""Each imports those before it. The charts stand beside: they know of the core alone, whoever draws knows of them."""
BESIDE, DRAW = "charts", ("chapters", "claims", "book", "cli")
FILES = sorted(PACKAGE.rglob("*.py"))
NOTEBOOKS = sorted((PACKAGE.parent / "notebooks").glob("*.py"))
LONGEST = 300


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """What a file imports of this package, wherever in it: (module, name)."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.startswith("xling_utils"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("xling_utils"):
            yield from ((str(node.module), alias.name) for alias in node.names)


def room(module: str, name: str = "") -> str:
    return f"{module}.{name}".split(".")[1]


def test_there_is_nothing_beside_the_rooms() -> None:
    there = {path.name for path in PACKAGE.iterdir()} - {"__pycache__"}
    assert there == {*ROOMS, BESIDE, "__init__.py"}


def test_git_takes_every_file_of_the_package() -> None:
    done = subprocess.run(
        ["git", "check-ignore", *FILES], cwd=PACKAGE.parent, capture_output=True, text=True, check=False
    )
    if done.returncode == 128:
        pytest.skip("no checkout of git")
    assert done.stdout == ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_those_before_it_by_their_doors(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0]
    if own == "__init__.py":
        assert not list(imports(path))
        return
    before = ("core",) if own == BESIDE else (*ROOMS[: ROOMS.index(own)], *((BESIDE,) if own in DRAW else ()))
    for module, name in imports(path):
        other = room(module, name)
        if other == own:
            continue
        assert other in before, f"{own} imports {module}.{name}"
        if other != "core" and module != "xling_utils":
            through = [*module.split("."), name][2]
            offered = doors.imports(PACKAGE / other / "__init__.py")
            assert through in offered, f"{module}.{name} does not stand at the door of {other}"


def test_every_door_says_what_its_room_is_for() -> None:
    for name in (*ROOMS, BESIDE):
        door = ast.parse((PACKAGE / name / "__init__.py").read_text(encoding="utf-8"))
        assert len((ast.get_docstring(door) or "").splitlines()) <= 8 and ast.get_docstring(door), name


def test_what_stands_at_a_door_is_there_and_has_a_docstring() -> None:
    for path in (path for path in FILES if "late(__file__)" in path.read_text(encoding="utf-8")):
        package = import_module(".".join(path.parent.relative_to(PACKAGE.parent).parts))
        for offered in doors.imports(path):
            found = getattr(package, offered)
            assert not callable(found) or found.__doc__, f"{package.__name__}.{offered}"


def test_no_file_imports_itself_through_others() -> None:
    graph: dict[Path, set[Path]] = {path: set() for path in FILES}
    for path in FILES:
        if "late(__file__)" in path.read_text(encoding="utf-8"):
            continue  # a door imports nothing until it is asked for a name
        for module, name in imports(path):
            found = doors.place(f"{module}.{name}") or doors.place(module)
            assert found, f"{path}: {module}.{name}"
            graph[path].add(found)
    tuple(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_fits_on_some_pages(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_talks_to_its_chapter(path: Path) -> None:
    for module, name in imports(path):
        assert module == "xling_utils.chapters" or (module, name) in {
            ("xling_utils", BESIDE),
            ("xling_utils", "claims"),
        }
