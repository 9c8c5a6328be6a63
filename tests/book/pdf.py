"""The built book as one PDF, printed by the browser that the tests use: `make pdf`."""

from __future__ import annotations

import base64
import io
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pypdf import PdfWriter

from tests.book.browser import Browser
from xling_utils.book.rendering import pages

WIDTH = 720
"""Pixels of a page's text on paper, so that charts are drawn as wide as they are printed."""
PAPER = {"paperWidth": 8.27, "paperHeight": 11.69, "marginTop": 0.7, "marginBottom": 0.7, "scale": 0.92}
FOOT = (
    '<div style="width:100%; font:8px sans-serif; text-align:center; color:#555">'
    '<span class="title"></span> · <span class="pageNumber"></span></div>'
)


def write(html: Path, names: Sequence[str], out: Path, browser: Browser) -> int:
    """Prints the pages ``names`` of the book at ``html`` to ``out``, each with a bookmark; returns how many sheets."""
    writer = PdfWriter()
    for name in names:
        browser.open(html / f"{name}.html", WIDTH)
        title = browser.run("return document.querySelector('h1').innerText.replace(/#$/, '').trim()")
        options = {**PAPER, "printBackground": True, "displayHeaderFooter": True}
        printed = browser.driver.execute_cdp_cmd(
            "Page.printToPDF", {**options, "headerTemplate": "<span></span>", "footerTemplate": FOOT}
        )
        writer.append(io.BytesIO(base64.b64decode(printed["data"])), outline_item=title)
    writer.compress_identical_objects()
    writer.write(out)
    return len(writer.pages)


def main() -> None:
    """Prints the book of the working directory to ``_build/book.pdf``."""
    html, out = Path("_build/html").absolute(), Path("_build/book.pdf")
    if not (html / "index.html").is_file():
        sys.exit(f"{html} holds no book: run `make book`")
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(Path(profile))
        try:
            sheets = write(html, pages(Path.cwd()), out, browser)
        finally:
            browser.close()
    print(f"{out}: {sheets} pages, {out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
