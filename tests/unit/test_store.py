"""The run store: nothing half written, nothing damaged returned, nothing lost."""

import json
import os
import resource
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import faults
from xling_utils.core.errors import UserError
from xling_utils.core.project import project_root
from xling_utils.core.specs import CorpusSpec, EncoderSpec, RunSpec, TokenizerSpec, TrainingSpec
from xling_utils.runs import store as stored
from xling_utils.runs.store import RunStore

KEY = "0123456789abcdef0123"
SPEC = RunSpec(CorpusSpec("controlled", ("en", "fr"), 100), TokenizerSpec(), EncoderSpec(), TrainingSpec(10), seed=1)


def put(store: RunStore, key: str = KEY) -> Path:
    with store.lock(key), store.writing(key, SPEC) as draft:
        (draft.path / "model.safetensors").write_bytes(bytes(range(256)) * 8)
        (draft.path / "trace.csv").write_text("step,loss,tokens,seconds\n1,2.5,30,0.1\n")
        (draft.path / "snapshots").mkdir()
        (draft.path / "snapshots/5.safetensors").write_bytes(b"five")
        draft.provenance["seconds"] = 1.5
    return store.root / key


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with faults.small_disk(tmp_path / "disk", "256k") as mount:
        yield mount


def test_what_was_put_comes_back(store: RunStore) -> None:
    assert store.get(KEY) is None
    assert not store.root.exists(), "reading creates nothing"
    path = put(store)
    run = store.get(KEY)
    assert run is not None
    assert (run.key, run.path, run.spec, run.provenance) == (KEY, path, SPEC, {"seconds": 1.5})
    assert run.trace.to_dict("records") == [{"step": 1, "loss": 2.5, "tokens": 30, "seconds": 0.1}]
    assert store.keys() == [KEY]
    files = json.loads((path / "manifest.json").read_text())["files"]
    assert set(files) == {
        "model.safetensors",
        "provenance.json",
        "snapshots/5.safetensors",
        "spec.json",
        "trace.csv",
    }
    assert files["snapshots/5.safetensors"]["size"] == 4


def test_a_run_without_training_has_an_empty_trace(store: RunStore) -> None:
    with store.writing(KEY, SPEC):
        pass
    run = store.get(KEY)
    assert run is not None
    assert list(run.trace.columns) == ["step", "loss", "held_out_loss", "tokens", "seconds"]
    assert run.trace.empty


def test_an_error_while_writing_leaves_nothing(store: RunStore) -> None:
    with pytest.raises(ValueError), store.writing(KEY, SPEC) as draft:
        (draft.path / "model.safetensors").write_bytes(b"half")
        raise ValueError
    assert store.keys() == []
    assert list((store.root / ".partial").iterdir()) == []


def test_checkpoints_go_when_the_run_is_stored_and_stay_when_it_fails(store: RunStore) -> None:
    checkpoint = store.folder(".work", KEY) / "checkpoint"
    checkpoint.write_text("5")
    with pytest.raises(ValueError), store.writing(KEY, SPEC):
        raise ValueError
    assert checkpoint.exists()
    put(store)
    assert not checkpoint.parent.exists()


def _flip(path: Path) -> None:
    content = bytearray((path / "model.safetensors").read_bytes())
    content[1000] ^= 1
    (path / "model.safetensors").write_bytes(content)


def _truncate(path: Path) -> None:
    os.truncate(path / "model.safetensors", 1000)


def _remove(path: Path) -> None:
    (path / "snapshots/5.safetensors").unlink()


def _empty_manifest(path: Path) -> None:
    (path / "manifest.json").write_text("")


def _odd_manifest(path: Path) -> None:
    (path / "manifest.json").write_text('{"files": []}')


def _remove_manifest(path: Path) -> None:
    (path / "manifest.json").unlink()


def _swap(path: Path) -> None:
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps({**manifest, "key": "another"}))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_flip, "model.safetensors has the wrong sha256"),
        (_truncate, "model.safetensors has the wrong size"),
        (_remove, "snapshots/5.safetensors is missing"),
        (_empty_manifest, "manifest.json is not a manifest"),
        (_odd_manifest, "manifest.json is not a manifest"),
        (_remove_manifest, "manifest.json is missing"),
        (_swap, "manifest.json belongs to another run"),
    ],
)
def test_damage_is_found_set_aside_and_can_be_replaced(
    store: RunStore, capsys: pytest.CaptureFixture[str], damage: object, message: str
) -> None:
    damage(put(store))  # type: ignore[operator]
    assert message in store.verify()[KEY]
    assert store.get(KEY) is None
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert message in line
    assert (store.root / ".damaged" / f"{KEY}-1").is_dir()
    assert store.get(KEY) is None
    assert capsys.readouterr().err == "", "one warning, not one a call"
    damage(put(store))  # type: ignore[operator]
    assert store.get(KEY) is None
    assert (store.root / ".damaged" / f"{KEY}-2").is_dir()
    put(store)
    assert store.get(KEY) is not None


def test_a_damaged_run_that_cannot_be_set_aside_is_not_trained_in_vain(store: RunStore) -> None:
    _remove_manifest(put(store))
    (store.root / ".damaged").write_text("no folder")
    assert store.get(KEY) is None
    with pytest.raises(UserError, match=f"{KEY}: stands where run {KEY} is to be stored"):
        put(store)
    assert (store.root / KEY).is_dir()


def test_a_run_that_another_process_makes_anew_is_left_to_it(
    store: RunStore, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _flip(put(store))
    with store.lock(KEY):  # a second lock of this process is refused like one of another
        assert store.get(KEY) is None
    assert "another process makes it anew" in capsys.readouterr().err
    assert (store.root / KEY).is_dir(), "it is not moved"
    found = stored.damage

    def made_anew(*arguments: Any) -> str | None:
        problem = found(*arguments)
        monkeypatch.setattr(stored, "damage", found)
        shutil.rmtree(store.root / KEY)
        put(store)
        return problem

    monkeypatch.setattr(stored, "damage", made_anew)
    assert store.get(KEY) is not None, "what was found damaged is not there any more"
    assert not (store.root / ".damaged").exists() and capsys.readouterr().err == ""


def test_who_holds_the_lock_sets_a_damaged_run_aside(store: RunStore) -> None:
    _flip(put(store))
    with store.lock(KEY):
        assert store.get(KEY, locked=True) is None
    assert (store.root / ".damaged" / f"{KEY}-1").is_dir()


def test_a_run_that_cannot_be_read_now_is_not_taken_for_damaged(store: RunStore) -> None:
    put(store)
    taken: list[int] = []
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limits[0], 256), limits[1]))
    try:
        with pytest.raises(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        with pytest.raises(UserError, match="Too many open files; try again"):
            store.get(KEY)
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert store.get(KEY) and not (store.root / ".damaged").exists()


def test_verification_is_done_once_a_process_and_again_on_request(store: RunStore) -> None:
    path = put(store)
    assert store.get(KEY) is not None
    _flip(path)
    assert RunStore(store.root).get(KEY) is not None
    assert store.verify() == {KEY: "model.safetensors has the wrong sha256"}
    assert store.get(KEY) is None


def test_prune_removes_what_is_left_over_and_keeps_the_rest(store: RunStore) -> None:
    put(store, "aa")
    put(store, "bb")
    _flip(put(store, "cc"))
    store.get("cc")
    for name in (".partial/aa-x1", ".work/aa", ".work/dd", ".work/ee"):
        (store.root / name).mkdir(parents=True)
    (store.folder(".logs") / "aa.log").write_text("")
    for name in ("dd-x1.json", "dd-x2.json"):
        (store.folder(".requests") / name).write_text("{}")
    os.utime(store.root / ".requests/dd-x1.json", (0, 0))
    with store.lock("ee"):
        left = [".partial/aa-x1", ".requests/dd-x1.json", ".damaged/cc-1", ".logs/aa.log", ".work/aa"]
        assert store.prune() == left, "the other request is young: its worker has yet to begin"
        assert store.prune(keep=["aa"]) == ["bb", ".work/dd"], "ee is held"
    assert store.keys() == ["aa"]
    assert store.prune(keep=["aa"]) == [".work/ee"]


def test_prune_leaves_what_is_no_run(store: RunStore) -> None:
    put(store, "aa")
    for key, remove in (("bb", "manifest.json"), ("cc", "spec.json")):
        (put(store, key) / remove).unlink()
    put(store, "dd").rename(store.root / "my-run")
    for name in ("my-thesis/chapter.tex", "photos/cat.jpg"):
        (store.root / name).parent.mkdir()
        (store.root / name).write_text("")
    assert store.prune(keep=["aa"]) == ["bb", "cc"]
    assert store.keys() == ["aa", "my-run", "my-thesis", "photos"]
    assert (store.root / "my-thesis/chapter.tex").exists() and (store.root / "photos/cat.jpg").exists()


def test_what_is_gone_before_its_turn_does_not_end_a_prune(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("aa-x1", "bb-x1"):
        store.folder(".partial", name)
    listed = store._inside(".partial")
    listed[0].rmdir()
    monkeypatch.setattr(store, "_inside", lambda name: listed if name == ".partial" else [])
    assert store.prune() == [".partial/bb-x1"]


HOLD = """
import sys, time
from pathlib import Path
from xling_utils.runs.store import RunStore
print("begun", flush=True)
with RunStore(sys.argv[1]).lock("k"):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def _holder(store: RunStore, seconds: float, code: str = HOLD) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", code, str(store.root), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0)


def _said(child: subprocess.Popen[bytes]) -> str:
    assert child.stdout
    return child.stdout.readline().decode().strip()


def _speaks(child: subprocess.Popen[bytes]) -> bool:
    """Whether it has said something more, or is at its end."""
    return bool(select.select([child.stdout], [], [], 0)[0])


def _waits_for_a_lock(child: subprocess.Popen[bytes]) -> bool:
    """As the system has it."""
    locks = map(str.split, Path("/proc/locks").read_text().splitlines())
    return any("->" in lock and str(child.pid) in lock for lock in locks)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="the system does not say who waits for a lock")
def test_a_lock_is_waited_for_and_ends_with_its_process(store: RunStore) -> None:
    first = _holder(store, 600)
    assert (_said(first), _said(first)) == ("begun", "held")
    second = _holder(store, 0)
    try:
        assert _said(second) == "begun"
        faults.wait_for(lambda: _waits_for_a_lock(second) or _speaks(second))
        assert not _speaks(second), "the second waits"
    finally:
        first.kill()
    assert _said(second) == "held"
    assert second.wait(faults.PATIENCE) == 0
    first.wait(faults.PATIENCE)


def test_a_killed_writer_leaves_no_run_and_its_remains_go(store: RunStore) -> None:
    code = HOLD.replace('print("held"', 'w = RunStore(sys.argv[1]).writing("k", None); w.__enter__(); print("held"')
    child = _holder(store, 600, code)
    assert (_said(child), _said(child)) == ("begun", "held")
    child.kill()
    child.wait(faults.PATIENCE)
    assert len(list((store.root / ".partial").iterdir())) == 1
    assert store.keys() == []
    put(store, "k")
    assert list((store.root / ".partial").iterdir()) == []
    assert store.get("k") is not None


def test_a_full_disk_is_one_line_and_loses_nothing(small_disk: Path) -> None:
    store = RunStore(small_disk / "runs")
    put(store, "aa")
    with (
        pytest.raises(UserError, match=f"no space left on the disk of {store.root}"),
        store.writing("bb", SPEC) as draft,
    ):
        (draft.path / "model.safetensors").write_bytes(bytes(1_000_000))
    assert list((store.root / ".partial").iterdir()) == []
    assert store.keys() == ["aa"]
    assert store.verify() == {}


def test_a_full_disk_met_by_safetensors_is_the_same_line(small_disk: Path) -> None:
    import numpy
    from safetensors.numpy import save_file

    store = RunStore(small_disk / "runs")
    with pytest.raises(UserError, match="no space left"), store.writing("bb", SPEC) as draft:
        save_file({"weight": numpy.zeros(1_000_000, numpy.float32)}, draft.path / "model.safetensors")
    assert list((store.root / ".partial").iterdir()) == []


def test_a_read_only_store_can_be_read_and_says_why_not_written(
    small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = RunStore(small_disk / "runs")
    put(store, "aa")
    _flip(put(store, "bb"))
    faults.make_read_only(small_disk)
    assert store.get("aa") is not None
    assert store.get("bb") is None
    assert "cannot be moved" in capsys.readouterr().err
    with pytest.raises(UserError, match=r"cannot write .*Read-only file system.*XLING_STORE"):
        put(store, "cc")
    with pytest.raises(UserError, match="cannot write"):
        RunStore(small_disk / "other").folder(".work")


def test_a_store_that_is_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(UserError, match="cannot write"):
        put(RunStore(tmp_path / "runs"))


@pytest.mark.parametrize("key", ["..", "../beside", ".locks", "", "/", "x" * 5000, "[" * 300, "a\0b"])
def test_nothing_outside_of_the_store_is_a_run(store: RunStore, key: str) -> None:
    beside = store.root.parent / "beside"
    beside.mkdir()
    store.folder(".locks")
    assert store.get(key) is None
    assert beside.is_dir() and (store.root / ".locks").is_dir(), "nothing is set aside as a damaged run"


def test_where_the_store_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "book/notebooks").mkdir(parents=True)
    (tmp_path / "book/_toc.yml").write_text("")
    monkeypatch.delenv("XLING_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    assert project_root() is None
    assert RunStore().root == tmp_path / "runs"
    monkeypatch.chdir(tmp_path / "book/notebooks")
    assert project_root() == tmp_path / "book"
    assert RunStore().root == tmp_path / "book/runs"
    monkeypatch.setenv("XLING_STORE", str(tmp_path / "elsewhere"))
    assert RunStore().root == tmp_path / "elsewhere"
    assert RunStore(tmp_path / "here").root == tmp_path / "here"
