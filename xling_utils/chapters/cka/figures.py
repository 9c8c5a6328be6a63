"""Chapter 7's figures: from tidy rows to charts over layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from xling_utils.chapters.cka.plan import (
    BILINGUAL,
    ENCODERS,
    FOUND_BY,
    MONOLINGUAL,
    RANDOM,
    SAME,
    STATIC,
    correlations,
    of,
)
from xling_utils.chapters.shared.contrasts import targets
from xling_utils.chapters.shared.joint import by_seed
from xling_utils.charts import LANGUAGE_NAMES, layer_shapes

FORMS = {"CKA, debiased": "cka_debiased", "CKA": "cka"}
WORDS = {"fitted on translations": "p_at_1_csls", "fitted on shuffled pairs": "p_at_1_shuffled"}
TRANSFER = {"named entities (F1)": "f1", "parsing (LAS)": "las"}
RETRIEVAL = {"after rotation": "p_at_1_rotated", "as they are": "p_at_1"}


def heat_map(table: pd.DataFrame) -> Any:
    """Figure: CKA of translations, layer by layer, by who reads them."""
    columns = [name for name in (SAME, BILINGUAL, MONOLINGUAL, RANDOM) if name in table["encoders"].unique()]
    description = "CKA of English and the other language at each layer, by encoder."
    rows = pd.concat([_mean(table, columns), _rows(table, FORMS, columns)], ignore_index=True)
    return layer_shapes.heat_map(rows, columns=columns, measures=_measures(rows), description=description)


def retrieval(table: pd.DataFrame) -> Any:
    """Figure: sentence retrieval at each layer, with and without a rotation."""
    kinds = [name for name in ENCODERS if name != SAME and name in table["encoders"].unique()]
    description = "Share of sentences whose translation is the nearest, at each layer, by encoder."
    rows = _rows(table, RETRIEVAL, kinds)
    return layer_shapes.profiles(
        rows, kinds=kinds, measures=_measures(rows), y_title="precision at 1", description=description
    )


def words(table: pd.DataFrame) -> Any:
    """Figure: translation of words at each layer after a rotation; static vectors are one line at their one value."""
    kinds = [name for name in (BILINGUAL, MONOLINGUAL, RANDOM, STATIC) if name in table["encoders"].unique()]
    rows = _rows(table, WORDS, kinds)
    layers = sorted(rows["layer"].unique())
    static = rows[rows["kind"] == STATIC]
    rows = pd.concat([rows[rows["kind"] != STATIC], *(static.assign(layer=layer) for layer in layers)])
    description = "Share of words whose translation is the nearest after a rotation, at each layer, by model."
    return layer_shapes.profiles(
        rows, kinds=kinds, measures=_measures(rows), y_title="precision at 1, CSLS", description=description
    )


def transfer(table: pd.DataFrame) -> Any:
    """Figure: named entities and parsing on the states of each layer, through an alignment of contextual words; none
    where nothing was measured."""
    kinds = {  # in the order of the other figures: it gives their colours
        BILINGUAL: (BILINGUAL, ""), f"{MONOLINGUAL}, rotation": (MONOLINGUAL, ""),
        f"{BILINGUAL}, rotation": (BILINGUAL, "_aligned"), f"{MONOLINGUAL}, random rotation": (MONOLINGUAL, "_random"),
    }  # fmt: skip
    rows = _rows(table, TRANSFER, kinds)
    if rows.empty:
        return None
    description = "Transfer at each layer from English to the other language, through a rotation and without one."
    return layer_shapes.profiles(
        rows, kinds=list(kinds), measures=_measures(rows), y_title="F1, or LAS", description=description
    )


def correlation(table: pd.DataFrame) -> pd.DataFrame:
    """Pearson's r over layers of debiased CKA and retrieval, a row a kind of encoders and language: the mean over
    seeds, the lowest and the highest."""
    rows = []
    for encoders in FOUND_BY:
        found = correlations(table, encoders)
        for target in dict.fromkeys(target for _, target in found.index):
            own = found.xs(target, level="target")
            row = {"encoders": encoders, "language": LANGUAGE_NAMES[target]}
            rows.append(row | {"correlation": _with_ends(own), "seeds": len(own)})
    return pd.DataFrame(rows)


def _with_ends(values: pd.Series) -> str:
    ends = f" ({values.min():.2f} to {values.max():.2f})" if len(values) > 1 else ""
    return f"{values.mean():.2f}{ends}"


def _rows(
    table: pd.DataFrame, measures: Mapping[str, str], kinds: Mapping[str, tuple[str, str]] | Sequence[str]
) -> pd.DataFrame:
    """``measures``, name -> metric, by kind of line: the encoders it is of, which may be its name, and the end of their
    metric. Where there are several languages, each is a measure of its own."""
    lines = kinds if isinstance(kinds, Mapping) else {encoders: (encoders, "") for encoders in kinds}
    frames, several = [], targets(table)
    for target in several:
        for shown, metric in measures.items():
            name = shown if len(several) == 1 else f"{shown}, {LANGUAGE_NAMES[target]}"
            for kind, (encoders, end) in lines.items():
                frames.append(of(table, target, metric + end, encoders).assign(kind=kind, measure=name))
    return _summed(frames)


def _mean(table: pd.DataFrame, kinds: Sequence[str]) -> pd.DataFrame:
    """The first of ``FORMS`` as :func:`_rows` has it, over the languages: nothing of one alone, nor of a kind that not
    all have."""
    (shown, metric), *_ = FORMS.items()
    several, frames = targets(table), []
    for kind in kinds if len(several) > 1 else ():
        each = [of(table, target, metric, kind) for target in several]
        if all(map(len, each)):
            frames.append(pd.concat(each).assign(kind=kind, measure=f"{shown}, mean of {len(several)} languages"))
    return _summed(frames) if frames else pd.DataFrame()


def _summed(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return by_seed(pd.concat(frames, ignore_index=True), ["measure", "kind", "layer"]).astype({"layer": int})


def _measures(rows: pd.DataFrame) -> list[str]:
    return list(rows["measure"].unique())
