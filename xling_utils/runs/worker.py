"""Trains runs in a process of its own: ``python -m xling_utils.runs.worker REQUEST.json``.

A request holds ``key``, ``spec``, ``store``, ``data`` (a folder or null), ``threads``, ``processes`` and ``log``.
Standard output carries one JSON object a line, everything else the libraries print goes to standard error, which is
the request's ``log``. ``also`` lists further runs, each with ``key`` and ``spec``, which differ from the first in their
seeds: all are trained as one stack (see :mod:`stacked`), and what is said of it holds for each, or for those of the
``keys`` that are named::

    {"event": "progress", "done": 200, "total": 3000, "tokens": 614400}
    {"event": "note", "message": "one line"}
    {"event": "stored"}
    {"event": "error", "message": "one line", "user": true}
    {"event": "ready"}

After the last of these it takes the path of another request from standard input: to import the libraries and to draw
the text takes as long as many runs. It ends when its standard input closes, so it never outlives whoever started it.
With more than one
process, this one holds the lock and stores the run, and ``torchrun`` starts the ranks that train it.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from xling_utils.core.errors import UserError, named
from xling_utils.core.specs import RunSpec, run_from_dict, to_dict
from xling_utils.core.writing import enough_space
from xling_utils.runs import provenance
from xling_utils.runs.compute import on_cpu
from xling_utils.runs.store import RunStore

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
SECONDS_BETWEEN_REPORTS = 0.5
MOST_THREADS = 1024

EMULATED = "this processor has no instructions for bfloat16, which this recipe asks for: training takes longer"

Emit = Callable[[dict[str, Any]], None]


class RankFailed(Exception):
    """One of the processes that train a run together has failed."""


def main(arguments: Sequence[str]) -> int:
    """Trains what the first request asks for, then what those from standard input do; 1 if the last one failed."""
    process, code = _Process(arguments[0]), 0
    while process.path:
        request = json.loads(Path(process.path).read_text(encoding="utf-8"))
        if "out" in request:  # one rank of several, started for this request alone
            return _serve(request, process)
        if "log" in request:  # none if it was written by hand
            process.write_to(request["log"])
        code = _serve(request, process)
        process.next_request()
    return code


def _serve(request: dict[str, Any], process: _Process) -> int:
    emit = process.emit
    try:
        if "out" in request:
            _train_rank(request, emit)
        else:
            _train_and_store(request, process)
    except UserError as error:
        emit({"event": "error", "message": str(error), "user": True})
        return 1
    except Exception as error:
        traceback.print_exc()
        emit({"event": "error", "message": named(error), "user": False})
        return 1
    return 0


def _train_and_store(request: dict[str, Any], process: _Process) -> None:
    emit = process.emit
    store = RunStore(request["store"])
    specs = {run["key"]: run_from_dict(run["spec"]) for run in (request, *request.get("also", ()))}
    with ExitStack() as locks:
        for key in sorted(specs):  # in one order: two stacks never wait for each other
            if not locks.enter_context(store.lock(key, wait=False)):
                emit({"event": "note", "message": f"another process trains run {key}; waiting for it"})
                locks.enter_context(store.lock(key))
        # Another process may have trained them while we waited.
        missing = {key: spec for key, spec in specs.items() if store.get(key, locked=True) is None}
        if missing:
            key, spec = next(iter(missing.items()))
            processes = request["processes"] if spec.kind == "bert" else 1  # the others do not divide
            threads, *_ = [_threads(store, each, request["threads"]) for each in missing]
            process.set_threads(threads)
            request = {**request, "key": key, "spec": to_dict(spec), "threads": threads, "processes": processes}
            if len(missing) > 1:
                _train_stack(request, store, missing, emit)
            else:
                with store.writing(key, spec) as draft:
                    draft.provenance.update(provenance.environment(threads, processes))
                    train = _train_ranks if processes > 1 else _train
                    extras = train({**request, "out": str(draft.path)}, emit)
                    draft.provenance.update(extras, finished=provenance.now())
    emit({"event": "stored"})


def _threads(store: RunStore, key: str, threads: int) -> int:
    """The number of threads to train with. A run that continues keeps the number it began with: another would change
    the order of its sums, so the last bits of its weights."""
    note = store.folder(".work", key) / "threads"
    begun = any(path != note for path in note.parent.iterdir())
    if begun and note.exists():
        text = note.read_text(errors="replace").strip() or str(threads)
        if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= MOST_THREADS):
            raise UserError(f"{note}: {text!r:.40} is no number of threads; remove {note.parent} to begin anew")
        threads = int(text)
    else:
        with enough_space(note):
            note.write_text(str(threads))
    return threads


def _train(request: dict[str, Any], emit: Emit) -> dict[str, Any]:
    from xling_utils.runs.pretraining import train

    data, spec = Path(request["data"]) if request["data"] else None, run_from_dict(request["spec"])
    workdir = RunStore(request["store"]).folder(".work", request["key"])
    if _emulated(spec):
        emit({"event": "note", "message": EMULATED})
    return train(spec, data, workdir, Path(request["out"]), _reporter(emit), request["key"])


def _train_stack(request: dict[str, Any], store: RunStore, specs: dict[str, RunSpec], emit: Emit) -> None:
    """Trains all of ``specs``, by key, together, and stores each as a run of its own."""
    from xling_utils.runs import stacked

    runs = {spec: (key, store.folder(".work", key)) for key, spec in specs.items()}
    made = provenance.environment(request["threads"], request["processes"])
    data = Path(request["data"]) if request["data"] else None
    with enough_space(store.root):  # checkpoints too are written in this loop
        for trainee in stacked.train(runs, data, _reporter(emit)):
            with store.writing(runs[trainee.spec][0], trainee.spec) as draft:
                draft.provenance.update(made, **trainee.write(draft.path), finished=provenance.now())


def _emulated(spec: RunSpec) -> bool:
    """Whether the run wants products for which nothing here has instructions."""
    if spec.training is None or not spec.training.precision:
        return False
    import torch  # after the number of threads, which it reads once

    from xling_utils.models import precision

    on_gpu = torch.cuda.is_available() and not on_cpu()
    return not precision.is_native(precision.of(spec.training), torch.device("cuda" if on_gpu else "cpu"))


def _train_ranks(request: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """Trains on ``processes`` ranks under torchrun; ``accelerate launch --cpu`` would start only one."""
    import torch

    environment = dict(os.environ)
    if not torch.cuda.is_available():
        environment["ACCELERATE_USE_CPU"] = "true"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc_per_node", str(request["processes"]), "-m", "xling_utils.runs.worker"]
    seen: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "request.json"
        path.write_text(json.dumps(request), encoding="utf-8")
        with subprocess.Popen([*command, str(path)], stdout=subprocess.PIPE, text=True, env=environment) as ranks:
            assert ranks.stdout is not None
            for line in ranks.stdout:
                event = json.loads(line)
                seen.setdefault(event["event"], event)
                if event["event"] == "progress":
                    emit(event)
    if error := seen.get("error"):
        raise (UserError if error["user"] else RankFailed)(error["message"])
    if ranks.returncode or "trained" not in seen:
        raise RankFailed(f"training on {request['processes']} processes ended with {ranks.returncode}")
    return seen["trained"]["extras"]


def _train_rank(request: dict[str, Any], emit: Emit) -> None:
    """One rank's part. All ranks train; the first alone reports, and train() writes on it alone."""
    from accelerate import PartialState

    state = PartialState(cpu=on_cpu())
    if state.num_processes != request["processes"]:
        raise RuntimeError(f"{request['processes']} processes wanted, {state.num_processes} running")
    if state.is_main_process:
        emit({"event": "trained", "extras": _train(request, emit)})
    else:
        _train(request, lambda event: None)


def _reporter(emit: Emit) -> Callable[[dict[str, Any]], None]:
    """Passes on reports of training (``done``, ``total``, ``tokens``, and the ``keys`` of a stack that has several),
    two a second at most, and the last."""
    last = 0.0

    def report(row: dict[str, Any]) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_REPORTS or row["done"] >= row["total"]:
            last = now
            told = {name: row[name] for name in ("done", "total", "tokens", "keys") if name in row}
            emit({"event": "progress", **told})

    return report


class _Process:
    """This process: the ``path`` of the request that it serves, its events and its number of threads."""

    def __init__(self, path: str) -> None:
        """Keeps standard output for events: whatever else is printed there goes to standard error."""
        self.path = path
        self._events = os.dup(1)
        os.dup2(2, 1)
        self._wanted: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._waiting = False
        self._threads = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def emit(self, event: dict[str, Any]) -> None:
        """Tells the parent."""
        os.write(self._events, (json.dumps(event) + "\n").encode())

    def write_to(self, log: str) -> None:
        """Whatever is printed from now on goes to the file ``log``."""
        with open(log, "ab") as file:
            os.dup2(file.fileno(), 2)
            os.dup2(file.fileno(), 1)

    def next_request(self) -> None:
        """Waits for one; there is no ``path`` if none comes."""
        self._waiting = True
        self.emit({"event": "ready"})
        self.path = self._wanted.get()

    def set_threads(self, threads: int) -> None:
        """Before any library is imported that reads their number: a process that has another one begins anew with the
        same request."""
        if self._threads not in (0, threads):
            os.dup2(self._events, 1)
            os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:-1], self.path])
        self._threads = threads
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))

    def _listen(self) -> None:
        """Takes requests until standard input closes, which ends a run under way, in the middle of a step."""
        with os.fdopen(0, "rb", buffering=0, closefd=False) as requests:
            for line in requests:
                self._waiting = False  # before the other thread takes it: standard input may close at once
                self._wanted.put(line.decode().rstrip("\n"))
        if not self._waiting:
            os._exit(1)
        self._wanted.put("")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
