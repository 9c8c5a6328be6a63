"""What the book says of its own runs, as pieces of plain text that a page of other runs must not hold."""

from __future__ import annotations

import html
import re
from pathlib import Path

import jupytext

from tests.given import ROOT
from xling_utils.book import own_run

SHORTEST = 30
"""Characters of a piece: shorter ones are words that anyone may use."""
MARKS = re.compile(r"<!--.*?-->|\{[a-z:]+\}`[^`]*`|[*`#]+|\[|\]\([^)]*\)|\d[\d.,\u00a0]*")
"""What a page shows otherwise than it is written, or fills in."""


def of(chapter: str) -> list[str]:
    """Those of a chapter's notebook: cells that speak of the record, titles that state a finding, and the first
    paragraphs of captions."""
    cells = jupytext.read(ROOT / "notebooks" / f"{chapter}.py").cells
    said = [cell.source for cell in cells if own_run.OF_THE_RECORD in cell.metadata.get("tags", ())]
    said += [cell.source.splitlines()[0] for cell in cells if own_run.ASKED in cell.metadata]
    said += [
        cell.metadata["mystnb"]["figure"]["caption"].split("\n\n")[0]
        for cell in cells
        if "figure" in cell.metadata.get("mystnb", {})
    ]
    pieces = [" ".join(piece.split()) for text in said if "chapter." not in text for piece in MARKS.split(text)]
    return [piece for piece in pieces if len(piece) >= SHORTEST]


def plain(page: Path) -> str:
    """The words of a rendered page."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8"))).split())
