"""From values over seeds to a verdict: intervals, tests, and the correction for how many were made."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xling_utils.claims.predicates import Predicate, Sample
from xling_utils.measures import Estimate, Interval

HOLDS, IN_PART, FAILS, OPEN = "holds", "holds in part", "does not hold", "cannot tell"
UNTESTABLE, UNTESTED = "not testable at this size", "not tested"
DECIDED = (HOLDS, IN_PART, FAILS)
VERDICTS = (*DECIDED, OPEN, UNTESTABLE, UNTESTED)
LEVEL = 0.05
"""About the share of wrong verdicts that is expected among the decided ones of a scale, at most; see :func:`decide`."""
POWER = 0.8
"""The chance to see what is there, at which a test is said to have been able to see it."""


@dataclass(frozen=True)
class Part:
    """One test of a claim: the ``measure`` it was made on (empty where the claim names its own), mean and 95 %
    ``interval`` over ``unit``, and one-sided p-values: that the bound is kept, that it is broken, and that what the
    claim says is less than ``matters``, the smallest effect of interest (0: the bound is what matters). ``means`` are
    those of the languages that seeds took in turn, each over ``counts`` of them; the interval is then that of their
    mean."""

    test: Predicate
    measure: str
    interval: Interval
    unit: str
    p: tuple[float, float, float]
    matters: float = 0.0
    means: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What was tested, in words: ``"retrieval: default - Fake > 0"``."""
        start = f"{self.measure}: " if self.measure else ""
        return f"{start}{self.test.text} {self.test.bound}"

    @property
    def lean(self) -> str:
        """What this test alone would say, at ``LEVEL`` and two-sided, with no correction for the others."""
        holds, fails, _ = self.p
        if 2 * min(holds, fails) <= LEVEL:
            return HOLDS if holds < fails else FAILS
        return OPEN

    @property
    def scatter(self) -> float:
        """The standard error times the root of the number of values: their standard deviation, or that of one language
        where they took several in turn and as many seeds each; NaN of fewer than two."""
        from scipy.special import stdtrit

        half = (self.interval.high - self.interval.low) / 2
        return half * self.interval.n**0.5 / float(stdtrit(self._freedom, 0.975)) if self.interval.n > 1 else math.nan

    def predicted(self, language: str, level: float) -> tuple[float, float]:
        """Where one more value lies, but for a chance of ``level``: of seeds that took languages in turn, one of
        ``language``."""
        from scipy.special import stdtrit

        n = self.interval.n
        shares = [1 / count for count in self.counts.values()] or [1 / n]
        deviation = self.scatter * len(shares) / (n * sum(shares)) ** 0.5  # within a language
        own = 1 / self.counts[language] if language in self.counts else len(shares) / n
        middle = self.means.get(language, self.interval.value)
        half = float(stdtrit(self._freedom, 1 - level / 2)) * deviation * (1 + own) ** 0.5
        return middle - half, middle + half

    @property
    def _freedom(self) -> int:
        return self.interval.n - max(1, len(self.means))

    def seen(self, level: float) -> float:
        """The distance from the bound that so many values would have told, but for a chance of 1 - ``POWER``, at the
        two-sided ``level``: by noncentral t. NaN where there is no scatter to tell it by."""
        from scipy.special import nctdtrinc, stdtrit

        n = self.interval.n
        if n < 2 or self.scatter == 0:
            return math.nan
        of = self._freedom
        return float(nctdtrinc(of, 1 - POWER, stdtrit(of, 1 - level / 2))) * self.scatter / n**0.5


@dataclass(frozen=True)
class Asked:
    """What a claim rests on: its ``parts``, and how many more tests it has that could not be made (``missing``)."""

    parts: tuple[Part, ...]
    missing: int = 0


@dataclass(frozen=True)
class Decision:
    """The ``verdict`` of one claim, and ``p``: that of the verdict, corrected; of ``OPEN``, the smallest that any
    verdict would have had. ``criteria`` says what each of ``CRITERIA`` would have said."""

    verdict: str
    p: float
    criteria: Mapping[str, str]


def decide(claims: Sequence[Asked]) -> list[Decision]:
    """Decides claims together, each by all of its tests; Student's t on every sample (the sign test on one without
    scatter), and the correction of Y. Benjamini and Y. Hochberg, Controlling the false discovery rate (1995), over the
    claims.

    *Holds*: all tests hold, the weakest of them significantly. *Holds in part*: the strongest does significantly, after
    Bonferroni's correction over the tests of the claim; also a claim of which a test could not be made. *Does not
    hold*: none holds, and one is broken so, or shown to be less than what matters.

    The first two share a correction over all claims, each a hypothesis of its own where a claim has several tests; the
    third has another. Each is made at half of ``LEVEL``, so that the share of wrong ones among all tests that pass is
    expected to be below it; among verdicts it is about that, as a claim of several tests has two. A sample of fewer
    than two values cannot tell.
    """
    by = {name: _verdicts(claims, criterion) for name, criterion in CRITERIA.items()}
    return [
        Decision(*by[DECIDES][place], {name: found[place][0] for name, found in by.items()})
        for place in range(len(claims))
    ]


def levels(claims: Sequence[Asked]) -> tuple[float, float]:
    """The two-sided levels at which one more test would have passed beside those of ``claims`` that did: as holding,
    and as broken."""
    adjust = CRITERIA[DECIDES].adjust
    lists = _lists(claims, CRITERIA[DECIDES])
    passed = [(sum(p <= LEVEL for p in adjust(each)) + 1, len(each)) for each in lists]
    holding, broken = (LEVEL * min(1.0, more / max(tests, 1)) for more, tests in passed)
    return holding, broken


def part(test: Predicate, measure: str, found: Sample, matters: float = 0.0) -> Part:
    """One test on its sample."""
    estimate = Estimate.of(found.values, found.languages)
    holds, fails = _sides(test, estimate)
    _, small = _sides(test, estimate, matters)
    return Part(
        test, measure, estimate.interval(), found.unit, (holds, fails, small), matters, estimate.means, estimate.counts
    )


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values (S. Holm, A simple sequentially rejective multiple test procedure, 1979), in the order
    of ``ps``."""
    order = sorted((p, place) for place, p in enumerate(ps))
    adjusted, least = [1.0] * len(ps), 0.0
    for rank, (p, place) in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * p))
        adjusted[place] = least
    return adjusted


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Their adjusted p-values, in the order of ``ps``."""
    from scipy.stats import false_discovery_control

    return [float(p) for p in false_discovery_control(ps)] if ps else []


@dataclass(frozen=True)
class Criterion:
    """A way to a verdict: how p-values are corrected, and whether an effect that is less than what matters counts as
    none."""

    adjust: Callable[[Sequence[float]], Sequence[float]]
    small: bool = True
    signs: bool = False


CRITERIA = {
    "sign": Criterion(list, small=False, signs=True),
    "interval": Criterion(list, small=False),
    "equivalence": Criterion(list),
    "Benjamini-Hochberg": Criterion(benjamini_hochberg),
    "Holm": Criterion(holm),
}
"""Name -> a criterion, from the most lenient to the strictest: the side on which the mean lies; the 95 % interval;
the same with equivalence tests against what matters; and these corrected for the number of claims."""
DECIDES, MARKS = "Benjamini-Hochberg", "Holm"
"""The criterion of the verdict, and the one under which it is beyond doubt."""


def _verdicts(claims: Sequence[Asked], by: Criterion) -> list[tuple[str, float]]:
    """A claim's verdict by a criterion, and its p."""
    held, broken = map(by.adjust, _lists(claims, by))
    some, rest = held[: len(claims)], iter(held[len(claims) :])
    every = [next(rest) if len(claim.parts) > 1 else p for claim, p in zip(claims, some, strict=True)]
    found = []
    for claim, *ps in zip(claims, every, some, broken, strict=True):
        for verdict, p in zip(DECIDED, ps, strict=True):
            if p <= LEVEL:
                found.append((IN_PART if verdict == HOLDS and claim.missing else verdict, p))
                break
        else:
            found.append((OPEN, min(ps)))
    return found


def _lists(claims: Sequence[Asked], by: Criterion) -> tuple[list[float], list[float]]:
    """What is corrected together, two-sided: that the strongest test of each claim holds, then, of the claims of
    several, that the weakest does; and that the strongest is broken."""
    holds = [[_p(part, 0, by) for part in claim.parts] for claim in claims]
    fails = [[_p(part, 2 if by.small else 1, by) for part in claim.parts] for claim in claims]
    weakest = [_two_sided(max(each)) for each in holds if len(each) > 1]
    return [*map(_strongest, holds), *weakest], [*map(_strongest, fails)]


def _p(part: Part, which: int, by: Criterion) -> float:
    if by.signs:
        return float(part.p[which] >= part.p[1 - which])
    return part.p[which]


def _strongest(ps: Sequence[float]) -> float:
    return _two_sided(len(ps) * min(ps))


def _two_sided(p: float) -> float:
    return min(1.0, 2 * p)


def margin(test: Predicate, value: float) -> float:
    """How far a single value lies on the side of the bound that the claim says; below zero on the other."""
    if test.within is not None:
        return test.within - abs(value)
    return value - test.above if test.above is not None else (test.below or 0.0) - value


def keeps(test: Predicate, value: float) -> bool:
    """Whether a single value lies on that side."""
    return margin(test, value) > 0


def _sides(test: Predicate, found: Estimate, by: float = 0.0) -> tuple[float, float]:
    """One-sided p of the claim's side, where there is one bound ``by`` so much, and of the other. For ``within`` these
    are the two one-sided tests of equivalence (D. Schuirmann, 1987), and a mean that lies beyond either bound; as it
    lies beyond one at most, the smaller p needs no correction."""
    if found.freedom < 1:
        return 1.0, 1.0
    if test.within is not None:
        above_low, below_low = found.sides(-test.within)
        above_high, below_high = found.sides(test.within)
        return max(above_low, below_high), min(below_low, above_high)
    if test.above is not None:
        return found.sides(test.above + by)
    above, below = found.sides((test.below or 0.0) - by)
    return below, above
