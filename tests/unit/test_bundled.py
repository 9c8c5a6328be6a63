"""The encoder that comes with the book: what is kept of its text is all that the widgets need."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from xling_utils.chapters.language_means.widget import LayerWidget
from xling_utils.chapters.mds.widget import TranslationWidget
from xling_utils.core.errors import UserError
from xling_utils.core.specs import CorpusSpec, EncoderSpec, TokenizerSpec
from xling_utils.measures.encoders import bundled, bundled_text
from xling_utils.measures.encoders.subject import Subject
from xling_utils.runs.store import Run, RunStore

CORPUS, PIECES = CorpusSpec("controlled", ("en", "fr"), 200, 3), TokenizerSpec("wordpiece", 900)
ENCODER = EncoderSpec(layers=2, width=16, heads=2, intermediate=32, positions=32)


@pytest.fixture
def run(stored, tmp_path: Path) -> Run:
    made = stored(CORPUS, PIECES, ENCODER)
    store = RunStore(tmp_path / "store")
    with store.writing("a" * 20, made.spec) as draft:
        for file in made.path.iterdir():
            if file.is_file():
                shutil.copy(file, draft.path)
    found = store.get("a" * 20)
    assert found
    return found


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> Path:
    bundled.write(run, None, tmp_path / "models")
    shutil.rmtree(tmp_path / "store")
    return tmp_path / "models"


def test_it_says_what_the_run_says_of_its_text(run: Run, folder: Path) -> None:
    kept, own = bundled.load(folder), Subject.of_run(replace(run, path=folder / run.key))
    for unit in ("token", "sentence"):
        np.testing.assert_array_equal(kept.means("fr", 1, unit), own.means("fr", 5_000, unit))
    assert kept.tokens("fr", 1) == own.tokens("fr", 5_000)
    states, means = kept.apart("en", 1, 50)
    expected, _ = own.apart("en", 5_000, 50)
    assert states.shape == (3, 50, 16) and means.shape == (3, 16)
    np.testing.assert_allclose(states, expected, atol=2e-3)


def test_half_of_the_precision_and_no_history_are_kept(run: Run, folder: Path) -> None:
    files = {path.name for path in (folder / run.key).iterdir()}
    assert files == {
        "config.json",
        "manifest.json",
        "model.safetensors",
        "provenance.json",
        "spec.json",
        "tokenizer.json",
    }
    kept = load_file(folder / run.key / "model.safetensors")
    assert {weights.dtype for weights in kept.values()} == {np.dtype(np.float16)}
    assert {path.name for path in folder.iterdir()} == {run.key, bundled_text.STATES, bundled_text.TOKENS}
    model = bundled.load(folder).model
    assert {weights.dtype for weights in model.parameters()} == {torch.float32}, "it computes as any other"


def test_both_widgets_work_without_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = bundled.load(folder)
    monkeypatch.setattr(Subject, "text", None)
    layers = [LayerWidget(subject).to_html("en", "fr", 1) for subject in (bundled_text.load(folder), kept)]
    assert "%" in layers[0] and layers[0] == layers[1], "with the encoder or without it"
    assert "xling-tokens" in TranslationWidget(kept, {"en": "the girl"}).to_html("the girl", "en", "fr", 1, 2.0)


def test_damaged_weights_are_refused_in_one_line(run: Run, folder: Path) -> None:
    weights = folder / run.key / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\0")
    with pytest.raises(UserError, match="0 sound runs; restore"):
        bundled.load(folder)
