"""Where names of a program may be broken at the end of a line: behind a dot, a stroke or an underscore, and not within
a word. A short one, such as an option, is not broken at all."""

from __future__ import annotations

import html
import re

SHORT = 20
"""Letters that any line has room for."""
WORD = re.compile(r'<span class="pre">([^<]+)</span>')
"""What Sphinx writes of a word of code, or of a signature."""
PARENTHESIS = '<span class="sig-paren">(</span>'
BEHIND = re.compile(r"(?<=[._/=,:(])")


def allowed(page: str) -> str:
    """A ``page`` of HTML with these places in it."""
    return WORD.sub(_word, page).replace(PARENTHESIS, f"{PARENTHESIS}<wbr>")


def _word(found: re.Match[str]) -> str:
    word = html.unescape(found[1])
    if len(word) <= SHORT:
        return f'<span class="pre short">{found[1]}</span>'
    pieces = (html.escape(piece) for piece in BEHIND.split(word) if piece)
    return f'<span class="pre">{"<wbr>".join(pieces)}</span>'
