"""Training in child processes: shared out, continued, ended, and never left behind.

The children are the real worker with a training function that only counts (``fake_worker.py``).
"""

import io
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults import PATIENCE, processes_of, small_disk, wait_for
from tests.integration import fake_worker
from xling_utils import corpora
from xling_utils.core.errors import UserError
from xling_utils.core.specs import CorpusSpec, EncoderSpec, RunSpec, StaticSpec, TokenizerSpec, TrainingSpec, to_dict
from xling_utils.runs import on_dask, worker
from xling_utils.runs.compute import Compute
from xling_utils.runs.ensuring import RunsFailed, ensure
from xling_utils.runs.keys import key_of
from xling_utils.runs.store import RunStore

WORKER = [sys.executable, str(Path(__file__).with_name("fake_worker.py"))]
CORPUS = CorpusSpec("controlled", ("en", "fr"), 100)


@pytest.fixture(autouse=True)
def _fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "fingerprint", lambda corpus, data: "text", raising=False)


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


def spec(seed: int, steps: int = 10) -> RunSpec:
    return RunSpec(CORPUS, TokenizerSpec(), EncoderSpec(), TrainingSpec(steps), seed)


def test_missing_runs_are_trained_and_stored_runs_are_read(store: RunStore, capfd: pytest.CaptureFixture[str]) -> None:
    specs = [spec(1), spec(2), spec(1), spec(3)]
    runs = ensure(specs, store=store, worker=WORKER, compute=Compute(jobs=2))
    assert list(runs) == [spec(1), spec(2), spec(3)]
    assert store.keys() == sorted(key_of(s) for s in runs)
    run = runs[spec(2)]
    assert (run.path / "model.safetensors").read_bytes() == bytes([2]) * 1000
    assert run.spec == spec(2)
    assert run.provenance["tokens"] == 1000
    assert run.provenance["threads"] >= 1
    assert {"started", "finished", "commit", "versions", "processor", "python"} <= set(run.provenance)
    assert "3/3 runs" in capfd.readouterr().err
    log = store.root / ".logs" / f"{run.key}.log"
    assert log.read_text() == "a library says hello\n"
    assert not any((store.root / ".requests").iterdir())
    assert not any((store.root / ".work").iterdir())

    again = ensure(specs, store=store, worker=["false"])
    assert again == runs
    assert capfd.readouterr().err == "", "nothing is trained, so nothing is said"


def test_a_damaged_run_is_trained_again(store: RunStore) -> None:
    ensure([spec(1)], store=store, progress=False, worker=WORKER)
    (store.root / key_of(spec(1)) / "tokenizer.json").write_text("[]")
    code = (
        "import sys; from tests.integration.test_execution import *;"
        "corpora.fingerprint = lambda corpus, data: 'text';"
        "ensure([spec(1)], store=RunStore(sys.argv[1]), progress=False, worker=WORKER)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(store.root)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stderr.count("\n") == 1
    assert "is damaged" in done.stderr
    assert store.verify() == {}


def test_failures_are_named_at_the_end_and_the_others_are_stored(store: RunStore) -> None:
    specs = [spec(13), spec(14), spec(1), spec(2)]
    with pytest.raises(RunsFailed) as error:
        ensure(specs, store=store, progress=False, worker=WORKER, compute=Compute(jobs=2))
    line = str(error.value)
    assert "\n" not in line
    assert line.startswith("2 of 4 runs failed, the others are stored: ")
    assert "ValueError: loss is not a number" in line
    assert "data/en.txt:3: not UTF-8" in line
    log = store.root / ".logs" / f"{key_of(spec(13))}.log"
    assert str(log) in line
    assert "Traceback" in log.read_text()
    assert store.keys() == sorted(key_of(s) for s in specs[2:])


def test_a_mistake_of_the_caller_stays_one(store: RunStore) -> None:
    with pytest.raises(UserError, match=r"data/en.txt:3: not UTF-8 \[run .* \(bert, en-fr, seed 14\), log "):
        ensure([spec(14)], store=store, progress=False, worker=WORKER)


@pytest.mark.parametrize("keyword", ["jobs", "processes"])
def test_zero_of_anything_is_refused(store: RunStore, keyword: str) -> None:
    with pytest.raises(UserError, match=f"{keyword} must be at least 1"):
        ensure([spec(1)], store=store, compute=Compute(**{keyword: 0}))  # type: ignore[arg-type]


def test_an_unknown_engine_is_refused(store: RunStore) -> None:
    with pytest.raises(UserError, match="unknown engine 'spark'; known: local, dask"):
        ensure([spec(1)], store=store, compute=Compute(engine="spark"))


def test_a_full_disk_is_one_line_of_the_caller(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "1m") as mount:
        store = RunStore(mount / "runs")
        with pytest.raises(UserError, match=r"1 of 2 runs failed.*no space left on the disk of"):
            ensure([spec(1), spec(15)], store=store, progress=False, worker=WORKER, compute=Compute(jobs=1))
        assert store.keys() == [key_of(spec(1))]
        assert not any((store.root / ".partial").iterdir())


def test_a_killed_worker_is_reported_and_its_run_continues(store: RunStore) -> None:
    long = spec(1, steps=300)
    checkpoint = store.root / ".work" / key_of(long) / "checkpoint"

    def kill() -> None:
        wait_for(lambda: fake_worker.held(store.root))
        for pid in processes_of(store):
            os.kill(pid, signal.SIGKILL)

    fake_worker.hold(store.root)
    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(RunsFailed, match="the training process ended by signal 9"):
        ensure([long], store=store, progress=False, worker=WORKER)
    killer.join()
    assert store.keys() == []
    fake_worker.release(store.root)
    runs = ensure([long], store=store, progress=False, worker=WORKER)
    assert runs[long].provenance["began"] == 150
    assert not any((store.root / ".partial").iterdir())
    assert not checkpoint.parent.exists()


def test_a_continued_run_keeps_its_number_of_threads(store: RunStore) -> None:
    work = store.folder(".work", key_of(spec(1)))
    (work / "threads").write_text("7")
    (work / "checkpoint").write_text("5")
    run = ensure([spec(1)], store=store, progress=False, worker=WORKER)[spec(1)]
    assert run.provenance["began"] == 5
    assert run.provenance["threads"] == 7


@pytest.mark.parametrize("text", ["many", "-1", "0", "1000000000", "\u0663", "\0"])
def test_a_damaged_number_of_threads_is_named(store: RunStore, text: str) -> None:
    work = store.folder(".work", key_of(spec(1)))
    (work / "threads").write_text(text)
    (work / "checkpoint").write_text("5")
    with pytest.raises(UserError, match=r"threads: .* is no number of threads; remove .* to begin anew"):
        ensure([spec(1)], store=store, progress=False, worker=WORKER)


def test_static_and_untrained_runs_count_as_work(store: RunStore, capfd: pytest.CaptureFixture[str]) -> None:
    done = {"event": "stored"}
    specs = [
        RunSpec(CORPUS, TokenizerSpec(), StaticSpec("glove"), None, 1),
        RunSpec(CORPUS, TokenizerSpec(), EncoderSpec(), None, 1),
    ]
    with pytest.raises(RunsFailed, match=r"was trained, but .* does not hold it"):
        ensure(specs, store=store, worker=[sys.executable, "-c", f"print('{json.dumps(done)}')"])
    assert "10/10 steps" in capfd.readouterr().err


ROOT = Path(__file__).parents[2]
PARENT = """
import sys
from tests.integration.test_execution import *
corpora.fingerprint = lambda corpus, data: "text"
store = RunStore(sys.argv[1])
try:
    specs = [spec(int(seed), steps=2000) for seed in sys.argv[2].split(",")]
    engine = {"engine": "dask", "scheduler": sys.argv[3]} if sys.argv[3:] else {}
    ensure(specs, store=store, worker=WORKER, compute=Compute(jobs=2, **engine))
except KeyboardInterrupt:
    sys.exit(130)
"""


def _parent(store: RunStore, seeds: str, *scheduler: str, stderr: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", PARENT, str(store.root), seeds, *scheduler]
    return subprocess.Popen(command, cwd=ROOT, stderr=stderr)


def _checkpoints(store: RunStore) -> list[Path]:
    return list((store.root / ".work").glob("*/checkpoint"))


@pytest.mark.parametrize("seeds", ["1,2,3", "1,16"])
def test_an_interrupt_ends_the_children_and_keeps_their_work(store: RunStore, seeds: str) -> None:
    fake_worker.hold(store.root)
    parent = _parent(store, seeds)
    wait_for(lambda: len(_checkpoints(store)) == 2)
    parent.send_signal(signal.SIGINT)
    assert parent.wait(PATIENCE) == 130
    wait_for(lambda: not processes_of(store))
    assert len(_checkpoints(store)) == 2
    assert store.keys() == []


def test_children_do_not_outlive_a_killed_parent(store: RunStore) -> None:
    fake_worker.hold(store.root)
    parent = _parent(store, "1,16")
    wait_for(lambda: len(_checkpoints(store)) == 2)
    assert len(processes_of(store)) == 3
    parent.kill()
    parent.wait(PATIENCE)
    wait_for(lambda: not processes_of(store))


def test_a_worker_whose_parent_is_killed_behind_a_request_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though its other thread has yet to take the request."""
    ended: list[int] = []
    process = object.__new__(worker._Process)
    process._wanted, process._waiting = queue.SimpleQueue(), True
    monkeypatch.setattr(worker.os, "fdopen", lambda *_, **__: io.BytesIO(b"request.json\n"))
    monkeypatch.setattr(worker.os, "_exit", ended.append)
    process._listen()
    assert ended == [1] and process._wanted.get() == "request.json"


def test_two_callers_train_a_run_once(store: RunStore) -> None:
    shared = spec(1, steps=150)
    results = []

    def call() -> None:
        results.append(ensure([shared], store=store, progress=False, worker=WORKER)[shared])

    callers = [threading.Thread(target=call) for _ in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(results) == 2
    assert results[0] == results[1]
    assert results[0].provenance["began"] == 0


def test_who_waits_for_a_run_is_told(store: RunStore, capfd: pytest.CaptureFixture[str]) -> None:
    wanted, told = spec(1), []

    def said() -> bool:
        told.append(capfd.readouterr().err)
        return "another process trains run" in "".join(told)

    caller = threading.Thread(target=ensure, args=([wanted],), kwargs={"store": store, "worker": WORKER})
    with store.lock(key_of(wanted)):
        caller.start()
        wait_for(said)
        assert store.get(key_of(wanted), locked=True) is None
    caller.join()
    assert store.get(key_of(wanted)) is not None
    assert f"another process trains run {key_of(wanted)}; waiting for it" in "".join(told)


@pytest.fixture
def everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the counting function into every Python process that is started."""
    folder = tmp_path / "site"
    folder.mkdir()
    code = "from tests.integration import fake_worker\nfake_worker.install()\n"
    (folder / "sitecustomize.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{ROOT}")


@pytest.mark.usefixtures("everywhere")
def test_one_run_in_two_processes(store: RunStore) -> None:
    with pytest.raises(UserError, match=r"data/en.txt:3: not UTF-8"):
        ensure([spec(1), spec(14)], store=store, progress=False, compute=Compute(jobs=1, processes=2))
    run = store.get(key_of(spec(1)))
    assert run is not None
    assert (run.provenance["world"], run.provenance["processes"]) == ("2", 2)


@pytest.mark.usefixtures("everywhere")
def test_no_rank_outlives_a_killed_worker(store: RunStore) -> None:
    long = spec(16, steps=3000)
    fake_worker.hold(store.root)

    def kill() -> None:
        wait_for(lambda: _checkpoints(store))
        worker = next(pid for pid in processes_of(store) if os.getpgid(pid) == pid)
        os.kill(worker, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(RunsFailed, match="signal 9"):
        ensure([long], store=store, progress=False, compute=Compute(processes=2))
    killer.join()
    wait_for(lambda: not ranks(store))


def ranks(store: RunStore) -> list[Path]:
    """Processes started by torchrun for a request of this store."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if b"xling_utils.runs.worker" in (line := path.read_bytes()) and str(store.root).encode() in line:
                found.append(path)
    return found


def test_the_worker_can_be_started_by_hand_and_takes_one_request_after_another(store: RunStore, tmp_path: Path) -> None:
    """The third wants another number of threads, which no process can change: it begins anew."""
    paths = [tmp_path / f"{number}.json" for number in range(3)]
    for path, threads in zip(paths, (1, 1, 2), strict=True):
        request = {"key": path.stem, "spec": to_dict(spec(1)), "store": str(store.root), "data": None}
        path.write_text(json.dumps({**request, "threads": threads, "processes": 1, "log": f"{path}.log"}))
    with subprocess.Popen([*WORKER, paths[0]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout and child.stdin
        for following in (*paths[1:], None):
            events = list(iter(lambda: json.loads(child.stdout.readline()), {"event": "ready"}))  # type: ignore[union-attr]
            assert events[-2:] == [
                {"event": "progress", "done": 10, "total": 10, "tokens": 1000},
                {"event": "stored"},
            ]
            if following:
                child.stdin.write(f"{following}\n")
                child.stdin.flush()
        child.stdin.close()
        assert child.wait() == 0
    assert [store.get(path.stem).provenance["threads"] for path in paths] == [1, 1, 2]  # type: ignore[union-attr]
    assert all("a library says hello" in Path(f"{path}.log").read_text() for path in paths)


def test_dask_starts_a_cluster_of_its_own_and_names_failures(store: RunStore) -> None:
    with pytest.raises(UserError, match=r"data/en.txt:3: not UTF-8"):
        ensure([spec(1), spec(14)], store=store, progress=False, worker=WORKER, compute=Compute(engine="dask", jobs=2))
    assert store.keys() == [key_of(spec(1))]


def test_an_absent_scheduler_is_one_line(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_dask, "SECONDS_TO_ANSWER", 1.0)
    with pytest.raises(UserError, match=r"no Dask scheduler answers at tcp://127.0.0.1:9"):
        ensure(
            [spec(1)],
            store=store,
            compute=Compute(scheduler="tcp://127.0.0.1:9"),
            progress=False,
            worker=WORKER,
        )
