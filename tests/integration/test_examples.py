"""The worked examples of CONTRIBUTING, done in a scratch checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from xling_utils.runs import RunStore

ROOT = Path(__file__).parents[2]
PATCH = ROOT / "tests/examples/similarity.patch"
MEASURED = """
from xling_utils import chapters, measures

rows = chapters.table("07_cka", "smoke", ["fr"], 1, "headline")
values = rows[rows["metric"] == "procrustes_similarity"].groupby("encoders", sort=False)["value"]
print(*(f"{name}: {group.min():.6f} {group.max():.6f} {len(group)}" for name, group in values), sep="\\n")
print(measures.procrustes_similarity.__module__)
"""


def test_a_similarity_is_five_files_and_has_rows(tmp_path: Path, smoke_store: RunStore) -> None:
    files = re.findall(r"^\+\+\+ b/(.+)$", PATCH.read_text(encoding="utf-8"), re.MULTILINE)
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(files) == 5 and all(f"`{name}`" in page for name in files)
    shutil.copytree(ROOT / "xling_utils", tmp_path / "xling_utils", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "book", tmp_path / "book")
    subprocess.run(["git", "apply", str(PATCH)], cwd=tmp_path, check=True)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "XLING_STORE": str(smoke_store.root)}
    done = subprocess.run(
        [sys.executable, "-c", MEASURED], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    *rows, module = done.stdout.splitlines()
    assert module == "xling_utils.measures.metrics.procrustes_similarity"
    assert len(rows) == 4 and all(0 < float(value) <= 1.000001 for row in rows for value in row.split()[-3:-1])
