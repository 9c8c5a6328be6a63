"""Verdicts: Student's t over a sample, Holm over the claims, and what several tests say together."""

import math

import numpy as np
import pytest
from scipy import stats

from xling_utils.claims.predicates import Predicate, Sample
from xling_utils.claims.verdicts import NOT_REPRODUCED, OPEN, PARTLY, REPRODUCED, decide, holm, keeps, part

CLEAR = (0.20, 0.21, 0.19, 0.20, 0.205)
NOISE = (0.3, -0.2, 0.1, -0.1, 0.0)


def of(*values: float) -> Sample:
    return Sample(values, "seeds")


def verdicts(*claims: list[tuple[Predicate, Sample]]) -> list[str]:
    return [decision.verdict for decision in decide([[(t, "", s) for t, s in claim] for claim in claims])]


def above(bound: float = 0) -> Predicate:
    return Predicate("x", above=bound)


def test_a_direction_is_decided_by_students_t() -> None:
    found = part(above(), "", of(*NOISE))
    assert found.p[0] == pytest.approx(stats.ttest_1samp(NOISE, 0, alternative="greater").pvalue)
    assert found.p[0] + found.p[1] == pytest.approx(1)
    half = stats.t.ppf(0.975, 4) * stats.sem(NOISE)
    assert found.interval.high - found.interval.value == pytest.approx(half)


def test_values_without_scatter_are_decided_by_the_sign_test() -> None:
    assert part(above(), "", of(*[0.1] * 5)).p == (1 / 32, 1)
    assert part(above(), "", of(*[-0.1] * 5)).p == (1, 1 / 32)
    assert part(above(), "", of(*[0.0] * 5)).p == (1, 1)


@pytest.mark.parametrize(
    ("test", "values", "expected"),
    [
        (above(), CLEAR, REPRODUCED),
        (above(), tuple(-v for v in CLEAR), NOT_REPRODUCED),
        (above(), NOISE, OPEN),
        (above(0.5), CLEAR, NOT_REPRODUCED),
        (Predicate("x", below=0.3), CLEAR, REPRODUCED),
        (Predicate("x", below=0.1), CLEAR, NOT_REPRODUCED),
        (Predicate("x", within=0.3), CLEAR, REPRODUCED),
        (Predicate("x", within=0.1), CLEAR, NOT_REPRODUCED),
        (Predicate("x", within=0.05), NOISE, OPEN),
        (above(), (0.5,), OPEN),
        (above(), (0.1,) * 5, OPEN),
        (above(), (0.1,) * 6, REPRODUCED),
        (above(), (-0.1,) * 6, NOT_REPRODUCED),
        (above(), (0.0,) * 6, OPEN),
        (Predicate("x", below=0.02), (0.0,) * 6, REPRODUCED),
    ],
)
def test_one_claim_of_one_test(test: Predicate, values: tuple[float, ...], expected: str) -> None:
    assert verdicts([(test, of(*values))]) == [expected]


def test_a_claim_of_several_tests() -> None:
    yes, no, unsure = of(*CLEAR), of(*(-v for v in CLEAR)), of(*NOISE)
    assert verdicts([(above(), yes), (above(), yes)]) == [REPRODUCED]
    assert verdicts([(above(), yes), (above(), no)]) == [PARTLY]
    assert verdicts([(above(), yes), (above(), unsure)]) == [PARTLY]
    assert verdicts([(above(), no), (above(), unsure)]) == [NOT_REPRODUCED]
    assert verdicts([(above(), unsure)]) == [OPEN]


def test_the_more_claims_the_more_it_takes() -> None:
    middling = [(above(), of(0.1, 0.2, 0.15, 0.05, 0.12))]
    noise = [(above(), of(*NOISE))]
    assert verdicts(middling) == [REPRODUCED]
    assert verdicts(middling, *[noise] * 99)[0] == OPEN
    assert decide([[(above(), "", of(0.1, 0.2, 0.15, 0.05, 0.12))]])[0].parts[0].lean == REPRODUCED


def test_a_claim_of_one_test_holds_or_not_but_never_in_part() -> None:
    middling = [(above(), of(0.1, 0.2, 0.15, 0.05, 0.12))]
    in_part = [(above(), of(*CLEAR)), (above(), of(*NOISE))]
    assert verdicts(middling, *[in_part] * 99) == [OPEN, *[PARTLY] * 99]


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.6, 0.9]) == [1, 1]


def test_verdicts_of_pure_noise_are_wrong_less_often_than_they_promise() -> None:
    rng = np.random.default_rng(0)
    wrong = sum(
        any(verdict != OPEN for verdict in verdicts(*([(above(), of(*rng.normal(size=5)))] for _ in range(20))))
        for _ in range(60)
    )
    assert wrong / 60 < 0.15  # 5 % for each of the two directions at most


@pytest.mark.parametrize(
    ("test", "value", "expected"),
    [
        (above(), 0.1, True),
        (above(), -0.1, False),
        (Predicate("x", below=0.0), -0.1, True),
        (Predicate("x", within=0.1), 0.2, False),
    ],
)
def test_keeps(test: Predicate, value: float, expected: bool) -> None:
    assert keeps(test, value) is expected


def test_no_value_is_no_number() -> None:
    assert math.isnan(part(above(), "", Sample((), "seeds")).interval.value)
