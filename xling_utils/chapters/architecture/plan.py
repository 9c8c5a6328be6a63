"""Chapter 4: what the encoder must be like (R12 to R19)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from xling_utils.chapters.architecture.sizes import VOCABULARY, fixed_parameters, sizes
from xling_utils.chapters.planning import Chapter, Planned
from xling_utils.chapters.shared import contrasts
from xling_utils.core.scales import FIRST_REPORTED_SEED, Scale
from xling_utils.core.specs import EncoderSpec, RunSpec, TokenizerSpec

CHAPTER = "04_architecture"
COLUMNS = ("factor", "level")
"""``factor`` names what is varied; the base run has the factor ``"base"`` and stands in for its level everywhere."""
BASE = "base"
NEXT, BOTH = "with next sentence prediction", "embeddings, bottom two thirds"
HEADLINE = ((BASE, BASE), ("depth", "1 layer"), ("separate", BOTH))
DEPTHS, HEADS, WIDTHS = (1, 2, 6), (1, 2, 8), (16, 32, 96)
"""Levels beside the base run's."""
FOUR, FOUR_LANGUAGES = 4, "four languages"
PAPER_FACTORS = {4: "depth", 5: "heads", 6: "parameters", 7: FOUR_LANGUAGES}
"""Table of K et al. (2020) -> factor."""
PAPER_LANGUAGES = ("en", "es", "hi", "ru")


Levels = dict[str, RunSpec]


@dataclass(frozen=True)
class Factor:
    """What is varied, and the ``experiment`` it belongs to: ``base`` names the level of it that the base run has, and
    ``levels`` gives the runs of the others, from the base run."""

    name: str
    experiment: str
    base: Callable[[Scale], str]
    levels: Callable[[RunSpec], Levels]


def counted(number: int, noun: str) -> str:
    """``"1 layer"``, ``"2 layers"``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _of_width(encoder: EncoderSpec, width: int) -> EncoderSpec:
    return replace(encoder, width=width, intermediate=4 * width)


def _with_model(base: RunSpec, **changes: Any) -> RunSpec:
    return replace(base, model=replace(_encoder(base), **changes))


def _with_tokens(base: RunSpec, **changes: Any) -> RunSpec:
    return replace(base, tokenizer=replace(base.tokenizer, **changes))


def _encoder(base: RunSpec) -> EncoderSpec:
    assert isinstance(base.model, EncoderSpec)
    return base.model


def _depths(base: RunSpec) -> Levels:
    models = {n: fixed_parameters(_encoder(base), base.tokenizer.size, layers=n) for n in DEPTHS}
    return {counted(n, "layer"): replace(base, model=model) for n, model in models.items()}


def _widths(base: RunSpec) -> Levels:
    return {f"width {n}": replace(base, model=_of_width(_encoder(base), n)) for n in WIDTHS}


def _tokens(base: RunSpec) -> Levels:
    return {
        "characters": replace(base, tokenizer=TokenizerSpec("characters", 0)),
        "words": _with_tokens(base, kind="words"),
    }


def _separate(base: RunSpec) -> Levels:
    third, most = (max(1, round(_encoder(base).layers * share)) for share in (3 / 8, 6 / 8))
    apart = _with_model(base, separate_embeddings=True, separate_positions=True)
    return {
        "embeddings": apart,
        "bottom third": _with_model(base, separate_blocks=third),
        "bottom two thirds": _with_model(base, separate_blocks=most),
        "embeddings, bottom third": _with_model(apart, separate_blocks=third),
        BOTH: _with_model(apart, separate_blocks=most),
    }


FACTORS = {
    factor.name: factor
    for factor in (
        Factor("depth", "R12", lambda scale: counted(scale.encoder.layers, "layer"), _depths),
        Factor("heads", "R13", lambda scale: counted(scale.encoder.heads, "head"),
               lambda base: {counted(n, "head"): _with_model(base, heads=n) for n in HEADS}),
        Factor("parameters", "R14", lambda scale: f"width {scale.encoder.width}", _widths),
        Factor("objective", "R16", lambda scale: "masked words only",
               lambda base: {NEXT: _with_model(base, next_sentence=True)}),
        Factor("separator", "R17", lambda scale: "one for all",
               lambda base: {"one a language": _with_tokens(base, markers=True)}),
        Factor("tokens", "R18", lambda scale: "word pieces", _tokens),
        Factor("separate", "R19", lambda scale: "nothing", _separate),
    )
}  # fmt: skip
"""What is varied from the base run, by name."""
EXPERIMENTS = {BASE: "R12", FOUR_LANGUAGES: "R15"} | {name: factor.experiment for name, factor in FACTORS.items()}


def base_levels(scale: Scale) -> dict[str, str]:
    """Factor -> the level that the base run has of it."""
    return {name: factor.base(scale) for name, factor in FACTORS.items()}


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str) -> list[Planned]:
    """The base run of chapter 1 and one run for each other level of each factor. At the papers' scale, each run of
    E's Tables 4 to 7 at its own size."""
    if scale.name == "paper":
        return _paper(scale, seeds) if live != "none" else []
    return contrasts.grid(scale, languages, seeds, live, partial(_conditions, ("en", *languages[: FOUR - 1])))


def _conditions(
    four: tuple[str, ...], scale: Scale, base: RunSpec, varied: RunSpec
) -> Iterator[tuple[dict[str, Any], RunSpec, bool]]:
    runs = {(name, level): spec for name, factor in FACTORS.items() for level, spec in factor.levels(varied).items()}
    for (factor, level), spec in {(BASE, BASE): base, **runs}.items():
        yield {"factor": factor, "level": level}, spec, (factor, level) in HEADLINE
    if base.corpus.languages == four[:2] and len(four) == FOUR:
        together = scale.bert(four, scale.sentences[-1], base.seed)
        longer = replace(scale.training, steps=scale.training.steps * FOUR // 2)  # as many tokens a language
        for width in (WIDTHS[0], scale.encoder.width, WIDTHS[-1]):
            spec = replace(together, model=_of_width(scale.encoder, width), training=longer)
            yield {"factor": FOUR_LANGUAGES, "level": f"width {width}"}, spec, False


def of_factor(table: pd.DataFrame, factor: str, scale: Scale) -> pd.DataFrame:
    """Rows of one factor, the base run among them under its level."""
    base = table[table["factor"] == BASE].assign(level=base_levels(scale).get(factor))
    own = table[table["factor"] == factor]
    return pd.concat([base, own], ignore_index=True) if factor in base_levels(scale) else own


def _paper(scale: Scale, seeds: int) -> list[Planned]:
    planned = []
    for size in sizes():
        factor = PAPER_FACTORS[size.table]
        pair = PAPER_LANGUAGES if factor == FOUR_LANGUAGES else ("en", PAPER_LANGUAGES[-1])
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
    return contrasts.experiment(EXPERIMENTS[condition["factor"]], row)


DECLARED = Chapter(CHAPTER, COLUMNS, grid, tasks, experiment)
