"""Vectors out of models: words as means over their contexts, languages as means over their tokens, layer by layer.

Layer 0 is the embedding output, layer l the output of block l.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from xling_utils.core.errors import UserError
from xling_utils.measures.encoders.hidden_states import LanguageModel, blocks_of
from xling_utils.models.encoder import Encoder
from xling_utils.models.tokenization import TokenStream

BATCH = 128
"""Inputs that are read at a time."""
TOKENS_ON_GPU = 2**15
"""Tokens that a GPU reads at a time: told more often, it spends its time on being told."""
UNITS = ("token", "sentence")
"""What a language's mean is taken over."""


@dataclass(frozen=True)
class WordVectors:
    """Means over contexts: ``vectors`` float32 (layers + 1, words, d), their ``counts`` int64 (words,)."""

    vectors: npt.NDArray[np.float32]
    counts: npt.NDArray[np.int64]


@torch.inference_mode()
def contextual_words(
    model: Encoder, stream: TokenStream, words: Sequence[tuple[int, ...]], length: int, max_tokens: int
) -> WordVectors:
    """Mean hidden state of each word over its occurrences in ``stream``, at every layer (A, sec. 3.1.1).

    ``words`` are sequences of pieces; an occurrence's state is the mean over its pieces, and counts only
    where all of them fall into one input and the word ends with them (``un`` does not occur in ``un ##do``).
    Inputs are ``[CLS]`` and ``length - 1`` tokens in stream order, nothing masked; reading stops after about
    ``max_tokens`` tokens. A word never seen, or of no pieces, has count 0 and a zero vector.

    The cost is that of encoding the text, however many the words: ask for all at once.
    """
    step, device = length - 1, model.words.weight.device
    batch = BATCH if device.type == "cpu" else max(BATCH, TOKENS_ON_GPU // length)
    inputs = min(len(stream.ids), max_tokens) // step
    ids = stream.ids[: inputs * step].astype(np.int64)
    ends = ~np.append(stream.inside[1:], False)[: len(ids)]
    distinct = {pieces: number for number, pieces in enumerate(dict.fromkeys(words))}
    word, place = _occurrences(ids, ends, list(distinct), step)
    order = np.argsort(place)
    word, place = word[order], place[order]
    pieces = np.array([len(pieces) for pieces in distinct], dtype=np.int64)
    times = pieces[word]
    place = np.repeat(place - np.cumsum(times) + times, times) + np.arange(times.sum())
    rows, row = np.unique(place // step, return_inverse=True)  # inputs that hold none of the words are not read
    inside = row * length + 1 + place % step
    piece_of = torch.from_numpy(np.repeat(word, times)).to(device)
    sums = torch.zeros(model.spec.layers + 1, len(distinct), model.spec.width, device=device)
    for start in range(0, len(rows), batch):
        block = ids.reshape(inputs, step)[rows[start : start + batch]]
        block = np.pad(block, ((0, 0), (1, 0)), constant_values=stream.start)
        here = slice(*np.searchsorted(row, (start, start + batch)))
        places = torch.from_numpy(inside[here] - start * length).to(device)
        for layer, hidden in enumerate(model.hidden_states(torch.from_numpy(block).to(device))):
            sums[layer].index_add_(0, piece_of[here], hidden.flatten(0, 1)[places])
    counts = np.bincount(word, minlength=len(distinct))
    vectors = np.asarray(sums.cpu(), dtype=np.float32) / np.maximum(counts * pieces, 1)[:, None].astype(np.float32)
    asked = [distinct[pieces] for pieces in words]
    return WordVectors(vectors[:, asked], counts[asked])


def _occurrences(
    ids: npt.NDArray[np.int64], ends: npt.NDArray[np.bool_], words: Sequence[tuple[int, ...]], step: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Which of the distinct ``words`` stand where in ``ids``, not across a multiple of ``step``: the words'
    numbers and the places of their first pieces. ``ends`` says of each token whether a word may end with it.

    All places walk the tree of the words' beginnings at once. A node's number is its rank among the nodes of its
    depth, by the number of its parent and the piece that leads to it.
    """
    lengths = np.array([len(pieces) for pieces in words], dtype=np.int64)
    base = 1 + max(ids.max(initial=0), max((max(pieces, default=0) for pieces in words), default=0))
    node, at = np.zeros(len(words), dtype=np.int64), np.zeros(len(ids), dtype=np.int64)
    place = np.arange(len(ids))
    found_words, found_places = [place[:0]], [place[:0]]
    for depth in range(1, lengths.max(initial=0) + 1):
        longer = np.flatnonzero(lengths >= depth)
        next_piece = np.array([words[number][depth - 1] for number in longer.tolist()])
        keys, node[longer] = np.unique(node[longer] * base + next_piece, return_inverse=True)
        fits = place % step + depth <= step
        place, at = place[fits], at[fits]
        key = at * base + ids[place + depth - 1]
        at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        known = keys[at] == key
        place, at = place[known], at[known]
        word = np.full(len(keys), -1)
        whole = np.flatnonzero(lengths == depth)
        word[node[whole]] = whole
        here = (word[at] >= 0) & ends[place + depth - 1]
        found_words.append(word[at[here]])
        found_places.append(place[here])
    return np.concatenate(found_words), np.concatenate(found_places)


def static_words(vectors: npt.NDArray[np.float32], words: Sequence[tuple[int, ...]]) -> npt.NDArray[np.float32]:
    """Words as means of their pieces' static vectors, zero for a word of no pieces: ``vectors`` (vocabulary, d) ->
    (words, d)."""
    means = np.zeros((len(words), vectors.shape[1]), dtype=np.float32)
    for number, pieces in enumerate(words):
        if pieces:
            means[number] = vectors[list(pieces)].mean(axis=0)
    return means


def centred(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """``vectors`` (..., words, d) less their mean over words: the language's own position taken out.

    A zero vector, of a word that was never seen, stays zero and does not count in the mean.
    """
    seen = vectors.any(axis=-1, keepdims=True)
    mean = vectors.sum(axis=-2, keepdims=True) / np.maximum(seen.sum(axis=-2, keepdims=True), 1)
    return np.where(seen, vectors - mean.astype(vectors.dtype), 0).astype(vectors.dtype)


def language_means(
    model: Any, tokenizer: Any, sentences: Sequence[str], unit: str = "token"
) -> npt.NDArray[np.float32]:
    """The mean state of a language at every layer, float32 (layers + 1, d); see :func:`means_by_unit`.

    Raises :class:`UserError` on an unknown unit and text without a token.
    """
    if unit not in UNITS:
        raise UserError(f"unknown unit {unit!r}; known: {', '.join(UNITS)}")
    return means_by_unit(LanguageModel(model, tokenizer), sentences)[unit]


def means_by_unit(lm: LanguageModel, sentences: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
    """The mean state of a language at every layer, float32 (layers + 1, d), by what it is the mean of.

    ``"token"``: over all tokens but special ones, as A writes it (sec. 4.1.1); ``"sentence"``: over sentences of the
    mean over a sentence's tokens, special ones included, as D's program does, or of what else stands for a sentence
    (``lm.pooling``). Raises :class:`UserError` on text without a token.
    """
    total, count = torch.zeros(()), torch.zeros(len(UNITS), dtype=torch.float64)
    for found in lm.states(sentences):
        of_tokens, of_sentences = (found.tokens & ~found.special).double(), found.tokens.double()
        of_sentences /= of_sentences.sum(dim=1, keepdim=True).clamp(min=1)  # one of no token counts for nothing
        if lm.pooling != "mean":
            of_sentences = found.weights(lm.pooling).double()
        weights = torch.stack([of_tokens, of_sentences])
        sums = weights.flatten(1).float() @ found.layers.flatten(1, 2)  # of a few thousand states: exact enough
        total = total + sums.transpose(0, 1).double()
        count += weights.sum(dim=(1, 2)).cpu()
    if not count.all():
        raise UserError("language mean: the text holds no token; give at least one sentence")
    means = (total.cpu() / count[:, None, None]).float().numpy()
    return dict(zip(UNITS, means, strict=True))


@contextmanager
def shifted(model: Any, layer: int, vector: npt.NDArray[np.floating] | Tensor) -> Iterator[None]:
    """Within it, ``vector`` (d,) is added to every token's state at ``layer`` (mean difference shift: A, sec. 4.2.1).

    Raises :class:`UserError` on a layer that the model does not have and a vector of another width.
    """
    blocks, width = blocks_of(model), int(model.config.hidden_size)
    if not 0 <= layer <= len(blocks):
        raise UserError(f"layer {layer}: the model has layers 0 to {len(blocks)}")
    moved = torch.as_tensor(vector, dtype=model.dtype, device=model.device)
    if moved.shape != (width,):
        raise UserError(f"shift of shape {tuple(moved.shape)}: the model's states have {width} numbers")

    def before(module: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (inputs[0] + moved, *inputs[1:])

    def after(module: nn.Module, inputs: Any, output: Any) -> Any:
        return (output[0] + moved, *output[1:]) if isinstance(output, tuple) else output + moved

    hook = blocks[0].register_forward_pre_hook(before) if layer == 0 else blocks[layer - 1].register_forward_hook(after)
    try:
        yield
    finally:
        hook.remove()
