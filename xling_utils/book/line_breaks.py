"""Where the end of a line may be. Names of a program are broken behind a dot, a stroke or an underscore, and not within
a word; a short one, such as an option, is not broken at all, nor from its value. Nor are numbers of claims, dates,
percentages, a word and its number ("layer 1"), and a formula and its comma."""

from __future__ import annotations

import html
import re

TOGETHER = r'<span class="whole">\g<0></span>'
SHORT = 20
"""Letters that any line has room for."""
WORD = re.compile(r'<span class="pre">([^<]+)</span>')
"""What Sphinx writes of a word of code, or of a signature."""
PARENTHESIS = '<span class="sig-paren">(</span>'
BEHIND = re.compile(r"(?<=[_/=,:(])|(?<=\.)(?!(?:csv|css|html|js|json|md|py|toml|txt|xz|yaml|yml)\b)")
"""Not before what a file's name ends with."""
OPTION = re.compile(
    r'<span class="pre">(?:-p</span> <span class="pre">\w+</span> <span class="pre">[^<\']{,12}'
    r'|--?[a-z][\w-]*</span> <span class="pre">[^-<][^<]{,19})</span>'
)
"""One and its value, of a parameter its name and its value."""
SHELL = re.compile(r'<div class="highlight-sh\b.*?</pre>', re.DOTALL)
COMMAND = re.compile(r'(<code class="docutils literal notranslate)(">(?:<span class="pre">[^<]*</span> ?)+</code>)')
FORMULA = re.compile(r'<span class="math notranslate nohighlight">[^<]*</span>[,.;:)]+')
MARKUP = re.compile(r"<(script|style|pre|title|textarea|option|svg)\b.*?</\1>|<[^>]*>", re.DOTALL)
"""What is no running text."""
WHOLE = re.compile(
    r"\b[A-EKM]-\d\d\b|\b\d{4}-\d\d-\d\d\b|[\d.]+ %|\bet al\b\.?"
    r"|\b(?:(?:fig|sec)s?\.|(?:chapter|figure|layer|point|section|seed|table|weight)s?) \d[\d.]*\b",
    re.IGNORECASE,
)


def allowed(page: str) -> str:
    """A ``page`` of HTML with these places in it."""
    page = OPTION.sub(TOGETHER, COMMAND.sub(_short_command, page))
    page = SHELL.sub(lambda block: re.sub(r"(?<=>)--?[a-z][\w-]*", TOGETHER, block[0]), page)
    page = WORD.sub(_word, page).replace(PARENTHESIS, f"{PARENTHESIS}<wbr>")
    page = FORMULA.sub(TOGETHER, page)
    kept, at = [], 0
    for markup in MARKUP.finditer(page):
        kept += [WHOLE.sub(TOGETHER, page[at : markup.start()]), markup[0]]
        at = markup.end()
    return "".join([*kept, page[at:]])


def _short_command(found: re.Match[str]) -> str:
    words = html.unescape(re.sub("<[^>]*>", "", found[2][2:]))
    return f"{found[1]}{' whole' if ' ' in words and len(words) <= SHORT else ''}{found[2]}"


def _word(found: re.Match[str]) -> str:
    word = html.unescape(found[1])
    if len(word) <= SHORT:
        return f'<span class="pre short">{found[1]}</span>'
    pieces = (html.escape(piece) for piece in BEHIND.split(word) if piece)
    return f'<span class="pre">{"<wbr>".join(pieces)}</span>'
