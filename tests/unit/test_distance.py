"""The appendix on distance: what the claims compare is read in one seed, and compared within it."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pytest

from xling_utils.chapters.distance import plan, shown
from xling_utils.chapters.opening import Opened
from xling_utils.chapters.rows import empty
from xling_utils.claims import ledger
from xling_utils.core.scales import scale
from xling_utils.core.specs import LANGUAGES


@pytest.mark.parametrize("name", ["controlled", "natural"])
def test_every_seed_has_what_the_claims_compare(name: str) -> None:
    grid = plan.grid(scale(name), LANGUAGES[1:], 2, "all")
    there = {(each.spec.seed, dict(each.condition)["condition"], each.target) for each in grid}
    claims = [claim for claim in ledger.load().claims if claim.chapter == plan.CHAPTER]
    asked = {(where["condition"], where["language"]) for claim in claims for where in claim.of.values()}
    assert len(claims) == 5 and asked
    assert not {(seed, *where) for seed, where in product({each.spec.seed for each in grid}, asked)} - there
    assert len({each.spec for each in grid}) == len(there) == 20


def test_half_of_a_pair_is_not_trained() -> None:
    assert plan.grid(scale("smoke"), ("fr", "ru"), 1, "headline") == plan.grid(scale("smoke"), ("fr",), 1, "none") == []


def test_of_other_languages_the_second_is_the_distant_one() -> None:
    grid = plan.grid(scale("smoke"), ("nl", "sv", "fi"), 1, "all")
    found = {(dict(each.condition)["condition"], each.target) for each in grid}
    assert found == set(product((plan.DEFAULT, *plan.DISTANT), ("nl", "sv")))


def rows(values: dict[str, list[float]]) -> pd.DataFrame:
    """Base runs that find so many named entities, a value a seed."""
    common = {"experiment": "R33", "scale": "smoke", "condition": plan.DEFAULT, "task": "NER", "source": "en"}
    made = [
        {**common, "metric": metric, "seed": seed, "target": language, "value": value, "run": f"{language}{seed}"}
        for language, scores in values.items()
        for seed, score in enumerate(scores)
        for metric, value in (("f1", score), ("random", 0.0))
    ]
    return pd.concat([empty(plan.CHAPTER), pd.DataFrame(made)], ignore_index=True)


def opened(recorded: pd.DataFrame) -> Opened:
    none = empty(plan.CHAPTER)
    return Opened(plan.CHAPTER, "smoke", ("fr", "ru"), 1, "none", None, None, None, None, none, recorded, True)


def test_languages_are_compared_within_a_seed() -> None:
    seeds = [0.2, 0.5, 0.9]
    table = shown.less(opened(rows({"fr": seeds, "ru": [score - 0.1 for score in seeds]})))
    assert table is not None
    (line,) = table.to_dict("records")
    assert (line["condition"], line["more than"]) == (plan.DEFAULT, "Russian")
    assert line["named entities"] == "+0.100 (+0.100 to +0.100)"


def test_of_one_language_nothing_is_compared() -> None:
    alone = opened(rows({"fr": [0.2, 0.5]}))
    assert shown.less(alone) is None and shown.figure(alone) is None
    assert shown.less(opened(empty(plan.CHAPTER))) is None and shown.figure(opened(empty(plan.CHAPTER))) is None
