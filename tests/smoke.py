"""Runs of the smallest scale, trained and measured in the process of the tests: a child imports for seconds first.

Tests of what child processes do (``test_execution.py``, ``test_recording.py``, ``test_interrupts.py``) start real ones.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from xling_utils import chapters
from xling_utils.core.specs import RunSpec, to_dict
from xling_utils.core.writing import held
from xling_utils.measures import kept_rows, pool
from xling_utils.runs import ensuring, pretraining, worker
from xling_utils.runs.compute import Compute
from xling_utils.runs.processes import Task
from xling_utils.runs.store import Run, RunStore

_alone = threading.Lock()
"""Random numbers are drawn for a whole process: it trains one run at a time."""


class _Trainer:
    """In the place of ``processes.Trainer``: the work of the child, which reports here and has one thread already."""

    def __init__(self, *_: object) -> None: ...

    def train(self, tasks: Sequence[Task], report: Callable[[dict[str, Any]], None]) -> None:
        import torch

        (task,) = tasks
        request = {"key": task.key, "spec": to_dict(task.spec), "store": task.store.root, "threads": 1, "processes": 1}
        process = SimpleNamespace(emit=report, set_threads=lambda threads: None)
        with _alone, pytest.MonkeyPatch.context() as patch:
            for name in worker.THREAD_VARIABLES:  # which a child sets for itself
                patch.setenv(name, "1")
            torch.set_num_threads(1)
            worker._train_and_store({**request, "data": task.data and str(task.data)}, process)  # type: ignore[arg-type]

    def close(self) -> None: ...


class _Pool:
    """In the place of the processes that measure; what another process of these tests has measured is there."""

    def __init__(self, *_: object, **options: object) -> None: ...

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None: ...

    def submit(self, measure: Callable[..., None], *arguments: Any) -> Future[None]:
        done: Future[None] = Future()
        path: Path = arguments[-1]
        try:
            with held(path.with_suffix(".lock")):
                done.set_result(None if kept_rows.is_kept(path) else measure(*arguments))
        except Exception as error:
            done.set_exception(error)
        return done


@contextmanager
def in_this_process() -> Iterator[None]:
    """Runs that are missing are trained here, and rows measured."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ensuring, "Trainer", _Trainer)
        patch.setattr(pretraining, "TRACE_ROWS", 2)  # what is held out takes longer than a step
        patch.setattr(pool, "_started", lambda modules: multiprocessing.get_context("spawn"))
        patch.setattr(pool, "ProcessPoolExecutor", _Pool)
        yield


def trained(store: RunStore, *specs: RunSpec, data: Path | None = None) -> dict[RunSpec, Run]:
    """The runs, trained where the store has them not."""
    with in_this_process():
        return ensuring.ensure(specs, store=store, progress=False, compute=Compute(data=data))


def table(store: RunStore, chapter: str, languages: Sequence[str], seeds: int, live: str) -> pd.DataFrame:
    """What ``chapters.table`` gives of ``store`` at the scale ``smoke``."""
    with in_this_process(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLING_STORE", str(store.root))
        return chapters.table(chapter, "smoke", languages, seeds, live)
