"""How many seeds a claim would take to be decided, and what they cost: a plan, made from rows that are there."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xling_utils.chapters import MODULES, records
from xling_utils.claims import ledger
from xling_utils.claims.predicates import names_in
from xling_utils.claims.rows import Rows
from xling_utils.claims.testing import Finding
from xling_utils.claims.verdicts import POWER, Part, margin
from xling_utils.core.scales import scale as scale_of

if TYPE_CHECKING:
    import pandas as pd

MOST = 1000
"""Seeds; whatever takes more is not decided by seeds."""
SECONDS = 3600


@dataclass(frozen=True)
class Plan:
    """Of one claim: ``seeds`` that decide it with a chance of ``POWER``, if its effect and its scatter are what the
    recorded seeds show (none: more than ``MOST``), the ``recorded`` ones, and ``hours`` of a core that the training of
    one seed of its runs took."""

    finding: Finding
    seeds: int | None
    recorded: int
    hours: float

    @property
    def cost(self) -> float | None:
        """Core-hours of all ``seeds``. Claims share runs: costs do not add up."""
        return None if self.seeds is None else self.seeds * self.hours


def plans(scale: str) -> list[Plan]:
    """A plan for every claim of which something is recorded at ``scale``, in their order."""
    tables = {chapter: records.load(chapter, scale) for chapter in MODULES}
    rows = Rows(tables, scale_of(scale).encoder.layers // 2)
    seconds = _seconds(scale)
    seed_of = {run: seed for table in tables.values() for run, seed in zip(table["run"], table["seed"], strict=True)}
    made = []
    for finding in ledger.findings(scale):
        runs = _runs(finding, rows)
        recorded = max((part.interval.n for part in finding.parts if part.unit == "seeds"), default=0)
        if recorded > 1:
            trained = {seed_of[run] for run in runs if run in seed_of}  # more where chapters of other seeds are joined
            hours = sum(seconds.get(run, 0.0) for run in runs) / len(trained) / SECONDS
            made.append(Plan(finding, seeds(finding), recorded, hours))
    return made


def seeds(finding: Finding) -> int | None:
    """The fewest at which ``finding`` has any verdict with a chance of ``POWER``, at its level: all tests hold, or one
    of several does, or one fails. None if more than ``MOST``, and without scatter over seeds to count by."""
    parts, (holding, broken) = finding.parts, finding.levels
    if not parts:
        return None
    found = [(margin(part.test, part.interval.value), part) for part in parts]
    ways = (
        max(_fewest(kept, part, holding, _farther(kept, part)) for kept, part in found),
        min(_fewest(kept, part, holding / len(parts), _farther(kept, part)) for kept, part in found),
        min(_fewest(part.matters - kept, part, broken / len(parts)) for kept, part in found),
    )
    return int(min(ways)) if min(ways) <= MOST else None


def _farther(kept: float, part: Part) -> float:
    """The distance to the other bound of a mean that lies ``kept`` from the nearer one; there may be one alone."""
    return math.inf if part.test.within is None else 2 * part.test.within - kept


def _fewest(distance: float, part: Part, level: float, other: float = math.inf) -> float:
    """Seeds at which Student's t finds a mean at ``distance``, in the one direction, at the two-sided ``level``, and at
    the ``other`` in the other, where they scatter, and take languages in turn, as those of ``part``."""
    from scipy.special import nctdtr, stdtrit

    scatter, languages = part.scatter, max(1, len(part.means))
    if not distance > 0 or math.isnan(scatter):
        return math.inf
    if scatter == 0:
        return 1 + math.ceil(-math.log2(level))  # the sign test
    low, high = languages + 1, MOST + 1  # power grows with every seed

    def seen(n: int) -> bool:
        of = n - languages
        least = stdtrit(of, 1 - level / 2)
        missed = sum(nctdtr(of, far / scatter * n**0.5, least) for far in (distance, other) if far < math.inf)
        return bool(1 - missed >= POWER)

    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if seen(middle) else (middle + 1, high)
    return low if low <= MOST else math.inf


def _runs(finding: Finding, rows: Rows) -> set[str]:
    claim, known = finding.claim, ledger.load()
    used = set().union(*map(names_in, claim.tests))
    selections = [known.selections(claim, measure) for measure in claim.measured or ("",)]
    return {run for made in selections for name in used for run in rows.runs(made[name])}


def _seconds(scale: str) -> dict[str, float]:
    tables: Iterable[pd.DataFrame] = (records.provenance(chapter, scale) for chapter in MODULES)
    return {run: float(took) for table in tables for run, took in zip(table["run"], table["seconds"], strict=True)}


def lines(made: Iterable[Plan]) -> list[dict[str, object]]:
    """A row a claim, for a terminal: those first that the fewest hours decide."""
    ordered = sorted(made, key=lambda plan: (plan.cost is None, plan.cost or 0.0))
    return [
        {
            "id": plan.finding.claim.id,
            "verdict": plan.finding.verdict,
            "recorded seeds": plan.recorded,
            "seeds to decide": f"over {MOST:,}" if plan.seeds is None else plan.seeds,
            "core-hours": "" if plan.cost is None else f"{plan.cost:.1f}",
        }
        for plan in ordered
    ]
