"""Static word vectors from a token stream: skip-gram word2vec (through gensim) and GloVe (written here).

Both read the same input as the encoder: ``ids``, a flat int32 array in which every sentence is closed by
``[SEP]``. A context never crosses a ``[SEP]``, and ``[SEP]`` itself is a boundary, not a word: its row stays
zero, as do the rows of all tokens that the stream lacks. So a window is capped by its sentence, unless the caller
drops ``[SEP]`` from within documents first (``StaticSpec.across_sentences``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from xling_utils.core.errors import UserError
from xling_utils.core.specs import StaticSpec
from xling_utils.core.writing import enough_space

if TYPE_CHECKING:
    import torch
    from scipy.sparse import csr_matrix

SEP = 3  # the id that closes a sentence, whatever the language

Report = Callable[[dict[str, Any]], None]
"""Receives ``{"done": passes, "total": passes, "tokens": tokens read so far}`` after every pass; GloVe's row
has ``loss`` too, the mean loss over the pass."""
AfterPass = Callable[[int, float], None]

SENTENCE_LIMIT = 10_000  # gensim drops what follows the 10,000th token of a line


def train_word2vec(
    ids: np.ndarray,
    vocabulary_size: int,
    spec: StaticSpec,
    seed: int,
    workdir: Path,
    report: Report | None = None,
) -> np.ndarray:
    """Skip-gram with five negative samples (Mikolov et al. 2013, arXiv:1310.4546), by gensim.

    ``ids`` is int32 ``(tokens,)``; returns float32 ``(vocabulary_size, spec.width)``. The stream is written
    as text under ``workdir``, one sentence a line, and removed when training ends. A longer sentence than
    gensim's 10,000 tokens becomes several lines. Frequent tokens are subsampled at 1e-3, as in the paper's
    program. One thread trains, so that the result is a function of the arguments alone; ``PYTHONHASHSEED``
    has no part in it (since gensim 4 words are not hashed to initialise their vectors).
    Raises :class:`UserError` on an empty stream, an id outside the vocabulary, or a size below 1.
    """
    counts = _token_counts(ids, vocabulary_size, spec)
    from gensim.models import Word2Vec
    from gensim.models.callbacks import CallbackAny2Vec

    class Progress(CallbackAny2Vec):
        done = 0

        def on_epoch_end(self, model: Word2Vec) -> None:
            self.done += 1
            if report:
                report({"done": self.done, "total": spec.epochs, "tokens": self.done * len(ids)})

    settings = {"sg": 1, "hs": 0, "negative": 5, "sample": 1e-3, "min_count": 1, "workers": 1}
    model = Word2Vec(vector_size=spec.width, window=spec.window, seed=seed, **settings)
    lines = _cut_long_sentences(ids)
    frequencies = {str(i): int(counts[i]) for i in np.flatnonzero(counts)}
    model.build_vocab_from_freq(frequencies, corpus_count=int(np.count_nonzero(lines == SEP)))
    with TemporaryDirectory(dir=workdir, prefix="word2vec-") as folder:
        corpus = Path(folder) / "sentences.txt"
        with enough_space(corpus):
            _write_lines(lines, vocabulary_size, corpus)
        size = {"total_examples": model.corpus_count, "total_words": int(counts.sum())}
        model.train(corpus_file=str(corpus), epochs=spec.epochs, callbacks=[Progress()], **size)
    vectors = np.zeros((vocabulary_size, spec.width), np.float32)
    vectors[[int(word) for word in model.wv.index_to_key]] = model.wv.vectors
    return vectors


def _cut_long_sentences(ids: np.ndarray) -> np.ndarray:
    position = np.arange(len(ids))
    ends = ids == SEP
    start = np.zeros(len(ids), np.int64)
    start[1:] = np.maximum.accumulate(np.where(ends, position + 1, 0))[:-1]
    within = position - start
    return np.insert(ids, np.flatnonzero((within > 0) & (within % SENTENCE_LIMIT == 0) & ~ends), SEP)


def _write_lines(ids: np.ndarray, vocabulary_size: int, path: Path, chunk: int = 1 << 20) -> None:
    text = [f"{i} " for i in range(vocabulary_size)]
    text[SEP] = "\n"
    with path.open("w", encoding="ascii") as file:
        for start in range(0, len(ids), chunk):
            file.write("".join(map(text.__getitem__, ids[start : start + chunk].tolist())))


# GloVe: Pennington, Socher and Manning 2014, "GloVe: Global Vectors for Word Representation" (D14-1162).

X_MAX = 10.0
"""Counts from here on weigh 1. The paper takes 100 for billions of tokens; its authors' demo takes 10 for the
17 M tokens of text8, nearer to the corpora here, where 100 would all but silence most pairs."""

BATCH_WEIGHT = 8.0
"""About the most weight f(x) that one token's pairs have in a batch. So small, a step a batch learns as much
as a step a pair; from about 32 the first passes overshoot, at 200 they diverge."""
LEARNING_RATE = 0.05
EVENTS = 1 << 23  # co-occurrences counted in one go: bounds the memory


@dataclass(frozen=True)
class Glove:
    """The parameters of eq. 8: ``words`` and ``contexts`` ``(vocabulary_size, width)``, ``word_bias`` and
    ``context_bias`` ``(vocabulary_size,)``, all of one float type."""

    words: np.ndarray
    contexts: np.ndarray
    word_bias: np.ndarray
    context_bias: np.ndarray


def train_glove(
    ids: np.ndarray, vocabulary_size: int, spec: StaticSpec, seed: int, report: Report | None = None
) -> np.ndarray:
    """GloVe vectors: the sum of the word and the context vectors (sec. 4.2 of the paper).

    ``ids`` is int32 ``(tokens,)``; returns float32 ``(vocabulary_size, spec.width)``, a function of the
    arguments alone. A token that never has a neighbour keeps a zero row too: nothing is known of it.
    Raises :class:`UserError` on an empty stream, an id outside the vocabulary, a size below 1, or a stream
    in which no two tokens share a sentence.
    """
    _token_counts(ids, vocabulary_size, spec)
    counts = cooccurrences(ids, vocabulary_size, spec.window)
    if not counts.nnz:
        raise UserError("glove: every sentence has one token, so nothing co-occurs; give longer sentences")

    def after_pass(done: int, loss: float) -> None:
        if report:
            report({"done": done, "total": spec.epochs, "tokens": done * len(ids), "loss": loss})

    model = fit_glove(counts, spec.width, spec.epochs, seed, after_pass)
    vectors = model.words + model.contexts
    vectors[np.diff(counts.indptr) == 0] = 0
    return vectors


def cooccurrences(ids: np.ndarray, vocabulary_size: int, window: int) -> csr_matrix:
    """How often tokens stand within ``window`` tokens of one another in a sentence, each time weighted by
    1/distance: float64 ``(vocabulary_size, vocabulary_size)``, symmetric, with sorted indices."""
    from scipy.sparse import coo_matrix, csr_matrix

    shape = (vocabulary_size, vocabulary_size)
    total = csr_matrix(shape)
    sentence = np.cumsum(ids == SEP, dtype=np.int32)
    span = max(1, EVENTS // window)
    for start in range(0, len(ids), span):
        parts = []
        for distance in range(1, window + 1):
            right = slice(start + distance, start + distance + span)
            left = slice(start, start + len(ids[right]))
            near = (sentence[left] == sentence[right]) & (ids[left] != SEP)
            parts.append((ids[left][near], ids[right][near], np.full(np.count_nonzero(near), 1 / distance)))
        lefts, rights, weights = map(np.concatenate, zip(*parts, strict=True))
        total += coo_matrix((weights, (lefts, rights)), shape=shape).tocsr()
    total = (total + total.T).tocsr()
    total.sort_indices()
    return total


def fit_glove(
    counts: csr_matrix, width: int, epochs: int, seed: int, report: AfterPass | None = None, threads: int = 1
) -> Glove:
    """Minimises eq. 8 by AdaGrad in ``epochs`` passes over ``counts``, the output of :func:`cooccurrences`;
    float32 parameters. ``report(done, loss)`` comes after each pass, with the mean loss of its batches.

    The authors' program takes a step a pair. Here a step takes a batch of pairs, so that gathers and segment
    sums do the work; the loss after as many passes is no higher (``benchmarks/glove.py``). One thread gives
    the same result each time; several share the parameters without locks, as the authors' do, and do not.
    """
    import torch

    size = counts.shape[0]
    table = torch.rand(2 * size, width + 2, generator=torch.Generator().manual_seed(seed)) - 0.5
    table /= width
    # Rows [w, b, 1] above rows [w~, 1, b~]: the product of two rows is then all of w.w~ + b + b~.
    table[:size, width + 1] = table[size:, width] = 1
    # AdaGrad's step g / sqrt(sum of g^2) starts at the learning rate; an infinite sum freezes the ones.
    squares = torch.full_like(table, LEARNING_RATE**-2)
    squares[:size, width + 1] = squares[size:, width] = torch.inf

    batches = list(_batches(counts, seed))
    order = np.random.default_rng(seed)
    torch_threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the operations are too short to be split
    try:
        with ThreadPoolExecutor(threads) as pool:
            for done in range(1, epochs + 1):
                shuffled = [batches[k] for k in order.permutation(len(batches))]
                loss = sum(pool.map(partial(_step, table, squares), shuffled))
                if report:
                    report(done, loss / counts.nnz)
    finally:
        torch.set_num_threads(torch_threads)
    words, contexts = table.numpy()[:size], table.numpy()[size:]
    return Glove(words[:, :width], contexts[:, :width], words[:, width], contexts[:, width + 1])


@dataclass(frozen=True)
class _Batch:
    """``n`` pairs (i, j) sorted by i; with each comes (j, i), as ``counts`` is symmetric, so that one layout
    serves the gradients of words and of contexts. Contexts are the rows from ``vocabulary_size`` on."""

    pairs: torch.Tensor  # (2n,): the n words, then the n contexts
    terms: torch.Tensor  # (2n,): the rows that the gradients sum: of each word its contexts, then the reverse
    starts: torch.Tensor  # where in ``terms`` each gradient begins
    rows: torch.Tensor  # whose gradients these are
    exchanged: torch.Tensor  # (n,): where the pair (j, i) stands
    log_count: torch.Tensor  # (n,)
    weight: torch.Tensor  # (n,)


def _step(table: torch.Tensor, squares: torch.Tensor, batch: _Batch) -> float:
    import torch
    from torch.nn.functional import embedding_bag

    words, contexts = table.index_select(0, batch.pairs).chunk(2)
    error = batch.log_count - torch.linalg.vecdot(words, contexts)
    slope = batch.weight * error
    slopes = torch.cat([slope, slope.index_select(0, batch.exchanged)])
    descent = embedding_bag(batch.terms, table, batch.starts, mode="sum", per_sample_weights=slopes)
    at = batch.rows[:, None].expand_as(descent)
    squares.scatter_add_(0, at, descent * descent)
    table.scatter_add_(0, at, squares.index_select(0, batch.rows).rsqrt_().mul_(descent))
    return float(slope @ error) / 2


def _batches(counts: csr_matrix, seed: int) -> Iterator[_Batch]:
    from scipy.sparse import csr_matrix
    from torch import from_numpy

    def like_counts(values: np.ndarray) -> csr_matrix:
        return csr_matrix((values, counts.indices, counts.indptr), shape=counts.shape)

    size, every = counts.shape[0], np.arange(counts.nnz)
    weight = _weight(counts.data)
    number = int(np.ceil(like_counts(weight).sum(axis=1).max() / BATCH_WEIGHT))
    exchanged = like_counts(every).T.tocsr().data  # the number of each pair's exchanged pair
    batch_of = np.random.default_rng(seed).integers(number, size=counts.nnz)[np.minimum(every, exchanged)]
    order = np.argsort(batch_of.astype(np.min_scalar_type(number)), kind="stable")
    position = np.empty_like(order)
    position[order] = every

    rows = np.repeat(np.arange(size), np.diff(counts.indptr))
    ends = np.cumsum(np.bincount(batch_of, minlength=number))
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        at = order[start:end]
        i, j = rows[at], counts.indices[at]
        first = np.flatnonzero(np.diff(i, prepend=-1))
        if len(at):
            yield _Batch(
                pairs=from_numpy(np.concatenate([i, j + size]).astype(np.int32)),
                terms=from_numpy(np.concatenate([j + size, j]).astype(np.int32)),
                starts=from_numpy(np.concatenate([first, first + len(at)]).astype(np.int32)),
                rows=from_numpy(np.concatenate([i[first], i[first] + size])),
                exchanged=from_numpy((position[exchanged[at]] - start).astype(np.int32)),
                log_count=from_numpy(np.log(counts.data[at]).astype(np.float32)),
                weight=from_numpy(weight[at].astype(np.float32)),
            )


def glove_loss(counts: csr_matrix, model: Glove) -> float:
    """Half of eq. 8, a pair: the mean of f(x) (w.w~ + b + b~ - log x)^2 / 2 over the pairs of ``counts``, in
    double precision. The authors' program prints its running mean."""
    pairs, total, chunk = counts.tocoo(), 0.0, 1 << 16
    for start in range(0, counts.nnz, chunk):
        i, j, x = (values[start : start + chunk] for values in (pairs.row, pairs.col, pairs.data))
        dot = np.einsum("nd,nd->n", model.words[i], model.contexts[j], dtype=np.float64)
        error = dot + model.word_bias[i] + model.context_bias[j] - np.log(x)
        total += float(_weight(x) @ error**2) / 2
    return total / counts.nnz


def _weight(counts: np.ndarray) -> np.ndarray:
    return np.minimum(1, (counts / X_MAX) ** 0.75)  # eq. 9


def _token_counts(ids: np.ndarray, vocabulary_size: int, spec: StaticSpec) -> np.ndarray:
    for name in ("width", "window", "epochs"):
        if getattr(spec, name) < 1:
            raise UserError(f"{spec.method}: {name} is {getattr(spec, name)}; give 1 or more")
    words = ids[ids != SEP]
    if not len(words):
        raise UserError(f"{spec.method}: the token stream has no word; give a corpus with text")
    if not 0 <= words.min() <= words.max() < vocabulary_size:
        wrong = f"token ids {words.min()} to {words.max()} in a vocabulary of {vocabulary_size}"
        raise UserError(f"{spec.method}: {wrong}; tokenize and train with the same tokenizer")
    return np.bincount(words, minlength=vocabulary_size)
