"""Word vectors against loops that read like their definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from xling_utils.core.specs import EncoderSpec
from xling_utils.measures.encoders import representations
from xling_utils.measures.encoders.representations import centred, contextual_words, static_words
from xling_utils.models.encoder import Encoder
from xling_utils.models.tokenization import CLS, FIRST, SEP, TokenStream

LENGTH = 9
ORDINARY, CONTINUING = range(5, 12), range(12, 16)
"""Pieces that begin a word, and pieces that continue one."""
WORDS = [(5,), (6,), (5, 12), (7, 13, 14), (5, 12, 13), (11, 15), (8, 5), (9, 12, 5)]
"""Of one, two and three pieces, some of which begin others; the last two are of two units."""


def encoder() -> Encoder:
    """With weights that tell layers, places and words apart."""
    torch.manual_seed(0)
    model = Encoder(EncoderSpec(layers=2, width=12, heads=3, intermediate=16, positions=LENGTH), 20).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))
    return model


@pytest.fixture(scope="module")
def model() -> Encoder:
    return encoder()


def stream(sentences: int = 200, seed: int = 0) -> TokenStream:
    """Sentences of words of one to three pieces, one of WORDS now and then."""
    rng = np.random.default_rng(seed)
    ids: list[int] = []
    starts = []
    for _ in range(sentences):
        starts.append(len(ids))
        for _ in range(rng.integers(1, 6)):
            ids += [rng.choice(ORDINARY), *rng.choice(CONTINUING, rng.integers(0, 3))]
        ids += [*WORDS[rng.integers(len(WORDS))], SEP]
    tokens = np.array(ids, dtype=np.int32)
    return TokenStream(
        tokens, np.array(starts), np.zeros(sentences, dtype=np.int64), np.isin(tokens, CONTINUING), (FIRST, 20)
    )


@torch.no_grad()
def naive(model: Encoder, text: TokenStream, words: list[tuple[int, ...]], max_tokens: int) -> list[list[np.ndarray]]:
    """The states of each word's occurrences, (layers + 1, width) each."""
    found: list[list[np.ndarray]] = [[] for _ in words]
    step = LENGTH - 1
    for begin in range(0, min(len(text.ids), max_tokens) // step * step, step):
        line = tuple(text.ids[begin : begin + step].tolist())
        states = torch.stack(model.hidden_states(torch.tensor([[CLS, *line]])))[:, 0]
        for number, word in enumerate(words):
            for j in range(step - len(word) + 1):
                after = begin + j + len(word)
                goes_on = after < len(text.ids) and text.inside[after]
                if line[j : j + len(word)] == word and not goes_on:
                    found[number].append(states[:, 1 + j : 1 + j + len(word)].mean(dim=1).numpy())
    return found


@pytest.mark.parametrize("batch", [128, 4])
@pytest.mark.parametrize("max_tokens", [10**9, 300])
def test_contextual_means_are_those_of_a_loop(model, batch, max_tokens, monkeypatch):
    monkeypatch.setattr(representations, "BATCH", batch)
    text = stream()
    result = contextual_words(model, text, WORDS, LENGTH, max_tokens)
    assert result.vectors.shape == (3, len(WORDS), 12) and result.vectors.dtype == np.float32
    assert result.counts.dtype == np.int64
    expected = naive(model, text, WORDS, max_tokens)
    assert result.counts.tolist() == list(map(len, expected))
    for number, states in enumerate(expected):
        mean = np.mean(states, axis=0) if states else np.zeros((3, 12))
        np.testing.assert_allclose(result.vectors[:, number], mean, atol=1e-5)
    if max_tokens == 10**9:
        assert (result.counts > 5).all()


def test_a_word_never_seen_has_count_0_and_a_zero_vector(model):
    result = contextual_words(model, stream(), [(19,), (), (5,)], LENGTH, 10**9)
    assert result.counts[:2].tolist() == [0, 0] and result.counts[2] > 0
    assert not result.vectors[:, :2].any() and result.vectors[:, 2].any()


def test_the_beginning_of_a_longer_word_is_not_the_word(model):
    ids = np.array([5, 12, SEP, 5, SEP, 6, SEP, SEP], dtype=np.int32)
    text = TokenStream(ids, np.array([0, 3, 5, 7]), np.zeros(4, dtype=np.int64), np.isin(ids, CONTINUING), (FIRST, 20))
    assert contextual_words(model, text, [(5,), (5, 12)], LENGTH, 10**9).counts.tolist() == [1, 1]


def test_a_word_cut_by_the_end_of_an_input_does_not_count(model):
    ids = np.array([6, 6, 6, 6, 6, 6, 6, 5, 12, 13, 6, 6, 6, 6, 6, 6], dtype=np.int32)
    text = TokenStream(ids, np.array([0]), np.zeros(1, dtype=np.int64), np.isin(ids, CONTINUING), (FIRST, 20))
    counts = contextual_words(model, text, [(5,), (5, 12), (5, 12, 13), (6,)], LENGTH, 10**9).counts
    assert counts.tolist() == [0, 0, 0, 13]


def test_two_words_of_the_same_pieces_get_the_same_vector(model):
    result = contextual_words(model, stream(), [(5, 12), (6,), (5, 12)], LENGTH, 10**9)
    assert result.counts[0] == result.counts[2]
    assert np.array_equal(result.vectors[:, 0], result.vectors[:, 2])


def test_a_text_shorter_than_one_input_holds_no_context(model):
    result = contextual_words(model, stream(1), [(5,)], LENGTH, max_tokens=LENGTH - 2)
    assert result.counts.tolist() == [0] and result.vectors.shape == (3, 1, 12)


def test_static_words_are_means_of_their_pieces():
    vectors = np.arange(60, dtype=np.float32).reshape(20, 3) ** 2
    result = static_words(vectors, [(5,), (7, 13, 14), (5, 5)])
    expected = [vectors[5], (vectors[7] + vectors[13] + vectors[14]) / 3, vectors[5]]
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    assert result.dtype == np.float32


@pytest.mark.parametrize("shape", [(7, 4), (3, 7, 4)])
def test_centring_takes_the_mean_over_words_out_of_each_layer(shape):
    vectors = np.random.default_rng(0).normal(3, 1, shape).astype(np.float32)
    result = centred(vectors)
    np.testing.assert_allclose(result.mean(axis=-2), 0, atol=1e-6)
    np.testing.assert_allclose(result + vectors.mean(axis=-2, keepdims=True), vectors, atol=1e-5)


def test_a_word_of_no_pieces_has_a_zero_static_vector():
    result = static_words(np.ones((20, 3), dtype=np.float32), [(), (5, 6)])
    assert result.tolist() == [[0, 0, 0], [1, 1, 1]]


def test_centring_leaves_zero_vectors_zero_and_out_of_the_mean():
    vectors = np.random.default_rng(0).normal(3, 1, (2, 7, 4)).astype(np.float32)
    expected = centred(vectors)
    missing = np.zeros((2, 2, 4), dtype=np.float32)
    result = centred(np.concatenate([missing, vectors], axis=1))
    assert result.dtype == np.float32 and not result[:, :2].any()
    np.testing.assert_allclose(result[:, 2:], expected, atol=1e-6)
    assert not centred(missing).any()
