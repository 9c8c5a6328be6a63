"""The claims of the five papers (``book/claims.yml``), each tested on the recorded rows of every scale."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xling_utils.chapters import MODULES, beside_english, records
from xling_utils.claims.predicates import Predicate, Rows, Sample, Selection, names_in, sample
from xling_utils.claims.verdicts import NOT_REPRODUCED, REPRODUCED, UNTESTED, Part, decide
from xling_utils.core import files, identity, kept_text
from xling_utils.core.errors import UserError
from xling_utils.core.project import checkout
from xling_utils.core.scales import scale as scale_of
from xling_utils.core.specs import canonical_json
from xling_utils.measures import Interval

if TYPE_CHECKING:
    import pandas as pd

SCALES = ("controlled", "natural", "paper")
"""The scales that a ledger has a verdict for, or a reason why not."""
PAPER_SCALE = "planned and counted here (`xling plan CHAPTER --scale paper`), not trained: it takes many GPUs"


@dataclass(frozen=True)
class Claim:
    """A claim of a ``paper`` in our words: ``where`` it stands there, what numbers the authors give (``theirs``), the
    ``figure`` of ``chapter`` that shows ours, and the ``tests`` that must all hold, on every measure of ``measured``.
    ``untested`` says of a scale why it cannot tell, where the rows alone do not."""

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
    untested: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Finding:
    """A claim at a scale: its verdict with the ``parts`` that it rests on and its corrected ``p``, or the ``reason``
    why there is none."""

    claim: Claim
    scale: str
    verdict: str
    parts: tuple[Part, ...] = ()
    p: float = 1.0
    reason: str = ""

    @property
    def lean(self) -> str:
        """What its tests say one by one, with no correction for their number: ``"for"``, ``"partly for"``,
        ``"against"``, or ``""``."""
        found = {part.lean for part in self.parts}
        if REPRODUCED in found:
            return "for" if len(found) == 1 else "partly for"
        return "against" if NOT_REPRODUCED in found else ""


@dataclass(frozen=True)
class Ledger:
    """``book/claims.yml``: the measures that claims name, what a guess has in them, the claims in their order, and for
    figures of the controlled world those that show the same on real text."""

    measures: Mapping[str, Selection]
    guesses: Mapping[str, Selection]
    claims: tuple[Claim, ...]
    natural_figures: Mapping[str, str]

    def figure(self, claim: Claim, scale: str) -> str:
        """The label of the figure that shows ``claim`` at ``scale``."""
        return self.natural_figures.get(claim.figure, claim.figure) if scale == "natural" else claim.figure

    def selections(self, claim: Claim, measure: str) -> dict[str, Selection]:
        """What ``claim`` selects on ``measure`` (empty: on what it names itself), in its own chapter but where a
        selection names another; and as ``NAME_guess`` what a guess has there."""
        common = {"chapter": claim.chapter, **self.measures.get(measure, {})}
        found = {name: {**common, **where} for name, where in claim.of.items()}
        guess = self.guesses.get(measure)
        return found | {f"{name}_guess": {**where, **guess} for name, where in found.items() if guess}

    def test(self, rows: Mapping[str, pd.DataFrame], scale: str) -> list[Finding]:
        """Every claim on ``rows`` (chapter -> tidy rows of one ``scale``), corrected for all of them together."""
        prepared = Rows(rows, scale_of(scale).encoder.layers // 2)
        samples: dict[str, list[tuple[Predicate, str, Sample]]] = {}
        reasons = {}
        for claim in self.claims:
            reason = (claim.untested or {}).get(scale, "")
            if not reason and claim.chapter not in prepared:
                reason = "nothing of this chapter is recorded at this scale"
            if not reason:
                tests = [(test, measure) for measure in claim.measured or ("",) for test in claim.tests]
                found = [(*each, self._sample(claim, *each, prepared)) for each in tests]
                if found := [each for each in found if each[2].values]:
                    samples[claim.id] = found
                    continue
                reason = self._what_is_missing(claim, prepared)
            reasons[claim.id] = reason
        decided = dict(zip(samples, decide(list(samples.values())), strict=True))
        return [
            Finding(claim, scale, decided[claim.id].verdict, decided[claim.id].parts, decided[claim.id].p)
            if claim.id in decided
            else Finding(claim, scale, UNTESTED, reason=reasons[claim.id])
            for claim in self.claims
        ]

    def _sample(self, claim: Claim, test: Predicate, measure: str, rows: Rows) -> Sample:
        try:
            return sample(test, self.selections(claim, measure), rows)
        except UserError as error:
            raise UserError(f"book/claims.yml: claim {claim.id}: {error}") from None

    def _what_is_missing(self, claim: Claim, rows: Rows) -> str:
        selections = self.selections(claim, claim.measured[0] if claim.measured else "")
        used = set().union(*map(names_in, claim.tests))
        names = [name for name, where in selections.items() if name in used and rows.means(where, ["seed"]).empty]
        return f"not recorded at this scale: {', '.join(name.replace('_', ' ') for name in names) or 'common seeds'}"


def findings(scale: str) -> list[Finding]:
    """Every claim at ``scale``, tested on the committed rows."""
    if scale == "paper":
        return [Finding(claim, scale, UNTESTED, reason=PAPER_SCALE) for claim in load().claims]
    return _findings(scale, _made_of(scale))


@cache
def _findings(scale: str, made_of: str) -> list[Finding]:
    def test() -> list[Finding]:
        return load().test({chapter: records.load(chapter, scale) for chapter in MODULES}, scale)

    return _kept(scale, scale, made_of, test)


def findings_of_language(language: str, chapter: str, scale: str) -> list[Finding]:
    """Every claim, tested on those committed rows of ``chapter`` that are of English with ``language`` alone."""

    def test() -> list[Finding]:
        rows = records.load(chapter, scale)
        beside = beside_english(rows)
        of = rows["source"].isin(["en", language]) & rows["target"].isin(["en", language])
        return load().test({chapter: rows[of & (beside.isna() | (beside == language))]}, scale)

    return _kept(f"{chapter}.{scale}.{language}", scale, _made_of(scale), test)


def _made_of(scale: str) -> str:
    read = [root() / "book/claims.yml", *sorted((root() / "book/records").glob(f"*.{scale}.csv"))]
    return identity.of(identity.package(), canonical_json(scale_of(scale)), *read)


def _kept(name: str, scale: str, made_of: str, test: Callable[[], list[Finding]]) -> list[Finding]:
    """The findings in ``_build/ledger``, if they were made of the same; else what ``test`` gives, kept there."""

    def text() -> str:
        return json.dumps([_plain(finding) for finding in test()], indent=1)

    kept = json.loads(kept_text.once(root() / "_build/ledger" / f"{name}.json", made_of, text))
    return [_finding(claim, scale, found) for claim, found in zip(load().claims, kept, strict=True)]


def _plain(finding: Finding) -> dict[str, Any]:
    parts = [
        {**vars(part), "test": finding.claim.tests.index(part.test), "interval": list(vars(part.interval).values())}
        for part in finding.parts
    ]
    return {"verdict": finding.verdict, "parts": parts, "p": finding.p, "reason": finding.reason}


def _finding(claim: Claim, scale: str, plain: Mapping[str, Any]) -> Finding:
    parts = [
        {**part, "test": claim.tests[part["test"]], "interval": Interval(*part["interval"]), "p": tuple(part["p"])}
        for part in plain["parts"]
    ]
    return Finding(**{**plain, "claim": claim, "scale": scale, "parts": tuple(Part(**part) for part in parts)})


def load() -> Ledger:
    """The claims of this checkout. Raises :class:`UserError` with the claim (or line) that cannot be read."""
    path = root() / "book/claims.yml"
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None


def root() -> Path:
    """The checkout's folder. Raises :class:`UserError` outside of one."""
    return checkout("claims")


@cache
def _read(path: Path, _: int) -> Ledger:
    content = files.yaml_mapping(path)
    for key, kind in (("measures", dict), ("guesses", dict), ("claims", list), ("natural_figures", dict)):
        if not isinstance(content.get(key), kind):
            raise UserError(f"{path}: {key!r} is missing, or no {'list' if kind is list else 'mapping'}")
    measures, guesses, listed, natural = (content[key] for key in ("measures", "guesses", "claims", "natural_figures"))
    for name, selection in (*measures.items(), *guesses.items()):
        if not isinstance(selection, dict):
            raise UserError(f"{path}: measure {name!r:.80}: write columns with a value or a list of values")
    claims = tuple(_claim(entry, measures, path) for entry in listed)
    if twice := sorted({c.id for c in claims if sum(other.id == c.id for other in claims) > 1}):
        raise UserError(f"{path}: two claims have the id {twice[0]}")
    return Ledger(measures, guesses, claims, natural)


def _claim(entry: Any, measures: Mapping[str, Any], path: Path) -> Claim:
    name = entry.get("id", entry) if isinstance(entry, dict) else entry
    try:
        tests = tuple(Predicate(**test) for test in entry["tests"])
        lists = {key: tuple(entry.get(key, ())) for key in ("experiments", "measured")}
        made = Claim(**{**entry, **lists, "tests": tests})
    except (TypeError, KeyError) as error:
        raise UserError(f"{path}: claim {name}: {error}") from None
    for test in tests:
        try:
            names_in(test)
        except UserError as error:
            raise UserError(f"{path}: claim {name}: {error}") from None
        if sum(bound is not None for bound in (test.above, test.below, test.within)) != 1:
            raise UserError(f"{path}: claim {name}: a test takes one of above, below and within")
    for kind, given, known in (("chapter", [made.chapter], MODULES), ("measure", made.measured, measures)):
        if unknown := [value for value in given if value not in [*known]]:  # what stands in YAML may have no hash
            raise UserError(f"{path}: claim {name}: unknown {kind} {unknown[0]!r}; known: {', '.join(map(str, known))}")
    return made
