"""The page of promises names tests that exist, and leaves out none of those that take long."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book/reliability.md").read_text(encoding="utf-8")
BENCHMARKS = "test_benchmarks.py"
"""Some are too long for `make test`, and promise nothing."""
NAMED = set(re.findall(r"`(test_\w+)`", PAGE))


def functions() -> Iterator[tuple[str, bool]]:
    """The name of every test, and whether it or a form of it is a long one of faults."""
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                marks = " ".join(map(ast.unparse, node.decorator_list))
                yield node.name, path.name == "test_soak.py" or ("mark.soak" in marks and path.name != BENCHMARKS)


def test_every_test_on_the_page_exists() -> None:
    assert len(NAMED) >= 30
    assert NAMED - {name for name, _ in functions()} == set()


def test_every_long_test_is_on_the_page() -> None:
    long = {name for name, is_long in functions() if is_long}
    assert len(long) >= 8 and long - NAMED == set()
