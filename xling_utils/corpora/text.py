"""The one place that decides about case, Unicode and languages without spaces.

Running text and dictionary entries pass through the same function, so a dictionary word stands in the text
as the same sequence of units, and a unit is whatever lies between two spaces.

The rules depend on the script and never on the language, so a Thai name in an English sentence is cut as it
is in Thai:

- **Canonical composition (NFC), not NFKC.** NFC only unifies spellings that Unicode calls the same text: the
  Vietnamese letter typed as one code point or three, the Hindi nukta, the order of Arabic vowel signs. NFKC
  would go on and rewrite full-width Chinese punctuation into the ASCII marks of the European languages,
  which makes Chinese share tokens with English that it does not share (and shared tokens are what the book
  measures), and it would split Thai sara am, which the multilingual BERT vocabulary spells composed. That
  vocabulary was collected from un-normalised Wikipedia, whose software stores NFC.
- **White space** of every kind becomes one space; **control and format characters** (byte order mark, soft
  hyphen, zero-width joiners, directional marks, private use) and U+FFFD are dropped, as BERT drops them.
- **Lower case** (the default: MUSE dictionaries are lower case) is the same for all languages. Both Turkish
  capital letters I become the dotted i, as they do in MUSE; a capital I in Turkish text is mostly part of a
  foreign name or an abbreviation. The vocabulary of multilingual BERT is **cased**.
- **Punctuation**, ASCII symbols and **Han** characters are units of their own, as in BERT.
- **Thai** is cut into character clusters, see :data:`THAI_CLUSTER`.

Because brackets are units, text that spells a special token (``[SEP]``) arrives as ``[ sep ]`` and cannot
become one. It has to happen here: the setting of ``tokenizers`` for it is lost when a tokenizer is saved.

A model trained elsewhere brings a tokenizer of its own and gets **raw** lines, as they are written: for Thai, which
BERT does not split, it would see other pieces here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache

from xling_utils.core.specs import Form

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ceaf\U0002f800-\U0002fa1f"
"""The CJK ideographs that BERT separates, as a regular expression class."""

THAI_CLUSTER = "[เ-ไ]?[ก-ฮ][\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]*[\u0e30\u0e32\u0e33\u0e45]*"
"""One Thai consonant with what cannot stand without it: a vowel written before it, signs and tone marks above
and below it, vowels written after it. Neither kind of vowel can end or begin a neighbour's cluster, so the
clusters of a word are the same inside a sentence. A simplification of the character clusters of Theeramunkong
et al. (2000): a final consonant is a cluster of its own."""


LONG = 1_000
"""Characters of a line."""
NOT_WRITTEN = "\ufffd\U000e0000-\U0010ffff"
"""What stands for a damaged character, and tags, variation selectors and the private planes: format characters all of
them."""
PLANES = 0x20000
"""Code points of the planes that hold writing."""


def normalise(line: str, *, form: Form = "lower") -> str:
    """The line as units separated by single spaces; the empty string when nothing is left of it.

    Applying it twice changes nothing. Running text and dictionary entries must both pass through it, with
    the same ``form``. A raw line only loses white space: at its ends, and where there is more than one.
    """
    if form == "raw":
        return " ".join(line.split())
    if not line.isprintable() or _not_written.search(line):
        line = _dropped().sub("", line)
    if not line.isascii():
        if len(line) > LONG:  # sorting the marks of one letter takes time by the square of their number
            line = _many_marks().sub(r"\1", line)
        line = unicodedata.normalize("NFC", line)
    if form == "lower":
        line = unicodedata.normalize("NFC", _dotted_i.sub("i", line.lower()))
    if line.isascii() or _without_spaces.search(line):
        line = " ".join((_ascii_unit if line.isascii() else _unit()).split(line))
    else:
        for mark in _marks().intersection(line):  # a third of the time that a pattern of so many takes
            line = line.replace(mark, f" {mark} ")
    return " ".join(line.split())


_ascii_unit = re.compile(r"([!-/:-@\[-`{-~])")
_not_written = re.compile(f"[{NOT_WRITTEN}]")
_without_spaces = re.compile(f"[\u0e00-\u0e7f{HAN}]")
_dotted_i = re.compile("i\u0307+")  # what Python makes of the Turkish capital with a dot


@cache
def _unit() -> re.Pattern[str]:
    return re.compile(f"([{_characters(_is_mark)}{HAN}]|{THAI_CLUSTER})")


@cache
def _marks() -> frozenset[str]:
    return frozenset(filter(_is_mark, map(chr, range(PLANES))))


def _is_mark(character: str) -> bool:
    return character in "$+<=>^`|~" or unicodedata.category(character).startswith("P")


@cache
def _many_marks() -> re.Pattern[str]:
    """More marks on one letter than any writing has; Unicode's stream-safe format draws the line there, too."""
    marks = _characters(lambda c: unicodedata.combining(c) > 0)
    return re.compile(f"([{marks}]{{30}})[{marks}]+")


@cache
def _dropped() -> re.Pattern[str]:
    drop = _characters(lambda c: unicodedata.category(c) in ("Cc", "Cf", "Co") and not c.isspace())
    return re.compile(f"[{drop}{NOT_WRITTEN}]")


def _characters(wanted: Callable[[str], bool]) -> str:
    """The inside of a character class of all wanted code points in the planes that hold writing."""
    ranges: list[list[int]] = []
    for code in range(PLANES):
        if wanted(chr(code)):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
