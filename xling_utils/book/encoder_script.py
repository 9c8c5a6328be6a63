"""The encoder that comes with the book as scripts that pages load, so that they answer from disk: the encoder itself,
and pictures of its layers.

``static/encoder.js`` reads the first. Weights and means stand in it as safetensors in base64, as precise as they are
stored: a page computes with the numbers that Python computes with.
"""

from __future__ import annotations

import base64
import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import numpy as np

from xling_utils.core import identity, kept_text
from xling_utils.core.errors import UserError
from xling_utils.core.files import json_object
from xling_utils.measures import bundled_text
from xling_utils.models import tokenization
from xling_utils.runs.store import TOKENIZER_FILE

NAME, LAYERS = "encoder-data.js", "layers-data.js"
"""Of the scripts, in the book's static folder."""
CONFIG = {"hidden_act": "gelu", "tie_word_embeddings": True}
"""What ``encoder.js`` takes for granted."""
SHAPE = ("hidden_size", "layer_norm_eps", "max_position_embeddings", "num_attention_heads", "num_hidden_layers")
"""What it is told."""
WORDS = "bert.embeddings.word_embeddings.weight"
PLANES_OF_WRITING = 0x20000
"""Where characters stand that :func:`corpora.normalise` asks about."""
DIRECTIONS = 72
"""Of a token's vector, in which nearly all of it lies: enough to tell which tokens cannot be the likeliest."""


def of_book(root: Path) -> dict[str, bytes]:
    """The scripts of the encoder that comes with the book at ``root``, by their names; none where no encoder does. Kept
    in ``_build``, since moments are needed to make them."""
    folder = root / bundled_text.FOLDER
    if not folder.is_dir():
        return {}
    whole = identity.of(identity.of_folder(folder), identity.package())

    def kept(name: str, made: Callable[[Path], str]) -> bytes:
        return kept_text.once(root / "_build" / name, whole, lambda: made(folder)).encode()

    return {name: kept(name, made) for name, made in ((NAME, _encoder), (LAYERS, _layers))}


def _encoder(folder: Path) -> str:
    return script(bundled_text.load(folder))


def _layers(folder: Path) -> str:
    from xling_utils.chapters.language_means import in_page, widget

    return in_page.script(widget.LayerWidget(bundled_text.load(folder)))


def script(text: bundled_text.BundledText) -> str:
    """The script of the encoder that ``text`` is of. Raises :class:`UserError` on one that ``encoder.js`` does not
    compute."""
    from safetensors.numpy import load, save

    folder = text.run.path
    config, pieces = json_object(folder / "config.json"), json_object(folder / TOKENIZER_FILE)["model"]
    for name, value in CONFIG.items():
        if config[name] != value:
            raise UserError(f"{text.key}: {name} is {config[name]!r}; the pages compute with {value!r}")
    means = {language: text.means(language, 1) for language in text.languages}
    weights = (folder / "model.safetensors").read_bytes()
    words = load(weights)[WORDS].astype(np.float64)
    _, directions = np.linalg.eigh(words.T @ words)  # those that hold most come last
    basis = np.ascontiguousarray(directions.T[-DIRECTIONS:], np.float32)
    data = {
        "config": {name: config[name] for name in SHAPE},
        "form": text.run.spec.tokenizer.form,
        "vocabulary": sorted(pieces["vocab"], key=pieces["vocab"].__getitem__),
        "special": tokenization.SPECIAL,
        "unknown": tokenization.UNK,
        "first": tokenization.CLS,
        "last": tokenization.SEP,
        "continues": pieces["continuing_subword_prefix"],
        "longest": pieces["max_input_chars_per_word"],
        "marks": "".join(mark for mark in map(chr, range(PLANES_OF_WRITING)) if unicodedata.combining(mark)),
        "tokens": {language: text.ids(language) for language in text.languages},
        "means": _base64(save(means)),
        "basis": _base64(save({"basis": basis})),
        "weights": _base64(weights),
    }
    return f"window.encoderData = {json.dumps(data, ensure_ascii=False, separators=(',', ':'))};\n"


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
