"""Vectors out of models: words as means over their contexts, layer by layer.

Layer 0 is the embedding output, layer l the output of block l.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from xling_utils.encoder import Encoder
from xling_utils.tokenization import CLS, TokenStream

BATCH = 128


@dataclass(frozen=True)
class WordVectors:
    """Means over contexts: ``vectors`` float32 (layers + 1, words, d), their ``counts`` int64 (words,)."""

    vectors: npt.NDArray[np.float32]
    counts: npt.NDArray[np.int64]


@torch.no_grad()
def contextual_words(
    model: Encoder, stream: TokenStream, words: Sequence[tuple[int, ...]], length: int, max_tokens: int
) -> WordVectors:
    """Mean hidden state of each word over its occurrences in ``stream``, at every layer (A, sec. 3.1.1).

    ``words`` are sequences of pieces; an occurrence's state is the mean over its pieces, and counts only
    where all of them fall into one input and the word ends with them (``un`` does not occur in ``un ##do``).
    Inputs are ``[CLS]`` and ``length - 1`` tokens in stream order, nothing masked; reading stops after about
    ``max_tokens`` tokens. A word never seen has count 0 and a zero vector.
    """
    step = length - 1
    inputs = min(len(stream.ids), max_tokens) // step
    tokens = stream.ids[: inputs * step].reshape(inputs, step).astype(np.int64)
    goes_on = np.append(stream.inside[1:], False)[: inputs * step].reshape(inputs, step)
    found = _occurrences(tokens, goes_on, words)
    device = next(model.parameters()).device
    layers, width = model.spec.layers + 1, model.spec.width
    sums = torch.zeros(layers, len(words), width, device=device)
    counts = torch.zeros(len(words), dtype=torch.int64, device=device)
    for start in range(0, inputs, BATCH):
        block = torch.from_numpy(tokens[start : start + BATCH]).to(device)
        block = torch.cat([torch.full((len(block), 1), CLS, device=device), block], dim=1)
        here = (found[:, 1] >= start) & (found[:, 1] < start + BATCH)
        if not here.any():
            continue
        word, row, column, span = torch.from_numpy(found[here].T).to(device)
        counts.index_add_(0, word, torch.ones_like(word))
        for layer, states in enumerate(model.hidden_states(block)):
            for pieces in torch.unique(span).tolist():  # words of one piece, of two, ...
                of = span == pieces
                places = column[of][:, None] + 1 + torch.arange(pieces, device=device)
                means = states[(row[of] - start)[:, None], places].mean(dim=1)
                sums[layer].index_add_(0, word[of], means)
    vectors = sums / counts.clamp(min=1)[None, :, None]
    return WordVectors(vectors.cpu().numpy(), counts.cpu().numpy())


def _occurrences(
    tokens: npt.NDArray[np.int64], goes_on: npt.NDArray[np.bool_], words: Sequence[tuple[int, ...]]
) -> npt.NDArray[np.int64]:
    """Rows (word, input, column, pieces) wherever a word's pieces stand in a row of ``tokens``; ``goes_on``
    says of each token whether the next one continues its word."""
    by_first: dict[int, list[int]] = {}
    for number, pieces in enumerate(words):
        if pieces:
            by_first.setdefault(pieces[0], []).append(number)
    rows = []
    wanted = np.isin(tokens, np.fromiter(by_first, dtype=np.int64, count=len(by_first)))
    width = tokens.shape[1]
    for i, j in np.argwhere(wanted).tolist():
        line = tokens[i]
        for number in by_first[int(line[j])]:
            pieces = words[number]
            n = len(pieces)
            if j + n <= width and not goes_on[i, j + n - 1] and tuple(line[j : j + n].tolist()) == pieces:
                rows.append((number, i, j, n))
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def static_words(vectors: npt.NDArray[np.float32], words: Sequence[tuple[int, ...]]) -> npt.NDArray[np.float32]:
    """Words as means of their pieces' static vectors: ``vectors`` (vocabulary, d) -> (words, d)."""
    return np.stack([vectors[list(pieces)].mean(axis=0) for pieces in words])


def centred(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """``vectors`` (..., words, d) less their mean over words: the language's own position taken out."""
    return vectors - vectors.mean(axis=-2, keepdims=True)
