"""What chapters 5 and 6 share: one encoder of all languages, and what is read off its layers."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xling_utils.chapters.data_size import plan as data_size
from xling_utils.chapters.planning import Planned
from xling_utils.core.scales import FIRST_REPORTED_SEED, Scale

TRAINED, UNTRAINED = "pretrained", "untrained"
ALL_SEEDS = "all seeds"
D_LAYER, A_LAYER = 8 / 12, 10 / 12
"""How deep D reads sentences (Tables 2 and 3), and A shifts tokens (Tables 1 and 2): block 8 and block 10 of 12."""


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str) -> list[Planned]:
    """For every seed an encoder of English and ``languages``, and the same untrained."""
    if live == "none":
        return []
    return [
        Planned((("model", name),), scale.joint(("en", *languages), seed, trained=name == TRAINED), True)
        for seed in range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + seeds)
        for name in (TRAINED, UNTRAINED)
    ]


def layer_at(depth: float, table: pd.DataFrame) -> int:
    """The layer as deep in the measured encoder as ``depth`` of all blocks."""
    return round(depth * int(table["layer"].max()))


def summary(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Means with 95 % intervals over seeds, as :func:`data_size.summary` has them; of a single seed as
    :func:`_of_each_seed` has them."""
    if rows["seed"].nunique() > 1:
        return data_size.summary(rows, by)
    return _of_each_seed(rows, by).drop(columns="seed")


def by_seed(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """:func:`summary` over all seeds, and of each alone: a column ``whose`` says which."""
    each = _of_each_seed(rows, by)
    each["whose"] = [f"seed {seed:.0f}" for seed in each["seed"]]
    return pd.concat([summary(rows, by).assign(whose=ALL_SEEDS), each.drop(columns="seed")], ignore_index=True)


def _of_each_seed(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Columns ``seed``, ``by``, ``value``, ``low``, ``high``, ``seeds``: means of each seed, with an interval over its
    languages (:func:`data_size.summary`, to which each is a seed) or, of a single language, over the items that it was
    measured on."""
    found = rows.groupby(["seed", *by], sort=False)[["value", "low", "high"]].mean().reset_index()
    language = rows["source"].where(rows["source"] != "en", rows["target"])
    over = data_size.summary(rows.assign(of=rows["seed"], seed=language), ["of", *by])
    several = over["seeds"] > 1
    found.loc[several, ["low", "high"]] = over.loc[several, ["low", "high"]]
    return found.assign(seeds=1)
