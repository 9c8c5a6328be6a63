"""The doors that an experiment of one's own goes through: what they give, and what they say of a mistake."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from xling_utils import measures, runs
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale
from xling_utils.core.specs import CorpusSpec, RunSpec, canonical_json
from xling_utils.measures.tasks import registry
from xling_utils.runs import training

RUN = runs.Run("abc", Path("abc"), scale("smoke").bert(("en", "tr"), 600, 31), {})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[RunSpec, Any]]:
    """Runs that would be trained, and of which text."""
    found: list[tuple[RunSpec, Any]] = []

    def ensure(specs: list[RunSpec], *, store: Any, compute: Any) -> dict[RunSpec, str]:
        found.append((specs[0], compute.data))
        return {specs[0]: "trained"}

    monkeypatch.setattr(training, "ensure", ensure)
    return found


def test_without_settings_it_is_the_base_run_of_the_scale(asked: list[tuple[RunSpec, Any]]) -> None:
    assert runs.train(["en", "tr"], seed=7) == "trained"
    assert asked == [(scale("controlled").bert(("en", "tr"), 15_000, 7), None)]


def test_settings_go_where_they_belong(asked: list[tuple[RunSpec, Any]]) -> None:
    runs.train(["en", "tr"], scale="natural", data="DIR", sentences=9, size=99, layers=2, steps=5, learning_rate=1)
    (spec, data) = asked[0]
    assert (spec.corpus.sentences, spec.tokenizer.size, spec.model.layers) == (9, 99, 2)  # type: ignore[union-attr]
    assert spec.training and (spec.training.steps, spec.training.learning_rate) == (5, 1.0)
    assert data == Path("DIR").absolute(), "wherever a run is trained"
    runs.train(["en", "tr"], data="DIR", kind="mbert", size=0)  # whose vocabulary lies there
    assert asked[1][1] == Path("DIR").absolute()


def test_numbers_may_be_numpys(asked: list[tuple[RunSpec, Any]]) -> None:
    for seed in np.arange(31, 33):
        runs.train(
            ["en", "tr"], scale="smoke", seed=seed, steps=np.int64(3), mask_rate=np.float32(0.5), sliced=np.True_
        )
        runs.train(["en", "tr"], scale="smoke", seed=int(seed), steps=3, mask_rate=0.5, sliced=True)
    assert asked[0] == asked[1] != asked[2] == asked[3]
    assert canonical_json(asked[0][0]) == canonical_json(asked[1][0])


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: runs.train("en,tr"), "languages 'en,tr': name them in a list, as in"),
    (lambda: CorpusSpec("controlled", "en", 5), "languages 'en': name them in a list, as in"),  # type: ignore[arg-type]
    (lambda: runs.train(["en", "tr"], leyers=3), "unknown setting 'leyers'; known: batch, changes, "),
    (lambda: runs.train(["en", "tr"], source="directory"), "unknown setting 'source'; known: batch"),
    (lambda: runs.train(["en", "tr"], layers="3"), "EncoderSpec: 'layers': .* where '3' stands"),
    (lambda: runs.train(["en", "tr"], layers=0), "EncoderSpec: 'layers': .* or equal to 1 where 0 stands"),
    (lambda: runs.train(["en", "tr"], steps=-1), "TrainingSpec: 'steps': .* or equal to 1 where -1 stands"),
    (lambda: runs.train(["en", "tr"], mask_rate=1.5), "'mask_rate': .* or equal to 1 where 1.5 stands"),
    (lambda: runs.train(["en", "tr"], length=1), "TrainingSpec: 'length': .* or equal to 2 where 1 stands"),
    (lambda: runs.train(["en", "tr"], seed=-1), "'seed': .* or equal to 0 where -1 stands"),
    (lambda: runs.train(["en", "tr"], seed=2**32), "'seed': .* or equal to 4294967295 where 4294967296 stands"),
    (lambda: runs.train(["en", "tr"], order_seed=-1), "TrainingSpec: 'order_seed': .* or equal to 0 where -1 stands"),
    (lambda: runs.train(["en", "tr"], steps=np.float64(3.5)), "TrainingSpec: 'steps': .* where 3.5 stands"),
    (
        lambda: runs.train(["en", "tr"], steps=Decimal(3)),
        "seed or setting: .* Decimal .*; give numbers, texts",
    ),
    (lambda: runs.train(["en", "tr"], data="DIR"), "data: scale 'controlled' reads none; give scale='natural' with it"),
    (lambda: runs.train(["en", "tr"], scale="big"), "unknown scale 'big'; known: smoke, "),
    (lambda: measures.measure("wrods", RUN), "unknown task 'wrods'; known: word retrieval; finding the double; "),
    (
        lambda: measures.measure("word retrieval", RUN, RUN),
        "word retrieval takes one run; .* beside it: word alignment; ",
    ),
    (lambda: measures.measure("similarity", RUN, scale="big"), "unknown scale 'big'; known: smoke, "),
]


@pytest.mark.parametrize(("mistake", "line"), MISTAKES, ids=[line for _, line in MISTAKES])
def test_a_mistake_is_named(mistake: Callable[[], Any], line: str) -> None:
    with pytest.raises(UserError, match=line):
        mistake()


def test_a_task_is_asked_of_a_run_and_the_one_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setattr(registry, "rows", lambda *asked: given.append(asked) or pd.DataFrame())
    measures.measure("word retrieval", RUN, data="DIR", scale="smoke")
    measures.measure("similarity", RUN, beside=RUN)
    assert given == [
        ("word retrieval", [RUN], scale("smoke"), Path("DIR")),
        ("similarity", [RUN, RUN], scale("controlled"), None),
    ]
