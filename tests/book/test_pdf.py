"""The book on paper."""

from __future__ import annotations

from pathlib import Path

from pypdf import PdfReader

from tests.book import pdf
from tests.book.browser import Browser
from tests.book.sample import HERE
from xling_utils.book.rendering import pages


def test_the_pages_become_one_file_with_bookmarks(sample_html: Path, browser: Browser, tmp_path: Path) -> None:
    sheets = pdf.write(sample_html, pages(HERE / "sample"), tmp_path / "book.pdf", browser)
    printed = PdfReader(tmp_path / "book.pdf")
    assert len(printed.pages) == sheets > 1
    assert len(printed.outline) == len(pages(HERE / "sample"))
    text = "".join(page.extract_text() for page in printed.pages)
    assert "Show the code" not in text
    assert "Figure" in text, "a figure's caption is printed"
