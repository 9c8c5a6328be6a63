"""Numbers in running text: what is typed is what the records give, and what is not marked was not measured here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from xling_utils.book import numbers
from xling_utils.claims import ledger
from xling_utils.core.errors import UserError

ROOT = Path(__file__).parents[2]
ELSEWHERE = {
    "controlled_world.md": "what the world is and what simple rules achieve: test_controlled",
    "data.md": "what stands in a directory that is not part of the book: test_real_data, test_leakage",
    "negative_results.md": "a dated log: numbers as they were on that day",
    "plan.md": "the development seeds that it was made from, as they were on that day",
    "sizes.md": "development seeds, as they were on the day of the choice",
}
"""Pages that state facts of other kinds, and the tests that hold them to it."""
EVERY_PAGE = [*sorted((ROOT / "book").rglob("*.md")), *sorted((ROOT / "notebooks").glob("*.py"))]
PAGES = [page for page in EVERY_PAGE if page.name not in ELSEWHERE]
COUNTS = "two|three|four|five|six|seven|eight|nine|ten"
MEASURED = re.compile(
    r"(?<![\w.,/])[−-]?\d*\.\d+(?![\w/])|\b\d+(?:\.\d+)?[\s\N{NO-BREAK SPACE}]?%|\b(?:twice|double[sd]?)\b"
    rf"|\b(?:half|thirds?|quarters?|fifths?|tenths?)\b|\b(?:{COUNTS})[- ](?:times|in (?:{COUNTS}))\b"
)
"""What could be a result: a decimal number, a share, a ratio, in figures or in words."""
OF_A_PAPER = re.compile(r"\{cite|paper|K et al\.|Liu et al\.|Conneau, Wu|Dufter|\b[A-E],? \(?(?:table|sec\.|eq\.)")
"""In a sentence that says so, a number is a paper's."""
SETTINGS = """
rate .02
rate .006
agree to 0.0001 in single precision
and of ten steps to 0.005 in bfloat16
weight decay | .2
a tenth of the steps
at a rate of .003, weight decay .01
15 % of the places
half of their 95 % interval
95 % interval
bottom third
bottom two thirds
two of three blocks
a quarter, half or all of the pairs
a quarter of the pairs of words
a quarter of all pairs
more than a tenth of inference is kept
cost more than a tenth of the words
a reversed order leaves less than a tenth
a quarter of the pairs swapped
has a quarter of the rates
reads twice as much of its language
it takes twice as many
half a sentence
tenth of the text
tenth of the training
first half
upper half
one half of
on one half
same half
the other half
are halves
three quarters of everything else
wo thirds up
a third of the base
half an hour
third language
four times as many
four times as long
half the learning rate
twelve times as
twice as wide
ten times the other
three times over
three times the difference
English twice
at the small size comes twice
its own double
its double
whose double
own double
the double
five times as much
less than 0.01 %
that is .024, for it is .0075
Apache 2.0
place of the English one at the third
half their number
are given twice
.975 quantile
4.30 for three seeds, 2.78 for five, 2.09 for twenty
2.13 for twenty seeds
the masking rate of .15
80 % are replaced
10 % by a random token
10 % stay as they are
98 to 100 % of the pairs
no half of one
recorded twice
trained twice
no half file
which of two times is later
interval is Student's, at 95 %
with 95 % confidence
95 % prediction interval
at least five times
five times or more
Python 3.11
""".strip().split("\n")
"""What looks like a result and is how something was set up, or a name."""


ENTRY = """
a number:
  chapter: 01_data_size
  scale: controlled
  of: {a: {model: BERT, sentences: most, metric: mrr}}
  quantity: a
  form: share
"""


def _prose(page: Path) -> Iterator[str]:
    """The text of a page, cell by cell: without code, comments and what is marked."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".py":
        cells = re.split(r"^# %%", text, flags=re.MULTILINE)[1:]
        found = [
            re.sub(r"^# ?", "", c.partition("\n")[2], flags=re.MULTILINE) for c in cells if c.startswith(" [markdown]")
        ]
        found += [m.replace("\\n", "\n") for m in re.findall(r'"caption": "((?:[^"\\]|\\.)*)"', text)]
    else:
        found = [re.sub(r"^```.*?^```|^<(?:svg|div|g|path|rect|desc).*?$", "", text, flags=re.MULTILINE | re.DOTALL)]
    for each in found:
        yield re.sub(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)", "", numbers.MARK.sub("", each))


def _unmarked(page: Path) -> list[str]:
    found = []
    for text in _prose(page):
        for sentence in re.split(r"(?<=[.?!:;])\s+(?=[A-Z*(])|\n\s*[-*|] |\n\n", text):
            plain = " ".join(sentence.split())
            if OF_A_PAPER.search(plain):
                continue
            for setting in SETTINGS:
                plain = plain.replace(" ".join(setting.split()), "")
            found += [f"{page.name}: {match[0]!r} in {plain!r:.160}" for match in MEASURED.finditer(plain)]
    return found


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: page.stem)
def test_what_is_typed_is_what_the_records_give(page: Path) -> None:
    known = numbers.values()
    typed = [(mark["name"], mark["typed"]) for mark in numbers.MARK.finditer(page.read_text(encoding="utf-8"))]
    assert [(name, text, known.get(name)) for name, text in typed if known.get(name) != text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_result_is_without_its_mark(page: Path) -> None:
    assert _unmarked(page) == []


def test_every_number_that_is_defined_stands_in_a_text() -> None:
    used = {mark["name"] for page in EVERY_PAGE for mark in numbers.MARK.finditer(page.read_text(encoding="utf-8"))}
    ends = {
        f"{name} {end}".strip(): name
        for name in numbers._read(ROOT / "book/numbers.yml")
        for end in ("", *numbers.ENDS)
    }
    assert {ends[name] for name in used if name in ends} == set(ends.values())


def test_results_without_a_mark_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "It finds .58 of them, twice as many, half of all, 12 %, at ten times chance. Liu et al. saw .60.\n"
    )
    assert [line.split("'")[1] for line in _unmarked(page)] == [".58", "twice", "half", "12 %", "ten times"]


def test_text_is_filled_whatever_was_typed() -> None:
    known = {"share": ".06", "percent": "\N{MINUS SIGN}9\N{NO-BREAK SPACE}%"}
    text = "costs .50<!-- value: share --> (7\N{NO-BREAK SPACE}%<!-- value: percent -->), .50 elsewhere"
    assert numbers.filled(text, known) == "costs .06 (\N{MINUS SIGN}9\N{NO-BREAK SPACE}%), .50 elsewhere"
    with pytest.raises(UserError, match="nothing gives the value 'another' of a page; nearest that are given: '"):
        numbers.filled(".5<!-- value: another -->", known)
    with pytest.raises(UserError, match="no number before the mark <!-- value: share -->"):
        numbers.filled("nothing <!-- value: share -->", known)


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [("share", -0.123, "\N{MINUS SIGN}.12"), ("share", 1.5, "1.50"), ("share", -0.001, ".00"), ("times", 9.66, "9.7"),
     ("percent", -0.001, "0\N{NO-BREAK SPACE}%"), ("tenths of a percent", 0.0434, "4.3\N{NO-BREAK SPACE}%")],
)  # fmt: skip
def test_forms(form: str, value: float, text: str) -> None:
    assert numbers.FORMS[form](value) == text


def test_a_number_of_both_scales_is_two(tmp_path: Path) -> None:
    path = tmp_path / "numbers.yml"
    path.write_text(ENTRY.replace("controlled", "both"))
    found = numbers._read(path)
    assert {name: number.scale for name, number in found.items()} == {
        "a number": "controlled",
        "a number on real text": "natural",
    }
    path.write_text(path.read_text() + ENTRY.replace("a number", "a number on real text"))
    with pytest.raises(UserError, match="a number on real text: given twice"):
        numbers._read(path)


@pytest.mark.parametrize(
    ("change", "line"),
    [(("form: share", "form: hunch"), "a number: unknown form 'hunch'; known: share"),
     (("01_data_size", "09_other"), "a number: unknown chapter '09_other'; known: 01_data_size"),
     (("quantity: a", "quantity: b"), "a number: no selection is named 'b'"),
     (("model: BERT", "model: Bert"), "a number: not recorded at scale controlled"),
     (("scale:", "skala:"), "a number: .*skala")],
)  # fmt: skip
def test_a_mistake_among_the_numbers_is_named(
    change: tuple[str, str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("book/claims.yml", "book/records"):
        (tmp_path / "book").mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "book/numbers.yml").write_text(ENTRY.replace(*change))
    monkeypatch.setattr(ledger, "root", lambda: tmp_path)
    with pytest.raises(UserError, match=rf"numbers\.yml: {line}"):
        numbers.values()
