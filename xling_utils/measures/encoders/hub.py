"""Language models from elsewhere: a local folder or a name on the Hub, loaded with care."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from xling_utils.core.errors import UserError, first_line
from xling_utils.core.files import json_object
from xling_utils.measures.encoders import hidden_states
from xling_utils.measures.encoders.hidden_states import LanguageModel
from xling_utils.runs import Run
from xling_utils.runs.store import damage, read_spec

KEY_DIGITS = 20
SAFE = {"trust_remote_code": False}
OF_A_COPY = ("_name_or_path", "transformers_version")
"""What a configuration says of its folder, and of who wrote it."""
STATED = "1_Pooling/config.json"
MODES = {
    "mean": "mean", "mean_tokens": "mean", "cls": "first", "cls_token": "first", "lasttoken": "last",
    "weightedmean": "weighted", "weightedmean_tokens": "weighted",
}  # fmt: skip
"""What that file calls them."""


def load(name: str, pooling: str | None = None) -> LanguageModel:
    """The model of that name, on the GPU where there is one: with its head if it is a masked language model that has
    one, else what gives states, of an encoder-decoder the encoder. No pickle is read and no code of the model's is run.

    ``name`` is a folder, or a name on the Hub and perhaps a revision, ``NAME@REVISION``. Without ``pooling``, that
    which a sentence encoder says it was trained with; else the weighted mean for decoders, the mean for others.

    Raises :class:`UserError` where there is no model of that name, if weights are missing, and if the tokenizer does
    not fit it.
    """
    from transformers import AutoConfig, AutoTokenizer

    _check_whole(Path(name))
    config = _tried(name, "configuration", AutoConfig.from_pretrained, **SAFE)
    model = _read(name, config)
    tokenizer = _tried(name, "tokenizer", AutoTokenizer.from_pretrained, **SAFE)
    hidden_states.blocks_of(model)
    known, pieces = hidden_states.known_ids(model), tokenizer.vocab_size  # what is added may be for no text (Gemma's)
    if pieces > known:
        raise UserError(f"{name}: the tokenizer has {pieces} tokens, the model knows {known}; they do not fit")
    if _fills_in(config) and tokenizer.pad_token_id is None:
        raise UserError(f"{name}: the tokenizer lacks a token that fills an input")
    if len(tokenizer) <= len(tokenizer.all_special_ids):
        raise UserError(f"{name}: the tokenizer knows special tokens alone; give its files (tokenizer.json, vocab.txt)")
    decodes = not _fills_in(config) and not config.is_encoder_decoder
    if decodes:
        _begin(tokenizer)
    if tokenizer.model_max_length <= tokenizer.num_special_tokens_to_add():
        raise UserError(f"{name}: model_max_length is {tokenizer.model_max_length}, which leaves no room for text")
    pooling = pooling or _stated_pooling(name) or ("weighted" if decodes else "mean")
    if decodes and pooling == "first":
        raise UserError(f"{name}: the first token of a decoder has read nothing of its sentence; choose another")
    return LanguageModel(model.to(hidden_states.device()).eval(), tokenizer, pooling=pooling)


def _fills_in(config: Any) -> bool:
    """Whether models of that kind are trained to fill in what is masked, and read to both sides."""
    from transformers import AutoModelForMaskedLM

    one_stack = not config.is_encoder_decoder and not getattr(config, "is_decoder", False)
    return one_stack and type(config) in AutoModelForMaskedLM._model_mapping


def _read(name: str, config: Any) -> Any:
    """The model with its head that predicts what is masked, where there is one in the weights, or without."""
    from transformers import AutoModel, AutoModelForMaskedLM

    missing: list[str] = []
    for kind in (AutoModelForMaskedLM, AutoModel) if _fills_in(config) else (AutoModel,):
        model, missing = weights(name, kind, config=config)
        if not missing:
            model.config.use_cache = False
            return model.get_encoder() if config.is_encoder_decoder else model
    raise UserError(f"{name}: the weights lack {missing[0]}; copy the model again")


def weights(name: str, kind: Any, **options: Any) -> tuple[Any, list[str]]:
    """A model of that ``kind`` of ``transformers``, in single precision, whatever the file keeps, and the names of what
    its file lacks of what is read here. No pickle is read. Raises :class:`UserError` on a file that is none."""
    model, found = _tried(
        name, "weights", kind.from_pretrained, use_safetensors=True, output_loading_info=True, dtype=torch.float32,
        **SAFE, **options,
    )  # fmt: skip
    return model, sorted(lacking for lacking in found["missing_keys"] if "pooler." not in lacking)


def _begin(tokenizer: Any) -> None:
    """Puts a token before every text that a decoder reads, if its tokenizer does not: decoders keep states of a size
    of their own at the first place, whatever stands there, and no word of the text shall have them."""
    encoded = tokenizer("a", return_special_tokens_mask=True)
    special, first = encoded["special_tokens_mask"], tokenizer.bos_token or tokenizer.eos_token
    if not special or special[0] or first is None:
        return
    from tokenizers.processors import TemplateProcessing

    # Of two templates one after the other the second is not heeded, so what it puts behind a text is put there anew.
    behind = tokenizer.convert_ids_to_tokens(encoded["input_ids"][len(special) - special[::-1].index(0) :])
    added = [(token, tokenizer.convert_tokens_to_ids(token)) for token in dict.fromkeys((first, *behind))]
    single = [f"{first}:0", "$A:0", *(f"{token}:0" for token in behind)]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single=single, special_tokens=added)


def _stated_pooling(name: str) -> str | None:
    """What a sentence encoder says of itself, in a file of ``sentence-transformers``; ``None`` where there is none."""
    from transformers.utils import cached_file

    silent = dict.fromkeys(("_raise_exceptions_for_missing_entries", "_raise_exceptions_for_connection_errors"), False)
    path = _tried(name, "pooling", cached_file, filename=STATED, **silent)
    if path is None:
        return None
    said = json_object(Path(path))
    found = {key.removeprefix("pooling_mode_") for key, on in said.items() if on is True and key.startswith("pooling_")}
    if "pooling_mode" in said:
        found.add(str(said["pooling_mode"]))
    known = [MODES.get(mode) for mode in found]
    if len(known) != 1 or None in known:
        raise UserError(f"{name}: {STATED} states no pooling that is known; name one with --pooling, or probe another")
    return known[0]


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


def key(lm: LanguageModel) -> str:
    """What identifies a model by its weights, its configuration and its tokenizer, wherever it lies: 20 hexadecimal
    digits."""
    model, tokenizer = lm.model, lm.tokenizer
    config = {name: value for name, value in model.config.to_dict().items() if name not in OF_A_COPY}
    inner = getattr(tokenizer, "backend_tokenizer", None)
    pieces = inner.to_str() if inner else sorted(tokenizer.get_vocab().items())
    digest = hashlib.sha256(repr((sorted(config.items()), pieces, tokenizer.model_max_length)).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:KEY_DIGITS]


def drawn_anew(model: Any, seed: int) -> Any:
    """A model of the same shape with the first weights that its family starts from."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return type(model)(model.config).to(model.device).eval()


def _tried(name: str, what: str, load: Any, **options: Any) -> Any:
    """What ``load`` gives for ``name``, a revision of it if one is named; what keeps it from it, in one line (and not
    in a table on stderr)."""
    place, _, revision = (name, "", "") if Path(name).exists() else name.partition("@")
    try:
        with hidden_states.silently():
            return load(place, **options, revision=revision or None)
    except Exception as error:  # on a damaged file transformers and its libraries raise whatever they stumble over
        where = (
            "" if Path(name).is_dir() else "; name a folder, or a model of the Hub that this machine has or can reach"
        )
        raise UserError(f"{name}: no {what} that can be read ({first_line(error)}){where}") from None


def run_in(folder: Path) -> Run | None:
    """The stored run that ``folder`` is, wherever it lies; ``None`` if it is none. Raises :class:`UserError` if its
    files are not those of its manifest."""
    if not (folder / "spec.json").is_file():
        return None
    if problem := damage(folder, key=None, again=True):
        raise UserError(f"{folder}: a damaged run ({problem}); copy it again")
    return Run(folder.absolute().name, folder, read_spec(folder), {})
