"""From rows over seeds to a sentence: does a difference have a direction, or can these seeds not tell?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from xling_utils.retrieval import Interval, over_seeds

REPRODUCED, PARTLY, NOT_REPRODUCED, OPEN = "reproduced", "partly", "not reproduced", "these seeds cannot tell"


@dataclass(frozen=True)
class Verdict:
    """One claim, tested: ``value`` with its interval over ``n`` seeds, what it is, and what follows. ``measure`` names
    what it was tested on, where a claim is tested on several."""

    claim: str
    where: str
    quantity: str
    interval: Interval
    verdict: str
    measure: str = ""


def paired(first: pd.DataFrame, second: pd.DataFrame) -> Interval:
    """Mean over seeds of ``first`` - ``second`` (columns ``seed``, ``value``), seeds that both have.

    A seed's several rows (languages) are averaged before.
    """
    one, other = (frame.groupby("seed")["value"].mean() for frame in (first, second))
    differences = (one - other).dropna()
    if differences.empty:
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    return over_seeds(differences.tolist())


def direction(claim: str, where: str, quantity: str, interval: Interval, measure: str = "") -> Verdict:
    """Tests a claim that ``quantity`` is positive: its interval must exclude zero, on either side."""
    if interval.low > 0:
        verdict = REPRODUCED
    elif interval.high < 0:
        verdict = NOT_REPRODUCED
    else:
        verdict = OPEN  # includes the single seed, whose bounds are NaN
    return Verdict(claim, where, quantity, interval, verdict, measure)


def all_of(claim: str, where: str, parts: Sequence[Verdict]) -> Verdict:
    """A claim of several directions: reproduced if all are, partly if some are; carries its weakest part. Parts that
    were not run are left out."""
    parts = [part for part in parts if part.interval.n] or parts
    weakest = min(parts, key=lambda part: part.interval.value if part.interval.n else float("inf"))
    found = {part.verdict for part in parts}
    if found == {REPRODUCED}:
        verdict = REPRODUCED
    elif REPRODUCED in found:
        verdict = PARTLY
    else:
        verdict = NOT_REPRODUCED if NOT_REPRODUCED in found else OPEN
    return Verdict(claim, where, weakest.quantity, weakest.interval, verdict)


def frame(verdicts: Sequence[Verdict], over: str = "seeds") -> pd.DataFrame:
    """Verdicts as a table to show; ``over`` says what intervals are over."""
    return pd.DataFrame(
        {
            "claim": [v.claim for v in verdicts],
            "where": [v.where for v in verdicts],
            "measured": [v.quantity for v in verdicts],
            "value": [f"{v.interval.value:.3f}" for v in verdicts],
            "95 % interval": [
                f"{v.interval.low:.3f} to {v.interval.high:.3f}" if v.interval.n > 1 else f"one {over[:-1]}"
                for v in verdicts
            ],
            over: [v.interval.n for v in verdicts],
            "verdict": [v.verdict.replace("seeds", over) for v in verdicts],
        }
    )


def side_by_side(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """Verdicts as a table to show: a row a claim, a column a measure that it was tested on."""
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for verdict in verdicts:
        rows.setdefault((verdict.claim, verdict.where, verdict.quantity), {})[verdict.measure] = _cell(verdict)
    measures = dict.fromkeys(verdict.measure for verdict in verdicts)
    found = [
        {"claim": claim, "where": where, "measured": quantity} | {name: cells.get(name, "–") for name in measures}
        for (claim, where, quantity), cells in rows.items()
    ]
    return pd.DataFrame(found, columns=["claim", "where", "measured", *measures])


def _cell(verdict: Verdict) -> str:
    interval = verdict.interval
    if interval.n < 2:
        return f"{verdict.verdict}: {interval.value:+.3f} (one seed)"
    return f"{verdict.verdict}: {interval.value:+.3f} ({interval.low:+.3f} to {interval.high:+.3f}; {interval.n} seeds)"
