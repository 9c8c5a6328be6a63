"""The pages as files: HTML that needs no repair, identifiers that occur once, and not too heavy."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

import pytest
from justhtml import JustHTML

from tests.book.conftest import REPOSITORY
from xling_utils.book.rendering import pages

PAGES = (*pages(REPOSITORY), "search", "genindex")
HEAVIEST = 1_000_000
"""Bytes of a page with what it alone shows; scripts and styles in ``_static`` serve all pages."""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_valid_html(name: str, book: Path) -> None:
    page = (book / f"{name}.html").read_text(encoding="utf-8")
    assert [f"line {e.line}: {e.code}" for e in JustHTML(page, collect_errors=True).errors] == []
    twice = [found for found, count in Counter(re.findall(r'<[^>]+\bid="([^"]+)"', page)).items() if count > 1]
    assert twice == []


def test_what_is_not_valid_html_is_noticed() -> None:
    assert JustHTML("<!doctype html><title>t</title><p><b>one<p>two</div>", collect_errors=True).errors


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_not_too_heavy(name: str, book: Path) -> None:
    page = book / f"{name}.html"
    own = re.findall(r'<(?:img|script|source)\b[^>]*\bsrc="([^"#?:]+)', page.read_text(encoding="utf-8"))
    own = [page.parent / address for address in own if "_static" not in address]
    assert page.stat().st_size + sum(file.stat().st_size for file in own) < HEAVIEST


def test_the_rows_that_pages_offer_are_the_recorded_ones(book: Path) -> None:
    offered = {path.name: path for path in book.glob("_downloads/*/*.zip")}
    recorded = {path.name: path for path in (REPOSITORY / "book/records").glob("0?_*.controlled.csv")}
    assert len(recorded) == 9 and {f"{name}.zip" for name in recorded} <= set(offered)
    for name, path in recorded.items():
        with ZipFile(offered[f"{name}.zip"]) as archive:
            assert archive.namelist() == [name] and archive.read(name) == path.read_bytes()
    assert not list(book.glob("_downloads/*/*.csv"))
