"""Every fenced block of the README and the book, and every command that their sentences quote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jupytext

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "book").rglob("*.md")))
OWN_TESTS = {"book/cluster.md": "tests/integration/test_cluster_page.py"}
"""Pages whose blocks have a test of their own, which is there if they are."""
NOTEBOOKS = tuple(sorted((ROOT / "notebooks").glob("*.py")))
FENCE = re.compile(r"^(?P<fence>`{3,}|:{3,})(?P<kind>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ ]*$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"(?<!`)`(?:\.venv/bin/)?(xling [a-z][^`]*)`", re.DOTALL)
UNTESTED = re.compile(r"^# not run by the tests: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: the ``page`` and ``line`` where it begins, its ``kind`` (``sh``, ``text``, ...), its text."""

    page: str
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def untested(self) -> str | None:
        """Why it says of itself, for its readers to see, that no test runs it."""
        found = UNTESTED.search(self.text)
        return found[1] if found else None

    @property
    def commands(self) -> tuple[str, ...]:
        """Its lines without comments, and those that go on joined."""
        lines = re.sub(r"\\\n\s*", "", self.text).splitlines()
        return tuple(command for line in lines if (command := re.sub(r"(^|\s)#.*", "", line).strip()))


def texts() -> dict[str, str]:
    """Markdown by page; of a notebook that of its cells."""
    found = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
    for path in NOTEBOOKS:
        cells = [cell.source for cell in jupytext.read(path).cells if cell.cell_type == "markdown"]
        found[path.relative_to(ROOT).as_posix()] = "\n\n".join(cells) + "\n"
    return found


def blocks() -> list[Block]:
    """All fenced blocks that are no directive of the renderer, but for its code blocks and those that stand in what a
    reader unfolds, in the order of the pages."""
    return [block for page, text in texts().items() for block in _within(page, text, 1)]


def _within(page: str, text: str, first: int) -> Iterator[Block]:
    for match in FENCE.finditer(text):
        line, kind = first + text.count("\n", 0, match.start()), match["kind"].strip()
        if kind.startswith("{dropdown}"):
            yield from _within(page, match["body"], line + 1)
        elif not re.match(r"\{(?!code)", kind):
            yield Block(page, line, kind, match["body"])


def quoted() -> list[tuple[str, str]]:
    """(page, command) of every ``xling`` command that stands in a sentence or in a table."""
    return [
        (page, " ".join(match[1].split()))
        for page, text in texts().items()
        for match in QUOTED.finditer(FENCE.sub("", text))
    ]


def stands_in(page: str, command: str) -> bool:
    """Whether ``command`` is a line of a block of ``page``."""
    return any(block.page == page and command in block.commands for block in blocks())
