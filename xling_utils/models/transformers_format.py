"""Encoders on disk, under the names and in the format of ``transformers``, so that anyone can read them.

A run whose languages share one encoder is a folder that ``BertForMaskedLM.from_pretrained`` reads; one that separates
parts of it holds such a folder for each language.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from xling_utils.core.errors import UserError
from xling_utils.core.specs import EncoderSpec
from xling_utils.models.encoder import EMBEDDING_STD, NORM_EPSILON, Encoder, Encoders

CONFIG_FILE, WEIGHTS_FILE = "config.json", "model.safetensors"

_PLAIN_NAMES = {
    "words.weight": "bert.embeddings.word_embeddings.weight",
    "positions.weight": "bert.embeddings.position_embeddings.weight",
    "segments.weight": "bert.embeddings.token_type_embeddings.weight",
    "norm": "bert.embeddings.LayerNorm",
    "transform": "cls.predictions.transform.dense",
    "transform_norm": "cls.predictions.transform.LayerNorm",
    "decoder_bias": "cls.predictions.bias",
    "pooler": "bert.pooler.dense",
    "order": "cls.seq_relationship",
}
_BLOCK_NAMES = {
    "out": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm2": "output.LayerNorm",
}


def _transformers_name(name: str) -> str:
    if name in _PLAIN_NAMES:
        return _PLAIN_NAMES[name]
    if name.startswith("blocks."):
        _, number, part, tail = name.split(".")
        return f"bert.encoder.layer.{number}.{_BLOCK_NAMES[part]}.{tail}"
    part, tail = name.rsplit(".", 1)
    return f"{_PLAIN_NAMES[part]}.{tail}"


def to_transformers(encoder: Encoder) -> dict[str, Tensor]:
    """The weights under ``BertForMaskedLM``'s names (the decoder is tied and not repeated)."""
    state = {}
    for name, value in encoder.state_dict().items():
        value = value.detach().cpu().contiguous()
        if ".qkv." in name:
            _, number, _, tail = name.split(".")
            for part, piece in zip(("query", "key", "value"), value.chunk(3), strict=True):
                state[f"bert.encoder.layer.{number}.attention.self.{part}.{tail}"] = piece.contiguous()
        else:
            state[_transformers_name(name)] = value
    return state


def from_transformers(encoder: Encoder, state: dict[str, Tensor]) -> None:
    """Loads weights under ``BertForMaskedLM``'s names; raises :class:`UserError` if one is missing."""
    own = {}
    try:
        for name in encoder.state_dict():
            if ".qkv." in name:
                _, number, _, tail = name.split(".")
                prefix = f"bert.encoder.layer.{number}.attention.self"
                own[name] = torch.cat([state[f"{prefix}.{part}.{tail}"] for part in ("query", "key", "value")])
            else:
                own[name] = state[_transformers_name(name)]
    except KeyError as error:
        raise UserError(f"weights: {error.args[0]} is missing") from None
    encoder.load_state_dict(own)


def save(encoder: Encoder, folder: Path) -> None:
    """Writes ``config.json`` and ``model.safetensors``, as ``BertForMaskedLM.from_pretrained`` reads them."""
    spec = encoder.spec
    config = {
        "architectures": ["BertForPreTraining" if spec.next_sentence else "BertForMaskedLM"],
        "model_type": "bert",
        "vocab_size": encoder.words.num_embeddings,
        "hidden_size": spec.width,
        "num_hidden_layers": spec.layers,
        "num_attention_heads": spec.heads,
        "intermediate_size": spec.intermediate,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "max_position_embeddings": spec.positions,
        "type_vocab_size": 2,
        "initializer_range": EMBEDDING_STD,
        "layer_norm_eps": NORM_EPSILON,
        "pad_token_id": 0,
        "tie_word_embeddings": True,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CONFIG_FILE).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    save_file(to_transformers(encoder), folder / WEIGHTS_FILE, metadata={"format": "pt"})


def load(folder: Path, weights: str = WEIGHTS_FILE) -> Encoder:
    """Reads what :func:`save` wrote; ``weights`` may name a snapshot. In evaluation mode, on the CPU."""
    config = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
    spec = EncoderSpec(
        layers=config["num_hidden_layers"],
        width=config["hidden_size"],
        heads=config["num_attention_heads"],
        intermediate=config["intermediate_size"],
        positions=config["max_position_embeddings"],
        next_sentence=config["architectures"] == ["BertForPreTraining"],
    )
    encoder = Encoder(spec, config["vocab_size"])
    from_transformers(encoder, load_file(folder / weights))
    return encoder.eval()


def save_all(encoders: Encoders, folder: Path) -> None:
    """Writes the one encoder to ``folder``, or each language's to a folder of its name in it."""
    if len(encoders.members) == 1:
        save(encoders.of(encoders.languages[0]), folder)
    else:
        for language in encoders.languages:
            save(encoders.of(language), folder / language)


def load_all(folder: Path, spec: EncoderSpec, languages: Sequence[str]) -> Encoders:
    """Reads what :func:`save_all` wrote, shared parts shared again. In evaluation mode, on the CPU."""
    one = (folder / CONFIG_FILE).exists()
    config = json.loads(((folder if one else folder / languages[0]) / CONFIG_FILE).read_text(encoding="utf-8"))
    encoders = Encoders(spec, config["vocab_size"], languages)
    for language in languages[:1] if one else languages:
        from_transformers(encoders.of(language), load_file((folder if one else folder / language) / WEIGHTS_FILE))
    return encoders.eval()
