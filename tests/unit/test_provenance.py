"""Where a run was made, as its record says."""

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
