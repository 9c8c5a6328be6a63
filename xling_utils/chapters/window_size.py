"""Chapter 2: how wide a window it takes (R03, R04)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from xling_utils.chapters import Planned, contrasts
from xling_utils.chapters import contrast_figures as figures
from xling_utils.retrieval import over_seeds
from xling_utils.scales import Scale
from xling_utils.specs import RunSpec, StaticSpec
from xling_utils.verdicts import Verdict, direction

CHAPTER = "02_window_size"
COLUMNS = ("model", "sentences", "window")
"""``window``: tokens of an input for BERT, on either side of a word for word2vec."""


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str) -> list[Planned]:
    """The base run of chapter 1 at both data sizes, the same on short inputs that keep every token of the text, and
    word2vec with wider and wider contexts. The headline is the shortest input at the large size."""
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
    for window in scale.static_windows:
        model = StaticSpec("word2vec", scale.encoder.width, window, scale.static_epochs, across_sentences=True)
        static = replace(scale.static("word2vec", pair, large, seed), model=model)
        yield {"model": "word2vec", "sentences": large, "window": window}, static, False


def of_length(spec: RunSpec, window: int) -> RunSpec:
    """``spec`` on slices of ``window`` tokens that keep every token (A, sec. 3.2.3), as many tokens a step."""
    assert spec.training is not None
    batch = spec.training.batch * spec.training.length // window
    return replace(spec, training=replace(spec.training, length=window, batch=batch, sliced=True))


tasks = contrasts.tasks


def experiment(condition: dict[str, Any], row: dict[str, Any]) -> str | None:
    """The experiment that a row belongs to."""
    return contrasts.experiment("R03" if condition["model"] == "BERT" else "R04", row)


def names(scale: Scale) -> list[str]:
    """The conditions of BERT as figures name them, the base run's first."""
    small, large = scale.sentences
    windows = (scale.training.length, *scale.short_windows)
    wide, narrow = windows[0], windows[-1]
    return [*(_name(large, w, scale) for w in windows), _name(small, wide, scale), _name(small, narrow, scale)]


def _name(sentences: float, window: float, scale: Scale) -> str:
    return f"{window:.0f} tokens" + (", little data" if sentences != scale.sentences[-1] else "")


def named(table: pd.DataFrame, model: str, scale: Scale) -> pd.DataFrame:
    """The rows of one model with a column ``condition`` for figures."""
    rows = table[table["model"] == model]
    if model == "BERT":
        return rows.assign(
            condition=[_name(s, w, scale) for s, w in zip(rows["sentences"], rows["window"], strict=True)]
        )
    return rows.assign(condition=[f"window {window:.0f}" for window in rows["window"]])


def verdicts(table: pd.DataFrame, scale: Scale, language: str) -> list[Verdict]:
    """What the papers claim about windows, tested on English with ``language``."""
    by = "condition"
    bert = figures.values(named(table, "BERT", scale), scale, [by], language)
    wide, *_, narrow = names(scale)[: 1 + len(scale.short_windows)]
    little_wide, little_narrow = names(scale)[-2:]
    found = figures.claim(bert, by, "With much data a wide window helps", "A Fig. 6; B Fig. 3b", wide, narrow)
    for measure in dict.fromkeys(bert["measure"]):
        rows = bert[bert["measure"] == measure]
        gain = {
            size: rows[rows[by] == more].set_index("seed")["value"] - rows[rows[by] == less].set_index("seed")["value"]
            for size, more, less in (("large", wide, narrow), ("small", little_wide, little_narrow))
        }
        more = (gain["large"] - gain["small"]).dropna()
        if len(more):
            text, quantity = "It helps more with much data than with little", "gain much - gain little"
            interval = over_seeds(more.tolist())
            found.append(direction(text, "A sec. 3.2.3", quantity, interval, figures.short(measure)))
    static = figures.values(named(table, "word2vec", scale), scale, [by], language)
    if len(static):
        first, *_, last = [f"window {window}" for window in scale.static_windows]
        found += figures.claim(static, by, "Wider windows do not help word2vec", "B Fig. 4", first, last)
    return found
