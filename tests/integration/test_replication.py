"""`xling claims --check-seed N` from start to end, at the sizes of ``smoke``: some seventy runs and their measures."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import scratch
from xling_utils.claims import replication
from xling_utils.core import files

UNUSED = 4711


@pytest.mark.soak
def test_a_new_seed_is_held_against_every_verdict(tmp_path: Path) -> None:
    environment = scratch.make(tmp_path)
    before = replication.committed()
    command = [tmp_path / ".venv/bin/xling", "claims", "--check-seed", str(UNUSED)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    path = tmp_path / "_build/records" / replication.FILE
    found = files.table(path, replication.COLUMNS, numbers=("value", "new", "seed"))
    repeated, of = replication.share(found)
    assert done.stdout == f"{repeated} of {of} decided verdicts repeated by seed {UNUSED}: {path}\n"
    assert set(found["seed"]) == {UNUSED}
    assert found["new"].notna().mean() > 0.7, "all but what asks for sizes that these small runs do not have"
    assert set(before["claim"]) <= set(found["claim"]), "as many claims as the committed check has"
    again = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert again.stdout == done.stdout and "runs" not in again.stderr, "nothing is trained twice"
