"""Tables as the book prints them."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from xling_utils.charts import tables


def test_numbers_stand_to_the_right_with_a_minus_and_words_to_the_left() -> None:
    frame = pd.DataFrame(
        {"a_name": ["x-1", "y"], "change": [-0.25, np.nan], "tokens": [1234567, 8], "new": [True, False]}
    )
    style = tables.show(frame, digits=2)
    assert style is not None
    shown = style.to_html()
    cells = re.findall(r"<t[dh][^>]*>([^<]*)</t", shown)
    assert cells == ["a name", "change", "tokens", "new", "x-1", "−0.25", "1,234,567", "True", "y", "–", "8", "False"]
    assert set(re.findall(r"\.col(\d) \{\s*text-align: right", shown)) == {"1", "2"}


def test_a_table_without_rows_is_not_shown() -> None:
    assert tables.show(pd.DataFrame({"model": []})) is None and tables.show(None) is None


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("-0.021 ± 0.025 (5)", "−0.021\u00a0±\u00a00.025 (5)"),
        ("0.1 (-.2 to 0.3; 5 seeds)", "0.1 (−.2 to 0.3; 5 seeds)"),
        ("2026-11-23, C-17, 1e-3, -p live", "2026-11-23, C-17, 1e-3, -p live"),
    ],
)
def test_a_minus_is_no_hyphen(text: str, printed: str) -> None:
    assert tables.typeset(text) == printed


def test_intervals_in_words_have_a_minus_and_are_not_broken() -> None:
    style = tables.show(pd.DataFrame({"change": ["-22 (-36 to -8)", "a < b", None]}))
    assert style is not None
    shown = style.to_html()
    assert '−22 <span class="ends">(−36 to −8)</span>' in shown and "a &lt; b" in shown and tables.NOTHING in shown


def test_claims_are_set_as_prose_and_their_tests_as_formulas() -> None:
    assert tables.prose("BERT's is better - by .1 - than that") == "BERT’s is better – by .1 – than that"
    assert tables.prose('languages\' means, "often"') == "languages’ means, “often”"
    assert tables.formula("retrieval: wide - 0.5 * short > -0.1") == "retrieval: wide − 0.5 * short > −0.1"
