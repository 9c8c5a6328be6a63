"""Measures runs once each, several at a time, and keeps the rows beside the store.

A run's rows depend on the run, on the scale's measuring sizes, on what of real data its languages are tested with, on
the aligned text that the task is named with and on the sources and tables that compute them, and on no chapter: a table
kept under that identity is read back by every chapter that shows the run, anything else is measured again.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Collection, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from pathlib import Path

from xling_utils.core import sources, startup
from xling_utils.core.errors import UserError, each_once, named
from xling_utils.core.identity import tables
from xling_utils.core.progress import bar
from xling_utils.core.scales import Scale
from xling_utils.core.specs import CorpusSpec, RunSpec, canonical_json, written_language
from xling_utils.corpora import directory, task_files
from xling_utils.measures import kept_rows, names
from xling_utils.measures.tasks import registry
from xling_utils.runs import Compute, RunStore, ensure

Measured = tuple[tuple[RunSpec, ...], str]
"""A run, or a run and the one beside it, and the name of a task."""


class MeasuresFailed(RuntimeError):
    """Some runs could not be measured; the rows of the others are kept. One line names them."""


def ensure_rows(wanted: Collection[Measured], scale: Scale, compute: Compute) -> dict[Measured, Path]:
    """Trains the runs of ``wanted`` and measures them at their tasks, where that is not done. Returns where the rows of
    each are kept (:func:`kept_rows.load`).

    Raises :class:`UserError` on mistakes in the data. Where one run cannot be trained, or measured, the others are
    first (see :func:`ensure` and :class:`MeasuresFailed`).
    """
    store, data = RunStore(), compute.data
    runs = ensure([spec for specs, _ in wanted for spec in specs], store=store, compute=compute)
    folder = store.folder(".measures")
    keys = {specs: tuple(runs[spec].key for spec in specs) for specs, _ in wanted}
    read = {specs: real_languages(*(spec.corpus for spec in specs)) for specs in keys}
    tests = {languages: tested_with(languages, data) for languages in set(read.values())}
    paths = {}
    for specs, task in wanted:
        own = aligned_with(task, [spec.corpus for spec in specs], data)
        paths[specs, task] = folder / file_name(keys[specs], task, scale, tests[read[specs]] + own)
    missing = {(keys[specs], task): path for (specs, task), path in paths.items() if not kept_rows.is_kept(path)}
    if missing:
        _measure_all(missing, scale, store.root, compute)
    return paths


def _measure_all(
    missing: Mapping[tuple[tuple[str, ...], str], Path], scale: Scale, root: Path, compute: Compute
) -> None:
    """Measures runs, by their keys, several at a time."""
    started = _started({module for _, task in missing for module in registry.task(task).imports})
    wanted_until_closed, wanting = started.Pipe(duplex=False)
    with (
        ProcessPoolExecutor(
            compute.at_a_time(len(missing)), started, initializer=_begin, initargs=(wanted_until_closed,)
        ) as pool,
        bar(len(missing), "measuring") as progress,
    ):
        try:
            futures = {
                pool.submit(_measure, each, task, scale, compute.data, root, path): f"{task} of {'-'.join(each)}"
                for (each, task), path in sorted(missing.items(), key=_longest_first)
            }
            for _ in as_completed(futures):
                progress.update()
        except BaseException:
            wanting.close()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    failures = {what: error for future, what in futures.items() if (error := future.exception())}
    _raise_failures(failures, others=len(failures) < len(futures))


def _started(modules: Collection[str]) -> BaseContext:
    """How processes that measure are started: where the system copies processes safely, as copies of one that has
    imported ``modules``, which takes seconds."""
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    forking = multiprocessing.get_context("forkserver")
    forking.set_forkserver_preload(sorted(modules))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # inherited: an interrupt is for the caller
    try:
        with startup.environment(startup.KEEP_MEMORY):
            forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return forking


def _longest_first(measure: tuple[tuple[tuple[str, ...], str], Path]) -> int:
    return -int(registry.task(measure[0][1]).long)


def _raise_failures(failures: Mapping[str, BaseException], others: bool) -> None:
    """Raises one line that gives every message once, with what it befell: :class:`UserError` if all are mistakes of
    the caller, else :class:`MeasuresFailed`, from the first that is none."""
    if not failures:
        return
    found = each_once((named(error), what) for what, error in failures.items())
    own = [error for error in failures.values() if not isinstance(error, UserError)]
    line = f"{len(failures)} measures failed{', the others are kept' * others}: {found}"
    raise (MeasuresFailed if own else UserError)(line) from (own[0] if own else None)


def _measure(keys: tuple[str, ...], task: str, scale: Scale, data: Path | None, root: Path, path: Path) -> None:
    runs = [run for key in keys if (run := RunStore(root).get(key))]
    assert len(runs) == len(keys)
    rows, read = registry.rows(task, runs, scale, data), [run.spec.corpus for run in runs]
    if data is not None:
        tests = tested_with(real_languages(*read), data) + aligned_with(task, read, data)
        if path.name != file_name(keys, task, scale, tests):
            raise directory.changed(data, f"what {task} reads")
    kept_rows.keep(path, rows)


def _begin(wanted_until_closed: Connection) -> None:
    """In a process that measures, with one thread. It ends, in the middle of a measure too, when the caller closes the
    other end of the pipe or is dead; an interrupt typed at the terminal is for the caller alone."""

    def end_when_closed() -> None:
        with suppress(EOFError):
            wanted_until_closed.recv()
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_when_closed, daemon=True).start()
    import torch

    torch.set_num_threads(1)


def real_languages(*corpora: CorpusSpec) -> frozenset[str]:
    """The languages of those of ``corpora`` that are real text."""
    return frozenset(written_language(x) for each in corpora if each.source == "directory" for x in each.languages)


def tested_with(languages: Collection[str], data: Path | None) -> str:
    """The identity of the files that real ``languages`` are tested with; empty for none, as the controlled world has
    no files."""
    return task_files.fingerprint(data, languages) if languages and data is not None else ""


def aligned_with(task: str, corpora: Collection[CorpusSpec], data: Path | None) -> str:
    """The identity of the aligned text in the languages of ``corpora`` that ``task`` is named with (``names.ON``);
    empty for none."""
    name = task.partition(names.ON)[2]
    if not name or data is None:
        return ""
    languages = {language for each in corpora for language in each.languages}
    files = (path for language in languages for path in directory.protected_files(data, language))
    return directory.fingerprint_of((path for path in files if path.parent == data / "parallel" / name), data)


def file_name(keys: tuple[str, ...], task: str, scale: Scale, tests: str) -> str:
    """Under which the rows of ``task`` on the runs ``keys`` are kept; ``tests`` is what :func:`tested_with` and
    :func:`aligned_with` say."""
    return "-".join((*keys, task.replace(" ", "-"), identity(scale, task, tests))) + ".csv"


def identity(scale: Scale, task: str, tests: str) -> str:
    """Of what measured rows depend on beside their runs: 12 hexadecimal digits."""
    code = sources.digest(f"xling_utils.measures.{registry.task(task).module}")
    made_of = canonical_json(scale) + code + tables() + tests
    return hashlib.sha256(made_of.encode()).hexdigest()[:12]
