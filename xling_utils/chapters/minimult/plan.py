"""Appendix: what keeps an encoder from aligning English with its own double (Dufter & Schütze 2020)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from xling_utils.chapters.data_size.plan import summary, with_sources
from xling_utils.chapters.planning import Chapter, Planned
from xling_utils.chapters.shared.joint import D_LAYER, layer_at
from xling_utils.core.scales import FIRST_REPORTED_SEED, Scale
from xling_utils.core.specs import DOUBLE, Change, CorpusSpec, EncoderSpec, RunSpec, TokenizerSpec, TrainingSpec
from xling_utils.measures.names import DOUBLES, RETRIEVAL, TRANSLATION

CHAPTER = "08_minimult"
COLUMNS = ("condition",)
ORIGINAL, POSITIONS, SPECIALS, NO_RANDOM = "original", "own positions", "own special tokens", "no random words"
ALL_THREE, LARGE, REVERSED, UNTRAINED = "all three", "over-parameterised", "reversed word order", "untrained"
UNTRAINED_OWN = "untrained, own positions"
CONDITIONS = (ORIGINAL, POSITIONS, SPECIALS, NO_RANDOM, ALL_THREE, LARGE, REVERSED, UNTRAINED, UNTRAINED_OWN)
"""In the papers' words: original, lang-pos, shift-special, no-random, the three together, overparam, inv-order, and an
encoder with its first weights; and, which they do not have, the first weights with positions of its own: the floor of
encoders that have them, since the length of a sentence can be read off positions in common."""
HEADLINE = (ORIGINAL, ALL_THREE, UNTRAINED)
PAIR = ("en", DOUBLE)
TEXT = "bible"
"""File of real text that both languages read, by name: the paper's text is a Bible too."""
SENTENCES, PIECES = 25_000, 1_000
"""At most, of either language: a Bible has 31,000 verses."""
LONGER = {"natural": 2}
"""Scale -> how many times as long as its other encoders these are trained. On real text two development seeds scored
.21 and .14 without, .32 and .34 so, .02 untrained."""
WIDER = 2
"""How many times as wide the over-parameterised encoder is."""
SCORE = "multilinguality score"
MEASURES = {SCORE: (TRANSLATION, RETRIEVAL), TRANSLATION: (TRANSLATION,), RETRIEVAL: (RETRIEVAL,)}
"""Name of a measure -> the tasks that it is the mean of, each at layer 0 and two thirds up."""
CONTROLLED, REAL = "controlled world", "real text"


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str) -> list[Planned]:
    """The conditions on English and its double, whatever ``languages`` the other chapters take: the headline, or all
    of them with ``live="all"``."""
    if live == "none":
        return []
    return [
        Planned((("condition", condition),), spec, condition in HEADLINE)
        for seed in range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + seeds)
        for condition, spec in _runs(scale, seed)
        if condition in HEADLINE or live == "all"
    ]


def _runs(scale: Scale, seed: int) -> Iterator[tuple[str, RunSpec]]:
    base = _papers_own(scale, seed) if scale.name == "paper" else _of_scale(scale, seed)
    encoder, training = base.model, base.training
    assert isinstance(encoder, EncoderSpec) and training is not None
    positions = replace(encoder, separate_positions=True)
    specials = replace(base.tokenizer, specials=True)
    no_random = replace(training, random_words="none")
    large = _large(encoder, training, scale)
    order = Change("reversed", (DOUBLE,))
    yield ORIGINAL, base
    yield POSITIONS, replace(base, model=positions)
    yield SPECIALS, replace(base, tokenizer=specials)
    yield NO_RANDOM, replace(base, training=no_random)
    yield ALL_THREE, replace(base, model=positions, tokenizer=specials, training=no_random)
    yield LARGE, replace(base, model=large[0], training=large[1])
    yield REVERSED, replace(base, corpus=replace(base.corpus, changes=(order,)))
    yield UNTRAINED, replace(base, training=None)
    yield UNTRAINED_OWN, replace(base, model=positions, training=None)


def _of_scale(scale: Scale, seed: int) -> RunSpec:
    """The scale's own encoder and training, with one head as theirs; random words come from both languages, as theirs
    do."""
    domains = (TEXT, TEXT) if scale.source == "directory" else ()
    corpus = CorpusSpec(scale.source, PAIR, min(SENTENCES, scale.sentences[-1]), seed, domains=domains)
    tokenizer = TokenizerSpec("wordpiece", PIECES, separate=True)
    steps = scale.training.steps * LONGER.get(scale.name, 1)
    training = replace(scale.training, steps=steps, random_words="any")
    return RunSpec(corpus, tokenizer, replace(scale.encoder, heads=1), training, seed)


def _papers_own(scale: Scale, seed: int) -> RunSpec:
    """The sizes of the paper's program: a hundred passes over about 17,000 verses in either language."""
    corpus = CorpusSpec("directory", PAIR, min(17_000, scale.sentences[-1]), seed, domains=(TEXT, TEXT))
    encoder = EncoderSpec(layers=12, width=64, heads=1, intermediate=256, positions=128)
    training = TrainingSpec(
        13_500, 256, 128, learning_rate=2e-3, warmup=50 / 13_500, random_words="any", precision="bf16"
    )
    return RunSpec(corpus, TokenizerSpec("wordpiece", 2_048, separate=True), encoder, training, seed)


def _large(encoder: EncoderSpec, training: TrainingSpec, scale: Scale) -> tuple[EncoderSpec, TrainingSpec]:
    """The over-parameterised encoder and how it is trained; at the paper's scale BERT's own base size."""
    if scale.name == "paper":
        return replace(encoder, width=768, heads=12, intermediate=3072), replace(training, learning_rate=1e-4)
    width = WIDER * encoder.width
    wide = replace(encoder, width=width, heads=WIDER * encoder.heads, intermediate=WIDER * encoder.intermediate)
    return wide, replace(training, learning_rate=training.learning_rate / WIDER)


def tasks(planned: Planned) -> tuple[str, ...]:
    """The one task of the chapter."""
    return (DOUBLES,)


def experiment(condition: dict[str, Any], row: dict[str, Any]) -> str | None:
    """The peer's name: none of the five papers' experiments."""
    return "minimult"


DECLARED = Chapter(CHAPTER, COLUMNS, grid, tasks, experiment)


def values(table: pd.DataFrame, metric: str = "p_at_1") -> pd.DataFrame:
    """One row a condition, measure and seed: columns ``condition, measure, seed, value``; a measure is the mean of its
    tasks at the two layers of the paper."""
    rows = table[table["metric"] == metric]
    if rows.empty:
        return pd.DataFrame(columns=["condition", "measure", "seed", "value"])
    rows = rows[rows["layer"].isin([0, layer_at(D_LAYER, rows)])]
    frames = [rows[rows["task"].isin(of)].assign(measure=measure) for measure, of in MEASURES.items()]
    return pd.concat(frames).groupby(["condition", "measure", "seed"], sort=False)["value"].mean().reset_index()


def paper_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The paper's scores as ``contrast_shapes.contrasts`` takes them."""
    return table.assign(measure=SCORE, low=float("nan"), high=float("nan"), seeds=5, shown="Dufter and Schütze")[
        ["condition", "measure", "value", "low", "high", "seeds", "shown"]
    ]


def figure(live: pd.DataFrame, recorded: pd.DataFrame, real: pd.DataFrame, paper: pd.DataFrame) -> Any:
    """Figure: every condition that was run, ours beside the paper's; none where there is nothing of ours. Each seed of
    this machine is a mark, of recorded seeds the mean."""
    from xling_utils.charts import contrast_shapes

    sources = with_sources(live, recorded)
    if len(real):
        sources = [(CONTROLLED if name == "recorded" else name, table) for name, table in sources] + [(REAL, real)]
    if not sources:
        return None
    frames = []
    for shown, table in sources:
        keys = ["condition", "measure", "seed"] if shown == "this machine" else ["condition", "measure"]
        frames.append(summary(values(table), keys).assign(shown=shown))
    rows = pd.concat([*frames, paper_rows(paper)], ignore_index=True)
    there = [name for name in CONDITIONS if name in {name for frame in frames for name in frame["condition"]}]
    chances = values(pd.concat([table for _, table in sources]), "chance")
    chance = chances.groupby("measure", sort=False)["value"].mean()
    return contrast_shapes.contrasts(
        rows[rows["condition"].isin(there)],
        chance.reset_index().assign(name="chance"),
        conditions=there,
        measures=list(MEASURES),
        description="How well English and its double are aligned under each condition, here and in the paper.",
    )


SHORT = {RETRIEVAL: "sentences", TRANSLATION: "words"}
"""Tasks, as a column of a narrow table names them."""


def layers(table: pd.DataFrame) -> pd.DataFrame:
    """Precision at 1 by condition, task and layer: means over seeds, with those of shuffled doubles, over all layers,
    and chance."""
    if table.empty:
        return pd.DataFrame(columns=["task", "condition"])
    rows = table.assign(
        column=table["layer"].map("layer {:.0f}".format).where(table["metric"] == "p_at_1", table["metric"])
    )
    names = {"p_at_1_shuffled": "shuffled", "chance": "chance"}
    rows = rows.assign(column=rows["column"].replace(names), task=rows["task"].map(SHORT))
    columns = sorted(set(rows["column"]), key=lambda name: (name in names.values(), len(name), name))
    order = {name: place for place, name in enumerate(CONDITIONS)}
    found = rows.pivot_table("value", ["task", "condition"], "column", "mean", sort=False)[columns].reset_index()
    return found.sort_values(["task", "condition"], key=lambda column: column.map(lambda name: order.get(name, name)))
