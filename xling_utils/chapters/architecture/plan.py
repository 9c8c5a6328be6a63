"""Chapter 4: what the encoder must be like (R12 to R19)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from xling_utils.chapters.architecture.sizes import VOCABULARY, fixed_parameters, sizes
from xling_utils.chapters.planning import Planned
from xling_utils.chapters.shared import contrasts
from xling_utils.core.scales import FIRST_REPORTED_SEED, Scale
from xling_utils.core.specs import EncoderSpec, RunSpec, TokenizerSpec

CHAPTER = "04_architecture"
COLUMNS = ("factor", "level")
"""``factor`` names what is varied; the base run has the factor ``"base"`` and stands in for its level everywhere."""
BASE = "base"
FACTORS = {
    BASE: "R12", "depth": "R12", "heads": "R13", "parameters": "R14", "four languages": "R15", "objective": "R16",
    "separator": "R17", "tokens": "R18", "separate": "R19",
}  # fmt: skip
"""Factor -> experiment."""
NEXT, BOTH = "with next sentence prediction", "embeddings, bottom two thirds"
HEADLINE = ((BASE, BASE), ("depth", "1 layer"), ("separate", BOTH))
DEPTHS, HEADS, WIDTHS = (1, 2, 6), (1, 2, 8), (16, 32, 96)
"""Levels beside the base run's."""
FOUR = 4
PAPER_FACTORS = {4: "depth", 5: "heads", 6: "parameters", 7: "four languages"}
"""Table of K et al. (2020) -> factor."""
PAPER_LANGUAGES = ("en", "es", "hi", "ru")


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str) -> list[Planned]:
    """The base run of chapter 1 and one run for each other level of each factor. At the papers' scale, each run of
    E's Tables 4 to 7 at its own size."""
    if scale.name == "paper":
        return _paper(scale, seeds) if live != "none" else []
    return contrasts.grid(scale, languages, seeds, live, partial(_conditions, ("en", *languages[: FOUR - 1])))


def _conditions(
    four: tuple[str, ...], scale: Scale, base: RunSpec, varied: RunSpec
) -> Iterator[tuple[dict[str, Any], RunSpec, bool]]:
    for (factor, level), spec in {(BASE, BASE): base, **_runs(varied)}.items():
        yield {"factor": factor, "level": level}, spec, (factor, level) in HEADLINE
    if base.corpus.languages == four[:2] and len(four) == FOUR:
        together = scale.bert(four, scale.sentences[-1], base.seed)
        longer = replace(scale.training, steps=scale.training.steps * FOUR // 2)  # as many tokens a language
        for width in (WIDTHS[0], scale.encoder.width, WIDTHS[-1]):
            spec = replace(together, model=_of_width(scale.encoder, width), training=longer)
            yield {"factor": "four languages", "level": f"width {width}"}, spec, False


def _runs(base: RunSpec) -> dict[tuple[str, str], RunSpec]:
    encoder = base.model
    assert isinstance(encoder, EncoderSpec)

    def with_model(**changes: Any) -> RunSpec:
        return replace(base, model=replace(encoder, **changes))

    def with_tokens(**changes: Any) -> RunSpec:
        return replace(base, tokenizer=replace(base.tokenizer, **changes))

    runs: dict[tuple[str, str], RunSpec] = {}
    for depth in DEPTHS:
        model = fixed_parameters(encoder, base.tokenizer.size, layers=depth)
        runs["depth", counted(depth, "layer")] = replace(base, model=model)
    for heads in HEADS:
        runs["heads", counted(heads, "head")] = with_model(heads=heads)
    for width in WIDTHS:
        runs["parameters", f"width {width}"] = replace(base, model=_of_width(encoder, width))
    runs["objective", NEXT] = with_model(next_sentence=True)
    runs["separator", "one a language"] = with_tokens(markers=True)
    runs["tokens", "characters"] = replace(base, tokenizer=TokenizerSpec("characters", 0))
    runs["tokens", "words"] = with_tokens(kind="words")
    third, most = max(1, round(encoder.layers * 3 / 8)), max(1, round(encoder.layers * 6 / 8))
    runs["separate", "embeddings"] = with_model(separate_embeddings=True)
    runs["separate", "bottom third"] = with_model(separate_blocks=third)
    runs["separate", "bottom two thirds"] = with_model(separate_blocks=most)
    runs["separate", "embeddings, bottom third"] = with_model(separate_embeddings=True, separate_blocks=third)
    runs["separate", BOTH] = with_model(separate_embeddings=True, separate_blocks=most)
    return runs


def counted(number: int, noun: str) -> str:
    """``"1 layer"``, ``"2 layers"``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def base_levels(scale: Scale) -> dict[str, str]:
    """Factor -> the level that the base run has of it."""
    return {
        "depth": counted(scale.encoder.layers, "layer"),
        "heads": counted(scale.encoder.heads, "head"),
        "parameters": f"width {scale.encoder.width}",
        "objective": "masked words only",
        "separator": "one for all",
        "tokens": "word pieces",
        "separate": "nothing",
    }


def of_factor(table: pd.DataFrame, factor: str, scale: Scale) -> pd.DataFrame:
    """Rows of one factor, the base run among them under its level."""
    base = table[table["factor"] == BASE].assign(level=base_levels(scale).get(factor))
    own = table[table["factor"] == factor]
    return pd.concat([base, own], ignore_index=True) if factor in base_levels(scale) else own


def _of_width(encoder: EncoderSpec, width: int) -> EncoderSpec:
    return replace(encoder, width=width, intermediate=4 * width)


def _paper(scale: Scale, seeds: int) -> list[Planned]:
    planned = []
    for size in sizes():
        factor = PAPER_FACTORS[size.table]
        pair = PAPER_LANGUAGES if factor == "four languages" else ("en", PAPER_LANGUAGES[-1])
        for seed in range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + seeds):
            base = scale.bert(pair, scale.sentences[-1], seed)
            spec = replace(base, model=size.encoder, tokenizer=TokenizerSpec("wordpiece", VOCABULARY))
            level = f"{size.published:.2f} M, {size.encoder.layers} layers, {size.encoder.heads} heads"
            condition = (("factor", factor), ("level", level))
            planned.append(Planned(condition, spec, False))
    return planned


tasks = contrasts.tasks


def experiment(condition: dict[str, Any], row: dict[str, Any]) -> str | None:
    """The experiment that a row belongs to."""
    return contrasts.experiment(FACTORS[condition["factor"]], row)
