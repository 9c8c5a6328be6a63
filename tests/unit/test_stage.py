"""What is rendered anew, without rendering anything."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from xling_utils.book import rendering, stage_identity


def test_what_an_interrupted_render_left_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    staged = tmp_path / "stage"
    parsed, page = staged / "_build/.doctrees/environment.pickle", staged / "_build/html/index.html"

    def begun() -> None:
        for path in (parsed, page):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()

    def interrupted(*_: object, **__: object) -> None:
        begun()
        raise KeyboardInterrupt

    def whole(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        seen.append(parsed.exists())
        begun()
        return subprocess.CompletedProcess([], 0, "")

    seen: list[bool] = []
    monkeypatch.setattr(subprocess, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rendering._render(staged, tmp_path, strict=True)
    monkeypatch.setattr(subprocess, "run", whole)
    for _ in range(2):
        rendering._render(staged, tmp_path, strict=True)
    assert seen == [False, True], "anew after the interrupt, and only then"


@pytest.mark.parametrize("name", ["references.bib", "glossary.md"])
def test_sources_and_terms_stand_on_other_pages(tmp_path: Path, name: str) -> None:
    page = tmp_path / "book" / name
    page.parent.mkdir()

    def identity(text: str) -> str:
        page.write_text(text, encoding="utf-8")
        return stage_identity.of(tmp_path, {Path("book", name): page.read_bytes()})

    before = identity("```{glossary}\nrun\n  One training.\n```\n")
    assert identity("```{glossary}\nrunning\n  One training.\n```\n") != before
    same = identity("```{glossary}\nrun\n  A training.\n```\n") == before
    assert same == (name == "glossary.md"), "what a term means stands in its place alone"
