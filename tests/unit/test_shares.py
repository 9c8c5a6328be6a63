"""What share one quantity is of another: a ratio of means, with an interval that covers it."""

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from xling_utils.claims.rows import Rows
from xling_utils.claims.shares import share
from xling_utils.core.errors import UserError
from xling_utils.measures import Interval

SELECTIONS = {name: {"chapter": "c", "condition": name} for name in ("part", "whole")}


def shared(parts: NDArray[np.float64], wholes: NDArray[np.float64], languages: list[str]) -> Interval | None:
    rows = [
        {"seed": seed, "source": "en", "target": language, "layer": None, "condition": condition, "run": f"{seed}",
         "value": value}
        for condition, column in (("part", parts), ("whole", wholes))
        for seed, (language, value) in enumerate(zip(languages, column, strict=False), 31)
    ]  # fmt: skip
    return share("part", "whole", SELECTIONS, Rows({"c": pd.DataFrame(rows)}, 1))


def test_seeds_count_by_what_they_have() -> None:
    found = shared(np.array([0.10, 0.30, 0.02]), np.array([0.40, 0.50, 0.01]), ["fr"] * 3)
    assert found is not None and found.value == pytest.approx(0.42 / 0.91) and found.n == 3
    same = shared(np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.4, 0.6]), ["fr"] * 3)
    assert same is not None and (same.low, same.high) == pytest.approx((0.5, 0.5))


def test_languages_that_seeds_take_in_turn_count_alike() -> None:
    languages = ["fr", "fr", "hi", "hi"]
    found = shared(np.array([0.3, 0.3, 0.1, 0.1]), np.array([0.6, 0.6, 0.1, 0.1]), languages)
    assert found is not None and found.value == pytest.approx((0.3 + 0.1) / (0.6 + 0.1))
    scattered = shared(np.array([0.2, 0.4, 0.1, 0.1]), np.array([0.6, 0.6, 0.1, 0.1]), languages)
    assert scattered is not None and scattered.value == pytest.approx(found.value) and scattered.low < found.value


def test_the_interval_covers_the_share_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        wholes = rng.normal(1.0, 0.3, 20)
        found = shared(0.4 * wholes + rng.normal(0, 0.2, 20), wholes, ["fr"] * 20)
        assert found is not None
        hits += found.low <= 0.4 <= found.high
    assert 0.92 <= hits / 400 <= 0.98  # two and a half standard errors to either side of .95


def test_a_share_is_of_the_seeds_that_have_both() -> None:
    found = shared(np.array([np.nan, 2, 3]), np.array([2, 4, np.nan]), ["fr"] * 3)
    assert found is not None and (found.value, found.n) == (0.5, 1)
    with pytest.raises(UserError, match="write a quantity in names"):
        share("part, whole", "whole", SELECTIONS, Rows({}, 1))


def test_nothing_is_no_share_of_nothing() -> None:
    assert shared(np.array([1.0, 2.0]), np.array([1.0, -1.0]), ["fr"] * 2) is None


def test_what_is_not_there_has_no_share() -> None:
    assert shared(np.array([0.1]), np.array([]), ["fr"]) is None
    with pytest.raises(UserError, match="no selection is named 'other'"):
        share("part", "other", SELECTIONS, Rows({}, 1))
