"""What is told while a model from elsewhere is measured, and how many chapters hold it at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from xling_utils.book import notebooks
from xling_utils.chapters.probes import _counted


class Progress:
    """Counts as a bar does."""

    def __init__(self) -> None:
        self.done: list[int] = []

    def update(self, more: int) -> None:
        self.done.append(more)


def row(source: str, target: str, layer: int | None = 0) -> dict[str, object]:
    return {"source": source, "target": target, "layer": layer}


def test_every_language_is_counted_when_it_is_through() -> None:
    rows = [row("all", "all"), *(row("en", x, None) for x in ("en", "fr", "de")), row("fr", "en"), row("en", "fr")]
    rows += [row("de", "en"), row("en", "de")]
    progress, seen = Progress(), []
    for each in _counted(rows, ("fr", "de"), progress):
        seen.append(each)
        assert sum(progress.done) == (1 if "de" in (each["source"], each["target"]) and each["layer"] == 0 else 0)
    assert seen == rows and sum(progress.done) == 2
    nothing = Progress()
    assert list(_counted([], ("fr", "de"), nothing)) == [] and sum(nothing.done) == 2


def test_only_a_large_model_is_held_by_one_kernel_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"x" * 100)
    assert not notebooks._is_large(None) and not notebooks._is_large(str(tmp_path))
    assert notebooks._is_large("name/on-the-hub"), "which nobody has weighed"
    monkeypatch.setattr(notebooks, "LARGE", 99)
    assert notebooks._is_large(str(tmp_path))
