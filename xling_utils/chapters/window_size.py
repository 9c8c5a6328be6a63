"""Chapter 2: how wide a window it takes (R03, R04)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from xling_utils.chapters import Planned, contrasts
from xling_utils.scales import Scale
from xling_utils.specs import RunSpec, StaticSpec
from xling_utils.store import Run

CHAPTER = "02_window_size"
COLUMNS = ("model", "sentences", "window")
"""``window``: tokens of an input for BERT, on either side of a word for word2vec."""


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str) -> list[Planned]:
    """The base run of chapter 1 at both data sizes, the same on short inputs that keep every token of the text, and
    word2vec with wider and wider contexts. The headline is the shortest input at the large size."""
    return contrasts.grid(scale, languages, seeds, live, _conditions)


def _conditions(scale: Scale, language: str, seed: int) -> Iterator[tuple[dict[str, Any], RunSpec, bool]]:
    pair, large = ("en", language), scale.sentences[-1]
    for sentences in scale.sentences:
        base = scale.bert(pair, sentences, seed)
        assert base.training is not None
        for window in (base.training.length, *scale.short_windows):
            short = window < base.training.length
            if short and sentences != large and window != scale.short_windows[-1]:
                continue
            headline = sentences == large and (not short or window == scale.short_windows[-1])
            condition = {"model": "BERT", "sentences": sentences, "window": window}
            yield condition, of_length(base, window) if short else base, headline
    for window in scale.static_windows:
        model = StaticSpec("word2vec", scale.encoder.width, window, scale.static_epochs, across_sentences=True)
        static = replace(scale.static("word2vec", pair, large, seed), model=model)
        yield {"model": "word2vec", "sentences": large, "window": window}, static, False


def of_length(spec: RunSpec, window: int) -> RunSpec:
    """``spec`` on slices of ``window`` tokens that keep every token (A, sec. 3.2.3), as many tokens a step."""
    assert spec.training is not None
    batch = spec.training.batch * spec.training.length // window
    return replace(spec, training=replace(spec.training, length=window, batch=batch, sliced=True))


def measure(planned: Planned, run: Run, scale: Scale, data: Path | None) -> list[dict[str, Any]]:
    """Tidy rows of one run (see ``contrasts.measure``)."""
    return contrasts.measure(planned, run, scale, data, lambda c: "R03" if c["model"] == "BERT" else "R04")
