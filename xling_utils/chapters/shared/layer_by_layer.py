"""Any two conditions of chapters 1 to 4 beside each other: every layer, language and seed."""

from __future__ import annotations

from typing import Any

import pandas as pd

from xling_utils.chapters.data_size.plan import summary
from xling_utils.chapters.shared.contrasts import of_partners
from xling_utils.measures.names import WORDS

MEASURES = {"mrr_centred": "centred", "mrr": "plain cosine", "mrr_vocabulary": "centred, among all words"}
"""Metric of word retrieval -> its name in the list below the chart."""
CHANCES = {"mrr_centred": "chance", "mrr": "chance", "mrr_vocabulary": "chance_vocabulary"}
"""What a random order would have of each."""
ALL = "all languages, all seeds"


def rows(table: pd.DataFrame, base: str) -> pd.DataFrame:
    """``condition, whose, measure, layer, value, low, high, seeds`` of a ``table`` with a column ``condition``: means
    over seeds with Student's intervals, and each run with that over the dictionary's words; where seeds take languages
    in turn, those of all in their own, too (:func:`of_partners`). Chance, of each measure its own, is a condition."""
    from xling_utils.charts import LANGUAGE_NAMES, pair_shapes

    found = table[(table["task"] == WORDS) & table["step"].isna() & table["layer"].notna()]
    chance = [
        found[found["metric"] == by].assign(metric=metric, condition=pair_shapes.CHANCE)
        for metric, by in CHANCES.items()
    ]
    found = pd.concat([found[found["metric"].isin(MEASURES)], *chance])
    found = found.assign(measure=found["metric"].map(MEASURES), language=found["target"].map(LANGUAGE_NAMES))
    keys = ["condition", "measure", "layer"]
    in_turn = of_partners(found, base)
    every = [summary(in_turn, keys).assign(whose=ALL)] if in_turn["partner"].nunique() > 1 else []
    over_seeds = summary(found, ["language", *keys])
    over_seeds = over_seeds.assign(seed=-1, whose=over_seeds["language"] + ", all seeds")
    runs = found.groupby(["language", "seed", *keys], sort=False)[["value", "low", "high"]].mean().reset_index()
    runs = runs.assign(seeds=1, whose=runs["language"] + ", seed " + runs["seed"].map("{:.0f}".format))
    own = pd.concat([over_seeds, runs])
    place = {language: number for number, language in enumerate(found["language"].unique())}
    own = own.assign(language=own["language"].map(place)).sort_values(["language", "seed"], kind="stable")
    return pd.concat([*every, own.drop(columns=["language", "seed"])], ignore_index=True)


def figure(table: pd.DataFrame, base: str) -> Any:
    """Figure: two conditions that the reader chooses, at every layer; none where fewer than two were run. ``base`` is
    the language of headlines."""
    from xling_utils.charts import pair_shapes

    conditions = list(table["condition"].unique())
    if len(conditions) < 2:
        return None
    drawn = rows(table, base)
    return pair_shapes.pairs(
        drawn.round({"value": 4, "low": 4, "high": 4}),
        conditions=conditions,
        measures=list(MEASURES.values()),
        description="Word retrieval of two conditions at every layer, chosen with their language and seed from lists.",
    )
