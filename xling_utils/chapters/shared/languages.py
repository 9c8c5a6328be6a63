"""Which languages a row is about."""

from __future__ import annotations

import pandas as pd


def language(rows: pd.DataFrame) -> pd.Series:
    """Of each row the language that is not English, English where there is none."""
    return rows["source"].where(rows["source"] != "en", rows["target"])


def beside_english(rows: pd.DataFrame) -> pd.Series:
    """What the encoder of each row read beside English: a language, or nothing where it read none or several."""
    other = language(rows)
    others = other.where(other != "en").groupby(rows["run"])
    return others.transform("first").where(others.transform("nunique") == 1)
