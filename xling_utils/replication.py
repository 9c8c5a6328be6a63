"""Does a seed that was never used say the same? One more seed of everything, held against every verdict."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from xling_utils import chapters, claims, measures, records
from xling_utils.claims import Finding
from xling_utils.errors import UserError
from xling_utils.scales import DEVELOPMENT_SEEDS
from xling_utils.specs import LANGUAGES
from xling_utils.store import project_root
from xling_utils.verdicts import NOT_REPRODUCED, OPEN, PARTLY, REPRODUCED, keeps

if TYPE_CHECKING:
    import pandas as pd

SCALE = "controlled"
FILE = "claims.check.csv"


def measure(seed: int, jobs: int | None = None) -> dict[str, pd.DataFrame]:
    """Chapter -> rows of ``seed`` for all that is recorded at ``SCALE``: its runs are trained and measured where the
    store has them not yet.

    Raises :class:`UserError` for a seed that is recorded, or that budgets were tuned on.
    """
    recorded = {chapter: records.load(chapter, SCALE) for chapter in chapters.MODULES}
    used = {*DEVELOPMENT_SEEDS, *(int(seed) for table in recorded.values() for seed in table["seed"].unique())}
    if seed in used or seed < 0:
        raise UserError(f"seed {seed} was used before, or is negative; take one of your own, such as {max(used) + 1}")
    found = {}
    for chapter, table in recorded.items():
        there = {*table["source"], *table["target"]}
        languages = [language for language in LANGUAGES[1:] if language in there]
        if languages:
            found[chapter] = measures.table(chapter, SCALE, languages, 1, "all", seed=seed, jobs=jobs)
    return found


def check(rows: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Every test of every claim that was decided or left open: ``claim, test, verdict, value, low, high, n`` of the
    recorded seeds, ``new`` of the one in ``rows`` (chapter -> rows), and whether the claim's verdict is ``repeated``.

    A verdict is repeated if the new seed, alone, lies on the side of the bound that it says, in every test that it
    rests on; and "cannot tell" if, with the new seed beside the recorded ones, the ledger still cannot.
    """
    import pandas as pd

    ledger = claims.load()
    recorded = {chapter: records.load(chapter, SCALE) for chapter in chapters.MODULES}
    old = claims.findings(SCALE)
    alone = ledger.test(rows, SCALE)
    together = {c: pd.concat([t, rows[c]], ignore_index=True) if c in rows else t for c, t in recorded.items()}
    found = []
    for before, one, all_of in zip(old, alone, ledger.test(together, SCALE), strict=True):
        new = {part.text: part.interval.value for part in one.parts}
        again = _repeated(before, new, all_of)
        for part in before.parts:
            at = part.interval
            found.append(
                {"claim": before.claim.id, "test": part.text, "verdict": before.verdict, "value": at.value,
                 "low": at.low, "high": at.high, "n": at.n, "new": new.get(part.text), "repeated": again}
            )  # fmt: skip
    return pd.DataFrame(found)


def _repeated(before: Finding, new: Mapping[str, float], together: Finding) -> bool:
    if before.verdict == OPEN:
        return together.verdict == OPEN
    leans = {REPRODUCED: (REPRODUCED,), PARTLY: (REPRODUCED,), NOT_REPRODUCED: (NOT_REPRODUCED,)}[before.verdict]
    rests_on = [part for part in before.parts if part.lean in leans]
    return bool(rests_on) and all(
        part.text in new and keeps(part.test, new[part.text]) == (part.lean == REPRODUCED) for part in rests_on
    )


def write(found: pd.DataFrame, seed: int) -> Path:
    """``_build/records/claims.check.csv`` of what :func:`check` found."""
    root = project_root()
    if root is None:
        raise UserError("claims: run this inside a checkout of the book (no _toc.yml found here or above)")
    path = root / "_build/records" / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(measures.to_csv(found.assign(seed=seed)), encoding="utf-8")
    return path


def committed() -> pd.DataFrame:
    """The check that is committed, as :func:`check` returns it with its ``seed``; empty without one."""
    root = project_root()
    path = root / "book/records" / FILE if root else None
    if path is None or not path.exists():
        import pandas as pd

        return pd.DataFrame(
            columns=["claim", "test", "verdict", "value", "low", "high", "n", "new", "repeated", "seed"]
        )
    return measures.from_csv(path)


def share(found: pd.DataFrame) -> tuple[int, int]:
    """How many claims' verdicts were repeated, of how many."""
    by_claim = found.drop_duplicates("claim")
    return int(by_claim["repeated"].sum()), len(by_claim)
