"""The encoder that comes with the book as a script that pages load, so that they answer from disk.

``static/encoder.js`` reads it. Weights and means stand in it as safetensors in base64, as precise as they are stored:
a page computes with the numbers that Python computes with.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING

from xling_utils.core import identity, kept_text
from xling_utils.core.errors import UserError

if TYPE_CHECKING:
    from xling_utils.measures import bundled

NAME = "encoder-data.js"
"""Of the script, in the book's static folder."""
MODELS = Path("book") / "models"
CONFIG = {"hidden_act": "gelu", "tie_word_embeddings": True}
"""What ``encoder.js`` takes for granted."""
SHAPE = ("hidden_size", "layer_norm_eps", "max_position_embeddings", "num_attention_heads", "num_hidden_layers")
"""What it is told."""


def of_book(root: Path) -> dict[str, bytes]:
    """The script of the encoder that comes with the book at ``root``, by its name; none where no encoder does. Kept in
    ``_build``, since a moment is needed to make it."""
    folder = root / MODELS
    if not folder.is_dir():
        return {}
    made_of = identity.of(identity.of_folder(folder), Path(__file__))
    return {NAME: kept_text.once(root / "_build" / "encoder", made_of, lambda: _made(folder)).encode()}


def _made(folder: Path) -> str:
    from xling_utils.measures import bundled

    return script(bundled.load(folder))


def script(subject: bundled.Bundled) -> str:
    """The script of an encoder. Raises :class:`UserError` on one that ``encoder.js`` does not compute."""
    from safetensors.numpy import save

    config, tokenizer = subject.model.config.to_dict(), subject.tokenizer
    for name, value in CONFIG.items():
        if config[name] != value:
            raise UserError(f"{subject.key}: {name} is {config[name]!r}; the pages compute with {value!r}")
    pieces = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    means = {language: subject.means(language, 1) for language in subject.languages}
    first, last = tokenizer("")["input_ids"]
    data = {
        "config": {name: config[name] for name in SHAPE},
        "form": subject.form,
        "vocabulary": sorted(pieces["vocab"], key=pieces["vocab"].__getitem__),
        "special": tokenizer.all_special_tokens,
        "unknown": tokenizer.unk_token_id,
        "first": first,
        "last": last,
        "continues": pieces["continuing_subword_prefix"],
        "longest": pieces["max_input_chars_per_word"],
        "tokens": {of: sorted(map(tokenizer.convert_tokens_to_ids, subject.tokens(of, 1))) for of in means},
        "means": _base64(save(means)),
        "weights": _base64((subject.folder / subject.key / "model.safetensors").read_bytes()),
    }
    return f"window.encoderData = {json.dumps(data, ensure_ascii=False, separators=(',', ':'))};\n"


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
