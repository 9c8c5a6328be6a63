"""Chapter 7's figures: from tidy rows to charts over layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from xling_utils import charts_layers
from xling_utils.chapters.cka import BILINGUAL, ENCODERS, MONOLINGUAL, RANDOM, SAME, STATIC, correlations, of
from xling_utils.chapters.data_size import summary

FORMS = {"CKA, debiased": "cka_debiased", "CKA": "cka"}
WORDS = {"fitted on translations": "p_at_1_csls", "fitted on shuffled pairs": "p_at_1_shuffled"}
RETRIEVAL = {"after rotation": "p_at_1_rotated", "as they are": "p_at_1"}


def heat_map(table: pd.DataFrame, target: str) -> Any:
    """Figure: CKA of translations, layer by layer, by who reads them."""
    columns = [name for name in (SAME, BILINGUAL, MONOLINGUAL, RANDOM) if name in set(table["encoders"])]
    description = "CKA of English and the other language at each layer, by encoder."
    rows = _rows(table, target, FORMS, columns)
    return charts_layers.heat_map(rows, columns=columns, measures=list(FORMS), description=description)


def retrieval(table: pd.DataFrame, target: str) -> Any:
    """Figure: sentence retrieval at each layer, with and without a rotation."""
    kinds = [name for name in ENCODERS if name != SAME and name in set(table["encoders"])]
    description = "Share of sentences whose translation is the nearest, at each layer, by encoder."
    rows = _rows(table, target, RETRIEVAL, kinds)
    return charts_layers.profiles(
        rows, kinds=kinds, measures=list(RETRIEVAL), y_title="precision at 1", description=description
    )


def words(table: pd.DataFrame, target: str) -> Any:
    """Figure: translation of words at each layer after a rotation; static vectors are one line at their one value."""
    kinds = [name for name in (BILINGUAL, MONOLINGUAL, RANDOM, STATIC) if name in set(table["encoders"])]
    rows = _rows(table, target, WORDS, kinds)
    layers = sorted(rows["layer"].unique())
    static = rows[rows["kind"] == STATIC]
    rows = pd.concat([rows[rows["kind"] != STATIC], *(static.assign(layer=layer) for layer in layers)])
    description = "Share of words whose translation is the nearest after a rotation, at each layer, by model."
    return charts_layers.profiles(
        rows, kinds=kinds, measures=list(WORDS), y_title="precision at 1, CSLS", description=description
    )


def correlation(table: pd.DataFrame, target: str) -> pd.DataFrame:
    """Pearson's r over layers of CKA and retrieval, a row a seed."""
    found = {name: correlations(table, target, metric) for name, metric in FORMS.items()}
    seeds = sorted({seed for values in found.values() for seed in values})
    return pd.DataFrame(
        {"seed": seeds}
        | {f"r with {name}": [f"{values[seed]:.2f}" for seed in seeds] for name, values in found.items()}
    )


def _rows(table: pd.DataFrame, target: str, measures: dict[str, str], kinds: Sequence[str]) -> pd.DataFrame:
    frames = []
    for shown, metric in measures.items():
        for encoders in kinds:
            rows = of(table, target, metric, encoders)
            frames.append(summary(rows, ["layer"]).assign(kind=encoders, measure=shown))
    return pd.concat(frames, ignore_index=True).astype({"layer": int})
