"""Verdicts: Student's t over a sample, corrections over the claims, and what several tests say together."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from xling_utils.claims.predicates import Predicate, Sample
from xling_utils.claims.verdicts import (
    CRITERIA,
    FAILS,
    HOLDS,
    IN_PART,
    LEVEL,
    OPEN,
    POWER,
    Asked,
    Decision,
    benjamini_hochberg,
    decide,
    holm,
    keeps,
    levels,
    part,
)  # fmt: skip

CLEAR = (0.20, 0.21, 0.19, 0.20, 0.205)
NOISE = (0.3, -0.2, 0.1, -0.1, 0.0)


def of(*values: float) -> Sample:
    return Sample(values, "seeds")


def verdicts(*claims: list[tuple[Predicate, Sample]]) -> list[str]:
    return [decision.verdict for decision in decisions(*claims)]


def decisions(*claims: list[tuple[Predicate, Sample]], missing: int = 0) -> list[Decision]:
    return decide([Asked(tuple(part(t, "", s) for t, s in claim), missing) for claim in claims])


def asked(*tests: tuple[Predicate, Sample]) -> Asked:
    return Asked(tuple(part(test, "", found) for test, found in tests))


def above(bound: float = 0) -> Predicate:
    return Predicate("x", above=bound)


def test_a_direction_is_decided_by_students_t() -> None:
    found = part(above(), "", of(*NOISE))
    assert found.p[0] == pytest.approx(stats.ttest_1samp(NOISE, 0, alternative="greater").pvalue)
    assert found.p[0] + found.p[1] == pytest.approx(1)
    half = stats.t.ppf(0.975, 4) * stats.sem(NOISE)
    assert found.interval.high - found.interval.value == pytest.approx(half)


def test_languages_in_turn_are_no_scatter_of_seeds() -> None:
    """The same as least squares with one mean a language, of whose means the mean is asked."""
    values, labels = (0.31, 0.28, 0.30, 0.02, 0.05, 0.11), ("fr", "fr", "fr", "hi", "hi", "hi")
    found = part(above(), "", Sample(values, "seeds", labels))
    design = np.array([[label == "fr", label == "hi"] for label in labels], dtype=float)
    means, squares, *_ = np.linalg.lstsq(design, np.array(values), rcond=None)
    error = (float(squares[0]) / 4 * 2 / 3) ** 0.5 / 2
    assert found.means == pytest.approx({"fr": means[0], "hi": means[1]})
    assert found.p[0] == pytest.approx(stats.t.sf(means.mean() / error, 4))
    assert found.interval.high - found.interval.value == pytest.approx(stats.t.ppf(0.975, 4) * error)
    assert found.scatter == pytest.approx((squares[0] / 4) ** 0.5)
    assert part(above(), "", Sample((0.3, 0.0), "seeds", ("fr", "hi"))).p == part(above(), "", of(0.3, 0.0)).p


def test_values_without_scatter_are_decided_by_the_sign_test() -> None:
    assert part(above(), "", of(*[0.1] * 5)).p == (1 / 32, 1, 1)
    assert part(above(), "", of(*[-0.1] * 5)).p == (1, 1 / 32, 1 / 32)
    assert part(above(), "", of(*[0.0] * 5)).p == (1, 1, 1)
    rounded = (0.9 - 0.8, 0.4 - 0.3, 0.7 - 0.6)
    assert part(above(), "", of(*rounded)).p == (1 / 8, 1, 1) and part(above(0.1), "", of(*rounded)).p == (1, 1, 1)


def test_languages_without_scatter_are_decided_by_how_many_values_lie_on_either_side() -> None:
    found = part(above(), "", Sample((0.3, 0.3, -0.1, -0.1, 0.2, 0.2), "seeds", ("fr", "fr", "hi", "hi", "ru", "ru")))
    sides = (stats.binomtest(4, 6, alternative="greater").pvalue, stats.binomtest(2, 6, alternative="greater").pvalue)
    assert found.interval.low == found.interval.high and found.p[:2] == pytest.approx(sides)


@pytest.mark.parametrize(
    ("test", "values", "expected"),
    [
        (above(), CLEAR, HOLDS),
        (above(), tuple(-v for v in CLEAR), FAILS),
        (above(), NOISE, OPEN),
        (above(0.5), CLEAR, FAILS),
        (Predicate("x", below=0.3), CLEAR, HOLDS),
        (Predicate("x", below=0.1), CLEAR, FAILS),
        (Predicate("x", within=0.3), CLEAR, HOLDS),
        (Predicate("x", within=0.1), CLEAR, FAILS),
        (Predicate("x", within=0.05), NOISE, OPEN),
        (above(), (0.5,), OPEN),
        (above(), (0.1,) * 5, OPEN),
        (above(), (0.1,) * 6, HOLDS),
        (above(), (-0.1,) * 6, FAILS),
        (above(), (0.0,) * 6, OPEN),
        (Predicate("x", below=0.02), (0.0,) * 6, HOLDS),
    ],
)
def test_one_claim_of_one_test(test: Predicate, values: tuple[float, ...], expected: str) -> None:
    assert verdicts([(test, of(*values))]) == [expected]


def test_a_claim_of_several_tests() -> None:
    yes, no, unsure = of(*CLEAR), of(*(-v for v in CLEAR)), of(*NOISE)
    assert verdicts([(above(), yes), (above(), yes)]) == [HOLDS]
    assert verdicts([(above(), yes), (above(), no)]) == [IN_PART]
    assert verdicts([(above(), yes), (above(), unsure)]) == [IN_PART]
    assert verdicts([(above(), no), (above(), unsure)]) == [FAILS]
    assert verdicts([(above(), unsure)]) == [OPEN]


def test_the_more_claims_the_more_it_takes() -> None:
    middling = [(above(), of(0.1, 0.2, 0.15, 0.05, 0.12))]
    noise = [(above(), of(*NOISE))]
    assert verdicts(middling) == [HOLDS]
    assert verdicts(middling, *[noise] * 99)[0] == OPEN
    assert part(above(), "", of(0.1, 0.2, 0.15, 0.05, 0.12)).lean == HOLDS


def test_the_more_is_decided_the_less_it_takes() -> None:
    middling, clear = [(above(), of(0.1, 0.2, 0.15, 0.05, 0.12))], [(above(), of(*CLEAR))]
    found = decisions(middling, *[clear] * 99)
    assert found[0].verdict == HOLDS and found[0].criteria["Holm"] == HOLDS
    half = decisions(middling, *[clear] * 40, *[[(above(), of(*NOISE))]] * 59)
    assert half[0].verdict == HOLDS and half[0].criteria["Holm"] == OPEN


def test_a_further_test_would_have_passed_at_the_level_that_is_said() -> None:
    yes, no, noise = (asked((above(), of(*v))) for v in (CLEAR, [-v for v in CLEAR], NOISE))
    several = asked((above(), of(*CLEAR)), (above(), of(*NOISE)))
    claims = [*[yes] * 7, *[no] * 3, *[several] * 4, *[noise] * 6]
    holding, broken = levels(claims)
    assert (holding, broken) == pytest.approx((LEVEL * (7 + 4 + 1) / 24, LEVEL * 4 / 20))
    assert levels([]) == (LEVEL, LEVEL)
    # In place of a claim that says nothing, one with just that p, or a little more.
    for which, level, verdict in ((0, holding, HOLDS), (2, broken, FAILS)):
        for times, expected in ((0.99, verdict), (1.01, OPEN)):
            ps = tuple(times * level / 2 if place == which else 0.9 for place in range(3))
            last = Asked((replace(noise.parts[0], p=ps),))
            assert decide([*claims[:-1], last])[-1].verdict == expected


def test_what_is_beyond_one_bound_of_two_is_not_corrected_for_the_other() -> None:
    values = of(0.03, 0.05, 0.04, 0.06, 0.05)
    within, beyond = part(Predicate("x", within=0.02), "", values), part(above(0.02), "", values)
    assert within.p[1] == pytest.approx(beyond.p[0])
    near = part(Predicate("x", within=0.02), "", of(0.0105, 0.0305, 0.0205))
    assert near.p[1] < near.p[0], "the mean lies beyond"


def test_a_claim_that_lacks_a_test_holds_in_part_at_most() -> None:
    yes, no = [(above(), of(*CLEAR))], [(above(), of(*(-v for v in CLEAR)))]
    assert [found.verdict for found in decisions(yes, no, missing=1)] == [IN_PART, FAILS]


def test_less_than_what_matters_is_none() -> None:
    slight = of(0.004, -0.003, 0.002, 0.001, -0.001)
    (found,) = decide([Asked((part(above(), "", slight, matters=0.02),))])
    assert found.verdict == FAILS
    assert found.criteria == {
        "sign": HOLDS, "interval": OPEN, "equivalence": FAILS, "Benjamini-Hochberg": FAILS,
        "Holm": FAILS,
    }  # fmt: skip
    assert list(found.criteria) == list(CRITERIA)
    below = Predicate("x", below=0.0)
    assert decide([Asked((part(below, "", slight, matters=0.02),))])[0].verdict == FAILS
    sure = of(0.004, 0.005, 0.0045, 0.0042, 0.0048)  # slight, and above zero beyond doubt
    assert decide([Asked((part(above(), "", sure, matters=0.02),))])[0].verdict == HOLDS


def test_what_could_have_been_seen_is_seen_as_often_as_it_says() -> None:
    found = part(above(), "", of(*NOISE))
    distance, scatter = found.seen(0.05), float(np.std(NOISE, ddof=1))
    assert found.scatter == pytest.approx(scatter)
    rng = np.random.default_rng(1)
    draws = rng.normal(distance, scatter, (4000, 5))
    passed = stats.ttest_1samp(draws, 0, axis=1, alternative="greater").pvalue <= 0.025
    assert passed.mean() == pytest.approx(POWER, abs=0.02)
    assert math.isnan(part(above(), "", of(0.1)).seen(0.05)) and math.isnan(part(above(), "", of(0.1, 0.1)).seen(0.05))


def test_benjamini_and_hochberg_by_hand() -> None:
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert benjamini_hochberg([]) == []


def test_a_claim_of_one_test_holds_or_not_but_never_in_part() -> None:
    middling = [(above(), of(0.1, 0.2, 0.15, 0.05, 0.12))]
    noise = [(above(), of(*NOISE))]
    in_part = [(above(), of(*CLEAR)), (above(), of(*NOISE))]
    assert verdicts(middling, in_part, *[noise] * 98) == [OPEN, IN_PART, *[OPEN] * 98]


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.6, 0.9]) == [1, 1]


def test_of_decided_verdicts_fewer_are_wrong_than_they_promise() -> None:
    rng, wrong = np.random.default_rng(0), []
    for _ in range(60):
        found = verdicts(*([(above(), of(*rng.normal(3.0 if n < 10 else 0.0, 1, 5)))] for n in range(20)))
        decided = [n for n, verdict in enumerate(found) if verdict != OPEN]
        wrong.append(sum(n >= 10 or found[n] == FAILS for n in decided) / max(1, len(decided)))
    assert len(wrong) == 60 and sum(wrong) / 60 < 2 * LEVEL  # LEVEL is the promise, and 60 draws scatter


def test_noise_alone_is_seldom_decided() -> None:
    rng = np.random.default_rng(0)
    wrong = sum(
        any(verdict != OPEN for verdict in verdicts(*([(above(), of(*rng.normal(size=5)))] for _ in range(20))))
        for _ in range(60)
    )
    assert wrong / 60 < 0.15


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
