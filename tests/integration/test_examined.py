"""What can be wrong with a model from elsewhere is found once, before anything is measured, and named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from tests import families
from tests.scratch import as_real_data
from xling_utils.core.errors import UserError
from xling_utils.corpora import controlled
from xling_utils.measures import examine
from xling_utils.measures.encoders.examined import examine_here

LANGUAGES = ("en", "fr", "zh")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return as_real_data(tmp_path_factory.mktemp("data"), LANGUAGES, 600)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = [line for language in LANGUAGES for line in controlled.text(language, 200, 0)["text"][:]]
    return families.saved(tmp_path_factory.mktemp("models") / "sound", "BERT", texts)


def in_json(name: str, change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    def changed(folder: Path) -> None:
        found = json.loads((folder / name).read_text())
        change(found)
        (folder / name).write_text(json.dumps(found))

    return changed


def weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    found = load_file(path)
    found["bert.encoder.layer.1.output.dense.weight"][0, 0] = float("nan")
    save_file(found, path, metadata={"format": "pt"})


def no_tokenizer(folder: Path) -> None:
    for path in folder.glob("*token*"):
        path.unlink()


def unknown_tokens(found: dict[str, Any]) -> None:
    pieces = found["model"]["vocab"]
    found["model"]["vocab"] = {piece if n < len(families.SPECIAL) else f"unused {n}": n for piece, n in pieces.items()}


def exploding(found: dict[str, Any]) -> None:
    """Ten letters for each, twelve times over."""
    more = {"type": "Replace", "pattern": {"Regex": "."}, "content": "aaaaaaaaaa"}
    found["normalizer"] = {"type": "Sequence", "normalizers": [more] * 12}


def without_unk(found: dict[str, Any]) -> None:
    found["model"]["unk_token"] = "[NONE]"


EXPLODES = in_json("tokenizer.json", exploding)
BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "weights that are no numbers": (weights, r"weights of bert.encoder.layer.1.output.dense.weight are not finite"),
    "settings that are no numbers": (
        in_json("config.json", lambda c: c.update(layer_norm_eps=float("nan"))), r"states of layer \d are not finite",
    ),
    "no layers": (in_json("config.json", lambda c: c.update(num_hidden_layers=0)), "0 layers"),
    "no room for text": (
        in_json("tokenizer_config.json", lambda c: c.update(model_max_length=-5)), "model_max_length is -5",
    ),
    "no tokenizer": (no_tokenizer, "tokenizer"),
    "unknown tokens": (in_json("tokenizer.json", unknown_tokens), r"\d+% of the tokens of \w\w are unknown"),
    "no unknown token": (in_json("tokenizer.json", without_unk), r"cannot read \w\w \(WordPiece error: Missing"),
    "a normaliser that explodes": (EXPLODES, "the tokenizer, on en, (ends|takes)"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_model_is_named_in_one_line(what: str, sound: Path, data: Path, tmp_path: Path) -> None:
    change, words = BROKEN[what]
    model = tmp_path / "model"
    shutil.copytree(sound, model)
    change(model)
    apart = change is EXPLODES
    with pytest.raises(UserError, match=words) as refused:
        (examine if apart else examine_here)(str(model), list(LANGUAGES[1:]), data, 500, None)
    assert str(refused.value).startswith(str(model)) and "\n" not in str(refused.value)


def test_a_sound_model_passes_and_missing_text_is_named(sound: Path, data: Path) -> None:
    examine(str(sound), LANGUAGES[1:], data, 500, None)
    with pytest.raises(UserError, match=r"nowhere: no configuration"):
        examine_here("nowhere", list(LANGUAGES[1:]), data, 500, None)
    with pytest.raises(UserError, match="text/sw: no text"):
        examine_here(str(sound), ["fr", "sw"], data, 500, None)
