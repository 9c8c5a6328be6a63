"""What tests of faults share: waiting, looking for processes, and a Dask cluster of real processes on this machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from xling_utils.runs.store import RunStore

DASK = Path(sys.executable).with_name("dask")
PATIENCE = 600.0
"""Seconds that anything may take on a busy machine; all of it together takes far less."""


def wait_for(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def processes_of(store: RunStore) -> list[int]:
    """The processes whose command line names the store, zombies and this one left out."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(store.root).encode() in (entry / "cmdline").read_bytes() and int(entry.name) != os.getpid():
                found.append(int(entry.name))
    return found


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def small_disk(mount: Path, size: str) -> Iterator[Path]:
    """A disk of ``size`` at ``mount``; the test is skipped where none can be mounted."""
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(mount)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"cannot mount a small disk: {error}")
    if mounted.returncode:
        pytest.skip(f"cannot mount a small disk: {mounted.stderr.strip()}")
    try:
        yield mount
    finally:
        subprocess.run(["umount", "--lazy", str(mount)], check=True)


def make_read_only(mount: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(mount)], check=True)


class Cluster:
    """A scheduler at ``address`` and its workers, each started by the command that the book documents."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_scheduler(self) -> None:
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def start_workers(self, count: int) -> None:
        options = ("--nthreads", "1", "--no-dashboard")
        self.workers += [self._start("worker", self.address, *options) for _ in range(count)]

    def kill_scheduler(self) -> None:
        assert self.scheduler is not None
        self.scheduler.kill()
        self.scheduler.wait()

    def kill_a_worker(self) -> None:
        """The process that runs tasks and the one that watches over it, both at once, as when a machine goes away."""
        victim = self.workers.pop(0)
        os.killpg(victim.pid, signal.SIGKILL)
        victim.wait()

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            if process is not None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen([DASK, *arguments], stdout=log, stderr=log, start_new_session=True)


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A scheduler and ``workers`` workers of one thread; their log is ``folder/dask.log``."""
    started = Cluster(folder / "dask.log")
    try:
        started.start_scheduler()
        started.start_workers(workers)
        yield started
    finally:
        started.end()
