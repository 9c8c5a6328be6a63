"""Samples of real text come from disk the second time, and anew when anything that decides them has changed."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest

from xling_utils import corpora
from xling_utils.corpora import directory
from xling_utils.specs import CorpusSpec

SPEC = CorpusSpec("directory", ("en",), 30, seed=1)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "data" / "text" / "en"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("".join(f"Sentence number {i} .\n\n" for i in range(60)), encoding="utf-8")
    return tmp_path / "data"


def test_the_second_time_nothing_is_drawn(data, monkeypatch):
    first = corpora.load(SPEC, data)["en"]
    monkeypatch.setattr(directory, "sample", None)
    again = corpora.load(SPEC, data)["en"]
    assert again["text"][:] == first["text"][:] and again["document"][:] == first["document"][:]
    assert again.features == first.features and len(again) == 30


def test_other_text_or_another_seed_is_drawn_anew(data):
    first = corpora.load(SPEC, data)["en"]["text"][:]
    assert corpora.load(CorpusSpec("directory", ("en",), 30, seed=2), data)["en"]["text"][:] != first
    path = data / "text" / "en" / "a.txt"
    path.write_text(path.read_text(encoding="utf-8").replace("number", "no"), encoding="utf-8")
    assert all(" no " in line for line in corpora.load(SPEC, data)["en"]["text"][:])
