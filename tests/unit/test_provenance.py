"""Where a run was made, as its record says."""

import subprocess
from pathlib import Path

import pytest

from xling_utils.runs import provenance

CPUINFO = "processor\t: {0}\nmodel name\t: Some EPYC\nflags\t\t: fpu {1}\n\n"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("sse4_2", "Some EPYC"),
        ("avx avx2 fma", "Some EPYC, avx2"),
        ("avx512_bf16 avx2 avx512f", "Some EPYC, avx512_bf16"),
    ],
)
def test_processors_of_one_name_differ_by_their_instructions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flags: str, said: str
) -> None:
    told = tmp_path / "cpuinfo"
    told.write_text("".join(CPUINFO.format(core, flags) for core in range(2)), encoding="utf-8")
    monkeypatch.setattr(provenance, "CPUINFO", told)
    assert provenance.environment(threads=1, processes=1)["processor"] == said


def test_a_checkout_of_something_else_is_not_this_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for command in (
        ["init", "-q"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "a"],
    ):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    for place, known in ((".venv/lib/xling_utils/runs", False), ("xling_utils/runs", True)):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        monkeypatch.setattr(provenance, "__file__", str(folder / "provenance.py"))
        assert bool(provenance._commit()) is known
