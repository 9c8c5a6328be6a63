"""Retrieval: hand-worked ranks, ties against the model, blocks, CSLS, chance, intervals and memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from xling_utils.core.errors import UserError
from xling_utils.measures.metrics import retrieval
from xling_utils.measures.metrics.intervals import over_seeds
from xling_utils.measures.metrics.retrieval import (
    bootstrap,
    chance_reciprocal_rank,
    mean_reciprocal_rank,
    nearest,
    precision_at_k,
    ranks,
    reciprocal_ranks,
)

PLANE = np.array([[1, 0], [1, 1], [0, 1], [-1, 1]], dtype=np.float64)
"""Four directions, at 0, 45, 90 and 135 degrees."""


def draw(n: int, d: int = 6, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def naive_ranks(scores: np.ndarray, gold: list[set[int]]) -> list[int]:
    found = []
    for row, own in zip(scores, gold, strict=True):
        best = max(row[j] for j in own)
        found.append(1 + sum(row[j] >= best - 1e-9 for j in range(len(row)) if j not in own))
    return found


def test_ranks_worked_by_hand():
    sources = np.array([[2, 0.1], [-0.1, 1], [1, 0.9], [-0.1, -1]])
    gold = [{0}, {0}, {2}, {3}]  # nearest first: 0 1 2 3; 2 3 1 0; 1 0 2 3; 0 3 1 2
    assert ranks(sources, PLANE, gold).tolist() == [1, 4, 3, 2]
    assert mean_reciprocal_rank(sources, PLANE, gold) == pytest.approx((1 + 1 / 4 + 1 / 3 + 1 / 2) / 4)
    assert precision_at_k(sources, PLANE, gold) == 0.25
    assert precision_at_k(sources, PLANE, gold, k=3) == 0.75
    assert reciprocal_ranks(sources, PLANE, gold).dtype == np.float64


def test_length_does_not_matter():
    sources, targets, gold = draw(20), draw(50, seed=1), [{i} for i in range(20)]
    scaled = targets * np.random.default_rng(0).uniform(0.01, 100, (50, 1)).astype(np.float32)
    assert np.array_equal(ranks(sources, targets, gold), ranks(sources * 7, scaled, gold))


def test_of_several_translations_the_best_counts_and_the_others_do_not_compete():
    source = np.array([[1, 0.1]])  # nearest first: 0 1 2 3
    assert ranks(source, PLANE, [{2, 3}]).tolist() == [3]
    assert ranks(source, PLANE, [{1, 2}]).tolist() == [2]
    assert ranks(source, PLANE, [{0, 1, 2, 3}]).tolist() == [1]


@pytest.mark.parametrize("width", [1, 3, 64, 768, 777])
@pytest.mark.parametrize("method", ["cosine", "csls"])
def test_a_constant_vector_never_scores(width, method):
    constant = np.full((300, width), 0.37, dtype=np.float32)
    gold = [{i} for i in range(300)]
    assert (ranks(constant, constant, gold, method) == 300).all()
    assert precision_at_k(constant, constant, gold, 299, method) == 0


@pytest.mark.parametrize("width", [3, 64, 768])
def test_every_duplicate_of_a_target_ranks_before_it(width):
    """However their products round: rows differ in length, and the order of sums with the block."""
    targets = np.concatenate([draw(100, width) * scale for scale in (1, 3, 0.7)])
    gold = [{i} for i in range(100)]
    assert (ranks(targets[:100], targets, gold) == 3).all()


def test_a_near_target_that_is_no_tie_does_not_count():
    sources = np.array([[1.0, 0.0, 0.0]])
    targets = np.array([[1, 0.01, 0], [1, 0.02, 0]])  # cosines differ by 1.5e-4
    assert ranks(sources, targets, [{0}]).tolist() == [1]


def test_zero_vectors():
    targets = np.array([[0, 0], [0, 1], [-1, 0], [1, 1]])
    assert ranks(np.zeros((1, 2)), targets, [{3}]).tolist() == [4]  # ties with all
    assert ranks(np.array([[1, 0]]), targets, [{0}]).tolist() == [3]  # ties with 1, behind 3
    assert ranks(np.array([[1, 0]]), targets, [{3}]).tolist() == [1]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int64])
def test_any_number_type(kind):
    sources, targets = (draw(n, 5, seed=n) * 100 for n in (30, 80))
    sources, targets = sources.astype(kind), targets.astype(kind)
    gold = [{i, i + 30} for i in range(30)]
    wide = [x.astype(np.float64) for x in (sources, targets)]
    assert ranks(sources, targets, gold).tolist() == naive_ranks(unit(wide[0]) @ unit(wide[1]).T, gold)


@pytest.mark.parametrize("block", [1, 7, 64])
@pytest.mark.parametrize("method", ["cosine", "csls"])
def test_blocks_change_nothing(block, method, monkeypatch):
    sources, targets = draw(60, 16), draw(130, 16, seed=1)
    gold = [{i, (i * 7) % 130} for i in range(60)]
    whole, order = ranks(sources, targets, gold, method), nearest(sources, targets, 9)
    monkeypatch.setattr(retrieval, "BLOCK", block)
    assert np.array_equal(ranks(sources, targets, gold, method), whole)
    again = nearest(sources, targets, 9)
    assert np.array_equal(again[0], order[0])
    np.testing.assert_allclose(again[1], order[1], atol=1e-6)


@pytest.mark.parametrize("sizes", [(60, 130), (7, 30), (40, 4)])
def test_csls_is_its_definition(sizes):
    """Conneau et al. 2018, eq. 4, with ten neighbours (or all there are)."""
    n, m = sizes
    sources, targets = draw(n, 5), draw(m, 5, seed=1) + 0.5
    gold = [{i % m} for i in range(n)]
    cosine = unit(sources).astype(np.float64) @ unit(targets).T.astype(np.float64)
    of_source = np.array([np.sort(row)[::-1][:10].mean() for row in cosine])
    of_target = np.array([np.sort(column)[::-1][:10].mean() for column in cosine.T])
    scores = 2 * cosine - of_source[:, None] - of_target[None, :]
    expected = naive_ranks(scores, gold)
    assert ranks(sources, targets, gold, "csls").tolist() == expected
    assert precision_at_k(sources, targets, gold, 2, "csls") == np.mean(np.array(expected) <= 2)
    if sizes == (60, 130):
        assert expected != naive_ranks(cosine, gold)  # the discount matters here


def test_nearest_lists_the_best_first():
    sources, targets = draw(12), draw(40, seed=1)
    similarity = unit(sources) @ unit(targets).T
    rows, values = nearest(sources, targets, 5)
    assert np.array_equal(rows, np.argsort(-similarity, axis=1)[:, :5])
    np.testing.assert_allclose(values, -np.sort(-similarity, axis=1)[:, :5], atol=1e-6)
    assert nearest(sources, targets, 99)[0].shape == (12, 40)
    with pytest.raises(UserError, match="do not match"):
        nearest(sources, targets[:, 1:], 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targets": PLANE[:, :1]}, r"sources \(2, 2\) and targets \(4, 1\) do not match"),
        ({"sources": PLANE[0]}, "do not match"),
        ({"gold": [{0}]}, "2 sources, 1 gold sets"),
        ({"sources": PLANE[:0], "gold": []}, "0 sources"),
        ({"gold": [{0}, set()]}, "a source has no translation"),
        ({"gold": [{0}, {4}]}, "outside the 4 targets"),
        ({"gold": [{0}, {-1}]}, "outside the 4 targets"),
        ({"sources": np.array([[1, np.nan], [0, 1]])}, "not finite"),
        ({"targets": np.where(PLANE == 1, np.inf, PLANE)}, "not finite"),
        ({"method": "euclid"}, "unknown method 'euclid'; known: cosine, csls"),
    ],
)
def test_mistakes_are_named(change, message):
    given = {"sources": PLANE[:2], "targets": PLANE, "gold": [{0}, {1}]} | change
    with pytest.raises(UserError, match=message):
        ranks(**given)


@pytest.mark.parametrize("sizes", [[1], [3], [1, 2, 5, 5], [20]])
def test_chance_against_simulation(sizes):
    candidates, rng = 20, np.random.default_rng(0)
    gold = [set(rng.choice(candidates, size, replace=False).tolist()) for size in sizes]
    orders = np.array([rng.permutation(candidates) for _ in range(4000)])  # orders[:, j]: place of target j
    simulated = []
    for own in gold:
        best = orders[:, sorted(own)].min(axis=1)  # translations behind the best do not stand before it
        simulated.append((1 / (best + 1)).mean())
    assert chance_reciprocal_rank(candidates, gold) == pytest.approx(np.mean(simulated), abs=0.012)


def test_chance_by_hand():
    assert chance_reciprocal_rank(4, [{2}]) == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert chance_reciprocal_rank(3, [{0, 1}]) == pytest.approx(2 / 3 + 1 / 3 * 1 / 2)
    assert chance_reciprocal_rank(2, [{0, 1}]) == pytest.approx(1)
    for candidates, gold in ((5, []), (5, [{1}, set()]), (2, [{0, 1, 2}])):
        with pytest.raises(UserError, match=f"from 1 to {candidates} translations"):
            chance_reciprocal_rank(candidates, gold)


def test_random_vectors_score_at_chance():
    sources, targets, gold = (
        draw(3000, 20),
        draw(100, 20, seed=1),
        [{i % 100, (i * 3) % 100} for i in range(3000)],
    )
    assert mean_reciprocal_rank(sources, targets, gold) == pytest.approx(chance_reciprocal_rank(100, gold), abs=0.012)


def test_the_bootstrap_interval_covers_the_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    inside = 0
    for seed in range(100):
        interval = bootstrap(rng.exponential(size=60), seed, draws=200)
        inside += interval.low <= 1 <= interval.high
    assert 84 < inside < 100


def test_the_bootstrap_interval_is_that_of_the_mean():
    values = np.random.default_rng(1).normal(3, 2, 400)
    interval = bootstrap(values)
    assert interval == bootstrap(values) != bootstrap(values, seed=1)
    assert interval.n == 400 and interval.value == pytest.approx(values.mean())
    half = 1.96 * values.std() / 20
    assert interval.low == pytest.approx(values.mean() - half, abs=0.03)
    assert interval.high == pytest.approx(values.mean() + half, abs=0.03)
    assert bootstrap(np.ones(5)) == retrieval.Interval(1, 1, 1, 5)


def test_over_seeds_is_students_interval():
    values = [0.1, 0.25, 0.17, 0.3, 0.22]
    interval = over_seeds(values)
    low, high = stats.t.interval(0.95, 4, loc=np.mean(values), scale=stats.sem(values))
    assert (interval.value, interval.low, interval.high) == pytest.approx((np.mean(values), low, high))
    assert interval.n == 5


def test_one_seed_has_no_interval():
    interval = over_seeds([0.4])
    assert interval.value == 0.4 and interval.n == 1
    assert np.isnan(interval.low) and np.isnan(interval.high)


def test_memory_does_not_grow_with_the_product():
    """All scores at once would take 1 GB here."""
    targets = draw(16_000, 64)
    sources = targets + 0.5 * draw(16_000, 64, seed=1)
    gold = [{i} for i in range(16_000)]
    tracemalloc.start()
    found = ranks(sources, targets, gold)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 * 2**20
    assert (found == 1).mean() > 0.9
