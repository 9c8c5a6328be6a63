"""The appendix on scatter: a Latin square of seeds, components of variance, and an order with a seed of its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from xling_utils.chapters.scatter import plan
from xling_utils.core.scales import scale
from xling_utils.core.specs import canonical_json
from xling_utils.runs.pretraining import Trainee
from xling_utils.runs.reading import Text

SCALE = scale("smoke")


def test_every_two_seeds_meet_once() -> None:
    planned = plan.grid(SCALE, ("fr", "de"), 5, "all")
    for condition in plan.CONDITIONS:
        of = [
            dict(each.condition) | {"seed": each.spec.seed}
            for each in planned
            if condition in dict(each.condition).values()
        ]
        assert len(of) == 25
        for first, second in (("text", "seed"), ("text", "order"), ("seed", "order")):
            assert set(Counter((each[first], each[second]) for each in of).values()) == {1}


def test_a_run_has_the_seeds_that_its_condition_names() -> None:
    for each in plan.grid(SCALE, ("fr",), 3, "all"):
        named, training = dict(each.condition), each.spec.training
        assert training is not None
        assert each.spec.corpus.seed == named["text"]
        assert (training.order_seed or each.spec.seed) == named["order"]
        moved = each.moved(10)
        training, later = moved.spec.training, dict(moved.condition)
        assert training is not None
        assert moved.spec.corpus.seed == later["text"] == named["text"] + 10
        assert (training.order_seed or moved.spec.seed) == later["order"] == named["order"] + 10


def test_less_than_the_square_is_not_trained() -> None:
    assert plan.grid(SCALE, ("fr",), 5, "headline") == plan.grid(SCALE, ("fr",), 5, "none") == []


def test_the_order_of_the_run_itself_changes_no_key() -> None:
    run = SCALE.bert(("en", "fr"), 100, 31)
    assert "order_seed" not in canonical_json(run)
    assert run.training is not None
    assert "order_seed" in canonical_json(replace(run, training=replace(run.training, order_seed=32)))


def square(text: float, weights: float, order: float, rest: float, levels: int = 5) -> pd.DataFrame:
    """A Latin square with effects of these standard deviations."""
    rng = np.random.default_rng(1)
    effects = [rng.normal(0, deviation, levels) for deviation in (text, weights, order)]
    rows = []
    for i in range(levels):
        for j in range(levels):
            k = (i + j) % levels
            value = 0.3 + effects[0][i] + effects[1][j] + effects[2][k] + rng.normal(0, rest)
            rows.append({"condition": plan.BASE, "text": i, "seed": j, "order": k, "value": value})
    return pd.DataFrame(rows)


@pytest.mark.parametrize("source", list(plan.SOURCES))
def test_variance_is_found_where_it_was_put(source: str) -> None:
    found = plan.scatter(square(**({"text": 0.0, "weights": 0.0, "order": 0.0} | {source: 0.1}), rest=0.02))
    assert found is not None
    others = set(plan.SOURCES) - {source}
    assert found.parts[source] > 0.7 * found.whole and found.p[source] < 0.001
    assert all(found.parts[other] < 0.1 * found.whole and found.p[other] > 0.01 for other in others)
    assert found.parts[plan.REST] ** 0.5 == pytest.approx(0.02, rel=0.5)


def test_components_average_to_the_true_ones() -> None:
    """Over many squares: .06, .03, .02 and .04 squared."""
    true = {"text": 0.06, "weights": 0.03, "order": 0.02, plan.REST: 0.04}
    rng, sums = np.random.default_rng(2), Counter[str]()
    for _ in range(300):
        effects = {name: rng.normal(0, true[name], 5) for name in plan.SOURCES}
        cells = [(i, j, (i + j) % 5) for i in range(5) for j in range(5)]
        rows = pd.DataFrame(cells, columns=["text", "seed", "order"])
        names = {"text": "text", "weights": "seed", "order": "order"}
        rows["value"] = sum(effects[name][rows[names[name]]] for name in names) + rng.normal(0, true[plan.REST], 25)
        found = plan.scatter(rows)
        assert found is not None
        sums.update(found.parts)
    for name, deviation in true.items():
        assert sums[name] / 300 == pytest.approx(deviation**2, rel=0.3)


def test_what_is_no_square_has_no_components() -> None:
    whole = square(0.1, 0.1, 0.1, 0.1)
    assert plan.scatter(whole.iloc[:-1]) is None
    assert plan.scatter(whole[whole["text"] == 0]) is None


def test_values_pair_the_conditions_run_by_run() -> None:
    rows = [
        {
            "condition": condition,
            "text": text,
            "seed": 31,
            "order": 31,
            "metric": metric,
            "layer": layer,
            "value": value,
        }
        for text, base, fake in ((31, 0.4, 0.3), (32, 0.6, 0.1))
        for condition, value in ((plan.BASE, base), (plan.FAKE, fake))
        for metric, layer in (("mrr_centred", 1), ("mrr_centred", 0), ("mrr", 1))
    ]
    found = plan.values(pd.DataFrame(rows), scale("controlled")).set_index(["condition", "text"])["value"]
    assert found[plan.DIFFERENCE, 31] == pytest.approx(0.1) and found[plan.DIFFERENCE, 32] == pytest.approx(0.5)


def test_an_order_of_its_own_changes_batches_and_nothing_else(tmp_path: Path) -> None:
    run = SCALE.bert(("en", "fr"), 60, 31)
    assert run.training is not None
    other = replace(run, training=replace(run.training, order_seed=32))
    text = Text(run, None)
    one, two = Trainee(run, text, tmp_path), Trainee(other, text, tmp_path)
    for first, second in zip(one.model.parameters(), two.model.parameters(), strict=True):
        assert torch.equal(first, second)
    assert not np.array_equal(one.batches(0).ids, two.batches(0).ids)
    same = Trainee(replace(run, seed=32), text, tmp_path)
    assert np.array_equal(same.batches(0).ids, two.batches(0).ids)
