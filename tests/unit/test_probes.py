"""What is told while a model from elsewhere is measured, how many chapters hold it at a time, and where its book
lies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xling_utils.book import card_page, notebooks, probing
from xling_utils.chapters import cards, probes
from xling_utils.chapters.probes import _counted
from xling_utils.core.writing import held


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


@pytest.mark.parametrize("parameter", ["model", "data"])
def test_a_chapter_is_executed_again_for_other_files_of_the_same_model_or_data(tmp_path: Path, parameter: str) -> None:
    file, given = tmp_path / "given/text/file", {parameter: str(tmp_path / "given")}
    file.parent.mkdir(parents=True)
    file.write_bytes(b"x")
    before = notebooks._identity(tmp_path, "07_cka", given)
    assert before == notebooks._identity(tmp_path, "07_cka", given)
    file.write_bytes(b"more")
    assert before != notebooks._identity(tmp_path, "07_cka", given)


def test_a_chapter_is_executed_again_for_what_lies_behind_links(tmp_path: Path) -> None:
    data, given = tmp_path / "data", {"data": str(tmp_path / "data")}
    for folder in (data / "text", tmp_path / "real"):
        folder.mkdir(parents=True)
    (data / "text/fr").symlink_to(tmp_path / "real")
    (tmp_path / "real/loop").symlink_to(data)
    seen = {notebooks._identity(tmp_path, "07_cka", given)}
    (tmp_path / "real/a.txt").write_bytes(b"x")
    seen.add(notebooks._identity(tmp_path, "07_cka", given))
    (data / "text/zh").symlink_to(tmp_path / "real")  # the same text as another language
    seen.add(notebooks._identity(tmp_path, "07_cka", given))
    assert len(seen) == 3


def test_a_chapter_is_executed_again_for_another_encoder_of_the_book(tmp_path: Path) -> None:
    before = notebooks._identity(tmp_path, "07_cka", {})
    (tmp_path / "book/models/key").mkdir(parents=True)
    (tmp_path / "book/models/key/model.safetensors").write_bytes(b"x")
    assert before != notebooks._identity(tmp_path, "07_cka", {})


@pytest.mark.parametrize("model", [".", "../mine", "../mine/final/.."])
def test_what_is_made_of_a_model_is_named_after_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    (tmp_path / "mine/final").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "mine")
    folder = probing.folder_of(tmp_path, model)
    assert folder.name == "mine" and folder == probing.folder_of(tmp_path, probing._place(model))


def test_models_of_one_name_have_folders_of_their_own(tmp_path: Path) -> None:
    first, second = (str(tmp_path / run / "final") for run in ("r1", "r2"))
    for model in (first, second):
        Path(model).mkdir(parents=True)
    folder = probing.folder_of(tmp_path, first)
    assert folder == probing.folder_of(tmp_path, second), "nothing is made of either yet"
    folder.mkdir(parents=True)
    card = folder / "card.json"
    card.write_text(json.dumps({"model": first}))
    beside = probing.folder_of(tmp_path, second)
    assert probing.folder_of(tmp_path, first) == folder and beside.name.startswith("final-")
    card.write_text("{")
    assert probing.folder_of(tmp_path, second) == folder, "a damaged card is of nobody"


def test_nobody_else_lays_out_a_book_that_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def executed(place: Path, *_: object) -> list[str]:
        with held(place / "probing.lock", wait=False) as free:
            assert not free
        return ["failed"]

    monkeypatch.setattr(probing, "_lay_out", lambda *_: None)
    monkeypatch.setattr(notebooks, "execute", executed)
    pages, failures = probing.probe_chapters(tmp_path, str(tmp_path), ["fr"], None, print)
    assert failures == ["failed"] and pages.is_relative_to(tmp_path / "_build/probe")


@pytest.mark.parametrize("chapters", [False, True])
def test_a_model_is_examined_once_on_all_that_is_read(
    chapters: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int, str | None]] = []
    examine = lambda model, _, __, sentences, ___, pooling: asked.append((model, sentences, pooling))  # noqa: E731
    monkeypatch.setattr(probing, "examine", examine)
    monkeypatch.setattr(cards, "card", lambda *_: None)
    monkeypatch.setattr(card_page, "write", lambda *_: None)
    probing.probe(tmp_path, "a/model", ["fr"], None, print, None, "last", "a/nother", chapters)
    assert asked == [("a/model", probes.SENTENCES if chapters else 0, "last"), ("a/nother", 0, None)]
