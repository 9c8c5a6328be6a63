"""The claims of the five papers (``book/claims.yml``), each tested on the recorded rows of every scale."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xling_utils.chapters import MODULES, beside_english, records
from xling_utils.claims import plan
from xling_utils.claims.predicates import Predicate, names_in
from xling_utils.claims.testing import Claim, Finding, Ledger
from xling_utils.claims.verdicts import UNTESTED, Part
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
PARTS = ("measures", "guesses", "needs", "matters", "claims", "natural_figures")
"""What ``book/claims.yml`` holds."""
PAPER_SCALE = "planned and counted here (`xling plan CHAPTER --scale paper`), not trained: it takes many GPUs"


def findings(scale: str) -> list[Finding]:
    """Every claim at ``scale``, tested on the committed rows."""
    if scale == "paper":
        return [Finding(claim, scale, UNTESTED, reason=PAPER_SCALE) for claim in load().claims]
    return _findings(scale, _made_of(scale))


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

    return _kept(f"{chapter}.{scale}.{language}", scale, _made_of(scale), test)


def _of_language(rows: pd.DataFrame, language: str) -> pd.DataFrame:
    beside = beside_english(rows)
    of = rows["source"].isin(["en", language]) & rows["target"].isin(["en", language])
    return rows[of & (beside.isna() | (beside == language))]


def _made_of(scale: str) -> str:
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
    kept = root() / "_build/ledger/claims.json"  # reading YAML takes half a second
    content = json.loads(kept_text.once(kept, identity.of(path), lambda: _as_json(path)))
    for key in PARTS:
        kind = list if key == "claims" else dict
        if not isinstance(content.get(key), kind):
            raise UserError(f"{path}: {key!r} is missing, or no {'list' if kind is list else 'mapping'}")
    measures, guesses, needs, matters, listed, natural = (content[key] for key in PARTS)
    for name, needed in needs.items():
        if not isinstance(needed, list):
            raise UserError(f"{path}: what {name!r:.80} needs: write a list of claims")
    for name, selection in (*measures.items(), *guesses.items()):
        if not isinstance(selection, dict):
            raise UserError(f"{path}: measure {name!r:.80}: write columns with a value or a list of values")
    claims = tuple(_claim(entry, measures, path) for entry in listed)
    if twice := sorted({c.id for c in claims if sum(other.id == c.id for other in claims) > 1}):
        raise UserError(f"{path}: two claims have the id {twice[0]}")
    made = Ledger(measures, guesses, needs, matters, claims, natural)
    for claim in claims:
        _known(made, claim, path)
    plan.check(made, path.with_name(plan.FILE))
    return made


def _as_json(path: Path) -> str:
    try:
        return json.dumps(files.yaml_mapping(path), default=str)
    except TypeError as error:  # a key that is none
        raise UserError(f"{path}: {error}") from None


def _known(made: Ledger, claim: Claim, path: Path) -> None:
    """Raises :class:`UserError` where ``claim`` needs one that is not there, or has a test of a metric of which nobody
    says what matters."""
    ids = {other.id for other in made.claims}
    for need in (*claim.needs, *(name for measure in claim.measured for name in made.needs.get(measure, ()))):
        if not isinstance(need, Predicate) and need not in [*ids]:  # what stands in YAML may have no hash
            raise UserError(f"{path}: claim {claim.id}: it needs {need!r:.80}, which is no claim")
    for measure, test, scale in product(claim.measured or ("",), claim.tests, SCALES):
        try:
            float(made.matter(claim, test, measure, scale))
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise UserError(
                f"{path}: claim {claim.id}: {test.quantity!r:.80}: what matters in {error} is not said; "
                "add it to 'matters', or to the test"
            ) from None


def _claim(entry: Any, measures: Mapping[str, Any], path: Path) -> Claim:
    name = entry.get("id", entry) if isinstance(entry, dict) else entry
    try:
        tests = tuple(Predicate(**test) for test in entry["tests"])
        lists = {key: tuple(entry.get(key, ())) for key in ("experiments", "measured")}
        needs = tuple(Predicate(**need) if isinstance(need, dict) else need for need in entry.get("needs", ()))
        made = Claim(**dict[str, Any]({**entry, **lists, "tests": tests, "needs": needs}))
    except (TypeError, KeyError) as error:
        raise UserError(f"{path}: claim {name}: {error}") from None
    for test in (*tests, *(need for need in needs if isinstance(need, Predicate))):
        try:
            names_in(test)
        except UserError as error:
            raise UserError(f"{path}: claim {name}: {error}") from None
        bounds = [bound for bound in (test.above, test.below, test.within) if bound is not None]
        if len(bounds) != 1:
            raise UserError(f"{path}: claim {name}: a test takes one of above, below and within")
        if wrong := [value for value in (*bounds, test.matters) if not isinstance(value, int | float | None)]:
            raise UserError(f"{path}: claim {name}: {wrong[0]!r:.80} is no number")
    for kind, given, known in (("chapter", [made.chapter], MODULES), ("measure", made.measured, measures)):
        if unknown := [value for value in given if value not in [*known]]:  # what stands in YAML may have no hash
            raise UserError(f"{path}: claim {name}: unknown {kind} {unknown[0]!r}; known: {', '.join(map(str, known))}")
    return made
