"""Appendix: does a distant language transfer worse? A close and distant partners of English, in the same seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xling_utils.chapters.architecture.plan import BOTH, FACTORS
from xling_utils.chapters.overlap import plan as overlap
from xling_utils.chapters.planning import Chapter, Planned
from xling_utils.chapters.shared import contrasts
from xling_utils.core.scales import FIRST_REPORTED_SEED, Scale
from xling_utils.core.specs import RunSpec

CHAPTER = "10_distance"
COLUMNS = ("condition",)
DEFAULT, FAKE, SWITCHED, SEPARATE = overlap.DEFAULT, overlap.FAKE, overlap.EXTRA, f"own {BOTH}"
DISTANT = {FAKE: "hi", SWITCHED: "zh", SEPARATE: "ru"}
"""Condition -> the partner that a paper holds against a close one there; base runs are asked of all of them."""
EXPERIMENTS = {DEFAULT: "R20", FAKE: "R06", SWITCHED: "R10", SEPARATE: "R19"}
"""Condition -> the experiment that it repeats; the base run in several languages is R20's."""


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str) -> list[Planned]:
    """With ``live="all"`` every condition in the first of ``languages``, the close one, and in its distant one: that of
    ``DISTANT``, or the second of ``languages`` where it is not among them. What is asked is paired by seed, so less is
    not trained."""
    if live != "all":
        return []
    close, *others = languages
    distant = {condition: [name] if name in others else others[:1] for condition, name in DISTANT.items()}
    distant[DEFAULT] = list(dict.fromkeys(name for names in distant.values() for name in names))
    return [
        Planned((("condition", condition),), spec, headline=False)
        for language in dict.fromkeys((close, *distant[DEFAULT]))
        for seed in range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + seeds)
        for condition, spec in _conditions(scale, scale.bert(("en", language), scale.sentences[-1], seed))
        if language in (close, *distant[condition])
    ]


def _conditions(scale: Scale, base: RunSpec) -> Iterator[tuple[str, RunSpec]]:
    """Those of chapters 3 and 4 that the papers compare between languages."""
    read = overlap.runs(scale, base)
    yield from ((name, read[name]) for name in (DEFAULT, FAKE, SWITCHED))
    yield SEPARATE, FACTORS["separate"].levels(base)[BOTH]


tasks = contrasts.tasks


def experiment(condition: dict[str, Any], row: dict[str, Any]) -> str | None:
    """The experiment that a row belongs to; inference across languages is chapter 3's alone."""
    if row["metric"] == "accuracy_mixed":
        return None
    return contrasts.experiment(EXPERIMENTS[condition["condition"]], row)


DECLARED = Chapter(CHAPTER, COLUMNS, grid, tasks, experiment)
