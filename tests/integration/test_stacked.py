"""Runs of several seeds trained as one stacked model: nobody can tell them from runs that were trained alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from tests.integration.test_pretraining import losses, made_text, trained
from xling_utils import corpora, stacked
from xling_utils.specs import CorpusSpec, EncoderSpec, RunSpec, TokenizerSpec, TrainingSpec

SEEDS = (3, 4, 5)
TRAINING = TrainingSpec(50, batch=8, length=24, learning_rate=6e-3, hidden_rate=0.02, snapshots=2)


@pytest.fixture(autouse=True)
def _made_world(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(corpora, "load", made_text)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def spec(seed: int, training: TrainingSpec = TRAINING, **model: Any) -> RunSpec:
    """Word vocabularies: every seed draws another number of different words."""
    encoder = EncoderSpec(2, 16, 2, 32, 32, **model)
    corpus = CorpusSpec("controlled", ("en", "ru"), 60, seed)
    return RunSpec(corpus, TokenizerSpec("words", 200), encoder, training, seed)


class Interrupted(Exception):
    pass


def stack(folder: Path, specs: list[RunSpec], stop: int | None = None) -> dict[RunSpec, tuple[Path, dict[str, Any]]]:
    """The folder and the extras of every run; raises Interrupted after step ``stop``."""

    def report(row: dict[str, Any]) -> None:
        if row["done"] == stop:
            raise Interrupted

    runs = {one: folder / str(one.seed) / "work" for one in specs}
    for work in runs.values():
        work.mkdir(parents=True, exist_ok=True)
    found = {}
    for trainee in stacked.train(runs, None, report):
        out = folder / str(trainee.spec.seed) / "out"
        out.mkdir()
        found[trainee.spec] = out, trainee.write(out)
    return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[RunSpec, tuple[Path, dict[str, Any]]]:
    """Every seed, trained as a single run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpora, "load", made_text)
        folder = tmp_path_factory.mktemp("alone")
        return {one: trained(folder / str(one.seed), one)[:2] for one in map(spec, SEEDS)}


def assert_same(there: tuple[Path, dict[str, Any]], here: tuple[Path, dict[str, Any]]) -> None:
    """Losses to 1e-4, weights nearly, all else alike but for what tells of time."""
    files = [sorted(str(p.relative_to(out)) for p in out.rglob("*")) for out, _ in (there, here)]
    assert files[0] == files[1] and "trace.csv" in files[0]
    assert np.abs(np.array(losses(there[0])) - np.array(losses(here[0]))).max() < 1e-4
    for name in (name for name in files[0] if name.endswith(".safetensors")):
        weights = [load_file(out / name) for out, _ in (there, here)]
        assert weights[0].keys() == weights[1].keys()
        for tensor, values in weights[0].items():
            assert values.dtype == weights[1][tensor].dtype
            np.testing.assert_allclose(weights[1][tensor], values, atol=2e-3, rtol=0, err_msg=f"{name} {tensor}")
    for name in ("config.json", "tokenizer.json"):
        assert (there[0] / name).read_bytes() == (here[0] / name).read_bytes()
    assert list(there[1]) == list(here[1])
    of_time = {"seconds", "cpu_seconds", "training_seconds", "training_cpu_seconds", "tokens_per_second"}
    assert {k: v for k, v in there[1].items() if k not in of_time} == {
        k: v for k, v in here[1].items() if k not in of_time
    }


def test_a_stack_gives_the_runs_that_its_seeds_give_alone(tmp_path, alone):
    found = stack(tmp_path, list(alone))
    assert len({extras["vocabulary"] for _, extras in found.values()}) == 3, "the vocabularies have sizes of their own"
    for one, there in alone.items():
        assert_same(there, found[one])
        assert len(list((found[one][0] / "snapshots").iterdir())) == 2
        assert losses(there[0])[-1][1] < losses(there[0])[0][1] - 0.5, "nothing was learnt"
