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
DISTANT = ("ru", "zh")
"""Partners that C holds against French."""
DEFAULT, FAKE, SWITCHED, SEPARATE = overlap.DEFAULT, overlap.FAKE, overlap.EXTRA, f"own {BOTH}"
EXPERIMENTS = {DEFAULT: "R20", FAKE: "R06", SWITCHED: "R10", SEPARATE: "R19"}
"""Condition -> the experiment that it repeats; the base run in several languages is R20's."""


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str) -> list[Planned]:
    """With ``live="all"`` every condition in the first of ``languages``, the close one, and in those of ``DISTANT``
    that are named, or else in the next two. What is asked is paired by seed, so less is not trained."""
    if live != "all":
        return []
    return [
        Planned((("condition", condition),), spec, headline=False)
        for language in compared(languages)
        for seed in range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + seeds)
        for condition, spec in _conditions(scale, scale.bert(("en", language), scale.sentences[-1], seed))
    ]


def compared(languages: Sequence[str]) -> tuple[str, ...]:
    """The close language and the distant ones."""
    close, *others = languages
    return (close, *([language for language in others if language in DISTANT] or others[:2]))


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
