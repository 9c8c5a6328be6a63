"""Means over seeds with their intervals, also where seeds take languages in turn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

FEWEST_DRAWN = 3
"""Student's interval of two values is 12.7 standard errors to either side: wider than a chart."""
ROUNDING = 1e-9
"""What values may differ by and still be the same: quantities are differences of floats."""


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval and the number of things it was computed over."""

    value: float
    low: float
    high: float
    n: int

    def drawn(self) -> Interval:
        """As charts show it: without bounds (NaN) where it is over fewer than :data:`FEWEST_DRAWN`."""
        nan = float("nan")
        return self if self.n >= FEWEST_DRAWN else Interval(self.value, nan, nan, self.n)


@dataclass(frozen=True)
class Estimate:
    """A mean over ``n`` values with its standard ``error`` and degrees of ``freedom``. Of seeds that took languages in
    turn it is the mean of the languages' ``means``, each over ``counts`` seeds, and the error is made of what seeds of
    one language differ by: nothing is said about other languages. ``alike`` are the values that differ by no more than
    rounding from others of their language, where all do."""

    mean: float
    error: float
    freedom: int
    n: int
    means: Mapping[str, float]
    counts: Mapping[str, int]
    alike: tuple[float, ...] = ()

    @classmethod
    def of(cls, values: Sequence[float], languages: Sequence[str] = ()) -> Estimate:
        """``values`` a seed, and the ``languages`` of each where they take turns. Languages count alike; those of which
        no two seeds are there are not told apart."""
        labels = tuple(languages) or ("",) * len(values)
        pairs = list(zip(labels, values, strict=True))
        groups = [[value for label, value in pairs if label == each] for each in sorted({*labels})]
        if len(groups) == len(values):
            groups, labels = [list(values)] if groups else [], ("",)
        means = [fmean(group) for group in groups]
        n, freedom = len(values), len(values) - len(groups)
        if freedom < 1:
            return cls(means[0] if n else math.nan, math.nan, 0, n, {}, {})
        squares = sum((value - mean) ** 2 for group, mean in zip(groups, means, strict=True) for value in group)
        error = (squares / freedom * sum(1 / len(group) for group in groups)) ** 0.5 / len(groups)
        taken = sorted({*labels}) if len(groups) > 1 else []
        by, counts = dict(zip(taken, means, strict=False)), dict(zip(taken, map(len, groups), strict=False))
        if all(_same(min(group), max(group)) for group in groups):
            return cls(fmean(means), 0.0, freedom, n, by, counts, tuple(values))
        return cls(fmean(means), error, freedom, n, by, counts)

    def interval(self) -> Interval:
        """Student's, at 95 %; without bounds where a single value is there."""
        from scipy.special import stdtrit  # scipy.stats has the same, and takes half a second to import

        half = float(stdtrit(self.freedom, 0.975)) * self.error if self.freedom else math.nan
        return Interval(self.mean, self.mean - half, self.mean + half, self.n)

    def sides(self, bound: float) -> tuple[float, float]:
        """p that the mean is not above ``bound``, and that it is not below. Values that are all alike, as rank
        correlations of few languages can be, have no scatter for Student's t: the sign test."""
        from scipy.special import stdtr

        if self.alike:
            apart = [value > bound for value in self.alike if not _same(value, bound)]
            return _as_many(sum(apart), len(apart)), _as_many(len(apart) - sum(apart), len(apart))
        distance = (self.mean - bound) / self.error
        return float(stdtr(self.freedom, -distance)), float(stdtr(self.freedom, distance))


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=ROUNDING, abs_tol=ROUNDING)


def _as_many(heads: int, tosses: int) -> float:
    """The chance of so many heads or more."""
    return sum(math.comb(tosses, number) for number in range(heads, tosses + 1)) / 2**tosses


def over_seeds(values: Sequence[float], languages: Sequence[str] = ()) -> Interval:
    """Mean over seeds with Student's 95 % interval; a single seed has no interval (NaN bounds). Where each was measured
    in ``languages`` of its own, see :class:`Estimate`."""
    return Estimate.of(values, languages).interval()


def share_of_means(parts: Sequence[float], wholes: Sequence[float], languages: Sequence[str] = ()) -> Interval:
    """The share that the mean of ``parts`` is of that of ``wholes``, both a value a seed, with its 95 % interval;
    ``languages`` as in :class:`Estimate`.

    A ratio of means, since a mean of ratios is ruled by the seeds and languages whose whole is next to nothing. Its
    interval is Student's over what each seed adds to it to first order (the delta method; Cochran, *Sampling
    Techniques*, 1977, sec. 6.4). NaN of wholes whose mean is zero.
    """
    size = Estimate.of(wholes, languages).mean or math.nan
    ratio = Estimate.of(parts, languages).mean / size
    return over_seeds(
        [ratio + (part - ratio * whole) / size for part, whole in zip(parts, wholes, strict=True)], languages
    )
