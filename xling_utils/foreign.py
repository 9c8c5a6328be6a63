"""Masked language models from elsewhere: a local folder or a name on the Hub, loaded with care."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch

from xling_utils import lens
from xling_utils.errors import UserError
from xling_utils.specs import run_from_dict
from xling_utils.store import Run

KEY_DIGITS = 20


def load(name: str) -> tuple[Any, Any]:
    """The model, on the GPU where there is one, and its tokenizer. No pickle is read and no code of the model's is run.

    Raises :class:`UserError` where there is no model of that name, if it is no masked language model or lacks the head
    that predicts tokens, and if the tokenizer does not fit it.
    """
    from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer

    safe: dict[str, Any] = {"trust_remote_code": False}
    config = _tried(name, "configuration", AutoConfig.from_pretrained, **safe)
    if type(config) not in AutoModelForMaskedLM._model_mapping or getattr(config, "is_decoder", False):
        raise UserError(
            f"{name}: {config.model_type} is no masked language model; name one that was trained to fill in"
        )
    with lens.without_bars():
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
    lens.blocks_of(model)
    return model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), tokenizer


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
    """What ``load`` gives for ``name``; what keeps it from it, in one line."""
    try:
        return load(name, **options)
    except (OSError, ValueError, KeyError, ImportError, json.JSONDecodeError) as error:
        first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        where = (
            "" if Path(name).is_dir() else "; name a folder, or a model of the Hub that this machine has or can reach"
        )
        raise UserError(f"{name}: no {what} that can be read ({first}){where}") from None


def run_in(folder: Path) -> Run | None:
    """The stored run that ``folder`` is, wherever it lies; ``None`` if it is none."""
    path = folder / "spec.json"
    if not path.is_file():
        return None
    try:
        spec = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{path}: not JSON ({error})") from None
    return Run(folder.absolute().name, folder, run_from_dict(spec), {})
