"""A chapter's runs, trained where missing and measured where not yet, as one tidy table."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xling_utils.chapters import planning
from xling_utils.chapters.parameters import check_parameters
from xling_utils.chapters.planning import Planned
from xling_utils.chapters.sized import sized
from xling_utils.core.errors import UserError
from xling_utils.core.scales import FIRST_REPORTED_SEED, Scale
from xling_utils.corpora import parallel
from xling_utils.measures import ROW, ensure_rows, kept_rows
from xling_utils.measures.names import ON
from xling_utils.runs import Compute
from xling_utils.runs.compute import HERE

LONG = 24
"""Core-hours that are told of before they begin."""
ON_ALIGNED = "05_language_means"
"""The chapter that measures stored runs on translations of one's own, too."""


def columns(chapter: str) -> tuple[str, ...]:
    """The tidy columns of a chapter: those that it declares, one a varied factor, among those that all chapters
    have. ``run`` is the key of the run in the store."""
    varied = planning.declared(chapter).columns
    return ("experiment", "scale", *varied, "seed", *ROW)


def table(
    chapter: str,
    scale: str,
    languages: Sequence[str],
    seeds: int,
    live: str,
    compute: Compute = HERE,
    *,
    first_seed: int = FIRST_REPORTED_SEED,
    aligned: str | None = None,
    sentences: int | None = None,
) -> pd.DataFrame:
    """The chapter's runs, trained where missing, measured where not yet, as one tidy table, of so many ``seeds`` from
    ``first_seed`` on; ``aligned`` names text of one's own to measure on, and ``sentences`` says how many are read of a
    language, where that is not as the scale has it (:func:`sized`).

    Raises :class:`UserError` on parameters no chapter can take and on mistakes in the data. Where one run cannot be
    trained, or measured, the others are first (see :func:`ensure_rows`).
    """
    given = {"scale": scale, "languages": languages, "seeds": seeds, "live": live, "sentences": sentences}
    given |= {"first_seed": first_seed, "aligned": aligned, "data": compute.data and str(compute.data)}
    check_parameters(given)
    if aligned and chapter != ON_ALIGNED:
        raise UserError(
            f"aligned {aligned!r}: of the book's own runs only {ON_ALIGNED} is measured on it; name a model"
        )
    if aligned:  # which is read last, after all training
        parallel.aligned(aligned, ("en", *languages), data=compute.data)
    sizes = sized(scale, sentences, compute.data)
    grid = planned(chapter, sizes, languages, seeds, live, compute.data, first_seed)
    kept = prepare({chapter: grid}, sizes, compute, aligned)
    frames = [
        labelled(chapter, dict(p.condition), p.spec.seed, kept_rows.load(path), scale) for (p, _), path in kept.items()
    ]
    return pd.concat(frames, ignore_index=True) if frames else empty(chapter)


def planned(
    chapter: str,
    scale: Scale,
    languages: Sequence[str],
    seeds: int,
    live: str,
    data: Path | None,
    first_seed: int = FIRST_REPORTED_SEED,
) -> list[Planned]:
    """The runs of a chapter, of so many ``seeds`` from ``first_seed`` on."""
    grid = planning.declared(chapter).grid(scale, languages, seeds, live)
    return planning.possible([each.moved(first_seed - FIRST_REPORTED_SEED) for each in grid], data)


def prepare(
    grids: Mapping[str, Sequence[Planned]], scale: Scale, compute: Compute, aligned: str | None = None
) -> dict[tuple[Planned, str], Path]:
    """Trains and measures the runs of ``grids``, chapter -> its runs, where that is not done: of several chapters all
    together, so that no core waits for the last run of each. Returns where the rows of a run and a task are kept.
    Raises as :func:`table` does."""
    where = f"{ON}{aligned}" if aligned else ""
    specs = {spec for grid in grids.values() for planned in grid for spec in planned.specs}
    if (hours := planning.core_hours(specs)) > LONG:
        print(f"xling: {len(specs)} runs, some {hours:,.0f} core-hours to train, less what is stored", file=sys.stderr)
    measured = {chapter: planning.measurable(chapter, grid, compute.data, aligned) for chapter, grid in grids.items()}
    wanted = [(p, task + where) for runs_of in measured.values() for p, tasks in runs_of.items() for task in tasks]
    kept = ensure_rows([(p.specs, task) for p, task in wanted], scale, compute)
    return {(p, task): kept[p.specs, task] for p, task in wanted}


def labelled(chapter: str, condition: Mapping[str, Any], seed: int, rows: pd.DataFrame, scale: str) -> pd.DataFrame:
    """A run's rows as those of a chapter: its experiments, its ``condition``, and only what it shows."""
    declared, condition = planning.declared(chapter), dict(condition)
    given = dict.fromkeys(set(declared.columns) - set(rows), None) | condition
    rows = rows.assign(scale=scale, seed=seed, **given)
    experiments = [declared.experiment(condition, row) for row in rows.to_dict("records")]
    shown = pd.notna(pd.Series(experiments, dtype=object)).to_numpy()
    return rows.assign(experiment=experiments).loc[shown, list(columns(chapter))]


def empty(chapter: str) -> pd.DataFrame:
    """A chapter's table of no rows."""
    return pd.DataFrame(columns=list(columns(chapter)))
