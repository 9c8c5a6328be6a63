"""Child processes that train runs: started, listened to, and never left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xling_utils.core.specs import RunSpec, to_dict
from xling_utils.core.startup import KEEP_MEMORY
from xling_utils.core.writing import writable, write_json
from xling_utils.runs.store import RunStore

WORKER = (sys.executable, "-m", "xling_utils.runs.worker")
SECONDS_TO_END = 5.0
YIELD = {"OMP_WAIT_POLICY": "PASSIVE"}
"""A thread that waits for another gives its core away: where several programs share the cores, a run of two threads is
six times slower otherwise (4,300 tokens a second against 27,000, beside two busy processes on two cores)."""

OnEvent = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Task:
    """One run to train, and how: in ``processes`` processes of ``threads`` threads each, or as part of a stack, which
    has the key of its first run."""

    spec: RunSpec
    key: str
    store: RunStore
    data: Path | None
    threads: int
    processes: int
    stack: str

    @property
    def name(self) -> str:
        """The run in a few words."""
        return f"{self.spec.kind}, {'-'.join(self.spec.corpus.languages)}, seed {self.spec.seed}"

    @property
    def log(self) -> Path:
        """The file that takes what the training process prints."""
        return self.store.root / ".logs" / f"{self.stack}.log"


@dataclass(frozen=True)
class Failure:
    """Why a task failed: one line, and whether it is a mistake of the caller."""

    message: str
    user: bool


@dataclass
class Children:
    """The child processes alive now, so that all can be ended together."""

    alive: set[subprocess.Popen[str]] = field(default_factory=set)
    ended: bool = False
    guard: threading.Lock = field(default_factory=threading.Lock)

    def start(self, command: Sequence[str], log: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
        """Starts a child whose standard error goes to ``log``. Raises :class:`RuntimeError` after
        :meth:`end`."""
        with self.guard, writable(log), log.open("w", encoding="utf-8") as stderr:
            if self.ended:
                raise RuntimeError("ended before it began")
            # A session of its own: an interrupt typed at the terminal reaches the parent only, which then
            # ends its children in order. Standard input tells a child that its parent is alive.
            child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                start_new_session=True,
                env=environment,
            )
            self.alive.add(child)
            return child

    def end(self) -> None:
        """Asks all children to end, and ends them by force after five seconds."""
        with self.guard:
            self.ended = True
            children = list(self.alive)
        for child in children:
            _signal(child, signal.SIGTERM)
        for child in children:
            try:
                child.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                _signal(child, signal.SIGKILL)


class Trainer:
    """A child process that trains one task after another, by ``command``, on the GPU ``device`` where one is named. It
    starts with its first task; where it has ended, another takes its place."""

    def __init__(self, children: Children, command: Sequence[str] | None = None, device: str | None = None) -> None:
        self._children, self._command = children, command or WORKER
        self._environment = KEEP_MEMORY | YIELD | os.environ
        if device is not None:
            self._environment["CUDA_VISIBLE_DEVICES"] = device
        self._child: subprocess.Popen[str] | None = None

    def train(self, tasks: Sequence[Task], on_event: OnEvent) -> Failure | None:
        """Trains a task, or several as one stack, and passes on its events. Returns why it failed, or None. Raises
        :class:`UserError` if the store cannot be written."""
        task = tasks[0]
        task.store.folder(task.log.parent.name)
        request, failure = _write_request(tasks), None
        try:
            child = self._asked(request, task.log)
            assert child.stdout is not None
            for line in child.stdout:
                event = json.loads(line)
                if event["event"] == "ready":
                    return failure
                if event["event"] == "error":
                    failure = Failure(event["message"], event["user"])
                on_event(event)
            code = child.wait()
        except BaseException:
            self.close()
            raise
        finally:
            request.unlink(missing_ok=True)
        self.close()
        if failure is None and code:
            cause = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            failure = Failure(f"the training process ended {cause}", user=False)
        return failure

    def _asked(self, request: Path, log: Path) -> subprocess.Popen[str]:
        """The child, which knows of the request."""
        if self._child is not None:
            assert self._child.stdin is not None
            with writable(log):
                log.write_bytes(b"")
            with suppress(BrokenPipeError):
                self._child.stdin.write(f"{request}\n")
                self._child.stdin.flush()
                return self._child
            self.close()
        self._child = self._children.start([*self._command, str(request)], log, self._environment)
        return self._child

    def close(self) -> None:
        """The child ends, in the middle of a run too."""
        child, self._child = self._child, None
        if child is not None:
            assert child.stdout is not None and child.stdin is not None
            with suppress(BrokenPipeError):
                child.stdin.close()
            child.stdout.close()
            child.wait()
            self._children.alive.discard(child)


def _write_request(tasks: Sequence[Task]) -> Path:
    task = tasks[0]
    folder = task.store.folder(".requests")
    with writable(folder):
        handle, name = tempfile.mkstemp(prefix=f"{task.key}-", suffix=".json", dir=folder)
        os.close(handle)
        request = {
            "key": task.key,
            "spec": to_dict(task.spec),
            "also": [{"key": other.key, "spec": to_dict(other.spec)} for other in tasks[1:]],
            "store": str(task.store.root),
            "data": str(task.data.absolute()) if task.data else None,
            "threads": task.threads,
            "processes": task.processes,
            "log": str(task.log),
        }
        write_json(Path(name), request)
    return Path(name)


def _signal(child: subprocess.Popen[str], number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, number)
