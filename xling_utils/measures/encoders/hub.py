"""Masked language models from elsewhere: a local folder or a name on the Hub, loaded with care."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from xling_utils.core.errors import UserError, first_line
from xling_utils.core.files import json_object
from xling_utils.measures.encoders import hidden_states
from xling_utils.measures.encoders.hidden_states import MaskedLM
from xling_utils.runs import Run
from xling_utils.runs.store import damage, read_spec

KEY_DIGITS = 20


def load(name: str) -> MaskedLM:
    """The model of that name, on the GPU where there is one. No pickle is read and no code of the model's is run.

    Raises :class:`UserError` where there is no model of that name, if it is no masked language model or lacks the head
    that predicts tokens, and if the tokenizer does not fit it.
    """
    from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer

    _check_whole(Path(name))
    safe: dict[str, Any] = {"trust_remote_code": False}
    config = _tried(name, "configuration", AutoConfig.from_pretrained, **safe)
    if type(config) not in AutoModelForMaskedLM._model_mapping or getattr(config, "is_decoder", False):
        raise UserError(
            f"{name}: {config.model_type} is no masked language model; name one that was trained to fill in"
        )
    with hidden_states.without_bars():
        model, found = _tried(
            name, "weights", AutoModelForMaskedLM.from_pretrained, config=config, use_safetensors=True,
            output_loading_info=True, **safe,
        )  # fmt: skip
    if missing := sorted(found["missing_keys"]):
        raise UserError(
            f"{name}: the weights lack {missing[0]}, so nothing predicts tokens; give a model with its prediction head"
        )
    tokenizer = _tried(name, "tokenizer", AutoTokenizer.from_pretrained, **safe)
    known = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > known:
        raise UserError(f"{name}: the tokenizer has {len(tokenizer)} tokens, the model knows {known}; they do not fit")
    if tokenizer.pad_token_id is None or tokenizer.cls_token_id is None or tokenizer.sep_token_id is None:
        raise UserError(f"{name}: the tokenizer lacks a token that fills, begins or ends an input")
    if len(tokenizer) <= len(tokenizer.all_special_ids):
        raise UserError(f"{name}: the tokenizer knows special tokens alone; give its files (tokenizer.json, vocab.txt)")
    if tokenizer.model_max_length <= tokenizer.num_special_tokens_to_add():
        raise UserError(f"{name}: model_max_length is {tokenizer.model_max_length}, which leaves no room for text")
    hidden_states.blocks_of(model)
    return MaskedLM(model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), tokenizer)


def _check_whole(folder: Path) -> None:
    """Raises :class:`UserError` if the configuration of a local model tells of more layers than there are weights: all
    of them would be built before anything is compared."""
    path = folder / "config.json"
    if not path.is_file():
        return
    config = json_object(path)
    layers = config.get("num_hidden_layers", config.get("n_layers", 0))
    weights = 0
    for file in folder.glob("*.safetensors"):
        try:
            with safe_open(file, framework="pt") as opened:
                weights += len(opened.keys())
        except (OSError, SafetensorError) as error:
            raise UserError(f"{file}: no weights that can be read ({error}); copy the model again") from None
    if isinstance(layers, int) and layers < 1 and {"num_hidden_layers", "n_layers"} & set(config):
        raise UserError(f"{path}: {layers} layers, so there is nothing to look into")
    if not isinstance(layers, int) or 0 < weights < layers:
        raise UserError(f"{path}: {layers!r:.80} layers, but {weights} tensors of weights; copy the model again")


def key(model: Any) -> str:
    """What identifies the weights of a model: 20 hexadecimal digits."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:KEY_DIGITS]


def drawn_anew(model: Any, seed: int) -> Any:
    """A model of the same shape with the first weights that its family starts from."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return type(model)(model.config).to(model.device).eval()


def _tried(name: str, what: str, load: Any, **options: Any) -> Any:
    """What ``load`` gives for ``name``; what keeps it from it, in one line (and not in a table on stderr)."""
    from transformers.utils import logging

    shown = logging.get_verbosity()
    logging.set_verbosity(logging.CRITICAL)
    try:
        return load(name, **options)
    except Exception as error:  # on a damaged file transformers and its libraries raise whatever they stumble over
        where = (
            "" if Path(name).is_dir() else "; name a folder, or a model of the Hub that this machine has or can reach"
        )
        raise UserError(f"{name}: no {what} that can be read ({first_line(error)}){where}") from None
    finally:
        logging.set_verbosity(shown)


def run_in(folder: Path) -> Run | None:
    """The stored run that ``folder`` is, wherever it lies; ``None`` if it is none. Raises :class:`UserError` if its
    files are not those of its manifest."""
    if not (folder / "spec.json").is_file():
        return None
    if problem := damage(folder, key=None, again=True):
        raise UserError(f"{folder}: a damaged run ({problem}); copy it again")
    return Run(folder.absolute().name, folder, read_spec(folder), {})
