"""What chapters 2 to 4 share: grids of one factor against the base run, and what is measured on every run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from xling_utils import transfer, word_retrieval
from xling_utils.chapters import Planned
from xling_utils.scales import FIRST_REPORTED_SEED, Scale
from xling_utils.specs import RunSpec
from xling_utils.store import Run

Conditions = Callable[[Scale, str, int], Iterator[tuple[dict[str, Any], RunSpec, bool]]]
"""(scale, language beside English, seed) -> (condition, run, whether it belongs to the headline)."""

NATURAL_LANGUAGES = 2
"""Languages beside English that real text is measured in; the controlled world takes the base language alone."""


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str, conditions: Conditions) -> list[Planned]:
    """The runs of ``conditions``, base language first: its headline, or all of them with ``live="all"``."""
    if live == "none":
        return []
    count = 1 if scale.source == "controlled" or live == "headline" else NATURAL_LANGUAGES
    return [
        Planned(tuple(condition.items()), spec, headline)
        for language in languages[:count]
        for seed in range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + seeds)
        for condition, spec, headline in conditions(scale, language, seed)
        if headline or live == "all"
    ]


def measure(
    planned: Planned, run: Run, scale: Scale, data: Path | None, experiment: Callable[[dict[str, Any]], str]
) -> list[dict[str, Any]]:
    """Tidy rows of one run: word retrieval, zero-shot inference, and named entities (R33 wherever they appear)."""
    condition = dict(planned.condition)
    own = {"scale": scale.name, **condition, "seed": run.spec.seed}
    words = (row for row in word_retrieval.rows(run, scale, data) if "part_of_speech" not in row)
    rows = [*words, *transfer.rows(run, scale, data)]
    return [
        {"experiment": "R33" if row["task"] == transfer.ENTITIES else experiment(condition)} | own | row for row in rows
    ]
