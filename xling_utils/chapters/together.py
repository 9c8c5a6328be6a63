"""Trains and measures for several chapters at once, before the first of them is executed.

By itself a chapter trains what it lacks, and cores wait for its longest run. Together the longest runs of all chapters
begin first, and every core is busy until the last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from xling_utils.chapters.planning import MODULES, Planned
from xling_utils.chapters.sized import sized
from xling_utils.core.errors import UserError
from xling_utils.core.scales import FIRST_REPORTED_SEED, Scale
from xling_utils.runs import Compute

OWN = ("languages", "seeds", "live")


def ahead(plans: Mapping[str, Mapping[str, Any]], say: Callable[[str], None]) -> None:
    """Trains and measures what the chapters of ``plans``, chapter -> its parameters, ask for; one chapter alone does so
    by itself. What cannot be done is left to its chapter, which names it."""
    groups: dict[tuple[str, int | None, Compute], dict[str, Mapping[str, Any]]] = {}
    for chapter, parameters in plans.items():
        of_its_own = parameters.get("model") or parameters.get("aligned")
        if chapter in MODULES and not of_its_own and {"scale", *OWN} <= set(parameters):
            with suppress(UserError):
                asked = (parameters["scale"], parameters.get("sentences"), Compute.of(parameters))
                groups.setdefault(asked, {})[chapter] = parameters
    for (scale, sentences, compute), several in groups.items():
        if len(several) > 1:
            _together(sized(scale, sentences, compute.data), compute, several, say)


def _together(
    scale: Scale, compute: Compute, several: Mapping[str, Mapping[str, Any]], say: Callable[[str], None]
) -> None:
    from xling_utils.chapters.rows import planned, prepare
    from xling_utils.measures import MeasuresFailed
    from xling_utils.runs import RunsFailed

    grids: dict[str, list[Planned]] = {}
    try:
        for chapter, parameters in several.items():
            languages, seeds, live = (parameters[name] for name in OWN)
            first = parameters.get("first_seed", FIRST_REPORTED_SEED)
            grids[chapter] = planned(chapter, scale, languages, seeds, live, compute.data, first)
        if any(grids.values()):
            say(f"training and measuring what {len(several)} chapters lack")
            prepare(grids, scale, compute)
    except (UserError, RunsFailed, MeasuresFailed):
        say("not all of it could be done; the chapters concerned will say why")
