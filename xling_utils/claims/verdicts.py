"""From values over seeds to a verdict: intervals, tests, and the correction for how many were made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xling_utils.claims.predicates import Predicate, Sample
from xling_utils.measures import Interval, over_seeds

REPRODUCED, PARTLY, NOT_REPRODUCED, OPEN = "reproduced", "partly", "not reproduced", "cannot tell"
UNTESTED = "untested"
VERDICTS = (REPRODUCED, PARTLY, NOT_REPRODUCED, OPEN, UNTESTED)
LEVEL = 0.05
"""The chance, over all tests of a scale, that any of its verdicts has the wrong sign."""


@dataclass(frozen=True)
class Part:
    """One test of a claim: the ``measure`` it was made on (empty where the claim names its own), mean and 95 %
    ``interval`` over ``unit``, and the one-sided ``p`` that the bound is kept, and that it is broken."""

    test: Predicate
    measure: str
    interval: Interval
    unit: str
    p: tuple[float, float]

    @property
    def text(self) -> str:
        """What was tested, in words: ``"retrieval: default - Fake > 0"``."""
        start = f"{self.measure}: " if self.measure else ""
        return f"{start}{self.test.text} {self.test.bound}"

    @property
    def lean(self) -> str:
        """What this test alone would say, at ``LEVEL`` and two-sided, with no correction for the others."""
        holds, fails = self.p
        if 2 * min(holds, fails) <= LEVEL:
            return REPRODUCED if holds < fails else NOT_REPRODUCED
        return OPEN


@dataclass(frozen=True)
class Decision:
    """The ``verdict`` of one claim, its ``parts``, and ``p``: that of the verdict, corrected; of ``OPEN``, the smallest
    that any verdict would have had."""

    verdict: str
    parts: tuple[Part, ...]
    p: float


def decide(claims: Sequence[Sequence[tuple[Predicate, str, Sample]]]) -> list[Decision]:
    """Decides the claims together, each a list of (test, measure, sample); Student's t on every sample (the sign
    test on one without scatter), and Holm's correction over the claims (S. Holm, A simple sequentially rejective
    multiple test procedure, 1979).

    *Reproduced*: all tests hold, the weakest of them significantly. *Partly*: the strongest holds significantly, after
    Bonferroni's correction over the tests of the claim. *Not reproduced*: none does, and one is broken so.

    The first two share a Holm correction over all claims, each a hypothesis of its own where a claim has several tests;
    the third has another. Both are two-sided, at ``LEVEL``: together no verdict is wrong but for that chance. A sample
    of fewer than two values cannot tell.
    """
    found = [tuple(part(*each) for each in claim) for claim in claims]
    several = [parts for parts in found if len(parts) > 1]
    held = holm([*map(_some_holds, found), *map(_all_hold, several)])
    some, rest = held[: len(found)], iter(held[len(found) :])
    every = [next(rest) if len(parts) > 1 else p for parts, p in zip(found, some, strict=True)]
    fails = holm([*map(_some_fails, found)])
    decisions = []
    for parts, *ps in zip(found, every, some, fails, strict=True):
        for verdict, p in zip((REPRODUCED, PARTLY, NOT_REPRODUCED), ps, strict=True):
            if p <= LEVEL:
                decisions.append(Decision(verdict, parts, p))
                break
        else:
            decisions.append(Decision(OPEN, parts, min(ps)))
    return decisions


def part(test: Predicate, measure: str, found: Sample) -> Part:
    """One test on its sample."""
    interval = over_seeds(found.values) if found.values else Interval(math.nan, math.nan, math.nan, 0)
    return Part(test, measure, interval, found.unit, _sides(test, found.values))


def _all_hold(parts: Sequence[Part]) -> float:
    return _two_sided(max(part.p[0] for part in parts))


def _some_holds(parts: Sequence[Part]) -> float:
    return _two_sided(len(parts) * min(part.p[0] for part in parts))


def _some_fails(parts: Sequence[Part]) -> float:
    return _two_sided(len(parts) * min(part.p[1] for part in parts))


def _two_sided(p: float) -> float:
    return min(1.0, 2 * p)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order of ``ps``."""
    order = sorted((p, place) for place, p in enumerate(ps))
    adjusted, least = [1.0] * len(ps), 0.0
    for rank, (p, place) in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * p))
        adjusted[place] = least
    return adjusted


def keeps(test: Predicate, value: float) -> bool:
    """Whether a single value lies on the side of the bound that the claim says."""
    if test.within is not None:
        return abs(value) < test.within
    return value > test.above if test.above is not None else value < (test.below or 0.0)


def _sides(test: Predicate, values: Sequence[float]) -> tuple[float, float]:
    """One-sided p of the claim's side and of the other. For ``within`` these are the two one-sided tests of
    equivalence (D. Schuirmann, 1987), and a mean that lies beyond either bound."""
    if len(values) < 2:
        return 1.0, 1.0
    if test.within is not None:
        above_low, below_low = _one_sided(values, -test.within)
        above_high, below_high = _one_sided(values, test.within)
        return max(above_low, below_high), min(1.0, 2 * min(below_low, above_high))
    if test.above is not None:
        return _one_sided(values, test.above)
    above, below = _one_sided(values, test.below or 0.0)
    return below, above


def _one_sided(values: Sequence[float], bound: float) -> tuple[float, float]:
    """p that the mean is not above ``bound``, and that it is not below. Values that are all alike, as rank correlations
    of few languages can be, have no scatter for Student's t: the sign test."""
    from scipy.stats import ttest_1samp

    if max(values) == min(values):
        chance = 0.5 ** len(values)
        return (chance if values[0] > bound else 1.0, chance if values[0] < bound else 1.0)
    above = float(ttest_1samp(values, bound, alternative="greater").pvalue)
    return above, 1 - above
