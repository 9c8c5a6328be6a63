"""Runs on a Dask cluster of real processes: whatever dies, every run is trained, none twice, and nothing is left.

The training function only counts (``fake_worker.py``); the scheduler, the workers and the caller are real.
"""

from __future__ import annotations

import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

from tests.faults import PATIENCE, cluster, processes_of, wait_for
from tests.integration import fake_worker
from tests.integration.test_execution import WORKER, _checkpoints, _fingerprint, _parent, spec  # noqa: F401
from xling_utils.core.errors import UserError
from xling_utils.runs import on_dask
from xling_utils.runs.compute import Compute
from xling_utils.runs.ensuring import ensure
from xling_utils.runs.keys import key_of
from xling_utils.runs.store import RunStore


def on(dask: Any) -> Compute:
    return Compute(engine="dask", scheduler=dask.address)


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


@pytest.mark.parametrize("count", [6, pytest.param(20, marks=pytest.mark.soak)])
def test_all_runs_finish_though_a_worker_and_the_scheduler_are_killed(
    store: RunStore, tmp_path: Path, count: int, capfd: pytest.CaptureFixture[str]
) -> None:
    specs = [spec(seed, steps=200) for seed in range(101, 101 + count)]
    with cluster(tmp_path) as dask:

        def harm() -> None:
            wait_for(lambda: len(store.keys()) >= count // 3 and len(fake_worker.held(store.root)) == 2)
            dask.kill_a_worker()
            dask.start_workers(1)
            fake_worker.hold(store.root, count // 2)
            wait_for(lambda: len(store.keys()) >= count // 2 and len(fake_worker.held(store.root)) == 2)
            dask.kill_scheduler()
            wait_for(lambda: not processes_of(store))
            fake_worker.release(store.root)
            dask.start_scheduler()
            dask.start_workers(2)  # the others ended with their scheduler

        fake_worker.hold(store.root, count // 3)
        harming = threading.Thread(target=harm)
        harming.start()
        runs = ensure(specs, store=store, progress=False, worker=WORKER, compute=on(dask))
        harming.join()
        assert sorted(runs[s].key for s in specs) == store.keys() == sorted(set(fake_worker.recorded(store.root)))
        assert len(fake_worker.recorded(store.root)) == count, "none is recorded twice"
        assert max(run.provenance["began"] for run in runs.values()) > 0, "one continued from its checkpoint"
        assert store.verify() == {}
        assert not processes_of(store)
        said = capfd.readouterr().err
        assert "went away; " in said and "is back" in said
        assert "Traceback" not in said


def test_a_scheduler_gets_as_many_runs_at_a_time_as_were_asked_for(store: RunStore, tmp_path: Path) -> None:
    specs = [spec(seed) for seed in (1, 2, 3)]
    with cluster(tmp_path) as dask, ThreadPoolExecutor(1) as caller:
        fake_worker.hold(store.root)
        one = Compute(scheduler=dask.address, jobs=1)
        found = caller.submit(ensure, specs, store=store, progress=False, worker=WORKER, compute=one)
        wait_for(lambda: fake_worker.held(store.root))
        with Client(dask.address, set_as_default=False) as client:
            assert client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 1
        fake_worker.release(store.root)
        assert len(found.result()) == 3 == len(store.keys())


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_runs_on_for_a_caller_that_is_gone(store: RunStore, tmp_path: Path, how: signal.Signals) -> None:
    with cluster(tmp_path) as dask:
        fake_worker.hold(store.root)
        parent = _parent(store, "1,2,3", dask.address)
        wait_for(lambda: len(_checkpoints(store)) == 2)
        parent.send_signal(how)
        assert parent.wait(PATIENCE) == (130 if how == signal.SIGINT else -9)
        wait_for(lambda: not processes_of(store))
        assert store.keys() == []
        kept = [int(path.read_text()) for path in _checkpoints(store)]
        assert len(kept) == 2
        fake_worker.release(store.root)
        specs = [spec(seed, steps=2000) for seed in (1, 2)]
        (store.root / ".work" / key_of(specs[0]) / "checkpoint").write_text("1990")
        run = ensure(specs[:1], store=store, progress=False, worker=WORKER, compute=on(dask))
        assert run[specs[0]].provenance["began"] == 1990, "the workers are free for the next call"


def test_whoever_waits_for_a_scheduler_can_be_interrupted(store: RunStore, tmp_path: Path) -> None:
    with cluster(tmp_path, workers=1) as dask:
        fake_worker.hold(store.root)
        parent = _parent(store, "1", dask.address, stderr=subprocess.PIPE)
        assert parent.stderr
        wait_for(lambda: _checkpoints(store))
        dask.kill_scheduler()
        wait_for(lambda: b"went away" in parent.stderr.readline())
        parent.send_signal(signal.SIGINT)
        assert parent.wait(PATIENCE) == 130
        wait_for(lambda: not processes_of(store))
        assert len(_checkpoints(store)) == 1


def test_a_scheduler_that_stays_away_is_one_line(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_dask, "SECONDS_TO_COME_BACK", 2.0)
    fake_worker.hold(store.root)
    with cluster(tmp_path, workers=1) as dask:

        def harm() -> None:
            wait_for(lambda: _checkpoints(store))
            dask.kill_scheduler()

        harming = threading.Thread(target=harm)
        harming.start()
        with pytest.raises(UserError, match=r"no Dask scheduler answers at .* for 2 s \(what was finished is kept\)"):
            ensure([spec(1, 2000)], store=store, progress=False, worker=WORKER, compute=on(dask))
        harming.join()
        wait_for(lambda: not processes_of(store))
        assert len(_checkpoints(store)) == 1
