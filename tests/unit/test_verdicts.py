"""Verdicts: a direction needs an interval that excludes zero."""

import math

import pandas as pd
import pytest

from xling_utils import verdicts
from xling_utils.retrieval import Interval


def rows(values: dict[int, float]) -> pd.DataFrame:
    return pd.DataFrame({"seed": list(values), "value": list(values.values())})


def test_paired_differences_are_taken_seed_by_seed() -> None:
    gap = verdicts.paired(rows({11: 0.5, 12: 0.9, 13: 0.1}), rows({11: 0.4, 12: 0.8, 14: 0.0}))
    assert gap.n == 2
    assert gap.value == pytest.approx(0.1)


def test_several_rows_of_a_seed_are_averaged_first() -> None:
    one = pd.DataFrame({"seed": [11, 11, 12], "value": [0.2, 0.4, 0.3]})
    assert verdicts.paired(one, rows({11: 0.0, 12: 0.0})).value == pytest.approx(0.3)


def test_no_common_seed_gives_no_number() -> None:
    gap = verdicts.paired(rows({11: 0.5}), rows({12: 0.4}))
    assert gap.n == 0 and math.isnan(gap.value)


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (Interval(0.2, 0.1, 0.3, 5), verdicts.REPRODUCED),
        (Interval(-0.2, -0.3, -0.1, 5), verdicts.NOT_REPRODUCED),
        (Interval(0.2, -0.1, 0.5, 5), verdicts.OPEN),
        (Interval(0.2, math.nan, math.nan, 1), verdicts.OPEN),
    ],
)
def test_direction(interval: Interval, expected: str) -> None:
    assert verdicts.direction("", "", "", interval).verdict == expected


def test_a_claim_of_several_parts() -> None:
    yes = verdicts.direction("", "", "yes", Interval(0.2, 0.1, 0.3, 5))
    no = verdicts.direction("", "", "no", Interval(-0.2, -0.3, -0.1, 5))
    unsure = verdicts.direction("", "", "unsure", Interval(0.1, -0.1, 0.3, 5))
    assert verdicts.all_of("", "", [yes, yes]).verdict == verdicts.REPRODUCED
    assert verdicts.all_of("", "", [yes, no]).verdict == verdicts.PARTLY
    assert verdicts.all_of("", "", [no, unsure]).verdict == verdicts.NOT_REPRODUCED
    assert verdicts.all_of("", "", [unsure]).verdict == verdicts.OPEN
    assert verdicts.all_of("", "", [yes, no]).quantity == "no"  # the weakest part is the one shown


def test_frame_shows_every_verdict() -> None:
    shown = verdicts.frame([verdicts.direction("claim", "A", "x", Interval(0.25, 0.1, 0.3, 5))])
    assert shown.loc[0, "value"] == "0.250"
    assert shown.loc[0, "95 % interval"] == "0.100 to 0.300"


def test_measures_of_a_claim_stand_side_by_side():
    found = [
        verdicts.direction("it helps", "A", "x - y", Interval(0.25, 0.1, 0.4, 5), "retrieval"),
        verdicts.direction("it helps", "A", "x - y", Interval(0.2, math.nan, math.nan, 1), "inference"),
        verdicts.direction("it hurts", "B", "y - x", Interval(-0.25, -0.4, -0.1, 5), "retrieval"),
    ]
    shown = verdicts.side_by_side(found)
    assert list(shown.columns) == ["claim", "where", "measured", "retrieval", "inference"]
    assert shown["retrieval"].tolist() == [
        "reproduced: +0.250 (+0.100 to +0.400; 5 seeds)",
        "not reproduced: -0.250 (-0.400 to -0.100; 5 seeds)",
    ]
    assert shown["inference"].tolist() == ["these seeds cannot tell: +0.200 (one seed)", "–"]
    assert verdicts.side_by_side([]).empty
