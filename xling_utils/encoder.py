"""A small BERT written for this book: the function of ``transformers``' ``BertForMaskedLM``, faster to train.

Devlin et al. (2019), post-norm blocks, exact GELU, tied decoder, no dropout (models this small underfit).
What makes it quick on a CPU: inputs packed to one length, so that no work is spent on padding; a last block
and a prediction head that answer for the masked positions only; plain matrix products for short attention.

Layer index everywhere: 0 is the embedding output, ``l`` the output of block ``l``.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

from xling_utils.errors import UserError
from xling_utils.specs import EncoderSpec

NORM_EPSILON = 1e-12
EMBEDDING_STD = 0.02
LINEAR_GAIN = 0.8
"""Linear weights start with standard deviation ``LINEAR_GAIN / sqrt(width)``: BERT's 0.02 is tuned to width
768 and leaves a narrow model on its unigram plateau for thousands of steps."""
SINUSOID_SCALE, SINUSOID_BASE = 0.05, 1000.0
"""Learned positions start as scaled sinusoids (Vaswani et al. 2017, sec. 3.5), so that "one to the left" need
not be discovered once for every position."""
SHORT = 64
"""Up to this length two matrix products attend faster on a CPU than the fused kernel, which saves memory."""
CONFIG_FILE, WEIGHTS_FILE = "config.json", "model.safetensors"


class Block(nn.Module):
    """Self-attention and feed-forward, each followed by a residual sum and layer norm."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.heads = spec.heads
        self.qkv = nn.Linear(spec.width, 3 * spec.width)
        self.out = nn.Linear(spec.width, spec.width)
        self.norm1 = nn.LayerNorm(spec.width, eps=NORM_EPSILON)
        self.up = nn.Linear(spec.width, spec.intermediate)
        self.down = nn.Linear(spec.intermediate, spec.width)
        self.norm2 = nn.LayerNorm(spec.width, eps=NORM_EPSILON)

    def forward(self, x: Tensor, mask: Tensor | None = None, chosen: Tensor | None = None) -> Tensor:
        """``x`` (batch, length, width) -> the same; ``mask`` (batch, 1, 1, length) bool, True = attend.

        With ``chosen`` (batch, n) int64, places in each row, only their outputs are computed: (batch, n, width).
        """
        batch, length, width = x.shape
        per_head = width // self.heads
        if chosen is None:
            qkv = self.qkv(x).view(batch, length, 3, self.heads, per_head).permute(2, 0, 3, 1, 4)
            query, key, value = qkv.contiguous().unbind()
        else:
            weights, biases = self.qkv.weight.split((width, 2 * width)), self.qkv.bias.split((width, 2 * width))
            pair = F.linear(x, weights[1], biases[1]).view(batch, length, 2, self.heads, per_head)
            key, value = pair.permute(2, 0, 3, 1, 4).contiguous().unbind()
            rows = torch.arange(batch, device=x.device)[:, None] * length
            x = x.flatten(0, 1).index_select(0, (chosen + rows).ravel()).view(batch, -1, width)
            query = F.linear(x, weights[0], biases[0]).view(batch, -1, self.heads, per_head).transpose(1, 2)
        mixed = _attend(query, key, value, mask).transpose(1, 2).reshape(x.shape)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


def _attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Scaled dot products (Vaswani et al. 2017, eq. 1), all (batch, heads, length, width of a head)."""
    if key.shape[2] > SHORT:
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-1, -2)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1) @ value


class Encoder(nn.Module):
    """BERT with a masked language modelling head.

    Raises :class:`UserError` when the heads do not divide the width.
    """

    def __init__(self, spec: EncoderSpec, vocabulary_size: int) -> None:
        super().__init__()
        if spec.width % spec.heads:
            below = spec.width // spec.heads * spec.heads
            near = [str(width) for width in (below, below + spec.heads) if width]
            raise UserError(
                f"encoder: width {spec.width} is not divisible by {spec.heads} heads; "
                f"nearest that are: {' and '.join(near)}"
            )
        self.spec = spec
        self.words = nn.Embedding(vocabulary_size, spec.width)
        self.positions = nn.Embedding(spec.positions, spec.width)
        self.segments = nn.Embedding(2, spec.width)
        self.norm = nn.LayerNorm(spec.width, eps=NORM_EPSILON)
        self.blocks = nn.ModuleList(Block(spec) for _ in range(spec.layers))
        self.transform = nn.Linear(spec.width, spec.width)
        self.transform_norm = nn.LayerNorm(spec.width, eps=NORM_EPSILON)
        self.decoder_bias = nn.Parameter(torch.zeros(vocabulary_size))
        _initialise(self, spec)

    def embed(self, ids: Tensor) -> Tensor:
        """Layer 0: ``ids`` (batch, length) int64 -> (batch, length, width), segment 0 throughout."""
        if ids.shape[1] > self.spec.positions:
            raise UserError(f"encoder: input of {ids.shape[1]} tokens, {self.spec.positions} positions")
        places = self.positions.weight[: ids.shape[1]] + self.segments.weight[0]
        return self.norm(self.words(ids) + places)

    def hidden_states(self, ids: Tensor, attention_mask: Tensor | None = None) -> list[Tensor]:
        """All layers, each (batch, length, width), 0 first; ``attention_mask`` (batch, length), 1 = token."""
        mask = None if attention_mask is None else attention_mask.bool()[:, None, None, :]
        states = [self.embed(ids)]
        for block in self.blocks:
            states.append(block(states[-1], mask))
        return states

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., width) -> (..., vocabulary): the prediction head on any positions."""
        transformed = self.transform_norm(F.gelu(self.transform(hidden)))
        return F.linear(transformed, self.words.weight, self.decoder_bias)

    def forward(self, ids: Tensor, positions: Tensor, labels: Tensor) -> Tensor:
        """Mean masked language modelling loss in nats.

        ``ids`` (batch, length) int64; ``positions`` (batch, masked) int64, the masked places of each row;
        ``labels`` (batch, masked) int64, the original tokens there.
        """
        x = self.embed(ids)
        for block in self.blocks[:-1]:
            x = block(x)
        x = self.blocks[-1](x, chosen=positions)
        return F.cross_entropy(self.logits(x).flatten(0, 1), labels.ravel())


def _initialise(encoder: Encoder, spec: EncoderSpec) -> None:
    for module in encoder.modules():
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=EMBEDDING_STD)
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=LINEAR_GAIN / spec.width**0.5)
            nn.init.zeros_(module.bias)
    places = torch.arange(spec.positions)[:, None]
    waves = torch.arange(spec.width)[None, :]
    angles = places / SINUSOID_BASE ** (waves // 2 * 2 / spec.width)
    sinusoids = torch.where(waves % 2 == 0, angles.sin(), angles.cos())
    with torch.no_grad():
        encoder.positions.weight.copy_(SINUSOID_SCALE * sinusoids)


def parameter_count(spec: EncoderSpec, vocabulary_size: int) -> int:
    """Trainable parameters of :class:`Encoder`, the tied decoder counted once, without building it."""
    d, f = spec.width, spec.intermediate
    embeddings = (vocabulary_size + spec.positions + 2) * d + 2 * d
    block = 3 * d * d + 3 * d + d * d + d + 2 * d + 2 * d * f + f + d + 2 * d
    return embeddings + spec.layers * block + d * d + d + 2 * d + vocabulary_size


_PLAIN_NAMES = {
    "words.weight": "bert.embeddings.word_embeddings.weight",
    "positions.weight": "bert.embeddings.position_embeddings.weight",
    "segments.weight": "bert.embeddings.token_type_embeddings.weight",
    "norm": "bert.embeddings.LayerNorm",
    "transform": "cls.predictions.transform.dense",
    "transform_norm": "cls.predictions.transform.LayerNorm",
    "decoder_bias": "cls.predictions.bias",
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
        "architectures": ["BertForMaskedLM"],
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
    )
    encoder = Encoder(spec, config["vocab_size"])
    from_transformers(encoder, load_file(folder / weights))
    return encoder.eval()
