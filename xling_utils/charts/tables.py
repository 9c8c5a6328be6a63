"""Tables as the book prints them."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from IPython.display import HTML

from xling_utils.core.templates import rendered

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

SCALE_NAMES = {"natural": "real text"}
"""Scale -> its name in tables, where that is another."""
NOTHING = "–"
"""What stands for a value that is missing."""
RIGHT: Any = [{"selector": "", "props": "text-align: right"}]
HYPHEN = re.compile(r"(?<![\w.-])-(?=[.\d])")
"""One that says that the number behind it is negative."""
VALUE = re.compile(r"[-+]?[\d.]+%?( \(.*\))?")
"""A number, with its interval or without."""
ENDS = re.compile(r"\([^()\sa-z]+ to [^()\sa-z]+\)")
APOSTROPHE = re.compile(r"(?<=\w)'")
QUOTED = re.compile(r'"([^"]*)"')


def show(frame: pd.DataFrame | None, digits: int = 3) -> Styler | None:
    """The table without its index, numbers to ``digits`` decimals and, like text that is one, to the right, a dash for
    what is missing, text and names of columns escaped, the latter with spaces for underscores. Nothing of a table
    without rows."""
    if frame is None or frame.empty:
        return None
    frame = frame.rename(columns=lambda name: str(name).replace("_", " "))
    places = {column: digits for column in frame.select_dtypes("number").columns}
    places |= {column: 0 for column in places if pd.api.types.is_integer_dtype(frame[column])}
    numbers = {column: partial(_number, places=count) for column, count in places.items()}
    words = {
        column: _words for column in frame if frame[column].dropna().map(lambda value: isinstance(value, str)).all()
    }
    style = frame.style.hide(axis="index").set_table_attributes('class="dataframe"')
    style = style.format(words | numbers, precision=digits, na_rep=NOTHING, escape="html")
    style = style.format_index(_head, axis="columns", escape="html")
    values = [name for name in words if frame[name].dropna().map(lambda text: bool(VALUE.fullmatch(text))).all()]
    return style.set_table_styles({column: RIGHT for column in [*numbers, *values]}, overwrite=False)


def _head(escaped: str) -> str:
    """Columns are narrow: "zero-mean" stays on a line."""
    return escaped.replace("-", "\N{NON-BREAKING HYPHEN}")


def _number(value: float, places: int) -> str:
    return typeset(f"{value:,.{places}f}")


def _words(escaped: str) -> str:
    """Intervals are not broken in the middle."""
    return ENDS.sub(r'<span class="ends">\g<0></span>', typeset(escaped))


def typeset(text: str) -> str:
    """``text`` with a minus sign before every negative number, where a keyboard has a hyphen; no line ends at ±."""
    return HYPHEN.sub("\N{MINUS SIGN}", text).replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")


def apostrophes(text: str) -> str:
    """``text`` with the apostrophes of print."""
    return APOSTROPHE.sub("\N{RIGHT SINGLE QUOTATION MARK}", text)


def quotes(text: str) -> str:
    """``text`` with the apostrophes and quotation marks of print."""
    return QUOTED.sub("\N{LEFT DOUBLE QUOTATION MARK}\\1\N{RIGHT DOUBLE QUOTATION MARK}", apostrophes(text))


def prose(text: str) -> str:
    """``text`` with the dashes, apostrophes and quotation marks of print."""
    return quotes(text.replace(" - ", " \N{EN DASH} "))


def formula(text: str) -> str:
    """``text``, a quantity and its bound, with minus signs."""
    return typeset(text).replace(" - ", " \N{MINUS SIGN} ")


def of_earlier_recipe(earlier: bool) -> HTML | None:
    """A box that says so where the figures of a page show records of an ``earlier`` recipe."""
    if not earlier:
        return None
    return HTML(
        '<div class="admonition note"><p class="admonition-title">Recorded by an earlier recipe</p><p>The recorded '
        "runs of this page are older than the recipe that encoders are trained by now (page <i>Metrics</i>), and are "
        "compared with one another only. What this machine has trained is not drawn beside them: its values stand "
        "under <i>Verdicts</i>, in the tests of each claim.</p></div>"
    )


ONCE = ("id", "paper", "claim", "scale", "effect", "verdict", "test")
"""Columns of a table of claims that are no values."""
GATE = "control"
"""The paper of claims that only say whether a measure can be asked."""
AUTHORS = {
    "A": "Liu et al., 2020a",
    "B": "Liu et al., 2020b",
    "C": "Conneau, Wu et al., 2020",
    "D": "Liu et al., 2020c",
    "E": "K et al., 2020",
    "peer": "Dufter and Schütze, 2020",
}
"""Of the papers that claims are of."""


def of_claims(frame: pd.DataFrame | None) -> HTML | None:
    """The table of :func:`listing.of_chapter`: a line a claim, with verdict and effect at each scale, and its tests
    folded below it. Claims that could be asked at no scale, and controls, are folded together at the end: they say
    what was not asked, and why. Below them stands whose claims they are, by their letters. Text is escaped. Nothing of
    no table."""
    if frame is None:
        return None
    first = frame["id"] != ""
    named = frame.assign(id=frame["id"].where(first).ffill())
    results: list[dict[str, Any]] = []
    aside: list[dict[str, Any]] = []
    gates: list[dict[str, Any]] = []
    for name, rows in named.groupby("id", sort=False):
        once = rows.iloc[0]
        scales = [_scale(scale, of) for scale, of in rows.groupby("scale", sort=False)]
        claim = {"id": str(name).replace("-", "\u2011"), "claim": prose(once["claim"]), "scales": scales}
        kind = gates if once["paper"] == GATE else results if any(scale["effect"] for scale in scales) else aside
        kind.append(claim)
    folded = {"Claims that could not be tested at this size": aside, "Controls of our own": gates}
    listed = frame[frame["paper"].isin(AUTHORS)]
    key = {name[0]: AUTHORS[paper] for name, paper in sorted(zip(listed["id"], listed["paper"], strict=True)) if name}
    return HTML(rendered("charts", "claims.html", results=results, folded=folded, key=key, nothing=NOTHING))


def _scale(name: str, rows: pd.DataFrame) -> dict[str, Any]:
    """What the template shows of a claim at a scale; columns without a value are left out."""
    given = rows.drop(columns=list(ONCE)).dropna(axis="columns", how="all")
    shown = given.astype(object).where(given.notna(), NOTHING).map(typeset)
    tests = [
        {"text": formula(text), "values": values}
        for text, values in zip(rows["test"], shown.to_numpy().tolist(), strict=True)
    ]
    once = {"verdict": rows["verdict"].iloc[0], "effect": typeset(rows["effect"].iloc[0])}
    return {"name": SCALE_NAMES.get(name, name), "columns": list(given), "tests": tests, **once}
