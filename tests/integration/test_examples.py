"""The worked examples of CONTRIBUTING, done in a scratch checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from xling_utils.chapters.architecture.plan import grid
from xling_utils.core.scales import scale
from xling_utils.core.specs import canonical_json
from xling_utils.runs import RunStore

ROOT = Path(__file__).parents[2]
MEASURED = """
from xling_utils import chapters, measures

rows = chapters.table("07_cka", "smoke", ["fr"], 1, "headline")
values = rows[rows["metric"] == "procrustes_similarity"].groupby("encoders", sort=False)["value"]
print(*(f"{name}: {group.min():.6f} {group.max():.6f} {len(group)}" for name, group in values), sep="\\n")
print(measures.procrustes_similarity.__module__)
"""
PLANNED = """
from xling_utils.chapters.architecture.plan import grid
from xling_utils.core.scales import scale
from xling_utils.core.specs import canonical_json

print(*(canonical_json(planned.spec) for planned in grid(scale("smoke"), ("fr",), 1, "all")), sep="\\n")
"""
ORDERED = """
import pandas as pd
from xling_utils.chapters.architecture.figures import levels
from xling_utils.core.scales import scale

print(*levels("dropout", pd.DataFrame({"condition": ["a tenth", "none"]}), scale("smoke")), sep="\\n")
"""


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    for folder in ("xling_utils", "book", "notebooks", "tests/unit"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def applied(scratch: Path, name: str) -> list[str]:
    """The files that a worked example changes; CONTRIBUTING names each."""
    patch = ROOT / "tests/examples" / name
    files = re.findall(r"^\+\+\+ b/(.+)$", patch.read_text(encoding="utf-8"), re.MULTILINE)
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [file for file in files if f"`{file}`" not in page] == []
    subprocess.run(["git", "apply", str(patch)], cwd=scratch, check=True)
    return files


def said(scratch: Path, *arguments: str, **environment: str) -> list[str]:
    """What Python says there."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=scratch, env={**os.environ, "PYTHONPATH": str(scratch), **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_a_similarity_is_five_files_and_has_rows(scratch: Path, smoke_store: RunStore) -> None:
    assert len(applied(scratch, "similarity.patch")) == 5
    *rows, module = said(scratch, "-c", MEASURED, XLING_STORE=str(smoke_store.root))
    assert module == "xling_utils.measures.metrics.procrustes_similarity"
    assert len(rows) == 4 and all(0 < float(value) <= 1.000001 for row in rows for value in row.split()[-3:-1])


def test_dropout_is_a_factor_in_eight_files_at_most_and_moves_no_other_run(scratch: Path) -> None:
    assert len(applied(scratch, "dropout.patch")) + len((".ipynb", "claims.yml")) == 8
    before = [canonical_json(planned.spec) for planned in grid(scale("smoke"), ("fr",), 1, "all")]
    after = said(scratch, "-c", PLANNED)
    assert [spec for spec in after if spec not in before] == [spec for spec in after if '"dropout":0.1' in spec]
    assert len(after) == len(before) + 1
    assert said(scratch, "-c", ORDERED) == ["none", "a tenth"]
    said(scratch, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/unit/test_encoder.py", "-k", "dropout")
