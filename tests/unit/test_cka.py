"""CKA: reference values, its definition, and what it does not depend on."""

from __future__ import annotations

import numpy as np
import pytest

from xling_utils.core.errors import UserError
from xling_utils.measures.metrics.cka import between_layers, linear_cka


def kornblith_example() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.RandomState(1337)  # the inputs of the authors' demonstration
    x = rng.randn(100, 10)
    return x, x + rng.randn(100, 10)


def from_grams(x: np.ndarray, y: np.ndarray, debiased: bool) -> float:
    """The definition, by the examples' similarities: n x n."""

    def centred(x: np.ndarray) -> np.ndarray:
        gram, n = x @ x.T, len(x)
        if not debiased:
            gram = gram - gram.mean(axis=0)
            return gram - gram.mean(axis=1)[:, None]
        np.fill_diagonal(gram, 0)
        means = gram.sum(axis=0) / (n - 2)
        means -= means.sum() / (2 * (n - 1))
        gram -= means[:, None] + means[None]
        np.fill_diagonal(gram, 0)
        return gram

    a, b = centred(x), centred(y)
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


def test_the_published_reference_values():
    x, y = kornblith_example()
    assert linear_cka(x, y) == pytest.approx(0.55761, abs=5e-6)
    assert linear_cka(x, y, debiased=True) == pytest.approx(0.51346, abs=5e-6)


@pytest.mark.parametrize("debiased", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_rotation_scale_and_place_change_nothing(seed, debiased):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(80, 6)) * rng.uniform(0.1, 10, 6)
    y = np.hstack([x[:, :3], rng.normal(size=(80, 8))])
    rotation = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    expected = linear_cka(x, y, debiased)
    assert linear_cka(x, x, debiased) == pytest.approx(1)
    assert linear_cka(y, x, debiased) == pytest.approx(expected, abs=1e-6)
    assert linear_cka(7 * x @ rotation + rng.normal(size=6), y, debiased) == pytest.approx(expected, abs=1e-5)
    assert linear_cka(x @ rotation, x, debiased) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("debiased", [False, True])
def test_it_is_what_the_definition_says(debiased):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 20)).astype(np.float32) + 5, rng.normal(size=(300, 30)).astype(np.float32) - 9
    y[:, :20] += x
    assert linear_cka(x, y, debiased) == pytest.approx(from_grams(x, y, debiased), abs=1e-5)


def test_unrelated_representations_have_none_without_bias():
    rng = np.random.default_rng(1)
    found = [
        [linear_cka(rng.normal(size=(40, 30)), rng.normal(size=(40, 30)), debiased) for debiased in (False, True)]
        for _ in range(50)
    ]
    inflated, without = np.mean(found, axis=0)
    assert inflated > 0.4 and abs(without) < 0.02


def test_a_constant_representation_has_no_shape():
    x = np.random.default_rng(3).normal(size=(20, 4))
    row = np.random.default_rng(4).normal(size=3)
    for constant in (np.tile(row, (20, 1)), np.tile(row, (20, 1)).astype(np.float32), np.zeros((20, 3))):
        assert all(np.isnan(linear_cka(x, constant, debiased)) for debiased in (False, True))
        found = between_layers(np.stack([x[:, :3], constant]), x[None])
        assert np.isfinite(found[0]).all() and np.isnan(found[1]).all()


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.ones((5, 2)), np.ones((6, 2)), "not of the same examples"),
        (np.ones((5, 2)), np.ones(5), "not of the same examples"),
        (np.eye(3), np.eye(3), "at least 4 examples, not 3"),
        (np.full((5, 2), np.nan), np.ones((5, 2)), "not finite"),
        (np.empty((0, 2)), np.empty((0, 2)), "at least 4 examples, not 0"),
    ],
)
def test_mistakes_are_named(x, y, message):
    with pytest.raises(UserError, match=message):
        linear_cka(x, y)
