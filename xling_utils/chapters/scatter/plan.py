"""Appendix: where scatter comes from. Text, first weights and order of a run, each with a seed of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from xling_utils.chapters.data_size.plan import headline_layer
from xling_utils.chapters.planning import SEEDS, Chapter, Planned
from xling_utils.core.scales import FIRST_REPORTED_SEED, Scale
from xling_utils.core.specs import Change
from xling_utils.measures.names import WORDS

CHAPTER = "09_scatter"
COLUMNS = ("condition", *SEEDS)
"""Seeds of the text and of the order of batches and masks; that of the weights is the run's."""
BASE, FAKE = "base run", "Fake-English"
CONDITIONS = {BASE: (), FAKE: (Change("fake", ("en",)),)}
"""Condition -> what is changed in the text."""
DIFFERENCE = f"{BASE} \N{MINUS SIGN} {FAKE}"
SOURCES = {"text": "text", "weights": "seed", "order": "order"}
"""What has a seed of its own -> the column that names it."""
REST = "rest"
"""What no single one of them explains."""


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str) -> list[Planned]:
    """With ``live="all"`` a Latin square: each text with each of the first weights once, and each order once with
    either, so that ``seeds`` squared runs a condition tell the three apart. No part of it tells anything by itself, so
    less is not trained."""
    if live != "all":
        return []
    drawn = range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + seeds)
    planned = []
    for condition, changes in CONDITIONS.items():
        for i, text in enumerate(drawn):
            for j, weights in enumerate(drawn):
                order = drawn[(i + j) % seeds]
                run = scale.bert(("en", languages[0]), scale.sentences[-1], weights)
                assert run.training is not None
                training = replace(run.training, order_seed=order if order != weights else 0)
                spec = replace(run, corpus=replace(run.corpus, seed=text, changes=changes), training=training)
                named = {"condition": condition, "text": text, "order": order}
                planned.append(Planned(tuple(named.items()), spec, headline=False))
    return planned


def tasks(planned: Planned) -> tuple[str, ...]:
    """Word retrieval alone."""
    return (WORDS,)


def experiment(condition: dict[str, Any], row: dict[str, Any]) -> str | None:
    """None of the papers': they have one run each. Parts of speech are chapter 1's alone."""
    return None if isinstance(row.get("part_of_speech"), str) else "scatter"


DECLARED = Chapter(CHAPTER, COLUMNS, grid, tasks, experiment)


def values(table: pd.DataFrame, scale: Scale) -> pd.DataFrame:
    """One row a run, and one for each pair of runs that differ in their letters alone: columns ``condition``, those of
    :data:`SOURCES` and ``value``, centred retrieval at the layer that chapters read single numbers at."""
    rows = table[(table["metric"] == "mrr_centred") & (table["layer"] == headline_layer(scale))]
    of = list(SOURCES.values())
    wide = rows.pivot_table("value", of, "condition", sort=False)
    if wide.empty:
        return pd.DataFrame(columns=["condition", *of, "value"])
    wide = wide.assign(**{DIFFERENCE: wide[BASE] - wide[FAKE]})
    return wide.melt(ignore_index=False, var_name="condition").reset_index()


@dataclass(frozen=True)
class Scatter:
    """Where the variance of a condition comes from: ``parts`` of the source, and ``p`` that it has none; the
    ``mean`` over all runs, and the number of levels of each source."""

    mean: float
    parts: dict[str, float]
    p: dict[str, float]
    levels: int

    @property
    def whole(self) -> float:
        """The variance of a single run whose seeds are all drawn anew."""
        return sum(self.parts.values())


def scatter(found: pd.DataFrame) -> Scatter | None:
    """Components of variance of a Latin square (Fisher 1925, sec. 49): the mean square of a source, less that of the
    rest, over the number of levels; none below zero. The test is Fisher's.

    ``found`` are the rows of one condition of :func:`values`; none where they are no square of three levels or more."""
    from scipy.special import fdtrc

    levels = found[SOURCES["text"]].nunique()
    if levels < 3 or len(found) != levels**2:
        return None
    mean = float(found["value"].mean())
    freedom, left = levels - 1, (levels - 1) * (levels - 2)
    between = {
        source: levels * float(((found.groupby(column)["value"].mean() - mean) ** 2).sum())
        for source, column in SOURCES.items()
    }
    rest = max(float(((found["value"] - mean) ** 2).sum()) - sum(between.values()), 0.0) / left
    parts = {source: max((square / freedom - rest) / levels, 0.0) for source, square in between.items()}
    p = {source: float(fdtrc(freedom, left, square / freedom / rest)) for source, square in between.items()}
    return Scatter(mean, parts | {REST: rest}, p, levels)
