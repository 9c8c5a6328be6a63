"""Procrustes and iterative normalization, convert rate and BLEU-1."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes

from xling_utils.core.errors import UserError
from xling_utils.measures.metrics.procrustes import iterative_normalization, procrustes, procrustes_of_blocks
from xling_utils.measures.metrics.translation import bleu1, convert_rate, third_rate


@pytest.mark.parametrize("seed", range(5))
def test_procrustes_agrees_with_scipy(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 50, 7)).astype(np.float32)
    w = procrustes(x, y)
    np.testing.assert_allclose(w, orthogonal_procrustes(x.astype(float), y.astype(float))[0], atol=1e-8)
    np.testing.assert_allclose(w @ w.T, np.eye(7), atol=1e-10)
    blocks = [(x[start : start + 8], y[start : start + 8]) for start in range(0, 50, 8)]
    np.testing.assert_allclose(procrustes_of_blocks(blocks), w, atol=1e-8)


def test_a_rotation_is_found_again():
    rng = np.random.default_rng(9)
    rotation = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    x = rng.normal(size=(40, 5))
    np.testing.assert_allclose(procrustes(x, x @ rotation), rotation, atol=1e-10)
    shuffled = procrustes(x, (x @ rotation)[rng.permutation(40)])
    assert np.linalg.norm(x @ shuffled - x @ rotation) > 1


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.ones((3, 2)), np.ones((4, 2)), "do not match"),
        (np.ones((3, 2)), np.ones((3, 3)), "do not match"),
        (np.empty((0, 2)), np.empty((0, 2)), "nothing to align"),
        (np.zeros((3, 2)), np.ones((3, 2)), "nothing to align"),
        (np.full((3, 2), np.inf), np.ones((3, 2)), "not finite"),
    ],
)
def test_mistakes_of_procrustes_are_named(x, y, message):
    with pytest.raises(UserError, match=message):
        procrustes(x, y)


def test_iterative_normalization_ends_near_both_conditions():
    x = np.random.default_rng(0).normal(size=(200, 10)) * 4 + 3
    kept = x.copy()
    found = iterative_normalization(x)
    assert (x == kept).all() and found.dtype == np.float32
    assert np.abs(found.mean(axis=0)).max() < 1e-6
    assert np.abs(np.linalg.norm(found, axis=1) - 1).max() < 0.02
    once = iterative_normalization(x, rounds=1)
    assert np.abs(np.linalg.norm(once, axis=1) - 1).max() > 0.05
    unseen = np.insert(x, 5, 0, axis=0)
    assert (np.delete(iterative_normalization(unseen), 5, axis=0) == found).all()
    assert not iterative_normalization(unseen)[5].any() and not iterative_normalization(x * 0).any()
    with pytest.raises(UserError, match="finite"):
        iterative_normalization(np.array([[np.nan, 1.0]]))


def test_convert_rate_counts_what_tells_the_languages_apart():
    english, greek = {"the", "dog", "."}, {"o", "σκύλος", "."}
    assert convert_rate(["o", "σκύλος", "."], english, greek) == 1
    assert convert_rate(["the", "dog", "."], english, greek) == 0
    assert convert_rate(["o", "dog", "."], english, greek) == 0.5
    assert convert_rate(["o", "unseen"], english, greek) == 0.5
    assert math.isnan(convert_rate([".", "."], english, greek))
    with pytest.raises(UserError, match="no token of its own"):
        convert_rate(["o"], english, set())


def test_third_rate_counts_what_only_a_third_language_holds():
    english, greek, others = {"the", "dog"}, {"o", "σκύλος"}, ({"le", "the"}, {"der", "o"})
    assert third_rate(["le", "der", "the", "o"], english, greek, others) == 0.5
    assert third_rate(["the", "σκύλος", "unseen"], english, greek, others) == 0
    assert math.isnan(third_rate([], english, greek, others))


def test_bleu_of_single_words():
    assert bleu1(["a b c d"], ["d c b a"]) == pytest.approx(100)
    assert bleu1(["a b x y"], ["a b c d"]) == pytest.approx(50)
    assert bleu1(["a a a a"], ["a b c d"]) == pytest.approx(25)
    assert bleu1(["a b"], ["a b c d"]) == pytest.approx(100 * math.exp(-1))
    assert bleu1(["x y"], ["a b"]) == 0
    for hypotheses in (["a"], []):
        with pytest.raises(UserError, match="BLEU"):
            bleu1(hypotheses, [])
