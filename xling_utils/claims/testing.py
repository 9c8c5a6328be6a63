"""Claims as data, and what becomes of them on tidy rows: their tests, the floors that they stand on, their verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from xling_utils.claims.predicates import Predicate, Sample, names_in, sample
from xling_utils.claims.rows import Rows, Selection
from xling_utils.claims.verdicts import (
    FAILS,
    HOLDS,
    IN_PART,
    LEVEL,
    UNTESTABLE,
    UNTESTED,
    Asked,
    Part,
    decide,
    keeps,
    levels,
    part,
)
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale as scale_of

if TYPE_CHECKING:
    import pandas as pd

MISSING = "not recorded"
CONTROL = "control"
"""The paper of claims that are none: they say whether a measure is above its floor, and need no other."""


@dataclass(frozen=True)
class Claim:
    """A claim of a ``paper`` in our words: ``where`` it stands there, what numbers the authors give (``theirs``), the
    ``figure`` of ``chapter`` that shows ours, and the ``tests`` that must all hold, on every measure of ``measured``.
    It ``needs`` that other claims (by id) and predicates of its own hold first: else it asks a measure on its floor.
    ``untested`` says of a scale why it cannot tell, where the rows alone do not; ``changed``, when and why the claim
    asks something else than was planned."""

    id: str
    paper: str
    where: str
    chapter: str
    experiments: tuple[str, ...]
    figure: str
    claim: str
    theirs: str
    tests: tuple[Predicate, ...]
    of: Mapping[str, Selection]
    measured: tuple[str, ...] = ()
    needs: tuple[str | Predicate, ...] = ()
    untested: Mapping[str, str] | None = None
    changed: str = ""


@dataclass(frozen=True)
class Finding:
    """A claim at a scale: its verdict with the ``parts`` that it rests on, its corrected ``p`` and what other
    ``criteria`` would have said; of each test that could not be made, why (``without``). ``reason`` says why there is
    no verdict; ``levels`` are the two-sided ones at which a further test would have passed, as holding and as
    broken. ``unasked`` are the claims that it needs, of chapters without rows."""

    claim: Claim
    scale: str
    verdict: str
    parts: tuple[Part, ...] = ()
    p: float = 1.0
    criteria: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    levels: tuple[float, float] = (LEVEL, LEVEL)
    reason: str = ""
    unasked: tuple[str, ...] = ()

    @property
    def lean(self) -> str:
        """What its tests say one by one, with no correction for their number: ``"for"``, ``"partly for"``,
        ``"against"``, or ``""``."""
        found = {part.lean for part in self.parts}
        if HOLDS in found:
            return "for" if len(found) == 1 else "partly for"
        return "against" if FAILS in found else ""

    @property
    def rests_on(self) -> Part | None:
        """The test that the verdict rests on: of a claim that holds the weakest, of any other the one that says most;
        none where nothing was tested."""
        if not self.parts:
            return None
        if self.verdict == HOLDS:
            return max(self.parts, key=lambda part: part.p[0])
        sides = {IN_PART: (0,), FAILS: (2,)}.get(self.verdict, (0, 2))
        return min(self.parts, key=lambda part: min(part.p[side] for side in sides))


@dataclass
class _Made:
    """The tests of a claim on rows, before its floors are asked: those made, and of the others what is missing."""

    parts: list[Part]
    without: list[str]
    reason: str = ""


@dataclass(frozen=True)
class _Floor:
    """Why a claim is not asked of a measure: what it needs is not shown to be so, or has no rows (not ``measured``)."""

    reason: str
    measured: bool

    @property
    def why(self) -> str:
        return "on its floor, or without room" if self.measured else "whether it has room above its floor is not known"


@dataclass(frozen=True)
class Ledger:
    """``book/claims.yml``: the measures that claims name, what a guess has in them, what each ``needs`` to be above its
    floor, the smallest differences that matter in each metric, the claims in their order, and for figures of the
    controlled world those that show the same on real text."""

    measures: Mapping[str, Selection]
    guesses: Mapping[str, Selection]
    needs: Mapping[str, Sequence[str]]
    matters: Mapping[str, float | Mapping[str, float]]
    claims: tuple[Claim, ...]
    natural_figures: Mapping[str, str]

    def figure(self, claim: Claim, scale: str) -> str:
        """The label of the figure that shows ``claim`` at ``scale``."""
        return self.natural_figures.get(claim.figure, claim.figure) if scale == "natural" else claim.figure

    def selections(self, claim: Claim, measure: str) -> dict[str, Selection]:
        """What ``claim`` selects on ``measure`` (empty: on what it names itself), in its own chapter but where a
        selection names another; and as ``NAME_guess`` what a guess has there."""
        common: Selection = {"chapter": claim.chapter, **self.measures.get(measure, {})}
        found: dict[str, Selection] = {name: {**common, **where} for name, where in claim.of.items()}
        guess = self.guesses.get(measure)
        return found | {f"{name}_guess": {**where, **guess} for name, where in found.items() if guess}

    def matter(self, claim: Claim, test: Predicate, measure: str, scale: str) -> float:
        """The smallest effect of interest of a test, in the units of its quantity: its own, or of a difference from
        zero the largest among its metrics. Of other bounds there is none: they say what matters."""
        if test.matters is not None:
            return test.matters
        if test.within is not None or (test.above or test.below):
            return 0.0
        where = self.selections(claim, measure)
        metrics = ["correlation"] if test.over else [str(where[name].get("metric")) for name in names_in(test)]
        return max(of_scale(self.matters[metric], scale) for metric in metrics if metric != "None")

    def test(self, rows: Mapping[str, pd.DataFrame] | Rows, scale: str, *, alone: bool = False) -> list[Finding]:
        """Every claim on ``rows`` (chapter -> tidy rows of one ``scale``, or :func:`prepared`), corrected for all of
        them together. What a claim needs of a chapter without rows is not known; only where rows stand ``alone``, some
        chapters of all, is it left unasked, and said."""
        rows = prepared(rows, scale)
        made = {claim.id: self._made(claim, scale, rows) for claim in self.claims}
        asked, found = {}, {}
        for claim in self.claims:
            own = made[claim.id]
            floors = [self._floor(claim, each, made, rows, alone) for each in own.parts]
            parts = tuple(each for each, floor in zip(own.parts, floors, strict=True) if not floor)
            known = any(floor.measured for floor in floors if floor)
            low = [f"{p.text} ({f.why}: {f.reason})" for p, f in zip(own.parts, floors, strict=True) if f]
            if parts:
                asked[claim.id] = Asked(parts, len(own.without) + len(low))
            reasons: dict[str, dict[str, None]] = {}
            for floor in filter(None, floors):
                reasons.setdefault(floor.why, {})[floor.reason] = None
            reason = "; ".join(f"{why}: {'; '.join(each)}" for why, each in reasons.items()) or own.reason
            verdict = UNTESTABLE if known else UNTESTED
            without, unasked = (*low, *own.without), self._unasked(claim, parts, rows)
            found[claim.id] = Finding(claim, scale, verdict, without=without, reason=reason, unasked=unasked)
        decided = dict(zip(asked, decide(list(asked.values())), strict=True))
        further = levels(list(asked.values()))
        return [
            replace(found[name], reason="", parts=asked[name].parts, levels=further, **vars(decided[name]))
            if name in decided
            else found[name]
            for name in found
        ]

    def values(self, rows: Mapping[str, pd.DataFrame] | Rows, scale: str) -> dict[str, dict[str, float]]:
        """Claim -> test, in words -> its value on ``rows`` (as in :meth:`test`), whatever its floors say; without those
        that cannot be made."""
        rows = prepared(rows, scale)
        made = ((claim.id, self._made(claim, scale, rows).parts) for claim in self.claims)
        return {name: {part.text: part.interval.value for part in parts} for name, parts in made if parts}

    def _made(self, claim: Claim, scale: str, rows: Rows) -> _Made:
        reason = (claim.untested or {}).get(scale, "")
        if not reason and claim.chapter not in rows:
            reason = "nothing of this chapter is recorded at this scale by today's recipe of training"
        made = _Made([], [], reason)
        for measure, test in product(claim.measured or ("",), () if reason else claim.tests):
            found = part(
                test, measure, self._sample(claim, test, measure, rows), self.matter(claim, test, measure, scale)
            )
            if found.interval.n:
                made.parts.append(found)
            else:
                made.without.append(f"{found.text} ({MISSING})")
        if not made.parts and not reason:
            made.without, made.reason = [], self._what_is_missing(claim, rows)
        return made

    @cached_property
    def _chapters(self) -> dict[str, str]:
        return {claim.id: claim.chapter for claim in self.claims}

    def _needed(self, claim: Claim, measure: str) -> tuple[str | Predicate, ...]:
        of_measure = self.needs.get(measure, ()) if claim.paper != CONTROL else ()
        return (*claim.needs, *(need for need in of_measure if need != claim.id))

    def _unasked(self, claim: Claim, parts: Sequence[Part], rows: Rows) -> tuple[str, ...]:
        needed = [need for each in parts for need in self._needed(claim, each.measure)]
        return tuple(dict.fromkeys(n for n in needed if isinstance(n, str) and self._chapters[n] not in rows))

    def _floor(self, claim: Claim, asked: Part, made: Mapping[str, _Made], rows: Rows, alone: bool) -> _Floor | None:
        """The first thing that a test of ``claim`` needs on its measure and that is not shown to be so, by its 95 %
        interval; of one seed, by its side; else the first that has no rows. A predicate is needed by the tests that
        share a name with it."""
        unknown = None
        for need in self._needed(claim, asked.measure):
            if isinstance(need, str):
                if alone and self._chapters[need] not in rows:
                    continue
                parts = [each for each in made[need].parts if not asked.measure or each.measure in ("", asked.measure)]
                name = f"{need}: "
            elif names_in(need).isdisjoint(names_in(asked.test)):
                continue
            else:
                found = part(need, "", self._sample(claim, need, asked.measure, rows))
                parts, name = [found] if found.interval.n else [], ""
            for each in parts:
                kept = each.interval.n == 1 and keeps(each.test, each.interval.value)
                if not kept and each.lean != HOLDS:
                    return _Floor(f"{name}{each.text} is not shown", True)
            if not parts and unknown is None:
                unknown = _Floor(f"{need if isinstance(need, str) else need.quantity}: {MISSING}", False)
        return unknown

    def _sample(self, claim: Claim, test: Predicate, measure: str, rows: Rows) -> Sample:
        try:
            return sample(test, self.selections(claim, measure), rows)
        except UserError as error:
            raise UserError(f"book/claims.yml: claim {claim.id}: {error}") from None

    def _what_is_missing(self, claim: Claim, rows: Rows) -> str:
        selections = self.selections(claim, claim.measured[0] if claim.measured else "")
        used = set().union(*map(names_in, claim.tests))
        names = [name for name, where in selections.items() if name in used and not rows.means(where, ["seed"]).of]
        if not names:
            return "recorded at this scale, but not all of it in any one seed"
        return f"not recorded at this scale: {', '.join(name.replace('_', ' ') for name in names)}"


def prepared(rows: Mapping[str, pd.DataFrame] | Rows, scale: str) -> Rows:
    """``rows`` (chapter -> tidy rows of one ``scale``), ready to be selected from."""
    return rows if isinstance(rows, Rows) else Rows(rows, scale_of(scale).encoder.layers // 2)


def of_scale(value: float | Mapping[str, float], scale: str) -> float:
    """A number that may differ by scale; scales without one of their own take the controlled world's."""
    return value.get(scale, value["controlled"]) if isinstance(value, Mapping) else value
