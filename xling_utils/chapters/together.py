"""Trains and measures for several chapters at once, before the first of them is executed.

By itself a chapter trains what it lacks, and cores wait for its longest run. Together the longest runs of all chapters
begin first, and every core is busy until the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xling_utils.chapters.planning import MODULES, Planned
from xling_utils.core.errors import UserError

SHARED = ("scale", "data", "engine", "scheduler", "jobs", "processes")
"""Parameters that chapters must agree in, to be trained together."""
OWN = ("languages", "seeds", "live")


def ahead(plans: Mapping[str, Mapping[str, Any]], say: Callable[[str], None]) -> None:
    """Trains and measures what the chapters of ``plans``, chapter -> its parameters, ask for; one chapter alone does so
    by itself. What cannot be done is left to its chapter, which names it."""
    groups: dict[tuple[Any, ...], dict[str, Mapping[str, Any]]] = {}
    for chapter, given in plans.items():
        parameters = {"processes": 1} | dict(given)  # a notebook has no such parameter
        if (
            chapter in MODULES
            and not (parameters.get("model") or parameters.get("aligned"))
            and {*SHARED, *OWN} <= set(parameters)
        ):
            groups.setdefault(tuple(parameters[name] for name in SHARED), {})[chapter] = parameters
    for shared, several in groups.items():
        if len(several) > 1:
            _together(dict(zip(SHARED, shared, strict=True)), several, say)


def _together(shared: Mapping[str, Any], several: Mapping[str, Mapping[str, Any]], say: Callable[[str], None]) -> None:
    from xling_utils.chapters.rows import planned, prepare
    from xling_utils.measures import MeasuresFailed
    from xling_utils.runs import Compute, RunsFailed

    grids: dict[str, list[Planned]] = {}
    try:
        compute = Compute.of(shared)
        for chapter, parameters in several.items():
            languages, seeds, live = (parameters[name] for name in OWN)
            grids[chapter] = planned(chapter, shared["scale"], languages, seeds, live, compute.data)
        if any(grids.values()):
            say(f"training and measuring what {len(several)} chapters lack")
            prepare(grids, shared["scale"], compute)
    except (UserError, RunsFailed, MeasuresFailed):
        say("not all of it could be done; the chapters concerned will say why")
