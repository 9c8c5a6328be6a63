"""What chapters 2 to 4 share: grids of one factor against the base run, and what is measured on every run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd

from xling_utils.chapters.planning import Planned
from xling_utils.core.scales import FIRST_REPORTED_SEED, SNAPSHOTS, Scale
from xling_utils.core.specs import RunSpec
from xling_utils.measures.names import ENTITIES, LEARNED, WORDS

Conditions = Callable[[Scale, RunSpec, RunSpec], Iterator[tuple[dict[str, Any], RunSpec, bool]]]
"""(scale, base run, the same without snapshots to vary) -> (condition, run, whether it belongs to the headline)."""

NATURAL_LANGUAGES = ("fr", "de", "es", "ru", "hi", "zh")
"""Languages beside the base language that encoders read on real text; chapters 2 to 4 read none in the controlled
world."""


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str, conditions: Conditions) -> list[Planned]:
    """The runs of ``conditions`` in the base language: its headline, or with ``live="all"`` all of them, and on real
    text the headline in the other ``NATURAL_LANGUAGES``."""
    if live == "none":
        return []
    base_language, *others = languages
    if scale.source == "controlled" or live == "headline":
        others = []
    planned = []
    for language in (base_language, *(other for other in others if other in NATURAL_LANGUAGES)):
        for seed in range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + seeds):
            varied = scale.bert(("en", language), scale.sentences[-1], seed)
            base = base_run(scale, language, seed, first=language == base_language)
            for condition, spec, headline in conditions(scale, base, varied):
                if headline or (live == "all" and language == base_language):
                    planned.append(Planned(tuple(condition.items()), spec, headline))
    return planned


def base_run(scale: Scale, language: str, seed: int, first: bool) -> RunSpec:
    """The base run of chapter 1, so that it is trained once: with snapshots for the ``first`` language."""
    return scale.bert(("en", language), scale.sentences[-1], seed, SNAPSHOTS if first else 0)


def tasks(planned: Planned) -> tuple[str, ...]:
    """What every run is measured on: word retrieval, zero-shot inference, and named entities."""
    return (WORDS, *LEARNED)


def experiment(own: str, row: dict[str, Any]) -> str | None:
    """``own``, the experiment that a row's condition belongs to, or R33 for named entities. Parts of speech are
    chapter 1's alone."""
    if isinstance(row.get("part_of_speech"), str):
        return None
    return "R33" if row["task"] == ENTITIES else own


def partners(table: pd.DataFrame, base: str | None = None) -> dict[int, str]:
    """Seed -> the language that most of its runs read beside English; seeds may take languages in turn. Where a seed's
    runs read several alike, it is ``base``."""
    beside = table.loc[table["target"] != "en", ["seed", "target", "run"]]
    runs = beside.groupby(["seed", "target"], sort=False)["run"].nunique().reset_index()
    runs = runs.assign(base=runs["target"] == base).sort_values(["run", "base"], ascending=False, kind="stable")
    first = runs.drop_duplicates("seed").sort_values("seed")
    return dict(zip(first["seed"].astype(int), first["target"], strict=True))


def of_partners(table: pd.DataFrame, base: str) -> pd.DataFrame:
    """The rows of each seed in its language of :func:`partners`, which a column ``partner`` names."""
    found = table.assign(partner=table["seed"].map(partners(table, base)))
    return found[found["target"] == found["partner"]]


def targets(table: pd.DataFrame) -> list[str]:
    """The languages beside English that a table measures, in its order."""
    return [language for language in table["target"].unique() if language != "en"]
