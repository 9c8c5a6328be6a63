"""The appendix on distance: what the claims compare is read in one seed, and compared within it."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pytest

from xling_utils.chapters.distance import plan, shown
from xling_utils.chapters.opening import Opened
from xling_utils.chapters.rows import empty
from xling_utils.charts.shapes import ORIGIN
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


def opened(
    recorded: pd.DataFrame, measured: pd.DataFrame | None = None, languages: tuple[str, ...] = ("fr", "ru")
) -> Opened:
    own = empty(plan.CHAPTER) if measured is None else measured
    books = measured is None
    return Opened(plan.CHAPTER, "smoke", languages, 1, "none", None, None, None, None, own, recorded, books)


def test_languages_are_compared_within_a_seed() -> None:
    seeds = [0.2, 0.5, 0.9]
    table = shown.less(opened(rows({"fr": seeds, "ru": [score - 0.1 for score in seeds]})))
    assert table is not None
    (line,) = table.to_dict("records")
    assert (line["condition"], line["more than"]) == (plan.DEFAULT, "Russian")
    assert line["named entities"] == "0.10 (0.10 to 0.10)"


def test_a_page_of_ones_own_shows_its_own_languages() -> None:
    own = rows({"nl": [0.6, 0.7], "sv": [0.4, 0.5]})
    both = pd.concat([own, own.assign(condition=plan.FAKE)], ignore_index=True)
    chapter = opened(rows({"fr": [0.2, 0.5], "ru": [0.1, 0.2]}), both, ("nl", "sv"))
    table = shown.less(chapter)
    assert table is not None and set(table["named entities"]) == {"0.20"}
    assert set(table["more than"]) == {"sv"}
    assert said(chapter) == {("nl", "this machine"), ("sv", "this machine")}
    assert said(opened(both, languages=("nl", "sv"))) == {("nl", "recorded"), ("sv", "recorded")}


def said(chapter: Opened) -> set[tuple[str, str]]:
    """What the rows of the figure say that they are, and where they come from."""
    data = shown.figure(chapter).to_dict()["datasets"].values()
    return {(row["shown"], row[ORIGIN]) for rows in data for row in rows if "shown" in row}


def test_of_one_language_nothing_is_compared() -> None:
    alone = opened(rows({"fr": [0.2, 0.5]}))
    assert shown.less(alone) is None and shown.figure(alone) is None
    assert shown.less(opened(empty(plan.CHAPTER))) is None and shown.figure(opened(empty(plan.CHAPTER))) is None
