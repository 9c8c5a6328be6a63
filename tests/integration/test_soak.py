"""The long forms of tests of faults (`make soak`): real training, killed, interrupted, starved, again and again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.faults import PATIENCE, processes_of, small_disk, wait_for
from tests.integration.test_cluster_page import book, environment  # noqa: F401
from tests.integration.test_interrupts import BIN, kernels
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale
from xling_utils.core.specs import RunSpec, TrainingSpec
from xling_utils.runs.compute import Compute
from xling_utils.runs.ensuring import RunsFailed, ensure
from xling_utils.runs.keys import key_of
from xling_utils.runs.store import Run, RunStore

pytestmark = pytest.mark.soak
WORKER = [sys.executable, "-m", "tests.integration.impatient_worker"]
SMOKE = scale("smoke").bert(("en", "fr"), 300, seed=5)
ONE_PAIR = ("--scale", "smoke", "--seeds", "1", "-p", "languages", "[fr]", "-p", "live", "headline")


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def trained(store: RunStore, spec: RunSpec, **options: object) -> Run:
    return ensure([spec], store=store, progress=False, worker=WORKER, compute=Compute(**options))[spec]  # type: ignore[arg-type]


def of_steps(steps: int) -> RunSpec:
    assert isinstance(SMOKE.training, TrainingSpec)
    return replace(SMOKE, training=replace(SMOKE.training, steps=steps))


def weights(run: Run) -> bytes:
    return (run.path / "model.safetensors").read_bytes()


def test_killed_at_twenty_random_steps_the_weights_are_the_same_bits(tmp_path: Path) -> None:
    spec, store = of_steps(1_500), RunStore(tmp_path / "runs")
    undisturbed = trained(RunStore(tmp_path / "undisturbed"), spec)
    work = store.root / ".work" / key_of(spec)
    seed = random.randrange(10**6)
    print("seed", seed)
    draw = random.Random(seed)

    def reached() -> int:
        return max((int(path.name[11:]) for path in work.glob("checkpoint-*")), default=0)

    for step in sorted(draw.sample(range(1, 1_000), 20)):

        def kill(step: int = step) -> None:
            wait_for(lambda: reached() >= step)
            if draw.random() < 0.5:  # in the middle of a checkpoint, if one is met
                meet = time.monotonic() + 1
                while not (work / ".checkpoint").exists() and time.monotonic() < meet:
                    pass
            for pid in processes_of(store):
                os.kill(pid, signal.SIGKILL)

        killing = threading.Thread(target=kill)
        killing.start()
        with pytest.raises(RunsFailed, match="the training process ended by signal 9"):
            trained(store, spec)
        killing.join()
        assert store.keys() == []
    assert weights(trained(store, spec)) == weights(undisturbed)
    assert store.verify() == {}


def test_two_processes_give_the_losses_of_one(tmp_path: Path) -> None:
    spec = of_steps(60)
    one = trained(RunStore(tmp_path / "one"), spec)
    two = trained(RunStore(tmp_path / "two"), spec, processes=2)
    assert two.provenance["processes"] == 2
    for column in ("loss", "held_out_loss"):
        np.testing.assert_allclose(two.trace[column], one.trace[column], atol=1e-5, rtol=0)


def test_a_disk_that_is_full_again_and_again_costs_nothing_but_time(tmp_path: Path) -> None:
    spec = of_steps(200)
    undisturbed = trained(RunStore(tmp_path / "undisturbed"), spec)
    with small_disk(tmp_path / "disk", "4m") as disk:
        store, filler = RunStore(disk / "runs"), disk / "filler"
        for free in (100_000, 300_000, 600_000, 900_000):
            filler.unlink(missing_ok=True)
            used = os.statvfs(disk)
            filler.write_bytes(bytes(max(0, used.f_bavail * used.f_frsize - free)))
            with pytest.raises(UserError, match="no space left on the disk of"):
                trained(store, spec)
            assert store.keys() == []
        filler.unlink()
        assert weights(trained(store, spec)) == weights(undisturbed)


def command(book: Path, environment: dict[str, str], *arguments: str) -> subprocess.Popen[str]:  # noqa: F811
    return subprocess.Popen(
        [BIN / "xling", "run", *arguments, *ONE_PAIR],
        cwd=book, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_interrupted_at_any_moment_nothing_is_left_and_the_rows_are_the_same(
    book: Path,  # noqa: F811
    environment: dict[str, str],  # noqa: F811
) -> None:
    store, rows = RunStore(book / "runs"), book / "_build/records/02_window_size.smoke.csv"
    for number in range(12):
        child = command(book, environment, "--records-only", "02_window_size")
        how = random.choice((signal.SIGINT, signal.SIGKILL))
        time.sleep(random.uniform(0, 25))
        child.send_signal(how)
        _, said = child.communicate(timeout=PATIENCE)
        assert child.returncode in (0, 1, 130, -how), said
        print(number, how.name, child.returncode, len(store.keys()), flush=True)
        wait_for(lambda: not processes_of(store))
    child = command(book, environment, "--records-only", "02_window_size")
    _, said = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0, said
    disturbed = rows.read_text()
    calm = command(book, environment | {"XLING_STORE": str(book / "calm")}, "--records-only", "02_window_size")
    _, said = calm.communicate(timeout=PATIENCE)
    assert calm.returncode == 0, said
    assert rows.read_text() == disturbed


def test_four_commands_at_once_give_one_book(book: Path, environment: dict[str, str]) -> None:  # noqa: F811
    several = [command(book, environment, "02_window_size") for _ in range(4)]
    said = ""
    for child in several:
        out, complained = child.communicate(timeout=3 * PATIENCE)
        assert child.returncode == 0, complained
        said += out
    assert said.count("02_window_size: done") == 1
    assert RunStore(book / "runs").verify() == {}


def test_with_chapter_3_dead_all_others_finish(book: Path, environment: dict[str, str]) -> None:  # noqa: F811
    child = command(book, environment)
    assert child.stdout
    for line in child.stdout:
        if line == "03_overlap: executing\n":
            wait_for(lambda: kernels(child.pid, "03_overlap"))
            time.sleep(3)
            (kernel,) = kernels(child.pid, "03_overlap")
            kernel.kill()
    assert child.stderr
    complained = child.stderr.read()
    assert child.wait(PATIENCE) == 1
    log = book / "_build/logs/03_overlap.log"
    assert complained.endswith(f"[log: {log}]\n") and "xling: 03_overlap: " in complained
    assert log.exists()
    finished = {path.stem for path in (book / "_build/executed").glob("*.ipynb")}
    assert finished == {path.stem for path in (book / "notebooks").glob("*.py")} - {"03_overlap"}
    again = command(book, environment)
    _, said = again.communicate(timeout=3 * PATIENCE)
    assert again.returncode == 0, said
