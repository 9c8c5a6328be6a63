"""What can be wrong with a model from elsewhere is found once, before anything is measured, and named."""

from __future__ import annotations

import io
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
from xling_utils.measures.encoders import examined
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
def test_a_broken_model_is_named_in_one_line(
    what: str, sound: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examined, "MEMORY", 3 << 30)  # libraries take one, and the rest is filled the sooner
    change, words = BROKEN[what]
    model = tmp_path / "model"
    shutil.copytree(sound, model)
    change(model)
    apart = change is EXPLODES
    with pytest.raises(UserError, match=words) as refused:
        (examine if apart else examine_here)(str(model), list(LANGUAGES[1:]), data, 500)
    assert str(refused.value).startswith(str(model)) and "\n" not in str(refused.value)


def test_a_sound_model_passes_and_missing_text_is_named(sound: Path, data: Path) -> None:
    examine(str(sound), LANGUAGES[1:], data, 500)
    with pytest.raises(UserError, match=r"nowhere: no configuration"):
        examine_here("nowhere", list(LANGUAGES[1:]), data, 500)
    with pytest.raises(UserError, match="text/sw: no text"):
        examine_here(str(sound), ["fr", "sw"], data, 500)


def test_a_model_whose_pooling_is_unknown_is_examined_with_the_one_that_is_named(
    sound: Path, data: Path, tmp_path: Path
) -> None:
    shutil.copytree(sound, tmp_path / "model")
    (tmp_path / "model/1_Pooling").mkdir()
    (tmp_path / "model/1_Pooling/config.json").write_text('{"pooling_mode": "max"}')
    with pytest.raises(UserError, match="states no pooling that is known; name one with --pooling"):
        examine_here(str(tmp_path / "model"), ["fr"], data, 0)
    examine_here(str(tmp_path / "model"), ["fr"], data, 0, pooling="mean")


def test_an_error_that_nobody_expects_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def strange(**_: Any) -> None:
        raise AttributeError("'Gemma3Config' object has no attribute\n'num_hidden_layers'")

    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({"name": "no/where", "data": None, "memory": 0})))
    monkeypatch.setattr(examined, "_limit", lambda *_: None)
    monkeypatch.setattr(examined, "examine_here", strange)
    examined.main()
    said = (
        "this kind of model cannot be read (AttributeError: 'Gemma3Config' object has no attribute 'num_hidden_layers')"
    )
    assert capsys.readouterr().out == f"wrong: no/where: {said}\n"


@pytest.mark.parametrize("name", ["sound", "some/bert", "some/bert@step-100", "no/where", "/no/where"])
def test_the_weights_that_memory_is_for_are_those_of_a_name_on_the_hub_too(
    name: str, sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, told = tmp_path / "models--some--bert", list[int]()
    for revision, commit in (("main", "a" * 40), ("step-100", "b" * 40)):
        (place / "snapshots" / commit).mkdir(parents=True)
        for file in sound.iterdir():
            (place / "snapshots" / commit / file.name).symlink_to(file)
        (place / "refs").mkdir(exist_ok=True)
        (place / "refs" / revision).write_text(commit)
    (place / "snapshots" / ("b" * 40) / "more").write_bytes(b"1234")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.chdir(sound.parent)
    asked = {"name": name, "languages": [], "data": None, "sentences": 0, "aligned": None, "memory": 0}
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(asked)))
    monkeypatch.setattr(examined, "_limit", lambda weights, memory: told.append(weights))
    monkeypatch.setattr(examined, "examine_here", lambda **_: None)
    examined.main()
    here = sum(file.stat().st_size for file in sound.iterdir())
    assert told == [{"some/bert@step-100": here + 4}.get(name, 0 if "where" in name else here)]
