"""Chapter 2: how wide a window it takes (R03, R04)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd

from xling_utils.chapters.planning import Chapter, Planned
from xling_utils.chapters.shared import contrasts
from xling_utils.core.scales import Scale
from xling_utils.core.specs import RunSpec, StaticSpec

CHAPTER = "02_window_size"
COLUMNS = ("model", "sentences", "window")
"""``window``: tokens of an input for BERT, on either side of a word for word2vec."""


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str) -> list[Planned]:
    """The base run of chapter 1 at both data sizes, the same on short inputs that keep every token of the text, and
    word2vec with wider and wider contexts at both sizes. The headline is the shortest input at the large size."""
    return contrasts.grid(scale, languages, seeds, live, _conditions)


def _conditions(scale: Scale, base: RunSpec, varied: RunSpec) -> Iterator[tuple[dict[str, Any], RunSpec, bool]]:
    pair, seed = base.corpus.languages, base.seed
    small, large = scale.sentences
    narrowest = scale.short_windows[-1]
    runs = {(large, scale.training.length): base, (small, scale.training.length): scale.bert(pair, small, seed)}
    for window in scale.short_windows:
        runs[large, window] = of_length(varied, window)
    runs[small, narrowest] = of_length(scale.bert(pair, small, seed), narrowest)
    for (sentences, window), spec in runs.items():
        headline = sentences == large and (spec is base or window == narrowest)
        yield {"model": "BERT", "sentences": sentences, "window": window}, spec, headline
    for sentences, window in product((large, small), scale.static_windows):
        model = StaticSpec("word2vec", scale.encoder.width, window, scale.static_epochs, across_sentences=True)
        static = replace(scale.static("word2vec", pair, sentences, seed), model=model)
        yield {"model": "word2vec", "sentences": sentences, "window": window}, static, False


def of_length(spec: RunSpec, window: int) -> RunSpec:
    """``spec`` on slices of ``window`` tokens that keep every token (A, sec. 3.2.3), as many tokens a step."""
    assert spec.training is not None
    batch = spec.training.batch * spec.training.length // window
    return replace(spec, training=replace(spec.training, length=window, batch=batch, sliced=True))


tasks = contrasts.tasks


def experiment(condition: dict[str, Any], row: dict[str, Any]) -> str | None:
    """The experiment that a row belongs to."""
    return contrasts.experiment("R03" if condition["model"] == "BERT" else "R04", row)


DECLARED = Chapter(CHAPTER, COLUMNS, grid, tasks, experiment)


def names(scale: Scale) -> list[str]:
    """The conditions of BERT as figures name them, the base run's first."""
    small, large = scale.sentences
    windows = (scale.training.length, *scale.short_windows)
    wide, narrow = windows[0], windows[-1]
    return [*(_name(large, w, large) for w in windows), _name(small, wide, large), _name(small, narrow, large)]


def _name(sentences: float, window: float, most: float, unit: str = "{:.0f} tokens") -> str:
    return unit.format(window) + (", little data" if sentences < most else "")


def named(table: pd.DataFrame, model: str, scale: Scale) -> pd.DataFrame:
    """The rows of one model with a column ``condition`` for figures: much text first, which is what the table's runs
    read most of, for records may be of other sizes; long inputs of BERT first, narrow windows of word2vec. Beside those
    of word2vec stands BERT's alignment on the longest input with much text."""
    rows, unit = table[table["model"] == model], "{:.0f} tokens" if model == "BERT" else "window {:.0f}"
    most = table["sentences"].max()
    rows = rows.sort_values(["sentences", "window"], ascending=[False, model != "BERT"], kind="stable")
    sizes = zip(rows["sentences"], rows["window"], strict=True)
    shown = rows.assign(condition=[_name(*size, most, unit) for size in sizes])
    if model == "BERT":
        return shown
    longest = (table["sentences"] == most) & (table["window"] == scale.training.length)
    base = table[longest & (table["model"] == "BERT") & (table["task"] == "word retrieval")]
    return pd.concat([shown, base.assign(condition="BERT")], ignore_index=True)
