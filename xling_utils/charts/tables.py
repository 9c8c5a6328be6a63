"""Tables as the book prints them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import pandas as pd
from IPython.display import HTML

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

NOTHING = "–"
"""What stands for a value that is missing."""


def show(frame: pd.DataFrame | None, digits: int = 3) -> Styler | None:
    """The table without its index, numbers to ``digits`` decimals, a dash for what is missing, text and names of
    columns escaped, the latter with spaces for underscores. Nothing of no table."""
    if frame is None:
        return None
    frame = frame.rename(columns=lambda name: str(name).replace("_", " "))
    whole = [c for c in frame.columns if pd.api.types.is_integer_dtype(frame[c])]
    style = frame.style.hide(axis="index").set_table_attributes('class="dataframe"')
    style = style.format(precision=digits, na_rep=NOTHING, escape="html").format_index(axis="columns", escape="html")
    return style.format("{:,}", na_rep=NOTHING, subset=whole) if whole else style


def of_earlier_recipe(earlier: bool) -> HTML | None:
    """A box that says so where the figures of a page show records of an ``earlier`` recipe."""
    if not earlier:
        return None
    return HTML(
        '<div class="admonition note"><p class="admonition-title">Recorded by an earlier recipe</p><p>The recorded '
        "runs of this page were trained before encoders were trained as they are now (<i>Metrics: how an encoder is "
        "trained</i>). They are compared with one another only. What this machine has trained is not drawn beside "
        "them: its values are in the column <i>this machine</i> of the verdicts.</p></div>"
    )


def of_claims(frame: pd.DataFrame | None) -> HTML | None:
    """The table of :func:`ledger.table`: a line for each claim, with its verdict, and below it a row for each of its
    tests. Every value names its column, and those that are missing are marked, for narrow screens. Text is escaped.
    Nothing of no table."""
    if frame is None:
        return None
    values = [column for column in frame.columns if column not in ("id", "claim", "verdict")]
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in values)
    groups: list[str] = []
    for row in frame.to_dict("records"):
        if row["claim"]:
            name, claim, verdict = (escape(row[column]) for column in ("id", "claim", "verdict"))
            inside = f'<span class="claim-id">{name}</span> {claim} <span class="claim-verdict">{verdict}</span>'
            heading = f'<th scope="rowgroup" colspan="{len(values)}"><div>{inside}</div></th>'
            groups.append(f'<tr class="claim">{heading}</tr>')
        groups[-1] += f"<tr>{''.join(_cell(column, row[column]) for column in values)}</tr>"
    body = "".join(f"<tbody>{group}</tbody>" for group in groups)
    return HTML(f'<table class="dataframe claims"><thead><tr>{head}</tr></thead>{body}</table>')


def _cell(column: str, value: object) -> str:
    nothing = pd.isna(value)
    mark = ' class="nothing"' if nothing else ""
    return f'<td data-of="{escape(column)}"{mark}>{NOTHING if nothing else escape(str(value))}</td>'
