"""Chapter 7: do encoders that never met have the same shape? (R28 to R32)"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from xling_utils.chapters.planning import Chapter, Planned
from xling_utils.chapters.shared.contrasts import base_run
from xling_utils.core.scales import FIRST_REPORTED_SEED, Scale
from xling_utils.measures.names import CONTEXTUAL, SIMILARITY, WORD_ALIGNMENT

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
    **{f"{task}{kind}": "R29" for task in ("f1", "las") for kind in ("", "_aligned", "_random")},
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
    """Similarity of sentences and alignment of words: the one takes encoders, the other two languages. Transfer through
    an alignment is measured where encoders are trained."""
    return {
        STATIC: (WORD_ALIGNMENT,),
        SAME: (SIMILARITY,),
        RANDOM: (SIMILARITY, WORD_ALIGNMENT),
    }.get(dict(planned.condition)["encoders"], (SIMILARITY, WORD_ALIGNMENT, CONTEXTUAL))


def experiment(condition: dict[str, Any], row: dict[str, Any]) -> str | None:
    """CKA is R31, retrieval of sentences R30, of words R28; the correlation of the first two is R32."""
    return EXPERIMENTS.get(row["metric"])


DECLARED = Chapter(CHAPTER, COLUMNS, grid, tasks, experiment)


def of(table: pd.DataFrame, target: str, metric: str, encoders: str) -> pd.DataFrame:
    """Rows of one metric, one language (English for ``SAME``) and one kind of encoders."""
    wanted = "en" if encoders == SAME else target
    return table[(table["target"] == wanted) & (table["metric"] == metric) & (table["encoders"] == encoders)]


FOUND_BY = {MONOLINGUAL: "p_at_1_rotated", BILINGUAL: "p_at_1"}
"""How sentences are retrieved where CKA and retrieval are set against each other."""


def correlations(table: pd.DataFrame, encoders: str) -> pd.Series:
    """Pearson's r over layers of CKA and retrieval, by seed and language (R32)."""
    rows = table[table["encoders"] == encoders]
    cka, found = (rows[rows["metric"] == name] for name in ("cka_debiased", FOUND_BY[encoders]))
    both = cka.merge(found, on=["seed", "target", "layer"], suffixes=("_cka", "_found"))
    groups = both.groupby(["seed", "target"])
    if both.empty:
        return pd.Series(dtype=float)
    return groups[["value_cka", "value_found"]].apply(lambda x: x.corr().iloc[0, 1]).dropna()  # none of constants
