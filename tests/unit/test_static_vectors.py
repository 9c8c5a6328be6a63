"""Static vectors: counts and loss against loops, determinism, and what the vectors learn."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from xling_utils.core.errors import UserError
from xling_utils.core.specs import StaticSpec
from xling_utils.models import static_vectors
from xling_utils.models.static_vectors import (
    SEP,
    X_MAX,
    Glove,
    cooccurrences,
    fit_glove,
    glove_loss,
    train_glove,
    train_word2vec,
)

GLOVE = StaticSpec("glove", width=8, window=3, epochs=5)
WORD2VEC = StaticSpec("word2vec", width=8, window=3, epochs=2)
SIZE = 40


def stream(sentences: int = 300, seed: int = 0) -> np.ndarray:
    """Sentences of 1 to 9 words among the ids 5 to 29; 30 to 39 stay unseen."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 10, sentences)
    parts = [np.append(np.minimum(5 + rng.geometric(0.12, n), 29), SEP) for n in lengths]
    return np.concatenate(parts).astype(np.int32)


def synonyms(seed: int = 0) -> np.ndarray:
    """Sentences ``c w c``, where the contexts c are of the word's topic t: 30 + 4 t to 33 + 4 t. The words 5
    and 6 share topic 0, 7 and 8 topic 1, and so on up to 19 and 20."""
    rng = np.random.default_rng(seed)
    word = rng.integers(5, 21, 6000)
    contexts = 30 + 4 * ((word - 5) // 2)[:, None] + rng.integers(4, size=(6000, 2))
    ends = np.full(6000, SEP)
    return np.stack([contexts[:, 0], word, contexts[:, 1], ends], axis=1).ravel().astype(np.int32)


def naive_counts(ids: np.ndarray, size: int, window: int) -> np.ndarray:
    counts = np.zeros((size, size))
    for a in range(len(ids)):
        for b in range(a + 1, min(a + window, len(ids) - 1) + 1):
            if SEP in ids[a : b + 1]:
                break
            counts[ids[a], ids[b]] += 1 / (b - a)
            counts[ids[b], ids[a]] += 1 / (b - a)
    return counts


@pytest.mark.parametrize("window", [1, 3, 50])
@pytest.mark.parametrize("events", [static_vectors.EVENTS, 100])
def test_cooccurrences_equal_a_double_loop(window, events, monkeypatch):
    monkeypatch.setattr(static_vectors, "EVENTS", events)
    ids = stream()
    counts = cooccurrences(ids, SIZE, window)
    np.testing.assert_allclose(counts.toarray(), naive_counts(ids, SIZE, window), rtol=1e-12)
    assert counts.has_sorted_indices


def test_loss_equals_a_loop():
    counts = cooccurrences(stream(2000), SIZE, 3)
    assert counts.max() > X_MAX > counts.data.min()
    rng = np.random.default_rng(0)
    model = Glove(*(rng.normal(size=shape) for shape in ((SIZE, 6), (SIZE, 6), SIZE, SIZE)))
    total = 0.0
    for i, j in zip(*counts.nonzero(), strict=True):
        error = model.words[i] @ model.contexts[j] + model.word_bias[i] + model.context_bias[j]
        error -= np.log(counts[i, j])
        total += min(1, (counts[i, j] / X_MAX) ** 0.75) * error**2 / 2
    assert glove_loss(counts, model) == pytest.approx(total / counts.nnz, rel=1e-12)


def test_one_pass_takes_adagrad_steps_along_the_gradient(monkeypatch):
    """With all pairs in one batch a pass is one step, so the first is a formula of the starting point."""
    monkeypatch.setattr(static_vectors, "BATCH_WEIGHT", 1e9)
    counts = cooccurrences(stream(), SIZE, 3)
    start, end = (fit_glove(counts, 4, epochs, seed=1) for epochs in (0, 1))
    seen = counts.toarray() > 0
    weight = np.minimum(1, (counts.toarray() / X_MAX) ** 0.75)
    error = start.words @ start.contexts.T + start.word_bias[:, None] + start.context_bias
    slope = weight * np.where(seen, error - np.log(np.where(seen, counts.toarray(), 1)), 0)
    gradients = Glove(slope @ start.contexts, slope.T @ start.words, slope.sum(1), slope.sum(0))
    for name, gradient in vars(gradients).items():
        expected = getattr(start, name) - gradient / np.sqrt(static_vectors.LEARNING_RATE**-2 + gradient**2)
        np.testing.assert_allclose(getattr(end, name), expected, atol=1e-5, err_msg=name)


def test_every_pair_is_in_one_batch():
    counts = cooccurrences(stream(2000), SIZE, 3)
    batches = list(static_vectors._batches(counts, seed=0))
    assert len(batches) >= 3
    seen = np.zeros((SIZE, SIZE), int)
    for batch in batches:
        i, j = batch.pairs.numpy().reshape(2, -1)
        np.add.at(seen, (i, j - SIZE), 1)
        np.testing.assert_array_equal(i[batch.exchanged], j - SIZE)
        np.testing.assert_allclose(batch.log_count, np.log(counts.toarray()[i, j - SIZE]), rtol=1e-6)
    np.testing.assert_array_equal(seen, counts.toarray() > 0)


def test_loss_falls_with_passes():
    losses: list[float] = []
    counts = cooccurrences(stream(2000), SIZE, 3)
    model = fit_glove(counts, 8, 20, 0, lambda done, loss: losses.append(loss))
    assert len(losses) == 20
    assert glove_loss(counts, model) < losses[-1] < losses[4] < losses[0] / 2


def test_threads_reach_the_same_loss():
    counts = cooccurrences(stream(2000), SIZE, 3)
    one, two = (glove_loss(counts, fit_glove(counts, 8, 20, 0, threads=threads)) for threads in (1, 2))
    assert two == pytest.approx(one, rel=0.2)


def test_glove_shape_zeros_and_report():
    ids = np.append(stream(), [35, SEP]).astype(np.int32)
    rows: list[dict] = []
    vectors = train_glove(ids, SIZE, GLOVE, 0, rows.append)
    assert vectors.shape == (SIZE, GLOVE.width) and vectors.dtype == np.float32
    known = np.diff(cooccurrences(ids, SIZE, 3).indptr) > 0
    assert not vectors[~known].any() and not vectors[SEP].any() and not vectors[35].any()
    assert vectors[known].any(axis=1).all() and np.isfinite(vectors).all()
    assert [row["done"] for row in rows] == [1, 2, 3, 4, 5]
    assert rows[-1]["total"] == 5 and rows[-1]["tokens"] == 5 * len(ids) and rows[-1]["loss"] > 0


def test_word2vec_shape_zeros_and_clean_workdir(tmp_path):
    ids, rows = stream(), []
    vectors = train_word2vec(ids, SIZE, WORD2VEC, 0, tmp_path, rows.append)
    assert vectors.shape == (SIZE, WORD2VEC.width) and vectors.dtype == np.float32
    seen = np.isin(np.arange(SIZE), ids) & (np.arange(SIZE) != SEP)
    assert not vectors[~seen].any() and vectors[seen].any(axis=1).all()
    assert rows == [{"done": n, "total": 2, "tokens": n * len(ids)} for n in (1, 2)]
    assert not list(tmp_path.iterdir())


PROGRAM = """
import hashlib, sys, numpy as np
from pathlib import Path
from xling_utils.core.specs import StaticSpec
from xling_utils.models.static_vectors import train_glove, train_word2vec
ids = np.load(sys.argv[1] + "/ids.npy")
for vectors in (
    train_word2vec(ids, 70, StaticSpec("word2vec", 8, 3, 2), 7, Path(sys.argv[1])),
    train_glove(ids, 70, StaticSpec("glove", 8, 3, 2), 7),
):
    print(hashlib.sha256(vectors.tobytes()).hexdigest())
"""


def test_two_processes_agree_whatever_their_hash_seed_and_threads(tmp_path):
    np.save(tmp_path / "ids.npy", synonyms())
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    processes = [
        subprocess.Popen(command, env={"PYTHONHASHSEED": number, "OMP_NUM_THREADS": number}, stdout=subprocess.PIPE)
        for number in ("1", "2")
    ]
    first, second = (process.communicate()[0] for process in processes)
    assert first == second and len(first.split()) == 2


@pytest.mark.parametrize("method", ["glove", "word2vec"])
def test_seeds_differ_and_synonyms_become_neighbours(method, tmp_path):
    spec = StaticSpec(method, width=16, window=3, epochs=30)
    ids = synonyms()

    def train(seed: int) -> np.ndarray:
        if method == "glove":
            return train_glove(ids, 70, spec, seed)
        return train_word2vec(ids, 70, spec, seed, tmp_path)

    vectors = train(0)
    assert not np.allclose(vectors, train(1))
    words = vectors[5:21] - vectors[5:21].mean(0)
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    cosine = words @ words.T - 2 * np.eye(16)
    partner = np.arange(16) ^ 1
    assert (cosine.argmax(1) == partner).mean() >= 0.9


def test_a_sentence_beyond_gensims_limit_is_read_to_its_end(tmp_path, monkeypatch):
    long = np.append(np.tile(np.arange(5, 10), 5000), np.tile(np.arange(10, 15), 200))
    ids = np.append(long, SEP).astype(np.int32)
    lines = "".join("\n" if i == SEP else f"{i} " for i in static_vectors._cut_long_sentences(ids)).splitlines()
    assert [len(line.split()) for line in lines] == [10_000, 10_000, 6_000]
    short = static_vectors._cut_long_sentences(stream())
    np.testing.assert_array_equal(short, stream())
    untrained = train_word2vec(ids, 20, replace(WORD2VEC, epochs=1), 0, tmp_path)
    trained = train_word2vec(ids, 20, replace(WORD2VEC, epochs=20), 0, tmp_path)
    assert (np.abs(trained - untrained)[10:15].max(axis=1) > 0.05).all()


@pytest.mark.parametrize(
    ("ids", "spec", "message"),
    [
        ([], GLOVE, "no word"),
        ([SEP, SEP], GLOVE, "no word"),
        ([5, 6, 40, SEP], GLOVE, "5 to 40 in a vocabulary of 40"),
        ([5, 6, -1, SEP], GLOVE, "-1 to 6"),
        ([5, SEP, 6, SEP], GLOVE, "nothing co-occurs"),
        ([5, 6, SEP], replace(GLOVE, window=0), "window is 0"),
        ([5, 6, SEP], replace(GLOVE, width=0), "width is 0"),
        ([5, 6, SEP], replace(GLOVE, epochs=0), "epochs is 0"),
    ],
)
def test_callers_mistakes_are_one_line(ids, spec, message, tmp_path):
    ids = np.array(ids, np.int32)
    with pytest.raises(UserError, match=message) as caught:
        train_glove(ids, SIZE, spec, 0)
    assert "\n" not in str(caught.value)
    if "co-occurs" not in message:
        with pytest.raises(UserError, match=message):
            train_word2vec(ids, SIZE, replace(spec, method="word2vec"), 0, tmp_path)
