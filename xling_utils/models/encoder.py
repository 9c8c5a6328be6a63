"""A small BERT written for this book: the function of ``transformers``' ``BertForMaskedLM``, faster to train.

Devlin et al. (2019), post-norm blocks, exact GELU, tied decoder, no dropout (models this small underfit).
What makes it quick on a CPU: inputs packed to one length, so that no work is spent on padding; a last block
and a prediction head that answer for the masked positions only; plain matrix products for short attention.

Layer index everywhere: 0 is the embedding output, ``l`` the output of block ``l``.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from xling_utils.core.errors import UserError
from xling_utils.core.specs import EncoderSpec
from xling_utils.models.precision import Linear, linear

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


class Block(nn.Module):
    """Self-attention and feed-forward, each followed by a residual sum and layer norm."""

    def __init__(self, spec: EncoderSpec) -> None:
        super().__init__()
        self.heads, self.fused = spec.heads, True
        self.qkv = Linear(spec.width, 3 * spec.width)
        self.out = Linear(spec.width, spec.width)
        self.norm1 = nn.LayerNorm(spec.width, eps=NORM_EPSILON)
        self.up = Linear(spec.width, spec.intermediate)
        self.down = Linear(spec.intermediate, spec.width)
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
            pair = linear(x, weights[1], biases[1]).view(batch, length, 2, self.heads, per_head)
            key, value = pair.permute(2, 0, 3, 1, 4).contiguous().unbind()
            rows = torch.arange(batch, device=x.device)[:, None] * length
            x = x.flatten(0, 1).index_select(0, (chosen + rows).ravel()).view(batch, -1, width)
            query = linear(x, weights[0], biases[0]).view(batch, -1, self.heads, per_head).transpose(1, 2)
        fused = self.fused and (length > SHORT or x.is_cuda)
        mixed = _attend(query, key, value, mask, fused=fused).transpose(1, 2).reshape(x.shape)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


def _attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, fused: bool) -> Tensor:
    """Scaled dot products (Vaswani et al. 2017, eq. 1), all (batch, heads, length, width of a head)."""
    if fused:
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    with torch.autocast(key.device.type, enabled=False):  # products this small are faster in single precision
        scores = (query.float() * query.shape[-1] ** -0.5) @ key.float().transpose(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return (scores.softmax(-1) @ value.float()).to(value.dtype)


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
        self.transform = Linear(spec.width, spec.width)
        self.transform_norm = nn.LayerNorm(spec.width, eps=NORM_EPSILON)
        self.decoder_bias = nn.Parameter(torch.zeros(vocabulary_size))
        if spec.next_sentence:
            self.pooler = Linear(spec.width, spec.width)
            self.order = Linear(spec.width, 2)
        _initialise(self, spec)

    def embed(self, ids: Tensor, segments: Tensor | None = None) -> Tensor:
        """Layer 0: ``ids`` (batch, length) int64 -> (batch, length, width); ``segments`` alike, 0 throughout if not
        given."""
        if ids.shape[1] > self.spec.positions:
            raise UserError(f"encoder: input of {ids.shape[1]} tokens, {self.spec.positions} positions")
        segment = self.segments.weight[0] if segments is None else self.segments(segments)
        return self.norm(self.words(ids) + (self.positions.weight[: ids.shape[1]] + segment))

    def hidden_states(
        self, ids: Tensor, attention_mask: Tensor | None = None, segments: Tensor | None = None
    ) -> list[Tensor]:
        """All layers, each (batch, length, width), 0 first; ``attention_mask`` (batch, length), 1 = token."""
        mask = None if attention_mask is None else attention_mask.bool()[:, None, None, :]
        states = [self.embed(ids, segments)]
        for block in self.blocks:
            states.append(block(states[-1], mask))
        return states

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., width) -> (..., vocabulary): the prediction head on any positions."""
        transformed = self.transform_norm(F.gelu(self.transform(hidden)))
        return linear(transformed, self.words.weight, self.decoder_bias)

    def forward(
        self,
        ids: Tensor,
        positions: Tensor,
        labels: Tensor,
        segments: Tensor | None = None,
        follows: Tensor | None = None,
    ) -> Tensor:
        """Mean masked language modelling loss in nats, and that of next sentence prediction added where
        ``follows`` is given.

        ``ids`` (batch, length) int64; ``positions`` (batch, masked) int64, the masked places of each row;
        ``labels`` (batch, masked) int64, the original tokens there; ``segments`` (batch, length) and ``follows``
        (batch,) int64 as in :class:`xling_utils.runs.batches.Batch`.
        """
        x = self.embed(ids, segments)
        for block in self.blocks[:-1]:
            x = block(x)
        if follows is None:
            return _surprise(self.logits(self.blocks[-1](x, chosen=positions)), labels)
        x = self.blocks[-1](x, chosen=F.pad(positions, (1, 0)))  # [CLS], place 0, and the masked ones
        return _surprise(self.logits(x[:, 1:]), labels) + _surprise(self.order(self.pooler(x[:, 0]).tanh()), follows)


def _surprise(logits: Tensor, labels: Tensor) -> Tensor:
    """The mean cross-entropy of ``logits`` (..., n) and ``labels`` (...) int64, in nats; in single precision, for which
    autocast does not see in a stack."""
    return F.cross_entropy(logits.float().flatten(0, -2), labels.ravel())


class Encoders(nn.Module):
    """The encoders of a run's ``languages``: one and the same for all, unless the specification separates embedding
    layers (positions included) or bottom blocks (C, sec. 4.3), or only positions and segments (Dufter & Schütze 2020,
    sec. 2.3); then each language has an :class:`Encoder` with parts of its own, which shares all other parts with the
    rest."""

    def __init__(self, spec: EncoderSpec, vocabulary_size: int, languages: Sequence[str]) -> None:
        super().__init__()
        if spec.separate_blocks > spec.layers:
            raise UserError(f"encoder: {spec.separate_blocks} separate blocks, but only {spec.layers} layers")
        first = Encoder(spec, vocabulary_size)
        others = languages[1:] if spec.separate else ()
        self.members = nn.ModuleList([first, *(_sharing(first, vocabulary_size) for _ in others)])
        self.languages = tuple(languages)

    def of(self, language: str) -> Encoder:
        """The encoder that reads ``language``."""
        encoder = self.members[self.languages.index(language) % len(self.members)]
        assert isinstance(encoder, Encoder)
        return encoder

    def matrices(self) -> dict[int, list[nn.Parameter]]:
        """The weights between layers, each once, by the number of matrices that they hold: three of queries, keys and
        values. Not those of embeddings, and not what classifies."""
        found: dict[int, list[nn.Parameter]] = {3: [], 1: []}
        for name, parameter in self.named_parameters():
            between = ".blocks." in name or name.endswith((".transform.weight", ".pooler.weight"))
            if between and parameter.ndim == 2:
                found[3 if ".qkv." in name else 1].append(parameter)
        return found

    def forward(self, languages: Tensor, **batch: Tensor) -> Tensor:
        """The loss of :meth:`Encoder.forward`; ``languages`` (rows,) int64 says who reads which row."""
        if len(self.members) == 1:
            return self.members[0](**batch)
        losses = []
        for number, encoder in enumerate(self.members):
            rows = languages == number
            if rows.any():
                losses.append(encoder(**{name: values[rows] for name, values in batch.items()}) * rows.sum())
        return torch.stack(losses).sum() / len(languages)


def _sharing(first: Encoder, vocabulary_size: int) -> Encoder:
    """A new encoder that shares with ``first`` whatever the specification does not separate."""
    spec = first.spec
    encoder = Encoder(spec, vocabulary_size)
    own = {f"blocks.{number}." for number in range(spec.separate_blocks)}
    if spec.separate_embeddings:
        own |= {"words.", "positions.", "segments.", "norm.", "decoder_bias"}
    if spec.separate_positions:
        own |= {"positions.", "segments."}
        with torch.no_grad():  # equal sinusoids would align the languages before training does; these are as orderly
            encoder.positions.weight.copy_(encoder.positions.weight[:, torch.randperm(spec.width)])
    for name, module in list(encoder.named_modules()):
        for key in list(module._parameters):
            path = f"{name}.{key}" if name else key
            if not path.startswith(tuple(own)):
                module._parameters[key] = first.get_parameter(path)
    return encoder


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
