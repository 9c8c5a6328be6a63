"""Chapter 4's figures: one factor at a time, the base run standing in for its level of each."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from xling_utils.chapters.architecture.plan import BOTH, FOUR_LANGUAGES, NEXT, base_levels, counted, of_factor
from xling_utils.chapters.shared import contrast_figures as figures
from xling_utils.core.scales import Scale

Tables = Callable[[str], pd.DataFrame]

NAMED = {
    "objective": (
        "E_table_8_next_sentence",
        "next_sentence",
        {"yes": NEXT, "no": "masked words only"},
    ),
    "separator": ("E_table_9_language_marker", "marker", {"yes": "one a language", "no": "one for all"}),
    "tokens": (
        "E_table_10_tokenization",
        "tokens",
        {"characters": "characters", "wordpiece": "word pieces", "words": "words"},
    ),
    "separate": (
        "C_table_1_dissection",
        "condition",
        {
            "Default": "nothing",
            "Sep Emb": "embeddings",
            "Sep L1-3": "bottom third",
            "Sep L1-6": "bottom two thirds",
            "Sep Emb + L1-3": "embeddings, bottom third",
            "Sep Emb + L1-6": BOTH,
        },
    ),
}
"""Factor -> its table, the table's column, and the levels under our names."""
COUNTED = {"depth": ("E_table_4_depth", "layers", "layer"), "heads": ("E_table_5_heads", "heads", "head")}

PRINTED = (*COUNTED, *NAMED)
"""Factors whose figure shows a paper beside ours."""


def paper(factor: str, tables: Tables) -> pd.DataFrame:
    """The paper's values of a factor, as ``contrast_shapes.contrasts`` takes them."""
    if factor in COUNTED:
        name, column, noun = COUNTED[factor]
        table = tables(name)
        names = {number: counted(int(number), noun) for number in table[column].unique()}
    else:
        name, column, names = NAMED[factor]
        table = tables(name)
    return figures.paper_rows(table, column, names, f"paper {name[0]}")


def paper_parameters(tables: Tables) -> pd.DataFrame:
    """E's Table 6: accuracy on XNLI in the source and the target language by the number of parameters."""
    rows = tables("E_table_6_parameters")
    wide = rows[rows["test"] != "difference"].pivot_table(
        "value", ["parameters", "layers", "heads"], "test", sort=False
    )
    names = {"parameters": "parameters (M)", "enfake": "Fake-English, %", "ru": "Russian, %"}
    return wide.reset_index().rename(columns=names).sort_values("parameters (M)")


def named(table: pd.DataFrame) -> pd.DataFrame:
    """Rows with a column ``condition`` that names a level, with its factor where another has such a level, for
    figures of them all."""
    apart = table["factor"].map({"separate": "separate ", FOUR_LANGUAGES: "four languages, "}).fillna("")
    return table.assign(condition=apart + table["level"])


def levels(factor: str, rows: pd.DataFrame, scale: Scale) -> list[str]:
    """The levels of a factor in the order to show them: by number where they have one, else the base's first and
    the others as the paper has them."""
    there = list(rows["condition"].unique())
    if factor in (*COUNTED, "parameters", "four languages"):
        return sorted(there, key=lambda level: int("".join(filter(str.isdigit, level))))
    first, known = base_levels(scale)[factor], list(NAMED[factor][-1].values()) if factor in NAMED else there
    return sorted(there, key=lambda level: (level != first, known.index(level)))


def changes(table: pd.DataFrame, scale: Scale, language: str) -> pd.DataFrame:
    """Each level against the base run, in percent (see ``contrast_figures.differences``)."""
    parts = []
    for factor, base in base_levels(scale).items():
        found = figures.values(of_factor(table, factor, scale), scale, ["level"], language)
        parts.append(figures.differences(found, "level", base).assign(factor=factor))
    parts = [part for part in parts if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
