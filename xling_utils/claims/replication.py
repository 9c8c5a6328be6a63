"""Do other seeds say the same? One more seed of everything, held against every verdict; and seeds that are left out of
the verdicts, held against these."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Container, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from xling_utils import chapters
from xling_utils.chapters import records
from xling_utils.claims import ledger, testing
from xling_utils.claims.verdicts import (
    DECIDED,
    HOLDS,
    IN_PART,
    LEVEL,
    VERDICTS,
    Part,
    keeps,
    margin,
)
from xling_utils.core import files, kept_text
from xling_utils.core.errors import UserError
from xling_utils.core.scales import DEVELOPMENT_SEEDS, scale
from xling_utils.core.specs import LANGUAGES
from xling_utils.measures import kept_rows
from xling_utils.runs import Compute

if TYPE_CHECKING:
    import pandas as pd

    from xling_utils.claims.testing import Finding

SCALE = "controlled"
FOLDS = {"controlled": 4}
"""Parts that seeds are dealt into, as they come: here each has one of every partner; elsewhere a seed is one."""
FILE = "claims.check.csv"
COLUMNS = ("claim", "test", "verdict", "value", "low", "high", "n", "new", "repeated", "foreseen", "alone", "seed")


def measure(seed: int, jobs: int | None = None) -> dict[str, pd.DataFrame]:
    """Chapter -> rows of ``seed`` for all that is recorded at ``SCALE``: its runs are trained and measured where the
    store has them not yet.

    Raises :class:`UserError` for a seed that is recorded, or that budgets were tuned on, and where what is recorded
    was trained by an earlier recipe.
    """
    recorded = _recorded()
    used = {*DEVELOPMENT_SEEDS, *_seeds(recorded)}
    if seed in used or seed < 0:
        raise UserError(f"seed {seed} was used before, or is negative; take one of your own, such as {max(used) + 1}")
    chapters.check_parameters({"first_seed": seed})
    spoken = {chapter: _languages(table) for chapter, table in recorded.items() if len(table)}
    if any(records.of_earlier_recipe(chapter, SCALE) for chapter in spoken):
        raise UserError("the recorded runs are of an earlier recipe of training; a new seed can repeat none of them")
    sizes = scale(SCALE)
    grids = {c: chapters.planned(c, sizes, languages, 1, "all", None, seed) for c, languages in spoken.items()}
    compute = Compute(jobs=jobs)
    chapters.prepare(grids, sizes, compute)  # of all chapters together, so that no core waits for one of them
    return {c: chapters.table(c, SCALE, spoken[c], 1, "all", compute, first_seed=seed) for c in spoken}


def _recorded() -> dict[str, pd.DataFrame]:
    claimed = dict.fromkeys(claim.chapter for claim in ledger.load().claims)
    return {chapter: records.load(chapter, SCALE) for chapter in claimed}


def _of_seeds(recorded: Mapping[str, pd.DataFrame], seeds: Collection[int]) -> dict[str, pd.DataFrame]:
    """The rows of ``seeds``, without chapters that they have none of."""
    kept = {chapter: table[table["seed"].isin(seeds)] for chapter, table in recorded.items()}
    return {chapter: table for chapter, table in kept.items() if len(table)}


def _seeds(recorded: Mapping[str, pd.DataFrame]) -> list[int]:
    return sorted({int(seed) for table in recorded.values() for seed in table["seed"].dropna().unique()})


def _languages(recorded: pd.DataFrame) -> Sequence[str]:
    there = {*recorded["source"], *recorded["target"]}
    return [language for language in LANGUAGES[1:] if language in there] or LANGUAGES[1:2]


def check(rows: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Every test of every claim that more than one seed is recorded of: ``claim, test, verdict, value, low, high, n``
    of the recorded seeds, ``new`` of the one in ``rows`` (chapter -> rows), and whether it is ``repeated``, and was
    ``foreseen``.

    A decided verdict is repeated if the new seed, alone, lies on the side of the bound that it says, in every test that
    it rests on. The seed is foreseen if it lies, in every test, where the recorded seeds predict one more: in their
    95 % prediction interval (Student's), corrected for the tests of the claim (Bonferroni); with that "cannot tell" is
    repeated, too. One that is neither contradicts the verdict.
    """
    import pandas as pd

    found = []
    new = ledger.load().values({chapter: _recorded_too(table, chapter) for chapter, table in rows.items()}, SCALE)
    for before in ledger.findings(SCALE):
        parts, name = _parts(before, rows), before.claim.id
        values = new.get(name, {})
        again, foreseen = _again(before, parts, values, rows), _foreseen(before, parts, values, rows)
        for part in parts:
            at = part.interval
            found.append(
                {"claim": name, "test": part.text, "verdict": before.verdict, "value": at.value, "low": at.low,
                 "high": at.high, "n": at.n, "new": values.get(part.text), "repeated": again, "foreseen": foreseen}
            )  # fmt: skip
    return pd.DataFrame(found)


def power(seeds: Sequence[int] = ()) -> dict[str, float]:
    """Claim -> the share of the recorded ``seeds`` (all, if none is named) that repeat its verdict, each by itself, as
    :func:`check` asks it, of those that have its runs: what a single seed can be expected to see of a verdict that is
    right."""
    recorded, known = _recorded(), ledger.load()
    each = [_of_seeds(recorded, [seed]) for seed in seeds or _seeds(recorded)]
    alone = [(known.values(rows, SCALE), rows) for rows in each]
    asked = [(before, _parts(before, recorded)) for before in ledger.findings(SCALE)]
    repeated = {
        before.claim.id: [
            _again(before, parts, new[before.claim.id], rows) for new, rows in alone if before.claim.id in new
        ]
        for before, parts in asked
        if parts
    }
    return {claim: fmean(seen) for claim, seen in repeated.items() if seen}


def left_out(scale: str) -> dict[str, tuple[int, int]]:
    """Cross-validation of the recorded seeds of ``scale``, dealt into ``FOLDS``: each fold is left out once, and
    verdicts are made of the others. Claim -> how many of the folds that have its runs repeat its verdict, as
    :func:`check` asks it of one seed, of those without which it is decided."""

    def text() -> str:
        return json.dumps(_left_out(records.of_one_recipe(chapters.MODULES, scale), scale))

    kept = kept_text.once(ledger.root() / f"_build/ledger/{scale}.left_out.json", ledger.made_of(scale), text)
    return {claim: (repeated, of) for claim, (repeated, of) in json.loads(kept).items()}


def _left_out(recorded: Mapping[str, pd.DataFrame], scale: str) -> dict[str, tuple[int, int]]:
    known, seeds, rows = ledger.load(), _seeds(recorded), testing.prepared(recorded, scale)
    folds = FOLDS.get(scale, len(seeds))
    found: dict[str, list[bool]] = {}
    for out in (seeds[first::folds] for first in range(folds)):
        values = known.values(rows.of_seeds(out), scale)
        for before in known.test(rows.of_seeds({*seeds} - {*out}), scale):
            new, parts = values.get(before.claim.id), _parts(before, recorded)
            if new and parts and before.verdict in DECIDED:
                found.setdefault(before.claim.id, []).append(_again(before, parts, new, recorded))
    return {claim: (sum(again), len(again)) for claim, again in found.items()}


def _parts(before: Finding, rows: Container[str]) -> list[Part]:
    return [part for part in before.parts if part.interval.n > 1 and before.claim.chapter in rows]


def _again(before: Finding, parts: Sequence[Part], new: Mapping[str, float], rows: Mapping[str, pd.DataFrame]) -> bool:
    """Whether seeds, whose ``rows`` gave the ``new`` value of each test, repeat a finding; one seed of an open one."""
    if before.verdict not in DECIDED:
        return _foreseen(before, parts, new, rows)
    return all(_repeats(part, new.get(part.text, math.nan), before.verdict) for part in parts)


def _foreseen(
    before: Finding, parts: Sequence[Part], new: Mapping[str, float], rows: Mapping[str, pd.DataFrame]
) -> bool:
    """Whether one seed, whose ``rows`` gave the ``new`` value of each test, lies where those of a finding predict."""
    language = _languages(rows[before.claim.chapter])[0] if parts else ""
    return all(_predicted(part, new.get(part.text, math.nan), len(parts), language) for part in parts)


def _recorded_too(rows: pd.DataFrame, chapter: str) -> pd.DataFrame:
    """The rows of what is recorded, condition by condition and language by language: a chapter's runs may be more."""
    factors = [column for column in chapters.declared(chapter).columns if column != "beside"]  # the key of a run
    what = [*factors, "task", "metric", "source", "target"]
    recorded = records.load(chapter, SCALE)[what].astype(str).drop_duplicates()
    kept = rows[what].astype(str).merge(recorded, how="left", on=what, indicator=True)["_merge"] == "both"
    return rows[kept.to_numpy()]


def _repeats(part: Part, new: float, verdict: str) -> bool:
    if verdict in (HOLDS, IN_PART):
        return part.lean != HOLDS or keeps(part.test, new)
    short = 2 * part.p[2] <= LEVEL  # of what matters, or of the bound itself
    return not short or margin(part.test, new) <= part.matters


def _predicted(part: Part, new: float, tests: int, language: str) -> bool:
    low, high = part.predicted(language, LEVEL / tests)
    return low <= new <= high


def write(found: pd.DataFrame, seed: int) -> Path:
    """``_build/records/claims.check.csv`` of what :func:`check` found, with ``alone``, what :func:`power` says of its
    claims."""
    path = ledger.root() / "_build/records" / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(kept_rows.to_csv(found.assign(seed=seed)), encoding="utf-8")
    return path


def committed() -> pd.DataFrame:
    """The check that is committed, as :func:`check` returns it with its ``seed``; empty without one."""
    import pandas as pd

    path = ledger.root() / "book/records" / FILE
    if not path.exists():
        return pd.DataFrame()
    found = files.table(path, COLUMNS, numbers=("value", "new", "alone", "seed"), dtype={"claim": "str", "test": "str"})
    if not (
        found[["alone", "seed"]].notna().all(axis=None)
        and found[["repeated", "foreseen"]].isin([True, False]).all(axis=None)
        and found["verdict"].isin(VERDICTS).all()
    ):
        raise UserError(f"{path}: a row without seed, verdict, or whether it is repeated or foreseen; restore the file")
    return found


def fragile(found: pd.DataFrame) -> list[str]:
    """The claims whose decided verdicts were not repeated."""
    decided = _decided(found)
    return [str(name) for name in decided.loc[~decided["repeated"].astype(bool), "claim"]]


def contradicted(found: pd.DataFrame) -> list[str]:
    """Those of them of which the seed was not foreseen either."""
    unforeseen = {str(name) for name in found.loc[~found["foreseen"].astype(bool), "claim"]}
    return [name for name in fragile(found) if name in unforeseen]


def share(found: pd.DataFrame) -> tuple[int, int]:
    """How many claims' decided verdicts were repeated, of how many: that what cannot be told cannot be told again says
    little."""
    decided = _decided(found)
    return int(decided["repeated"].sum()), len(decided)


def expected(found: pd.DataFrame) -> float:
    """The share of decided verdicts that a recorded seed repeats by itself, on average."""
    return float(_decided(found)["alone"].mean())


def _decided(found: pd.DataFrame) -> pd.DataFrame:
    """A row for each claim whose verdict is decided."""
    return found[found["verdict"].isin(DECIDED)].drop_duplicates("claim")
