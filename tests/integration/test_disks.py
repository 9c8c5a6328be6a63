"""Disks that are full or read-only, times that lie in the future, two commands at once: one line, and nothing lost.

The books here have chapters of one cell, whose runs only count (``fake_worker.py``).
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
import torch

from tests.faults import PATIENCE, make_read_only, small_disk
from tests.integration import fake_worker
from tests.integration.test_execution import WORKER, _fingerprint, spec  # noqa: F401
from tests.integration.test_interrupts import BIN, PARAMETERS, QUIET, TRAINING, began, started
from xling_utils.runs import checkpoints
from xling_utils.runs.ensuring import ensure
from xling_utils.runs.keys import key_of
from xling_utils.runs.store import RunStore


def lay_out(root: Path, **chapters: str) -> Path:
    (root / "_toc.yml").write_text("")
    (root / "notebooks").mkdir()
    for name, source in chapters.items():
        (root / f"notebooks/{name[1:]}.py").write_text(source)
    return root


def run(book: Path) -> tuple[int, str, str]:
    child = started(book, BIN / "xling", "run")
    said, complained = child.communicate(timeout=PATIENCE)
    return child.returncode, said, complained


def fill(disk: Path) -> Path:
    """Writes until nothing more fits; returns what it wrote."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            return filler


def test_a_book_on_a_full_or_read_only_disk_is_one_line_and_continues(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        lay_out(disk, _01_first=QUIET, _02_second=PARAMETERS + "# %%\nprint(2)\n")
        filler = fill(disk)
        code, _, complained = run(disk)
        assert (code, complained.count("\n")) == (2, 1), complained
        assert "No space left on device; what was finished is kept, the same command continues" in complained
        filler.unlink()
        code, _, complained = run(disk)
        assert code == 0, complained
        make_read_only(disk)
        assert run(disk) == (0, "01_first: up to date\n02_second: up to date\n", "")


def test_a_store_on_a_read_only_disk_still_serves_what_it_holds(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        store = RunStore(disk / "runs")
        first = ensure([spec(1)], store=store, progress=False, worker=WORKER)
        make_read_only(disk)
        assert ensure([spec(1)], store=store, progress=False, worker=["false"]) == first
        book = lay_out(tmp_path, _01_first=TRAINING)
        child = started(book, "env", f"XLING_STORE={store.root}", BIN / "xling", "run")
        _, complained = child.communicate(timeout=PATIENCE)
        assert child.returncode == 2 and "Traceback" not in complained
        last = complained.splitlines()[-1]
        assert last.startswith(f"xling: 01_first: 2 of 2 runs failed: cannot write {store.root}")
        assert "Read-only file system; set XLING_STORE to a folder that can be written" in last


def test_a_checkpoint_that_does_not_fit_leaves_the_one_before(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        tensors = {"weight": torch.arange(50_000, dtype=torch.float32)}
        checkpoints.save(disk / "work", 10, tensors, {"total": 1.5})
        filler = fill(disk)
        with pytest.raises(Exception, match="No space left on device"):
            checkpoints.save(disk / "work", 20, tensors, {"total": 2.5})
        found = checkpoints.latest(disk / "work", tensors)
        assert found is not None and found[1] == {"total": 1.5, "step": 10}
        assert torch.equal(found[0]["weight"], tensors["weight"])
        filler.unlink()
        checkpoints.save(disk / "work", 20, tensors, {"total": 2.5})
        found = checkpoints.latest(disk / "work", tensors)
        assert found is not None and found[1]["step"] == 20


def into_the_future(root: Path) -> None:
    """Everything under ``root`` was written a year from now: the clock has been set back since."""
    future = time.time() + 365 * 86_400
    for path in [root, *root.rglob("*")]:
        os.utime(path, (future, future))


def test_a_clock_set_back_changes_nothing_of_what_is_used_again(tmp_path: Path) -> None:
    book = lay_out(tmp_path, _01_first=TRAINING, _02_second=QUIET)
    store = RunStore(book / "runs")
    work = store.folder(".work", key_of(spec(1, 300)))
    (work / "checkpoint").write_text("290")
    (work / "threads").write_text("1")
    into_the_future(tmp_path)
    code, _, complained = run(book)
    assert code == 0, complained
    executed = book / "_build/executed/01_first.ipynb"
    assert began(executed.read_text()) == [0, 290], "the checkpoint of the future was used"

    into_the_future(tmp_path)
    assert run(book)[1] == "01_first: up to date\n02_second: up to date\n"
    (book / "notebooks/02_second.py").write_text(QUIET + "print('changed')\n")
    code, said, _ = run(book)
    assert "01_first: up to date" in said and "02_second: done" in said
    assert "changed" in json.dumps(json.loads((book / "_build/executed/02_second.ipynb").read_text())["cells"][-1])
    assert store.verify() == {} and sorted(fake_worker.recorded(store.root)) == store.keys()


def test_two_commands_at_once_train_and_execute_everything_once(tmp_path: Path) -> None:
    book = lay_out(tmp_path, _01_first=TRAINING, _02_second=TRAINING)
    store = RunStore(book / "runs")
    both = [started(book, BIN / "xling", "run") for _ in range(2)]
    said = []
    for child in both:
        out, complained = child.communicate(timeout=PATIENCE)
        assert child.returncode == 0, complained
        assert "Traceback" not in complained
        said += out.splitlines()
    for name in ("01_first", "02_second"):
        assert sum(line.startswith(f"{name}: done") for line in said) == 1
        assert began((book / f"_build/executed/{name}.ipynb").read_text()) == [0, 0]
    assert sorted(fake_worker.recorded(store.root)) == store.keys() and len(store.keys()) == 2
    assert store.verify() == {}
