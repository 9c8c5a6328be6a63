"""A verdict that does not hang on the machine: the same runs with fewer instructions, and on two threads."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pandas as pd
import pytest

from tests import scratch
from xling_utils.chapters.overlap.plan import CHAPTER
from xling_utils.chapters.rows import columns
from xling_utils.claims import ledger
from xling_utils.claims.predicates import sample
from xling_utils.claims.rows import Rows
from xling_utils.claims.verdicts import keeps
from xling_utils.core.scales import scale
from xling_utils.measures import kept_rows

pytestmark = pytest.mark.soak
CLAIM = "E-08"
"""A language of which nothing is left but how often its words occur aligns less: the headline of chapter 3."""
MACHINES = {
    "as it is": ({}, 2),
    # What oneDNN and ATen are told to do without; sums of bfloat16 are emulated then.
    "without AVX-512": ({"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}, 2),
    "two threads": ({}, 1),  # one run at a time has both cores
}
"""Name -> what is set in the environment, and how many runs are trained at a time."""


def rows_on(machine: str, place: Path) -> pd.DataFrame:
    """The headline runs of chapter 3, development seed 1, trained and measured there in their real sizes."""
    environment, jobs = MACHINES[machine]
    place.mkdir()
    given = scratch.make(place) | {"PYTHONPATH": str(scratch.ROOT), "XLING_STORE": str(place / "runs")} | environment
    command = [place / ".venv/bin/xling", "run", CHAPTER, "--records-only", "--seeds", "1", "--jobs", str(jobs)]
    command += ["-p", "languages", "[fr]", "-p", "live", "headline", "-p", "first_seed", "1"]
    subprocess.run(command, cwd=place, env=given, check=True, capture_output=True)
    return kept_rows.from_csv(place / f"_build/records/{CHAPTER}.controlled.csv", columns(CHAPTER))


def test_the_headline_of_chapter_3_is_the_same_on_other_machines(tmp_path: Path) -> None:
    (claim,) = (each for each in ledger.load().claims if each.id == CLAIM)
    (test,), of = claim.tests, ledger.load().selections(claim, "retrieval")
    values = {}
    for number, machine in enumerate(MACHINES):
        rows = Rows({CHAPTER: rows_on(machine, tmp_path / str(number))}, scale("controlled").encoder.layers // 2)
        (values[machine],) = sample(test, of, rows).values
    assert all(keeps(test, value) for value in values.values()), values
    assert values["without AVX-512"] != values["as it is"], "it was told to do without, and did"
