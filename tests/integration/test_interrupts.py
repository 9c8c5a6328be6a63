"""An interrupt or a death while runs are trained or measured: what was begun ends, and the next call goes on with it.

Where a book of two or three cells is enough, its runs only count (``fake_worker.py``); all around them is real.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jupytext
import psutil
import pytest
from jupyter_client.manager import start_new_kernel

from tests import smoke
from tests.faults import PATIENCE, processes_of, wait_for
from tests.integration import fake_worker
from tests.integration.test_execution import _checkpoints
from xling_utils.book import notebooks
from xling_utils.chapters.window_size import plan as window_size
from xling_utils.core.scales import scale
from xling_utils.core.writing import held
from xling_utils.runs.compute import usable_cores
from xling_utils.runs.store import RunStore

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
TRAIN = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.integration.test_execution import WORKER, corpora, spec
from xling_utils.runs.compute import Compute
from xling_utils.runs.ensuring import ensure
from xling_utils.runs.store import RunStore
corpora.fingerprint = lambda corpus, data: "text"
runs = ensure([spec(seed, 300) for seed in (1, 2)], store=RunStore(), worker=WORKER, compute=Compute(jobs=2))
print("began", *sorted(run.provenance["began"] for run in runs.values()))
"""
PARAMETERS = '# %% tags=["parameters"]\nscale = "controlled"\n\n'
QUIET = PARAMETERS + "# %%\nprint(scale)\n"
TRAINING = PARAMETERS + f"# %%\n{TRAIN}"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "_toc.yml").write_text("")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/03_third.py").write_text(TRAINING)
    return tmp_path


@pytest.fixture
def store(book: Path) -> RunStore:
    return RunStore(book / "runs")


def started(book: Path, *command: object) -> subprocess.Popen[str]:
    """As a user starts it: below pytest a kernel would do other things with what is written to its standard error."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("XLING_", "PYTEST_"))}
    return subprocess.Popen(
        [str(part) for part in command], cwd=book, env=environment, text=True, stdout=-1, stderr=-1
    )  # fmt: skip


def command_of(process: psutil.Process) -> str:
    """Its command line; nothing once it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def kernels(parent: int, chapter: str = "") -> list[psutil.Process]:
    """The kernels that a process has started, or those of a chapter."""
    name = f"kernel-{chapter}" if chapter else "ipykernel_launcher"
    return [child for child in psutil.Process(parent).children() if name in command_of(child)]


def progress(store: RunStore) -> list[int]:
    return [int(path.read_text()) for path in _checkpoints(store)]


def began(text: str) -> list[int]:
    found = re.findall(r"began (\d+) (\d+)", text)
    return [int(number) for number in found[-1]]


def test_an_interrupted_cell_ends_its_runs_and_continues_when_run_again(
    book: Path, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(book)
    monkeypatch.delenv("XLING_STORE", raising=False)
    manager, client = start_new_kernel(startup_timeout=PATIENCE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    fake_worker.hold(store.root)
    try:
        cell = client.execute(TRAIN)
        wait_for(lambda: len(progress(store)) == 2)
        manager.interrupt_kernel()
        while (reply := client.get_shell_msg(timeout=PATIENCE))["parent_header"]["msg_id"] != cell:
            pass
        assert reply["content"]["ename"] == "KeyboardInterrupt"
        wait_for(lambda: not processes_of(store))
        kept = progress(store)
        assert len(kept) == 2 and store.keys() == []
        fake_worker.release(store.root)

        said: list[str] = []

        def hear(message: dict) -> None:
            if message["msg_type"] == "stream":
                said.append(message["content"]["text"])

        status = "aborted"  # as a kernel does with whatever comes on the heels of an interrupt
        while status == "aborted":
            reply = client.execute_interactive(TRAIN, output_hook=hear, timeout=PATIENCE)
            status = reply["content"]["status"]
        assert status == "ok"
        assert began("".join(said)) == sorted(kept)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("runner", ["papermill", "xling"])
def test_an_interrupted_notebook_ends_its_runs_and_continues_when_run_again(
    book: Path, store: RunStore, runner: str
) -> None:
    source, out = book / "notebooks/03_third.ipynb", book / "out.ipynb"
    command: list[object] = [BIN / "xling", "run"]
    if runner == "papermill":
        notebook = jupytext.read(source.with_suffix(".py"))
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        jupytext.write(notebook, source)
        command = [BIN / "papermill", source, out, "--no-progress-bar"]
    else:
        out = book / "_build/executed/03_third.ipynb"
    fake_worker.hold(store.root)
    child = started(book, *command)
    wait_for(lambda: len(progress(store)) == 2)
    (kernel,) = kernels(child.pid)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=PATIENCE)
    assert child.returncode != 0
    if runner == "xling":
        assert child.returncode == 130
        assert said.endswith("xling: interrupted; what was finished is kept, the same command continues\n")
    wait_for(lambda: not processes_of(store) and not command_of(kernel))
    kept = progress(store)
    assert len(kept) == 2 and store.keys() == []
    fake_worker.release(store.root)

    child = started(book, *command)
    _, said = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0, said
    assert began(out.read_text()) == sorted(kept)


def test_an_interrupt_ends_all_chapters_that_are_executed(book: Path) -> None:
    for number in (1, 2, 3):
        (book / f"notebooks/0{number}_{('first', 'second', 'third')[number - 1]}.py").write_text(
            PARAMETERS + "# %%\nimport time\n\nopen(f'busy {scale} {time.time_ns()}', 'w')\ntime.sleep(600)\n"
        )
    child = started(book, BIN / "xling", "run")
    at_a_time = min(2, usable_cores())
    wait_for(lambda: len(list((book / "notebooks").glob("busy *"))) >= at_a_time)
    busy = kernels(child.pid)
    assert len(busy) >= at_a_time
    child.send_signal(signal.SIGINT)
    said, complained = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130 and "Traceback" not in complained
    assert ": done" not in said and not list((book / "_build").glob("*/*.log"))
    assert not list((book / "_build").glob("*/*.ipynb"))
    wait_for(lambda: not any(map(command_of, busy)))


def test_an_interrupt_comes_before_the_last_chapter_has_begun(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (book / "notebooks/01_first.py").write_text(
        PARAMETERS + "# %%\nopen('busy', 'w')\nimport time\n\ntime.sleep(600)\n"
    )

    class Interrupted(ThreadPoolExecutor):
        def submit(self, *asked: Any, **named: Any) -> Any:
            if not list(book.rglob("busy")):
                super().submit(*asked, **named)
                wait_for(lambda: list(book.rglob("busy")))
            raise KeyboardInterrupt

    monkeypatch.setattr(notebooks, "ThreadPoolExecutor", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        notebooks.execute(book, [], {}, {}, lambda line: None)
    wait_for(lambda: not kernels(os.getpid()))


def test_who_waits_for_another_process_can_be_interrupted(book: Path) -> None:
    lock = book / "_build/executing/03_third.lock"
    lock.parent.mkdir(parents=True)
    with held(lock):
        child = started(book, BIN / "xling", "run")
        assert child.stdout and child.stdout.readline() == "03_third: another process executes it; waiting\n"
        child.send_signal(signal.SIGINT)
        _, complained = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130 and "Traceback" not in complained


def test_a_kernel_that_dies_takes_its_runs_along_and_all_other_chapters_finish(book: Path, store: RunStore) -> None:
    for name in ("01_first", "02_second", "04_fourth"):
        (book / f"notebooks/{name}.py").write_text(QUIET)
    fake_worker.hold(store.root)
    child = started(book, BIN / "xling", "run")
    wait_for(lambda: len(progress(store)) == 2)
    (kernel,) = kernels(child.pid, "03_third")
    kernel.kill()
    said, complained = child.communicate(timeout=PATIENCE)
    assert child.returncode == 1
    log = book / "_build/logs/03_third.log"
    assert complained.endswith(f"xling: 03_third: DeadKernelError: Kernel died [log: {log}]\n")
    assert "Traceback" not in complained and "DeadKernelError" in log.read_text()
    assert [line for line in said.splitlines() if ": done" in line or ": failed" in line] == [
        line for line in said.splitlines() if not line.endswith(": executing")
    ]
    executed = sorted(path.relative_to(book / "_build").as_posix() for path in (book / "_build").glob("*/*.ipynb"))
    assert executed == [f"executed/{name}.ipynb" for name in ("01_first", "02_second", "04_fourth")]
    wait_for(lambda: not processes_of(store))
    fake_worker.release(store.root)

    child = started(book, BIN / "xling", "run")
    said, complained = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0, complained
    assert "01_first: up to date" in said and "03_third: done" in said
    assert not log.exists() and min(began((book / "_build/executed/03_third.ipynb").read_text())) > 0


def test_what_a_kernel_says_as_it_crashes_is_in_the_log_of_its_chapter(book: Path) -> None:
    (book / "notebooks/03_third.py").write_text(
        PARAMETERS + "# %%\nimport faulthandler, os, sys\n\nfaulthandler.enable(file=sys.stderr)\nos.abort()\n"
    )
    _, complained = started(book, BIN / "xling", "run").communicate(timeout=PATIENCE)
    log = book / "_build/logs/03_third.log"
    assert complained.endswith(f"xling: 03_third: DeadKernelError: Kernel died [log: {log}]\n")
    assert "The kernel said:\nFatal Python error: Aborted" in log.read_text()


RECORD = ("run", "--records-only", "02_window_size", "--scale", "smoke", "--seeds", "1", "--jobs", "2")
ONE_PAIR = ("-p", "languages", "[fr]", "-p", "live", "headline")


def measuring(parent: int) -> list[psutil.Process]:
    """The processes that measure for ``parent``: copies of one that has read what they need."""
    servers = [child for child in psutil.Process(parent).children() if "forkserver" in command_of(child)]
    return [copy for server in servers for copy in server.children()]


def test_rows_interrupted_while_they_are_measured_are_finished_by_the_same_command(book: Path, store: RunStore) -> None:
    planned = window_size.grid(scale("smoke"), ["fr"], 1, "headline")
    smoke.trained(store, *(spec for each in planned for spec in each.specs))
    command = (BIN / "xling", *RECORD, *ONE_PAIR)
    for how, code in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
        child = started(book, *command)
        wait_for(lambda: len(measuring(child.pid)) == 2)  # noqa: B023
        found = measuring(child.pid)
        child.send_signal(how)
        assert child.wait(PATIENCE) == code
        wait_for(lambda: not any(map(command_of, found)))  # noqa: B023
        assert len(store.keys()) == 2

    child = started(book, *command)
    _, said = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0, said
    assert (book / "_build/records/02_window_size.smoke.csv").exists() and len(store.keys()) == 2
