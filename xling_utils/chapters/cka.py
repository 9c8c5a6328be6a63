"""Chapter 7: do encoders that never met have the same shape? (R28, R30 to R32)"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from xling_utils.chapters import Planned
from xling_utils.chapters.contrasts import base_run
from xling_utils.model_similarity import SIMILARITY
from xling_utils.retrieval import Interval, over_seeds
from xling_utils.scales import FIRST_REPORTED_SEED, Scale
from xling_utils.verdicts import Verdict, direction
from xling_utils.word_alignment import WORD_ALIGNMENT

CHAPTER = "07_cka"
COLUMNS = ("encoders", "beside")
"""``encoders`` names who reads the two languages; ``beside`` is the key of the run that reads the other one, where it
is not ``run`` itself."""
BILINGUAL, MONOLINGUAL, RANDOM = "one bilingual", "two monolingual", "one untrained"
SAME = "English twice"
STATIC = "word2vec, one a language"
ENCODERS = (BILINGUAL, MONOLINGUAL, RANDOM, SAME)
OTHER_SEED = 100
"""Added to the seed of an encoder that reads the same text as another from other first weights."""
EXPERIMENTS = {
    "cka": "R31", "cka_debiased": "R31", "p_at_1": "R30", "p_at_1_rotated": "R30", "p_at_1_csls": "R28",
    "p_at_1_shuffled": "R28",
}  # fmt: skip
BEYOND_BASE = ("de", "ru", "zh")
"""The languages of C beside French, for ``live="all"``."""


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str) -> list[Planned]:
    """For every seed the base run of chapter 1, an encoder of English alone and one of the other language alone, an
    untrained one, English again from other first weights, and word2vec in each language; with ``live="all"`` for C's
    other languages too."""
    if live == "none":
        return []
    others = [language for language in languages[1:] if language in BEYOND_BASE] if live == "all" else []
    planned = []
    for language in (languages[0], *others):
        for seed in range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + seeds):
            planned += list(_pair(scale, language, seed, language == languages[0]))
    return planned


def _pair(scale: Scale, language: str, seed: int, first: bool) -> Iterator[Planned]:
    size = scale.sentences[-1]
    english = scale.bert(("en",), size, seed)
    beside = {
        BILINGUAL: (base_run(scale, language, seed, first), None),
        MONOLINGUAL: (english, scale.bert((language,), size, seed)),
        RANDOM: (english, scale.untrained((language,), size, seed)),
        STATIC: (scale.static("word2vec", ("en",), size, seed), scale.static("word2vec", (language,), size, seed)),
    }
    if first:
        beside[SAME] = (english, replace(english, seed=seed + OTHER_SEED))
    for name, (run, other) in beside.items():
        yield Planned((("encoders", name),), run, first, other)


def tasks(planned: Planned) -> tuple[str, ...]:
    """Similarity of sentences and alignment of words: the one takes encoders, the other two languages."""
    encoders = dict(planned.condition)["encoders"]
    return {STATIC: (WORD_ALIGNMENT,), SAME: (SIMILARITY,)}.get(encoders, (SIMILARITY, WORD_ALIGNMENT))


def experiment(condition: dict[str, Any], row: dict[str, Any]) -> str | None:
    """CKA is R31, retrieval of sentences R30, of words R28; the correlation of the first two is R32."""
    return EXPERIMENTS.get(row["metric"])


def of(table: pd.DataFrame, target: str, metric: str, encoders: str) -> pd.DataFrame:
    """Rows of one metric, one language (English for ``SAME``) and one kind of encoders."""
    wanted = "en" if encoders == SAME else target
    return table[(table["target"] == wanted) & (table["metric"] == metric) & (table["encoders"] == encoders)]


def correlations(table: pd.DataFrame, target: str, metric: str = "cka_debiased") -> dict[int, float]:
    """Pearson's r over layers of CKA and retrieval after rotation, of two monolingual encoders: seed -> r (R32)."""
    cka, found = (of(table, target, name, MONOLINGUAL) for name in (metric, "p_at_1_rotated"))
    both = cka.merge(found, on=["seed", "layer"], suffixes=("_cka", "_found"))
    return {
        int(seed): float(np.corrcoef(rows["value_cka"], rows["value_found"])[0, 1])
        for seed, rows in both.groupby("seed")
        if len(rows) > 2
    }


def verdicts(table: pd.DataFrame, target: str) -> list[Verdict]:
    """What C claims about the similarity of encoders, tested on English with ``target``."""

    def mean(encoders: str, metric: str = "cka_debiased") -> pd.Series:
        return of(table, target, metric, encoders).groupby("seed")["value"].mean()

    def compared(text: str, where: str, first: str, second: str) -> Verdict:
        gain = (mean(first) - mean(second)).dropna()
        return direction(text, where, f"CKA, {first} - {second}", _interval(gain.tolist()))

    found = [
        compared("One bilingual encoder is more alike than two monolingual ones", "C Fig. 7", BILINGUAL, MONOLINGUAL),
        compared("Two monolingual encoders are more alike than chance", "C Fig. 7", MONOLINGUAL, RANDOM),
    ]
    for what, where, metric in (("sentences", "C Fig. 6", "p_at_1_rotated"), ("words", "C Fig. 4", "p_at_1_csls")):
        gain = (mean(MONOLINGUAL, metric) - mean(RANDOM, metric)).dropna()
        text = f"A rotation aligns the {what} of encoders that never met"
        found.append(direction(text, where, f"P@1, {MONOLINGUAL} - {RANDOM}", _interval(gain.tolist())))
    r = list(correlations(table, target).values())
    found.append(direction("CKA and retrieval after rotation go together", "C sec. 5.2", "Pearson's r", _interval(r)))
    return found


def _interval(values: list[float]) -> Interval:
    return over_seeds(values) if values else Interval(float("nan"), float("nan"), float("nan"), 0)
