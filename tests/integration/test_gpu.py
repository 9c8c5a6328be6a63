"""What a GPU gives: losses of steps that it is told once are those of steps told one by one, and vectors of words are
those of a CPU. Skipped where no GPU is seen, as in `make test`, which hides them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.integration.test_pretraining import losses, made_text, trained
from tests.integration.test_stacked import TRAINING, spec, stack
from tests.unit.test_representations import LENGTH, WORDS, encoder, stream
from xling_utils import corpora
from xling_utils.measures.encoders import representations
from xling_utils.runs import pretraining

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU is seen (XLING_TEST_GPU=1)")


@pytest.fixture(autouse=True)
def _made_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "load", made_text)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("seeds", [(3,), (3, 4, 5)])
def test_replayed_steps_are_those_told_one_by_one(tmp_path, monkeypatch, seeds, precision):
    specs = [spec(seed, replace(TRAINING, precision=precision)) for seed in seeds]

    def train(folder: Path) -> np.ndarray:
        if len(specs) == 1:
            return np.array(losses(trained(folder, specs[0])[0]))
        return np.array([losses(out) for out, _ in stack(folder, specs).values()])

    replayed = train(tmp_path / "replayed")
    recorded: list[Callable[..., Any]] = []

    def told(backward: Callable[..., Any], optimizers: Any) -> Callable[..., Any]:
        recorded.append(backward)
        return backward

    monkeypatch.setattr(pretraining, "Replayed", told)
    np.testing.assert_allclose(replayed, train(tmp_path / "told"), atol=1e-4 if precision == "fp32" else 0.02, rtol=0)
    assert recorded, "nothing was to be replayed"


def test_words_have_the_vectors_that_a_cpu_reads(monkeypatch):
    monkeypatch.setattr(representations, "TOKENS_ON_GPU", 200 * LENGTH)  # in several batches, larger than a CPU's

    def read(device: str) -> np.ndarray:
        return representations.contextual_words(encoder().to(device), stream(2_000), WORDS, LENGTH, 10**6).vectors

    np.testing.assert_allclose(read("cuda"), read("cpu"), atol=1e-5, rtol=0)
