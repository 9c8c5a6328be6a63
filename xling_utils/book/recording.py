"""Rows of chapters without their notebooks, for machines that only train and measure.

Nothing of Jupyter and no chart is imported here: see the group ``measuring`` in pyproject.toml for what is.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_utils.book.notebooks import ChapterFailure, on_text
from xling_utils.book.parameters import checked
from xling_utils.chapters import ALL_SEEDS, MODULES, ahead
from xling_utils.core.errors import UserError, named
from xling_utils.core.scales import FIRST_REPORTED_SEED
from xling_utils.core.specs import LANGUAGES

EVERY_RUN: dict[str, Any] = {
    "scale": "controlled",
    "languages": list(LANGUAGES[1:]),
    "seeds": ALL_SEEDS,
    "first_seed": FIRST_REPORTED_SEED,
    "live": "all",
    "data": None,
    "engine": "local",
    "scheduler": None,
    "jobs": None,
    "sentences": None,
    "processes": 1,
}
"""The parameters and their defaults: every run that ``xling plan`` lists, each trained in one process."""


def record(
    root: Path,
    names: Sequence[str],
    given: Mapping[str, Any],
    typed: Mapping[str, str],
    say: Callable[[str], None],
) -> list[ChapterFailure]:
    """Trains and measures the runs of the chapters ``names`` (all if empty) and writes their rows to
    ``_build/records`` of the book at ``root``.

    Arguments and failures as for :func:`notebooks.execute`; the parameters are those of :data:`EVERY_RUN`. Rows are
    written of whole chapters only; runs and measures of a chapter that failed are kept for the next time. Where a
    ``first_seed`` is asked for they are added to those of other seeds that are there: a campaign may take its seeds one
    by one, in any order, wherever there is a machine.
    """
    for name in names:
        if name not in MODULES:
            raise UserError(f"unknown chapter {name!r}; known: {', '.join(MODULES)}")
    plans = {name: EVERY_RUN | checked(name, EVERY_RUN, given, typed) for name in names or MODULES}
    if any(parameters["live"] == "none" for parameters in plans.values()):
        raise UserError("live none leaves nothing to measure without notebooks; give headline or all")
    ahead(plans, say)
    failures = []
    for name, parameters in plans.items():
        say(f"{name}: measuring{on_text(parameters)}")
        begun = time.monotonic()
        failure = _record(root, name, parameters, add="first_seed" in (*given, *typed))
        if failure:
            failures.append(failure)
        say(f"{name}: {'failed' if failure else 'done'} after {time.monotonic() - begun:.0f} s")
    return failures


def _record(root: Path, name: str, parameters: Mapping[str, Any], add: bool) -> ChapterFailure | None:
    from xling_utils.chapters import records, table
    from xling_utils.runs import Compute

    log = root / "_build/logs" / f"{name}.records.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    asked = {key: parameters[key] for key in ("scale", "languages", "seeds", "live", "first_seed", "sentences")}
    try:
        rows = table(name, **asked, compute=Compute.of(parameters))
        if rows.empty:
            raise UserError(f"live {parameters['live']} leaves nothing to measure; give all, and text that it reads")
        place = parameters["scale"] + records.OWN * bool(parameters["sentences"])
        records.write(name, place, rows, add=add)
    except Exception as error:
        log.write_text(traceback.format_exc(), encoding="utf-8")
        return ChapterFailure(name, named(error), log, isinstance(error, UserError))
    log.unlink(missing_ok=True)
    return None
