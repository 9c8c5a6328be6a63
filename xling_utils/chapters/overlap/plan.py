"""Chapter 3: what the languages must share (R06 to R11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from xling_utils.chapters.planning import Chapter, Planned
from xling_utils.chapters.shared import contrast_figures as figures
from xling_utils.chapters.shared import contrasts
from xling_utils.chapters.shared.contrasts import partners
from xling_utils.core.scales import Scale
from xling_utils.core.specs import Change, RunSpec
from xling_utils.corpora.controlled.world import DOMAINS
from xling_utils.measures.names import INFERENCE

CHAPTER = "03_overlap"
COLUMNS = ("condition",)
DEFAULT, FAKE, SEPARATE = "default", "Fake-English", "separate vocabularies"
UNIGRAMS, EXTRA = "unigrams only", "code-switched"
SAME_DOMAIN, OTHER_DOMAIN = "same domain", "other domain"
PERMUTED = {0.25: "permuted 25 %", 0.5: "permuted 50 %", 1.0: "permuted 100 %"}
PERMUTED_ONE = "one language permuted"
EXPERIMENTS = {
    DEFAULT: "R06", FAKE: "R06", SEPARATE: "R10", **dict.fromkeys(PERMUTED.values(), "R07"), PERMUTED_ONE: "R07",
    UNIGRAMS: "R08",
    SAME_DOMAIN: "R09", OTHER_DOMAIN: "R09", EXTRA: "R10",
}  # fmt: skip
"""Condition -> the experiment it belongs to. Separate vocabularies are R06's cross-check too: ids instead of
characters shifted."""
HEADLINE = (DEFAULT, FAKE, UNIGRAMS)
REAL_DOMAINS = ("tatoeba", "wmt_newstest")
"""Files of the data directory that stand for two domains of real text: everyday sentences, and news."""
REAL_DOMAIN_LANGUAGES = ("fr", "es", "de", "ru")
"""Languages that have as much of the first as a corpus takes."""


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str) -> list[Planned]:
    """The base run of chapter 1, and one run for each thing that the languages no longer, or in addition, share."""
    return contrasts.grid(scale, languages, seeds, live, _conditions)


def _conditions(scale: Scale, base: RunSpec, varied: RunSpec) -> Iterator[tuple[dict[str, Any], RunSpec, bool]]:
    for condition, spec in {**runs(scale, varied), DEFAULT: base}.items():
        yield {"condition": condition}, spec, condition in HEADLINE


def runs(scale: Scale, varied: RunSpec) -> dict[str, RunSpec]:
    """Condition -> the run ``varied`` with that changed in what it reads."""
    pair = varied.corpus.languages

    def changed(*changes: Change) -> RunSpec:
        return replace(varied, corpus=replace(varied.corpus, changes=changes))

    fake = Change("fake", ("en",))
    conditions = {
        DEFAULT: varied,
        FAKE: changed(fake),
        SEPARATE: replace(varied, tokenizer=replace(varied.tokenizer, separate=True)),
        **{name: changed(fake, Change("permuted", pair, share)) for share, name in PERMUTED.items()},
        PERMUTED_ONE: changed(fake, Change("permuted", pair[1:])),
        UNIGRAMS: changed(fake, Change("unigrams", pair[1:])),
        EXTRA: changed(Change("code_switched", pair)),
    }
    for condition, domains in _domains(scale, pair[1]).items():
        conditions[condition] = replace(varied, corpus=replace(varied.corpus, domains=domains))
    return conditions


def _domains(scale: Scale, language: str) -> dict[str, tuple[str, str]]:
    """The domains of English and of ``language``. Of real text English is the one that has enough of another."""
    if scale.source == "controlled":
        first, second = DOMAINS
        return {SAME_DOMAIN: (first, first), OTHER_DOMAIN: (first, second)}
    if language not in REAL_DOMAIN_LANGUAGES:
        return {}
    everyday, news = REAL_DOMAINS
    return {SAME_DOMAIN: (everyday, everyday), OTHER_DOMAIN: (news, everyday)}


tasks = contrasts.tasks


def experiment(condition: dict[str, Any], row: dict[str, Any]) -> str | None:
    """The experiment that a row belongs to; those of mixed languages are R11's."""
    own = "R11" if row["metric"] == "accuracy_mixed" else EXPERIMENTS[condition["condition"]]
    return contrasts.experiment(own, row)


DECLARED = Chapter(CHAPTER, COLUMNS, grid, tasks, experiment)

OVERLAP = (DEFAULT, FAKE, SEPARATE, EXTRA)
ORDER = (FAKE, *PERMUTED.values(), PERMUTED_ONE, UNIGRAMS)
DOMAIN = (SAME_DOMAIN, OTHER_DOMAIN)
"""Conditions of each figure, the one that the others vary first."""

Tables = Callable[[str], pd.DataFrame]


def paper_overlap(tables: Tables) -> pd.DataFrame:
    """E's Table 1 and the anchors of C's Table 1, as ``contrast_shapes.contrasts`` takes them."""
    names = {"overlap": DEFAULT, "no overlap": FAKE}
    anchors = {"Default anchors": DEFAULT, "No anchors": SEPARATE, "Extra anchors": EXTRA}
    theirs = figures.paper_rows(tables("C_table_1_dissection"), "condition", anchors, "paper C")
    return pd.concat([figures.paper_rows(tables("E_table_1_overlap"), "condition", names, "paper E"), theirs])


def paper_order(tables: Tables) -> pd.DataFrame:
    """E's Tables 2 and 3, as ``contrast_shapes.contrasts`` takes them."""
    order = figures.paper_rows(tables("E_table_2_word_order"), "permuted", {0.0: FAKE, **PERMUTED}, "paper E")
    unigrams = figures.paper_rows(tables("E_table_3_unigrams"), "unigrams_only", {"yes": UNIGRAMS}, "paper E")
    return pd.concat([order, unigrams], ignore_index=True)


def paper_domain(tables: Tables) -> pd.DataFrame:
    """The domains of C's Table 1, as ``contrast_shapes.contrasts`` takes them."""
    names = {"Default": SAME_DOMAIN, "Wiki-CC": OTHER_DOMAIN}
    return figures.paper_rows(tables("C_table_1_dissection"), "condition", names, "paper C")


def changes(found: pd.DataFrame) -> pd.DataFrame:
    """Each condition against the one that it varies, in percent (see ``contrast_figures.differences``)."""
    parts = []
    for group in (OVERLAP, ORDER, DOMAIN):
        rows = figures.differences(found[found["condition"].isin(group)], "condition", group[0])
        parts.append(rows.assign(against=group[0]))
    return pd.concat(parts, ignore_index=True)


def mixed(table: pd.DataFrame, language: str) -> pd.DataFrame:
    """Accuracy of inference by the languages of premise and hypothesis, English or the seed's other language (the base
    ``language``, or one taken in turn): mean over seeds, a condition a row."""
    rows = table[table["metric"].isin(["accuracy", "accuracy_mixed"]) & (table["task"] == INFERENCE)]
    partner = rows["seed"].map(partners(rows, language))
    name = "other" if partner.nunique() > 1 else next(iter(partner), language)
    pure = rows["metric"] == "accuracy"
    sides = {side: rows[side].mask(rows[side] == partner, name) for side in ("source", "target")}
    pair = sides["source"].where(~pure, sides["target"]) + " / " + sides["target"]
    pairs = ["en / en", f"{name} / {name}", f"en / {name}", f"{name} / en"]
    table = rows.assign(pair=pair)[pair.isin(pairs)].pivot_table("value", "condition", "pair", "mean", sort=False)
    return table.reindex(columns=pairs).rename_axis(index="condition").reset_index()
