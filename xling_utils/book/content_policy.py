"""A content security policy for every page of the book: only its own scripts run, nothing comes from elsewhere.

The policy stands in the page itself, for a book opened from disk has no server that could send it. Inline scripts are
allowed one by one, by the hash of what they say, and only those that the theme writes: they stand in the head, or on
pages that no text of the book is part of. A script in the body of any other page came with its content, and no browser
runs it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from html.parser import HTMLParser

FIXED = (
    "default-src 'none'",
    # 'self' means nothing to a page that is opened from disk, so files are named, too; a page on a server has none.
    "img-src 'self' file: data: blob:",
    "font-src 'self' file: data:",
    "connect-src 'self' file:",
    "form-action 'self' file:",
    # MathJax, the icons of the theme and the charts write their styles while they draw.
    "style-src 'self' file: 'unsafe-inline'",
    "base-uri 'none'",
)
THEMES_OWN = ("search.html", "genindex.html")
"""Pages without any text of the book."""
PRINT = "window.print()"
"""The one action written into an element: the theme's button that prints."""
CHARSET = re.compile(r'<meta charset="utf-8" ?/?>', re.IGNORECASE)
DATA = "json"
"""What the kinds of script elements end in that hold data."""


def protected(page: str, name: str) -> str:
    """A ``page`` of HTML, called ``name`` within the book, with its policy behind the declaration of its characters;
    one without that only sends the reader on."""
    if not (declared := CHARSET.search(page)):
        return page
    policy = policy_for(_inline_scripts(page, whole=name in THEMES_OWN))
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}" />'
    return f"{page[: declared.end()]}\n    {meta}{page[declared.end() :]}"


def policy_for(scripts: Iterable[str]) -> str:
    """The policy of a page that runs the inline ``scripts`` and files of the book."""
    hashes = " ".join(sorted({digest(script) for script in scripts}))
    return "; ".join((*FIXED, f"script-src 'self' file: 'unsafe-hashes' {digest(PRINT)} {hashes}".strip()))


def digest(script: str) -> str:
    """How a policy names an inline script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _inline_scripts(text: str, whole: bool) -> list[str]:
    reader = _Scripts(whole)
    reader.feed(text)
    return reader.found


class _Scripts(HTMLParser):
    """Collects the inline scripts of the head, or of the ``whole`` page."""

    def __init__(self, whole: bool) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[str] = []
        self._looking = True
        self._whole = whole
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        kind = given.get("type") or ""
        self._inside = tag == "script" and "src" not in given and not kind.endswith(DATA)

    def handle_endtag(self, tag: str) -> None:
        self._inside = False
        if tag == "head":
            self._looking = self._whole

    def handle_data(self, data: str) -> None:
        if self._inside and self._looking:
            self.found.append(data)
