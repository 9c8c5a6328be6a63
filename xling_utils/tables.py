"""Tables as the book prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler


def show(frame: pd.DataFrame, digits: int = 3) -> Styler:
    """The table without its index, numbers to ``digits`` decimals, a dash for what is missing, text and names of
    columns escaped."""
    whole = [c for c in frame.columns if pd.api.types.is_integer_dtype(frame[c])]
    style = frame.style.hide(axis="index").set_table_attributes('class="dataframe"')
    style = style.format(precision=digits, na_rep="–", escape="html").format_index(axis="columns", escape="html")
    return style.format("{:,}", na_rep="–", subset=whole) if whole else style
