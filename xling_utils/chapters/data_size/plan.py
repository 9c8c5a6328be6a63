"""Chapter 1: how much data it takes (R01, R02, R05, R20)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from xling_utils.chapters.planning import Chapter, Planned
from xling_utils.chapters.shared.contrasts import NATURAL_LANGUAGES
from xling_utils.core.scales import FIRST_REPORTED_SEED, SNAPSHOTS, Scale
from xling_utils.core.specs import EncoderSpec, StaticSpec
from xling_utils.measures import over_seeds
from xling_utils.measures.names import INFERENCE, RANDOM_LABELS, WORDS

CHAPTER = "01_data_size"
COLUMNS = ("model", "sentences", "part_of_speech")
"""The factors that vary."""
MODELS = ("GloVe", "word2vec", "BERT, equal epochs", "BERT", "untrained")
STATIC = {"GloVe": "glove", "word2vec": "word2vec"}
EQUAL_EPOCHS = "BERT, equal epochs"
"""BERT on the small corpus, with as many passes over it as the large corpus gets, hence fewer updates."""
ENCODERS = ("BERT", EQUAL_EPOCHS, "untrained")


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str) -> list[Planned]:
    """The runs of the chapter, ``seeds`` seeds each. The first of ``languages`` is the base pair: both data sizes, all
    models, and the headline. With ``live="all"`` come the other pairs: in the controlled world at the large size, on
    real text at both, there with encoders, the untrained one among them, only where ``NATURAL_LANGUAGES`` names the
    language. ``"none"`` asks for nothing.
    """
    if live == "none":
        return []
    base, *others = languages
    numbers = range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + seeds)
    plan = [p for seed in numbers for p in _pair(scale, base, seed, scale.sentences, headline=True)]
    if live == "headline":
        return plan
    controlled = scale.source == "controlled"
    sizes = scale.sentences[1:] if controlled else scale.sentences
    for seed in numbers:
        for language in others:
            pair = _pair(scale, language, seed, sizes, headline=False)
            deep = controlled or language in NATURAL_LANGUAGES
            plan += [p for p in pair if deep or isinstance(p.spec.model, StaticSpec)]
    return plan


def _pair(scale: Scale, language: str, seed: int, sizes: Sequence[int], *, headline: bool) -> Iterator[Planned]:
    pair = ("en", language)
    for size in sizes:
        for model, method in STATIC.items():
            yield Planned(_named(model, size), scale.static(method, pair, size, seed), headline)
        large = size == scale.sentences[-1]
        bert = scale.bert(pair, size, seed, SNAPSHOTS if headline and large else 0)
        yield Planned(_named("BERT", size), bert, headline)
        if not large:
            assert bert.training is not None
            steps = max(1, bert.training.steps * size // scale.sentences[-1])
            short = replace(bert, training=replace(bert.training, steps=steps))
            yield Planned(_named(EQUAL_EPOCHS, size), short, headline)
    if headline or scale.source != "controlled":
        yield Planned(_named("untrained", sizes[-1]), scale.untrained(pair, sizes[-1], seed), headline)


def _named(model: str, sentences: int) -> tuple[tuple[str, Any], ...]:
    return (("model", model), ("sentences", sentences))


def tasks(planned: Planned) -> tuple[str, ...]:
    """Word retrieval for all runs, zero-shot inference for those of the base pair and for every encoder of real text,
    and for the base run inference from random labels, a control."""
    spec = planned.spec
    control = (RANDOM_LABELS,) if spec.training and spec.training.snapshots else ()
    real = spec.corpus.source != "controlled" and isinstance(spec.model, EncoderSpec)
    return (WORDS, INFERENCE, *control) if planned.headline or real else (WORDS,)


def experiment(condition: dict[str, Any], row: dict[str, Any]) -> str | None:
    """R01, by part of speech R05, and inference R02, without premise and hypothesis in two languages, which chapter 3
    looks at."""
    if row["task"] == INFERENCE:
        return None if row["metric"] == "accuracy_mixed" else "R02"
    return "R05" if isinstance(row["part_of_speech"], str) else "R01"


DECLARED = Chapter(CHAPTER, COLUMNS, grid, tasks, experiment)


def headline_layer(scale: Scale) -> int:
    """The layer that single numbers are read at: the middle one, fixed on development seeds."""
    return scale.encoder.layers // 2


def headline_rows(table: pd.DataFrame, scale: Scale, metric: str = "mrr") -> pd.DataFrame:
    """Rows of R01 for single-number comparisons: trained to the end, the headline layer (0 for static)."""
    middle = headline_layer(scale)
    at = table["layer"].where(table["model"].isin(ENCODERS), middle)
    keep = (table["experiment"] == "R01") & (table["metric"] == metric) & table["step"].isna() & (at == middle)
    return table[keep]


def with_sources(live: pd.DataFrame, recorded: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The tables that have rows, with the name they are shown under."""
    return [(name, rows) for name, rows in (("this machine", live), ("recorded", recorded)) if len(rows)]


def summary(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Mean over seeds with Student's 95 % interval as charts show it (:meth:`Interval.drawn`): columns ``by``,
    ``value``, ``low``, ``high``, ``seeds``, of those that have a value. A column ``partner`` names the language that a
    seed took in turn."""
    found = []
    rows = rows if "partner" in rows else rows.assign(partner="")
    means = rows.groupby([*by, "seed", "partner"], sort=False)["value"].mean()
    values: dict[Any, list[tuple[float, str]]] = {}
    for (*key, _, partner), mean in zip(means.index, means.tolist(), strict=True):
        values.setdefault(tuple(key), []).append((mean, partner))
    for key, seeds in values.items():
        there = [seed for seed in seeds if not math.isnan(seed[0])] or seeds
        interval = over_seeds(*zip(*there, strict=True)).drawn()
        found.append(
            dict(zip(by, key, strict=True))
            | {"value": interval.value, "low": interval.low, "high": interval.high, "seeds": interval.n}
        )
    return pd.DataFrame(found, columns=[*by, "value", "low", "high", "seeds"])
