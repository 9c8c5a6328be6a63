"""From specs to runs: what the store holds is read, the rest is trained in child processes.

Training never happens in the calling process, so a notebook's kernel stays light, can be interrupted, and
loses nothing: a child keeps checkpoints, and the next :func:`ensure` continues from them.
"""

from __future__ import annotations

import os
import queue
import re
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Any

from xling_utils.core.errors import UserError, each_once
from xling_utils.core.progress import Progress
from xling_utils.core.specs import EncoderSpec, RunSpec, StaticSpec, TrainingSpec
from xling_utils.models.tokenization import id_count
from xling_utils.runs.compute import HERE, Compute, on_cpu, usable_cores
from xling_utils.runs.keys import keys_of
from xling_utils.runs.processes import Children, Failure, Task, Trainer
from xling_utils.runs.store import Run, RunStore

WORK_OF_A_START = 2.5e10
"""What a core computes while a training process begins, in units of :func:`_work`: for less none is begun beside
another."""
STACKED_WORK = 1e10
"""Of all encoders of a stack in one step, in units of :func:`_work`: about what a GPU computes while it is told what
to do. Larger encoders are trained one by one."""
STACKED = 8
"""Runs of a stack at most. With so many a run's share of the steps takes less than its text, which one core reads."""


class RunsFailed(RuntimeError):
    """Some runs could not be trained; the others are stored. One line names them and their logs."""


def ensure(
    specs: Sequence[RunSpec],
    *,
    store: RunStore,
    compute: Compute = HERE,
    progress: bool = True,
    worker: Sequence[str] | None = None,
) -> dict[RunSpec, Run]:
    """Every run of ``specs``, from the store where it has them, else trained now and stored.

    ``compute`` says where they are trained, how many at a time, and of which text. On a GPU small encoders of one shape
    are trained as one stack, which counts as one job; jobs take several GPUs in turn. ``progress`` shows one bar on
    standard error. ``worker`` is the command that trains a request (default: this package's own).

    An interrupt ends the children and keeps their checkpoints. When runs fail the others are finished first;
    then :class:`UserError` is raised if all failures are mistakes of the caller, else :class:`RunsFailed`.
    """
    data, scheduler, processes = compute.data, compute.scheduler, compute.processes
    keys = keys_of(specs, data)
    missing = [spec for spec, key in keys.items() if store.get(key) is None]
    if missing:
        devices = [] if compute.on_dask or processes > 1 else _devices()
        stacks = sorted(_stacks(missing) if devices else [[spec] for spec in missing], key=_together, reverse=True)
        jobs = min(compute.jobs or max(1, usable_cores() // processes), len(stacks))
        long = min(jobs, max(1, sum(_together(stack) > 0 for stack in stacks)))  # an untrained run is over at once
        # A Dask worker of a cluster says with its own number of threads how many tasks share its machine.
        threads = 1 if scheduler else max(1, usable_cores() // (long * processes))
        groups = [
            [Task(spec, keys[spec], store, data, threads, processes, keys[stack[0]]) for spec in stack]
            for stack in stacks
        ]
        tasks = [task for group in groups for task in group]
        with Progress({t.key: _steps(t.spec) for t in tasks}, len(keys), shown=progress) as bar:
            if compute.on_dask:
                from xling_utils.runs.on_dask import train_on_dask

                most = compute.jobs or len(tasks) if scheduler else jobs
                failures = train_on_dask(tasks, scheduler, most, worker, bar)
            else:
                worth = 1 + int(sum(map(_together, stacks)) / WORK_OF_A_START)
                failures = _train_here(groups, jobs if compute.jobs else min(jobs, worth), devices, worker, bar)
        _raise_failures(tasks, failures)
    return {spec: _stored(store, key) for spec, key in keys.items()}


def _train_here(
    groups: Sequence[Sequence[Task]], jobs: int, devices: Sequence[str], worker: Sequence[str] | None, bar: Progress
) -> dict[str, Failure]:
    """Trains the groups of tasks, ``jobs`` at a time, while this thread draws the bar and takes the interrupt."""
    children, failures = Children(), {}
    free: queue.SimpleQueue[Trainer] = queue.SimpleQueue()
    for slot in range(jobs):
        free.put(Trainer(children, worker, devices[slot % len(devices)] if len(devices) > 1 else None))
    events: queue.SimpleQueue[tuple[Sequence[Task], dict[str, Any] | Failure | None]] = queue.SimpleQueue()

    def trained(trainer: Trainer, group: Sequence[Task]) -> Failure | None:
        try:
            return trainer.train(group, lambda event: events.put((group, event)))
        except Exception as error:
            return Failure(str(error) or type(error).__name__, user=isinstance(error, UserError))

    def train(group: Sequence[Task]) -> None:
        trainer = free.get()
        ended = trained(trainer, group)
        if ended is not None and ended.user and len(group) > 1:
            # What one run of a stack reads is none of the others' business: each alone, those that are stored at once.
            for task in group:
                events.put(([task], trained(trainer, [task])))
        else:
            events.put((group, ended))
        free.put(trainer)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for group in groups:
                pool.submit(train, group)
            waiting = sum(map(len, groups))
            while waiting:
                group, event = events.get()
                for task in group:
                    if isinstance(event, dict):
                        if task.key in event.get("keys", [task.key]):
                            bar.event(task.key, event)
                        continue
                    waiting -= 1
                    if event is None:
                        bar.finished(task.key)
                    else:
                        failures[task.key] = event
        except BaseException:
            children.end()
            pool.shutdown(cancel_futures=True)
            raise
    for _ in range(jobs):
        free.get().close()
    return failures


def _raise_failures(tasks: Sequence[Task], failures: dict[str, Failure]) -> None:
    """Raises one line that gives every message once, with the runs it befell and their logs."""
    if not failures:
        return
    failed = [task for task in tasks if task.key in failures]
    found = each_once((failures[t.key].message, f"run {t.key} ({t.name}), log {t.log}") for t in failed)
    others = ", the others are stored" * (len(failures) < len(tasks))
    line = f"{len(failures)} of {len(tasks)} runs failed{others}: {found}"
    raise (UserError if all(f.user for f in failures.values()) else RunsFailed)(line)


def _stored(store: RunStore, key: str) -> Run:
    run = store.get(key)
    if run is None:
        raise RunsFailed(f"run {key} was trained, but {store.root} does not hold it")
    return run


def _steps(spec: RunSpec) -> int:
    if isinstance(spec.model, StaticSpec):
        return spec.model.epochs
    return spec.training.steps if spec.training else 0


def _work(spec: RunSpec) -> float:
    """A rough count of operations, to start the longest runs first."""
    if isinstance(spec.model, StaticSpec):
        pairs = 20.0 * spec.corpus.sentences * len(spec.corpus.languages) * spec.model.window
        return pairs * spec.model.width * spec.model.epochs
    if spec.training is None:
        return 0.0
    tokens = float(spec.training.steps) * spec.training.batch * spec.training.length
    return tokens * spec.model.layers * spec.model.width * (spec.model.width + spec.model.intermediate)


def _together(stack: Sequence[RunSpec]) -> float:
    return sum(map(_work, stack))


def _stacks(specs: Sequence[RunSpec]) -> list[list[RunSpec]]:
    """The runs that are trained together on a GPU: those of one model and one training, whatever they read, with
    vocabularies of about one size beside each other."""
    alike: dict[tuple[EncoderSpec, TrainingSpec], list[RunSpec]] = {}
    stacks = []
    for spec in specs:
        if not isinstance(spec.model, EncoderSpec) or spec.training is None or spec.model.separate:
            stacks.append([spec])
            continue
        alike.setdefault((spec.model, replace(spec.training, order_seed=0)), []).append(spec)
    for (_, training), several in alike.items():
        several.sort(key=_ids)
        most = max(1, min(STACKED, int(STACKED_WORK * training.steps / _work(several[0]))))
        many = -(-len(several) // -(-len(several) // most))
        stacks += [several[first : first + many] for first in range(0, len(several), many)]
    return stacks


def _ids(spec: RunSpec) -> int:
    return id_count(spec.tokenizer.size, spec.tokenizer, len(spec.corpus.languages))


def _devices() -> list[str]:
    """The GPUs that this process may use, by name; empty without any, and where PyTorch cannot use them."""
    torch = find_spec("torch")
    built = torch is not None and Path(torch.origin or "").with_name("lib").joinpath("libtorch_cuda.so").exists()
    if not built or on_cpu():
        return []
    if (visible := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        names = [name.strip() for name in visible.split(",")]
        return list(takewhile(lambda name: name and name[0] != "-", names))  # CUDA stops there too
    if shutil.which("nvidia-smi") is None:
        return []
    query = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"]
    said = subprocess.run(query, capture_output=True, text=True, check=False)
    # What is wrong with a driver is printed there too.
    return re.findall(r"^(?:GPU|MIG)-\S+$", said.stdout, re.MULTILINE) if said.returncode == 0 else []
