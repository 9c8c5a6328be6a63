"""A page of a run that is not the book's own: it asks and describes, and states no finding of the book's.

What the book found holds for its records. A chapter that was executed with another scale, other languages or a model of
one's own is shown without the cells that speak of the records, with a question for a title, captions that say what is
drawn, and a box that says what was run.
"""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Mapping
from typing import Any

OF_THE_RECORD = "of-the-record"
"""Tag of cells that speak of what the book's own encoders showed."""
ASKED = "asked"
"""Metadata of a cell whose heading states a finding: the question that stands for it."""
OPTIONS = ("scale", "seeds", "data", "engine", "scheduler", "jobs")
"""Parameters that the command line has options for."""
ANSWER = re.compile(r"\*\*The answer\.\*\*.*?(\n\n|\Z)", re.DOTALL)
HEADING = re.compile(r"^(#+) .*$", re.MULTILINE)


def described(notebook: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Makes ``notebook``, executed with parameters ``given`` that differ from the book's, a page of its own."""
    cells = [cell for cell in notebook["cells"] if OF_THE_RECORD not in cell["metadata"].get("tags", ())]
    for cell in cells:
        if cell["cell_type"] == "markdown":
            text = ANSWER.sub("", "".join(cell["source"]))
            if asked := cell["metadata"].get(ASKED):
                text = HEADING.sub(lambda found, asked=asked: f"{found[1]} {asked}", text, count=1)  # type: ignore[misc]
            cell["source"] = text
        elif figure := cell["metadata"].get("mystnb", {}).get("figure"):
            figure["caption"] = description(figure["caption"])
    box = {"cell_type": "markdown", "id": "own-run", "metadata": {}, "source": _box(given)}
    notebook["cells"] = [*cells[:1], box, *cells[1:]]


def description(caption: str) -> str:
    """A caption without its first part, which states a finding, and without a third, which speaks of the records."""
    return "".join(caption.split("\n\n")[1:2])


def command(chapter: str, given: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """The command that makes the page again, but for where the data lie."""
    words = [f"xling run {chapter}"]
    for name, value in given.items():
        if value != defaults.get(name):
            shown = f"[{', '.join(value)}]" if isinstance(value, list) else "DIR" if name == "data" else str(value)
            words.append(f"--{name}" if name in OPTIONS else f"-p {name}")
            words.append(shlex.quote(shown))
    return " ".join(words)


def code(text: str) -> str:
    """``text`` as code in Markdown, whatever backticks it has."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}" if longest else f"`{text}`"


def _box(given: Mapping[str, Any]) -> str:
    what = "; ".join(
        f"{name} <code>{html.escape(', '.join(value) if isinstance(value, list) else str(value))}</code>"
        for name, value in given.items()
    )
    return (
        '<div class="admonition note own-run"><p class="admonition-title">A run of your own</p><p>This page was made '
        f"with {what}. What the book found, it found on its own runs: here titles ask and captions describe.</p></div>"
    )
