"""Where the end of a line may be. Names of a program are broken behind a dot, a stroke or an underscore, and not within
a word; a short one, such as an option, is not broken at all. Nor are numbers of claims, dates, and percentages."""

from __future__ import annotations

import html
import re

SHORT = 20
"""Letters that any line has room for."""
WORD = re.compile(r'<span class="pre">([^<]+)</span>')
"""What Sphinx writes of a word of code, or of a signature."""
PARENTHESIS = '<span class="sig-paren">(</span>'
BEHIND = re.compile(r"(?<=[._/=,:(])")
MARKUP = re.compile(r"<(script|style|pre|title|textarea|option|svg)\b.*?</\1>|<[^>]*>", re.DOTALL)
"""What is no running text."""
WHOLE = re.compile(r"\b[A-EKM]-\d\d\b|\b\d{4}-\d\d-\d\d\b|[\d.]+ %")


def allowed(page: str) -> str:
    """A ``page`` of HTML with these places in it."""
    page = WORD.sub(_word, page).replace(PARENTHESIS, f"{PARENTHESIS}<wbr>")
    kept, at = [], 0
    for markup in MARKUP.finditer(page):
        kept += [WHOLE.sub(r'<span class="whole">\g<0></span>', page[at : markup.start()]), markup[0]]
        at = markup.end()
    return "".join([*kept, page[at:]])


def _word(found: re.Match[str]) -> str:
    word = html.unescape(found[1])
    if len(word) <= SHORT:
        return f'<span class="pre short">{found[1]}</span>'
    pieces = (html.escape(piece) for piece in BEHIND.split(word) if piece)
    return f'<span class="pre">{"<wbr>".join(pieces)}</span>'
