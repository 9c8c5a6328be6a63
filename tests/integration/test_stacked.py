"""Runs of one shape trained as one stacked model: nobody can tell them from runs that were trained alone."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from accelerate.utils import parse_flag_from_env
from safetensors.numpy import load_file

from tests.faults import processes_of, wait_for
from tests.integration import test_pretraining
from tests.integration.test_pretraining import losses, made_text, trained, with_meta
from xling_utils import corpora
from xling_utils.core.errors import UserError
from xling_utils.core.specs import CorpusSpec, EncoderSpec, RunSpec, TokenizerSpec, TrainingSpec
from xling_utils.runs import ensuring, pretraining, stacked, worker
from xling_utils.runs.compute import Compute
from xling_utils.runs.ensuring import RunsFailed, ensure
from xling_utils.runs.keys import key_of
from xling_utils.runs.store import RunStore

SEEDS = (3, 4, 5)
TRAINING = TrainingSpec(50, batch=8, length=24, learning_rate=6e-3, hidden_rate=0.02, snapshots=2)


@pytest.fixture(autouse=True)
def _made_world(monkeypatch: pytest.MonkeyPatch, one_thread: None) -> None:
    monkeypatch.setattr(corpora, "load", made_text)


def spec(seed: int, training: TrainingSpec = TRAINING, **model: Any) -> RunSpec:
    """Word vocabularies: every seed draws another number of different words."""
    encoder = EncoderSpec(2, 16, 2, 32, 32, **model)
    corpus = CorpusSpec("controlled", ("en", "ru"), 60, seed)
    return RunSpec(corpus, TokenizerSpec("words", 200), encoder, training, seed)


class Interrupted(Exception):
    pass


def stack(
    folder: Path, specs: list[RunSpec], stop: int | None = None, steps: list[tuple[int, int]] | None = None
) -> dict[RunSpec, tuple[Path, dict[str, Any]]]:
    """The folder and the extras of every run; raises Interrupted after step ``stop``. ``steps`` takes those done,
    and by how many runs."""

    def report(row: dict[str, Any]) -> None:
        if steps is not None:
            steps.append((row["done"], len(row["keys"])))
        if row["done"] == stop:
            raise Interrupted

    runs = {one: (str(one.seed), folder / str(one.seed) / "work") for one in specs}
    for _, work in runs.values():
        work.mkdir(parents=True, exist_ok=True)
    found = {}
    for trainee in stacked.train(runs, None, report):
        out = folder / str(trainee.spec.seed) / "out"
        out.mkdir(exist_ok=True)
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
            if not tensor.endswith("key.bias"):  # attention does not see it: its gradient is rounding alone
                np.testing.assert_allclose(weights[1][tensor], values, atol=1e-3, rtol=0, err_msg=f"{name} {tensor}")
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


def test_weight_decay_brings_no_id_to_life_that_an_encoder_lacks(tmp_path):
    training = replace(TRAINING, steps=20, weight_decay=120.0, snapshots=0)  # as much as of many thousand steps
    specs = [spec(seed, training) for seed in SEEDS[:2]]
    found = stack(tmp_path / "stack", specs)
    assert len({extras["vocabulary"] for _, extras in found.values()}) == 2
    for one in specs:
        assert_same(trained(tmp_path / str(one.seed), one)[:2], found[one])


def test_a_stopped_stack_goes_on_as_one_and_in_single_runs(tmp_path, alone, monkeypatch):
    monkeypatch.setattr(pretraining, "CHECKPOINT_SECONDS", 0.0)
    with pytest.raises(Interrupted):
        stack(tmp_path, list(alone), stop=20)
    single, *others = alone
    reports = trained(tmp_path / str(single.seed), single)
    assert reports[2][0]["done"] == 20
    assert_same(alone[single], reports[:2])
    steps: list[tuple[int, int]] = []
    found = stack(tmp_path, others, steps=steps)
    assert steps == [(step, 2) for step in range(20, 51)]
    for one in others:
        assert_same(alone[one], found[one])


def test_runs_stopped_at_different_steps_go_on_together(tmp_path, alone, monkeypatch):
    """Two single runs at step 10, one that had not begun."""
    monkeypatch.setattr(pretraining, "CHECKPOINT_SECONDS", 0.0)
    for one in list(alone)[1:]:
        with pytest.raises(test_pretraining.Interrupted):
            trained(tmp_path / str(one.seed), one, stop=10)
    steps: list[tuple[int, int]] = []
    found = stack(tmp_path, list(alone), steps=steps)
    assert steps == [*((step, 1) for step in range(51)), *((step, 2) for step in range(10, 51))]
    for one, there in alone.items():
        assert_same(there, found[one])


def test_a_stack_adds_to_the_seconds_of_earlier_sessions(tmp_path, monkeypatch):
    monkeypatch.setattr(pretraining, "CHECKPOINT_SECONDS", 0.0)
    specs = [spec(seed, replace(TRAINING, steps=6, snapshots=0)) for seed in SEEDS[:2]]
    with pytest.raises(Interrupted):
        stack(tmp_path, specs, stop=3)
    for one in specs:
        around = {"seconds": 2e6, "cpu_seconds": 1e6}
        with_meta(tmp_path / str(one.seed) / "work", seconds=5e6, cpu_seconds=4e6, around=around)
    for _, extras in stack(tmp_path, specs).values():
        assert 5e6 < extras["training_seconds"] < 5.1e6 and 4e6 < extras["training_cpu_seconds"] < 4.1e6
        assert 7e6 < extras["seconds"] < 7.1e6 and 5e6 < extras["cpu_seconds"] < 5.1e6


def test_next_sentence_prediction_and_bfloat16_are_stacked_too(tmp_path):
    both = replace(TRAINING, steps=10, precision="bf16", hidden_rate=0.0)
    specs = [spec(seed, both, next_sentence=True) for seed in SEEDS[:2]]
    for one, (out, _) in stack(tmp_path / "stack", specs).items():
        there = losses(trained(tmp_path / "alone" / str(one.seed), one)[0])
        np.testing.assert_allclose(losses(out), there, atol=5e-3, rtol=0)


@pytest.fixture
def specs(monkeypatch: pytest.MonkeyPatch) -> list[RunSpec]:
    """Real, if short, text: child processes read it too."""
    monkeypatch.undo()
    return [spec(seed, replace(TRAINING, batch=2, steps=40)) for seed in SEEDS]


def logs(store: RunStore) -> set[str]:
    return {path.stem for path in (store.root / ".logs").iterdir()}


def test_a_gpu_takes_a_stack_and_stores_single_runs(tmp_path, specs, monkeypatch, capfd):
    stacks, singles = RunStore(tmp_path / "stacks"), RunStore(tmp_path / "singles")
    ensure(specs, store=singles, progress=False, compute=Compute(jobs=1))
    assert logs(singles) == set(singles.keys()), "without a GPU each is trained alone"
    monkeypatch.setattr(ensuring, "_devices", lambda: ["0"])
    untrained = replace(specs[0], training=None, recipes=())
    found = ensure([*specs, untrained], store=stacks, compute=Compute(jobs=1))
    assert "4/4 runs" in capfd.readouterr().err
    assert logs(stacks) == {key_of(specs[0]), key_of(untrained)}, "the others were trained along with the first"
    assert stacks.verify() == {} and set(stacks.keys()) == {key_of(one) for one in found}
    for one in specs:
        there = singles.get(key_of(one))
        assert there is not None and found[one].spec == one and list(there.provenance) == list(found[one].provenance)
        assert {p.name for p in there.path.iterdir()} == {p.name for p in found[one].path.iterdir()}
        assert np.abs(np.array(losses(there.path)) - np.array(losses(found[one].path))).max() < 1e-4
    assert not any((stacks.root / ".work").iterdir())


def test_a_killed_stack_loses_no_checkpoint(tmp_path, specs, monkeypatch):
    monkeypatch.setattr(ensuring, "_devices", lambda: ["0"])
    store = RunStore(tmp_path)
    impatient = [sys.executable, str(Path(__file__).with_name("impatient_worker.py"))]
    specs = [replace(one, training=replace(one.training, steps=400)) for one in specs]

    def checkpoints() -> list[list[str]]:
        folders = (store.root / ".work" / key_of(one) for one in specs)
        return [sorted(path.name for path in folder.glob("checkpoint-*")) for folder in folders]

    def kill() -> None:
        wait_for(lambda: all(map(len, checkpoints())))
        for pid in processes_of(store):
            os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(RunsFailed, match=r"3 of 3 runs failed.* by signal 9") as error:
        ensure(specs, store=store, progress=False, worker=impatient)
    killer.join()
    assert str(error.value).count(f"{key_of(specs[0])}.log") == 3, "the one log there is"
    assert all(map(len, checkpoints())) and store.keys() == []
    runs = ensure(specs, store=store, progress=False)
    assert store.verify() == {} and all(run.trace["step"].iloc[-1] == 400 for run in runs.values())


def test_what_one_run_of_a_stack_reads_is_none_of_the_others_business(tmp_path, specs, monkeypatch):
    monkeypatch.setattr(ensuring, "_devices", lambda: ["0"])
    for language, line in (("en", "word"), ("fr", "mot"), ("de", "Wort")):
        path = tmp_path / "data/text" / language / "a.txt"
        path.parent.mkdir(parents=True)
        path.write_text("".join(f"{line} {n} .\n\n" for n in range(200)))
    (tmp_path / "data/text/de/a.txt").write_bytes(b"\xff\n" * 200)
    corpora = [CorpusSpec("directory", pair, 20, 1) for pair in (("en", "fr"), ("de", "en"), ("fr", "en"))]
    several = [replace(specs[0], corpus=corpus) for corpus in corpora]
    store, compute = RunStore(tmp_path / "runs"), Compute(tmp_path / "data", jobs=1)
    with pytest.raises(UserError, match=r"^1 of 3 runs failed, .*de/a\.txt.*UTF-8.*\(bert, de-en"):
        ensure(several, store=store, progress=False, compute=compute)
    assert set(store.keys()) == {key_of(one, compute.data) for one in (several[0], several[2])}


def test_a_full_disk_in_the_middle_of_a_stack_is_one_line(tmp_path, monkeypatch):
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "checkpoint")

    store, request = RunStore(tmp_path), {"threads": 1, "processes": 1, "data": None}
    monkeypatch.setattr(stacked, "train", lambda *_: map(full, [0]))
    with pytest.raises(UserError, match=f"no space left on the disk of {store.root}"):
        worker._train_stack(request, store, {"aa": spec(3)}, print)


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PyTorch for GPUs, as far as it is looked at."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libtorch_cuda.so").touch()
    monkeypatch.setattr(ensuring, "find_spec", lambda name: ModuleSpec(name, None, origin=str(tmp_path / "__init__")))
    monkeypatch.delenv("ACCELERATE_USE_CPU", raising=False)


@pytest.mark.parametrize(
    ("visible", "names"),
    [("0,1", ["0", "1"]), ("-1", []), ("0,-1,1", ["0"]), ("0,,1", ["0"]), ("", []), ("GPU-a, 1", ["GPU-a", "1"])],
)
def test_gpus_are_counted_as_cuda_does(visible, names, built, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert ensuring._devices() == names
    for word in ("true", "True", "1", "yes", "on", "false", "0", "no"):
        monkeypatch.setenv("ACCELERATE_USE_CPU", word)
        assert ensuring._devices() == ([] if parse_flag_from_env("ACCELERATE_USE_CPU") else names)


FAILED = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."


@pytest.mark.parametrize(
    ("said", "code", "names"),
    [
        ("GPU-1f-0a\nMIG-2b\n", 0, ["GPU-1f-0a", "MIG-2b"]),
        ("GPU-1f\n[Unknown Error]\nNo devices were found\n", 0, ["GPU-1f"]),
        (FAILED, 9, []),
        ("GPU-1f\n", 15, []),
    ],
)
def test_what_nvidia_smi_complains_of_is_no_gpu(said, code, names, built, tmp_path, monkeypatch):
    program = tmp_path / "nvidia-smi"
    program.write_text(f'#!/bin/sh\necho "{said}"\nexit {code}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert ensuring._devices() == names


def test_what_is_stacked():
    large = spec(1, replace(TRAINING, batch=256, length=512))
    large = replace(large, model=EncoderSpec(12, 768, 12, 3072, 512))
    own = [replace(spec(seed), model=replace(spec(seed).model, separate_embeddings=True)) for seed in SEEDS]
    longer = spec(1, replace(TRAINING, steps=60))
    other = replace(spec(2), corpus=replace(spec(2).corpus, languages=("en", "fr"), sentences=61))
    wordier = replace(spec(2), tokenizer=TokenizerSpec("words", 300))
    alike = [spec(seed) for seed in SEEDS]
    specs = [large, replace(large, seed=2), *own, alike[0], longer, wordier, alike[1], other, alike[2]]
    stacks = ensuring._stacks(specs)
    assert sorted(map(len, stacks)) == [1] * 6 + [5], "whatever they read"
    assert [alike[0], alike[1], other, alike[2], wordier] in stacks, "vocabularies of one size beside each other"
    assert {one for several in stacks for one in several} == set(specs)
    many = [spec(seed) for seed in range(ensuring.STACKED + 2)]
    assert sorted(map(len, ensuring._stacks(many))) == [5, 5], "not one full and a small one"
