"""Measures runs once each, several at a time, and keeps the rows beside the store.

A run's rows depend on the run, on the scale's measuring sizes, on what of real data its languages are tested with and
on this package's sources, and on no chapter: a table kept under that identity is read back by every chapter that shows
the run, anything else is measured again.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import pandas as pd

from xling_utils import chapters, kept_rows
from xling_utils.chapters import Planned
from xling_utils.corpora import task_files
from xling_utils.errors import UserError
from xling_utils.execution import ensure, usable_cores
from xling_utils.progress import bar
from xling_utils.scales import FIRST_REPORTED_SEED, Scale
from xling_utils.scales import scale as scale_of
from xling_utils.specs import CorpusSpec, canonical_json, written_language
from xling_utils.store import Run, RunStore
from xling_utils.tasks import (
    CONTEXTUAL,
    DOUBLES,
    LANGUAGE_MEANS,
    LEARNED,
    RANDOM_LABELS,
    SHIFTED,
    SIMILARITY,
    TOKEN_TRANSLATION,
    WORD_ALIGNMENT,
    WORDS,
)

if TYPE_CHECKING:
    from xling_utils.subject import Subject

_CORPORA = tuple(f"corpora/{room}.py" for room in ("__init__", "directory", "kept", "labelled", "text", "transforms"))
_READING = ("tasks.py", "reading.py", "word_retrieval.py", "retrieval.py", "representations.py", "weights.py",
            "encoder.py", "tokenization.py", *_CORPORA)  # fmt: skip
_LENS = ("tasks.py", "lens.py", "representations.py", "subject.py", "corpora/parallel.py", *_CORPORA)
ROOMS = {
    SIMILARITY: (*_READING, "model_similarity.py", "lens.py", "similarity.py", "alignment.py",
                 "sentence_retrieval.py", "corpora/parallel.py"),
    WORD_ALIGNMENT: (*_READING, "word_alignment.py", "alignment.py"),
    LANGUAGE_MEANS: (*_LENS, "language_means.py", "language_identity.py", "sentence_retrieval.py", "retrieval.py",
                     "transfer/scores.py"),
    TOKEN_TRANSLATION: (*_LENS, "language_shift.py", "language_identity.py", "token_translation.py", "translation.py"),
    CONTEXTUAL: (*_READING, "contextual_alignment.py", "word_aligner.py", "alignment.py", "model_similarity.py",
                 "corpora/parallel.py", "corpora/treebanks.py", "transfer/*.py"),
    **dict.fromkeys(SHIFTED, (*_LENS, "moved_transfer.py", "transfer/*.py", "corpora/treebanks.py")),
    DOUBLES: (*_READING, "double.py", "reading.py", "lens.py", "sentence_retrieval.py"),
    WORDS: (*_READING, "corpora/treebanks.py"),
    **dict.fromkeys(LEARNED, (*_READING, "transfer/*.py")),
    RANDOM_LABELS: (*_READING, "transfer/*.py", "random_labels.py"),
}  # fmt: skip
"""Task -> the sources that its rows depend on."""


def _late(name: str, **given: Any) -> Callable[..., Iterator[dict[str, Any]]]:
    """``module:function`` of this package, imported when it is called: what measures takes seconds to import."""
    return lambda *asked: resolve_name(f"xling_utils.{name}")(*asked, **given)


BESIDE = {
    SIMILARITY: _late("model_similarity:of_runs"),
    WORD_ALIGNMENT: _late("word_alignment:rows"),
    CONTEXTUAL: _late("contextual_alignment:rows"),
}
"""Tasks that compare a run with one beside it."""
SUBJECTS: dict[str, Callable[[Subject, Scale], Iterator[dict[str, Any]]]] = {
    LANGUAGE_MEANS: _late("language_means:rows"),
    TOKEN_TRANSLATION: _late("language_shift:rows"),
    **{task: _late("moved_transfer:rows", task=task) for task in SHIFTED},
}
"""Tasks that take any masked language model."""
ALONE = {
    WORDS: _late("word_retrieval:rows"),
    DOUBLES: _late("double:rows"),
    RANDOM_LABELS: _late("random_labels:rows"),
    **{task: _late("transfer:rows", task=task) for task in LEARNED},
}
"""Tasks that take one run."""


class MeasuresFailed(RuntimeError):
    """Some runs could not be measured; the rows of the others are kept. One line names them."""


def columns(chapter: str) -> tuple[str, ...]:
    """The tidy columns of a chapter: its module's ``COLUMNS``, one a varied factor, among those that all chapters
    have. ``run`` is the key of the run in the store."""
    varied = chapters.module(chapter).COLUMNS
    return ("experiment", "scale", *varied, "seed", *ROW)


ROW = ("task", "metric", "source", "target", "layer", "step", "value", "low", "high", "n", "run")
"""The columns of a row that no chapter has labelled yet."""


def table(
    chapter: str,
    scale: str,
    languages: Sequence[str],
    seeds: int,
    live: str,
    *,
    data: Path | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    jobs: int | None = None,
    processes: int = 1,
    model: str | None = None,
    seed: int | None = None,
) -> pd.DataFrame:
    """The chapter's runs, trained where missing, measured where not yet, as one tidy table; or what the chapter shows
    of ``model`` (see :mod:`probes`). ``seed`` takes that one seed instead of the first ``seeds`` reported ones.

    Raises :class:`UserError` on parameters no chapter can take and on mistakes in the data. Where one
    run cannot be trained, or measured, the others are first (see :func:`ensure` and :class:`MeasuresFailed`).
    """
    chapters.check_parameters(scale, languages, seeds, live)
    if model:
        from xling_utils import probes

        return probes.table(chapter, model, scale, languages, data)
    grid = planned(chapter, scale, languages, seeds, live, data, seed)
    kept = prepare(
        {chapter: grid}, scale, data=data, engine=engine, scheduler=scheduler, jobs=jobs, processes=processes
    )
    frames = [
        labelled(chapter, dict(p.condition), p.spec.seed, kept_rows.load(path), scale) for (p, _), path in kept.items()
    ]
    return pd.concat(frames, ignore_index=True) if frames else empty(chapter)


def planned(
    chapter: str,
    scale: str,
    languages: Sequence[str],
    seeds: int,
    live: str,
    data: Path | None,
    seed: int | None = None,
) -> list[Planned]:
    """The runs of a chapter: of the first ``seeds`` reported seeds, or of the one ``seed``."""
    grid = chapters.module(chapter).grid(scale_of(scale), languages, seeds if seed is None else 1, live)
    moved = grid if seed is None else [each.moved(seed - FIRST_REPORTED_SEED) for each in grid]
    return chapters.possible(moved, data)


def prepare(
    grids: Mapping[str, Sequence[Planned]],
    scale: str,
    *,
    data: Path | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    jobs: int | None = None,
    processes: int = 1,
) -> dict[tuple[Planned, str], Path]:
    """Trains and measures the runs of ``grids``, chapter -> its runs, where that is not done: of several chapters all
    together, so that no core waits for the last run of each. Returns where the rows of a run and a task are kept.
    Raises as :func:`table` does."""
    store = RunStore()
    specs = [spec for grid in grids.values() for p in grid for spec in p.specs]
    runs = ensure(specs, store=store, data=data, engine=engine, scheduler=scheduler, jobs=jobs, processes=processes)
    folder, sizes = store.folder(".measures"), scale_of(scale)
    keys = {p: tuple(runs[spec].key for spec in p.specs) for grid in grids.values() for p in grid}
    measured = {chapter: chapters.measurable(chapter, grid, data) for chapter, grid in grids.items()}
    wanted = [(p, task) for each in measured.values() for p, tasks in each.items() for task in tasks]
    read = {p: real_languages(*(spec.corpus for spec in p.specs)) for p in keys}
    tests = {languages: tested_with(languages, data) for languages in set(read.values())}
    paths = {(p, task): folder / file_name(keys[p], task, sizes, tests[read[p]]) for p, task in wanted}
    missing = {(keys[p], task): path for (p, task), path in paths.items() if not kept_rows.is_kept(path)}
    if missing:
        workers = min(jobs or usable_cores(), len(missing))
        spawning = multiprocessing.get_context("spawn")
        wanted_until_closed, wanting = spawning.Pipe(duplex=False)
        with (
            ProcessPoolExecutor(workers, spawning, initializer=_begin, initargs=(wanted_until_closed,)) as pool,
            bar(len(missing), "measuring") as progress,
        ):
            try:
                futures = {
                    pool.submit(_measure, each, task, scale, data, store.root, path): f"{task} of {'-'.join(each)}"
                    for (each, task), path in sorted(missing.items(), key=_longest_first)
                }
                for _ in as_completed(futures):
                    progress.update()
            except BaseException:
                wanting.close()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        _raise_failures({what: error for future, what in futures.items() if (error := future.exception())})
    return paths


def _longest_first(measure: tuple[tuple[tuple[str, ...], str], Path]) -> int:
    """What reads all languages takes longest, and what learns anew at every layer."""
    return -int(measure[0][1] in (*SUBJECTS, CONTEXTUAL))


def _raise_failures(failures: Mapping[str, BaseException]) -> None:
    """Raises one line that gives every message once, with what it befell: :class:`UserError` if all are mistakes of
    the caller, else :class:`MeasuresFailed`, from the first that is none."""
    if not failures:
        return
    befell: dict[str, list[str]] = {}
    for what, error in failures.items():
        line = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
        befell.setdefault(line, []).append(what)
    found = " | ".join(f"{line} [{'; '.join(where)}]" for line, where in befell.items())
    own = [error for error in failures.values() if not isinstance(error, UserError)]
    raised = (MeasuresFailed if own else UserError)(f"{len(failures)} measures failed, the others are kept: {found}")
    raise raised from (own[0] if own else None)


def labelled(chapter: str, condition: Mapping[str, Any], seed: int, rows: pd.DataFrame, scale: str) -> pd.DataFrame:
    """A run's rows as those of a chapter: its experiments, its ``condition``, and only what it shows."""
    module, condition = chapters.module(chapter), dict(condition)
    given = dict.fromkeys(set(module.COLUMNS) - set(rows), None) | condition
    rows = rows.assign(scale=scale, seed=seed, **given)
    experiments = [module.experiment(condition, row) for row in rows.to_dict("records")]
    shown = pd.notna(pd.Series(experiments, dtype=object)).to_numpy()
    return rows.assign(experiment=experiments).loc[shown, list(columns(chapter))]


def empty(chapter: str) -> pd.DataFrame:
    """A chapter's table of no rows."""
    return pd.DataFrame(columns=list(columns(chapter)))


def _measure(keys: tuple[str, ...], task: str, scale: str, data: Path | None, root: Path, path: Path) -> None:
    runs = [run for key in keys if (run := RunStore(root).get(key))]
    assert len(runs) == len(keys)
    kept_rows.keep(path, rows(runs[0], task, scale_of(scale), data, *runs[1:]))


def rows(run: Run, task: str, scale: Scale, data: Path | None, beside: Run | None = None) -> pd.DataFrame:
    """What one run does at ``task``, a key of :data:`ROOMS`; tasks of :data:`BESIDE` take a run ``beside`` it. Tidy
    rows that no chapter has labelled yet. Raises :class:`UserError` on mistakes in the data."""
    if task in BESIDE:
        found = BESIDE[task](run, beside, scale, data)
    elif task in SUBJECTS:
        from xling_utils.subject import Subject

        found = SUBJECTS[task](Subject.of_run(run, data), scale)
    else:
        found = ALONE[task](run, scale, data)
    frame = pd.DataFrame(list(found)).assign(run=run.key)
    if beside is not None:
        frame = frame.assign(beside=beside.key)
    return frame.reindex(columns=list(dict.fromkeys([*ROW, *frame])))


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


def file_name(keys: tuple[str, ...], task: str, scale: Scale, tests: str) -> str:
    """Under which the rows of ``task`` on the runs ``keys`` are kept; ``tests`` is what :func:`tested_with` says."""
    return "-".join((*keys, task.replace(" ", "-"), identity(scale, task, tests))) + ".csv"


def identity(scale: Scale, task: str, tests: str) -> str:
    """Of what measured rows depend on beside their runs: 12 hexadecimal digits."""
    return hashlib.sha256((canonical_json(scale) + _sources(task) + tests).encode()).hexdigest()[:12]


@cache
def _sources(task: str) -> str:
    found = [path for room in ROOMS[task] for path in sorted(Path(__file__).parent.glob(room))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in found)).hexdigest()
