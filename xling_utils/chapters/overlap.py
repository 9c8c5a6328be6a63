"""Chapter 3: what the languages must share (R06 to R11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from xling_utils.chapters import Planned, contrasts
from xling_utils.corpora.controlled.world import DOMAINS
from xling_utils.scales import Scale
from xling_utils.specs import Change, RunSpec
from xling_utils.store import Run

CHAPTER = "03_overlap"
COLUMNS = ("condition",)
DEFAULT, FAKE, SEPARATE = "default", "Fake-English", "separate vocabularies"
UNIGRAMS, EXTRA = "unigrams only", "code-switched"
SAME_DOMAIN, OTHER_DOMAIN = "same domain", "other domain"
PERMUTED = {0.25: "permuted 25 %", 0.5: "permuted 50 %", 1.0: "permuted 100 %"}
EXPERIMENTS = {
    DEFAULT: "R06", FAKE: "R06", SEPARATE: "R10", **dict.fromkeys(PERMUTED.values(), "R07"), UNIGRAMS: "R08",
    SAME_DOMAIN: "R09", OTHER_DOMAIN: "R09", EXTRA: "R10",
}  # fmt: skip
"""Condition -> the experiment it belongs to. Separate vocabularies are R06's cross-check too: ids instead of
characters shifted."""
HEADLINE = (DEFAULT, FAKE, UNIGRAMS)


def grid(scale: Scale, languages: Sequence[str], seeds: int, live: str) -> list[Planned]:
    """The base run of chapter 1, and one run for each thing that the languages no longer, or in addition, share."""
    return contrasts.grid(scale, languages, seeds, live, _conditions)


def _conditions(scale: Scale, language: str, seed: int) -> Iterator[tuple[dict[str, Any], RunSpec, bool]]:
    pair = ("en", language)
    base = scale.bert(pair, scale.sentences[-1], seed)

    def changed(*changes: Change) -> RunSpec:
        return replace(base, corpus=replace(base.corpus, changes=changes))

    fake = Change("fake", ("en",))
    runs = {
        DEFAULT: base,
        FAKE: changed(fake),
        SEPARATE: replace(base, tokenizer=replace(base.tokenizer, separate=True)),
        **{name: changed(fake, Change("permuted", pair, share)) for share, name in PERMUTED.items()},
        UNIGRAMS: changed(fake, Change("unigrams", (language,))),
        EXTRA: changed(Change("code_switched", pair)),
    }
    if scale.source == "controlled":
        first, second = DOMAINS
        runs[SAME_DOMAIN] = replace(base, corpus=replace(base.corpus, domains=(first, first)))
        runs[OTHER_DOMAIN] = replace(base, corpus=replace(base.corpus, domains=(first, second)))
    for condition, spec in runs.items():
        yield {"condition": condition}, spec, condition in HEADLINE


def measure(planned: Planned, run: Run, scale: Scale, data: Path | None) -> list[dict[str, Any]]:
    """Tidy rows of one run (see ``contrasts.measure``); those of mixed languages are R11's."""
    rows = contrasts.measure(planned, run, scale, data, lambda c: EXPERIMENTS[c["condition"]])
    return [row | {"experiment": "R11"} if row["metric"] == "accuracy_mixed" else row for row in rows]
