"""Measures runs once each, several at a time, and keeps the rows beside the store.

A run's rows depend on the run, on the chapter that asks and the condition that the run is to it, on the scale's
measuring sizes and on this package's sources; a table kept under that identity is read back, anything else is
measured again.
"""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path

import pandas as pd

from xling_utils import chapters
from xling_utils.execution import ensure, usable_cores
from xling_utils.progress import bar
from xling_utils.scales import Scale
from xling_utils.scales import scale as scale_of
from xling_utils.specs import canonical_json
from xling_utils.store import RunStore

ROOMS = (
    "reading.py", "word_retrieval.py", "retrieval.py", "representations.py", "weights.py", "encoder.py",
    "tokenization.py", "corpora/*.py", "transfer/*.py", "chapters/contrasts.py",
)  # fmt: skip
"""Sources that rows depend on, beside those of the chapter."""


def columns(chapter: str) -> tuple[str, ...]:
    """The tidy columns of a chapter: its module's ``COLUMNS``, one a varied factor, among those that all chapters
    have. ``run`` is the key of the run in the store."""
    varied = chapters.module(chapter).COLUMNS
    which = ("seed", "task", "metric", "source", "target", "layer", "step")
    return ("experiment", "scale", *varied, *which, "value", "low", "high", "n", "run")


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
) -> pd.DataFrame:
    """The chapter's runs, trained where missing, measured where not yet, as one tidy table.

    Raises :class:`UserError` on parameters no chapter can take and on mistakes in the data.
    """
    chapters.check_parameters(scale, languages, seeds, live)
    store = RunStore()
    planned = chapters.module(chapter).grid(scale_of(scale), languages, seeds, live)
    runs = ensure([p.spec for p in planned], store=store, data=data, engine=engine, scheduler=scheduler, jobs=jobs)
    keys = [runs[p.spec].key for p in planned]
    folder = store.folder(".measures")
    paths = [
        folder / f"{key}-{identity(chapter, p, scale_of(scale))}.csv" for p, key in zip(planned, keys, strict=True)
    ]
    missing = [one for one in zip(planned, keys, paths, strict=True) if not one[2].exists()]
    if missing:
        workers = min(jobs or usable_cores(), len(missing))
        with (
            ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_one_thread) as pool,
            bar(len(missing), "measuring") as progress,
        ):
            futures = [
                pool.submit(_measure, chapter, p, key, scale, data, store.root, path) for p, key, path in missing
            ]
            try:
                for future in as_completed(futures):
                    future.result()
                    progress.update()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    frames = [pd.read_csv(path, keep_default_na=False, na_values=[""]) for path in paths]
    return pd.concat(frames, ignore_index=True) if frames else empty(chapter)


def empty(chapter: str) -> pd.DataFrame:
    """A chapter's table of no rows."""
    return pd.DataFrame(columns=list(columns(chapter)))


def _measure(
    chapter: str, planned: chapters.Planned, key: str, scale: str, data: Path | None, root: Path, path: Path
) -> None:
    run = RunStore(root).get(key)
    assert run is not None
    rows = chapters.module(chapter).measure(planned, run, scale_of(scale), data)
    frame = pd.DataFrame([row | {"run": key} for row in rows])
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    frame.reindex(columns=list(columns(chapter))).to_csv(draft, index=False, float_format="%.6g")
    draft.rename(path)


def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


def identity(chapter: str, planned: chapters.Planned, scale: Scale) -> str:
    """Of what a measured table depends on beside its run: 12 hexadecimal digits."""
    text = chapter + canonical_json(planned.condition) + canonical_json(scale) + _sources(chapter)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cache
def _sources(chapter: str) -> str:
    own = chapters.module(chapter).__file__
    assert own is not None
    found = [path for room in ROOMS for path in sorted(Path(__file__).parent.glob(room))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in [Path(own), *found])).hexdigest()


def to_csv(frame: pd.DataFrame) -> str:
    """The table as CSV text, six significant digits."""
    buffer = io.StringIO()
    frame.to_csv(buffer, index=False, float_format="%.6g")
    return buffer.getvalue()
