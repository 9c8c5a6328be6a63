"""Where a run was made, as its record says."""

from pathlib import Path

import pytest

from xling_utils.runs.provenance import environment

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
    monkeypatch: pytest.MonkeyPatch, flags: str, said: str
) -> None:
    cores = "".join(CPUINFO.format(core, flags) for core in range(2))
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: cores)
    assert environment(threads=1, processes=1)["processor"] == said
