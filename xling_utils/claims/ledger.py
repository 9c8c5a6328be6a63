"""The claims of the five papers (``book/claims.yml``), each tested on the recorded rows of every scale."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xling_utils.chapters import MODULES, beside_english, records
from xling_utils.claims import plan, reading
from xling_utils.claims.predicates import Predicate
from xling_utils.claims.testing import Claim, Finding, Ledger
from xling_utils.claims.verdicts import UNTESTED, Part
from xling_utils.core import identity, kept_text
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


def findings(scale: str) -> list[Finding]:
    """Every claim at ``scale``, tested on the committed rows."""
    if scale == "paper":
        return [Finding(claim, scale, UNTESTED, reason=PAPER_SCALE) for claim in load().claims]
    return _findings(scale, made_of(scale))


@cache
def _findings(scale: str, made_of: str) -> list[Finding]:
    def test() -> list[Finding]:
        return load().test(records.of_one_recipe(MODULES, scale), scale)

    return _kept(scale, scale, made_of, test)


def findings_of_language(language: str, chapter: str, scale: str) -> list[Finding]:
    """Every claim, tested on those committed rows of ``chapter`` that are of English with ``language`` alone."""

    def test() -> list[Finding]:
        read = records.of_one_recipe([chapter], scale)
        return load().test({name: _of_language(rows, language) for name, rows in read.items()}, scale, alone=True)

    return _kept(f"{chapter}.{scale}.{language}", scale, made_of(scale), test)


def _of_language(rows: pd.DataFrame, language: str) -> pd.DataFrame:
    beside = beside_english(rows)
    of = rows["source"].isin(["en", language]) & rows["target"].isin(["en", language])
    return rows[of & (beside.isna() | (beside == language))]


def made_of(scale: str) -> str:
    """The identity of all that the findings of ``scale`` are made of."""
    read = [root() / "book/claims.yml", *sorted((root() / "book/records").glob(f"*.{scale}*.csv"))]
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
    return {name: value for name, value in vars(finding).items() if name not in ("claim", "scale")} | {"parts": parts}


def _finding(claim: Claim, scale: str, plain: Mapping[str, Any]) -> Finding:
    def part(plain: Mapping[str, Any]) -> Part:
        own = {"test": claim.tests[plain["test"]], "interval": Interval(*plain["interval"]), "p": tuple(plain["p"])}
        return Part(**dict[str, Any]({**plain, **own}))

    own = {"parts": tuple(map(part, plain["parts"])), **{name: tuple(plain[name]) for name in ("without", "unasked")}}
    return Finding(claim, scale, **dict[str, Any]({**plain, **own}))


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
    kept = root() / "_build/ledger/claims.json"  # reading YAML and looking at every part takes a second
    made_of = identity.of(identity.package(), path)
    plain = json.loads(kept_text.once(kept, made_of, lambda: json.dumps(reading.claims(path))))
    made = Ledger(**dict[str, Any]({**plain, "claims": tuple(map(_claim, plain["claims"]))}))
    plan.check(made, path.with_name(plan.FILE))
    return made


def _claim(plain: Mapping[str, Any]) -> Claim:
    lists = {name: tuple(plain.get(name, ())) for name in ("experiments", "measured")}
    needs = tuple(Predicate(**need) if isinstance(need, dict) else need for need in plain.get("needs", ()))
    tests = tuple(Predicate(**test) for test in plain["tests"])
    return Claim(**dict[str, Any]({**plain, **lists, "tests": tests, "needs": needs}))
