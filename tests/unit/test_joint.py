"""Means of chapters 5 to 7 with their intervals: over seeds, and those of a single seed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from xling_utils.chapters.shared import joint
from xling_utils.measures import over_seeds


def rows(seeds: int, languages: tuple[str, ...], layers: int = 2) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    found = []
    for seed, language, layer, english_first in product(range(seeds), languages, range(layers), (True, False)):
        value = rng.uniform()
        source, target = ("en", language) if english_first else (language, "en")
        found.append((seed, source, target, layer, value, value - 0.1, value + 0.2))
    return pd.DataFrame(found, columns=["seed", "source", "target", "layer", "value", "low", "high"])


@pytest.mark.parametrize("languages", [("fr", "de", "ru", "zh"), ("fr", "de"), ("fr",)])
def test_a_single_seed_has_an_interval_over_languages_or_over_items(languages: tuple[str, ...]) -> None:
    table = rows(3, languages)
    found = joint.by_seed(table, ["layer"])
    assert list(dict.fromkeys(found["whose"])) == [joint.ALL_SEEDS, "seed 0", "seed 1", "seed 2"]
    for seed, layer in product(range(3), range(2)):
        own = table[(table["seed"] == seed) & (table["layer"] == layer)]
        (line,) = found[(found["whose"] == f"seed {seed}") & (found["layer"] == layer)].to_dict("records")
        assert line["value"] == pytest.approx(own["value"].mean()) and line["seeds"] == 1
        means = [own[(own["source"] == x) | (own["target"] == x)]["value"].mean() for x in languages]
        over = over_seeds(means).drawn()
        bounds = (over.low, over.high) if len(languages) > 1 else (own["low"].mean(), own["high"].mean())
        assert (line["low"], line["high"]) == pytest.approx(bounds, nan_ok=True)


def test_all_seeds_have_an_interval_over_seeds_and_a_table_of_one_seed_that_of_its_languages() -> None:
    table = rows(4, ("fr", "de", "ru"))
    found = joint.summary(table, ["layer"])
    means = table[table["layer"] == 1].groupby("seed")["value"].mean().tolist()
    (line,) = found[found["layer"] == 1].to_dict("records")
    over = over_seeds(means)
    assert (line["low"], line["high"], line["seeds"]) == pytest.approx((over.low, over.high, 4))
    alone = joint.summary(table[table["seed"] == 2], ["layer"])
    each = joint.by_seed(table, ["layer"])
    each = each[each["whose"] == "seed 2"].drop(columns="whose").reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, each, check_dtype=False)
