"""The page *What is different here*: the papers' encoders, texts, languages and measures beside those of the recorded
runs that verdicts rest on, and what is asked of each claim. The papers' are typed (``book/setups.yml``), ours computed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from xling_utils.book import ledger_page
from xling_utils.book.typed_facts import entries
from xling_utils.chapters import MODULES, records, size_of
from xling_utils.charts import LANGUAGE_NAMES, tables
from xling_utils.claims import ledger
from xling_utils.claims.predicates import names_in
from xling_utils.claims.rows import Rows
from xling_utils.claims.testing import Claim
from xling_utils.core import identity, kept_text
from xling_utils.core.scales import scale as scale_of
from xling_utils.core.specs import LANGUAGES, EncoderSpec, RunSpec, run_from_dict

FIELDS = ("encoder", "text", "languages", "measure", "runs")
SCALES = {"controlled": "here, controlled world", "natural": "here, real text"}
NOTHING = {"controlled": "In the controlled world none of these claims could be tested.",
           "natural": "On real text none of these claims is tested, or could be."}  # fmt: skip
METRICS = {
    "mrr": "MRR", "mrr_centred": "MRR, centred", "p_at_1": "P@1", "p_at_1_csls": "P@1 by CSLS",
    "p_at_1_rotated": "P@1 after a rotation", "cka": "CKA", "cka_debiased": "CKA, debiased", "f1": "F1",
    "f1_aligned": "F1, aligned", "f1_random": "F1, turned at random", "las": "LAS", "las_aligned": "LAS, aligned",
    "las_random": "LAS, turned at random", "bleu1": "BLEU-1", "p_at_1_shuffled": "P@1, shuffled",
    "mrr_shuffled": "MRR, shuffled", "mrr_unlike": "MRR of words spelt unlike", "mined_f1": "F1 of mining",
}  # fmt: skip
"""Metric -> what it is called, where that is not its name in the rows without underscores."""


@dataclass(frozen=True)
class Setup:
    """How a paper did a part of its experiments, in words. ``of``: paper -> experiments."""

    of: Mapping[str, Sequence[str]]
    encoder: str
    text: str
    languages: str
    measure: str
    runs: str

    def claims(self, every: Iterable[Claim]) -> list[Claim]:
        """Those of ``every`` that their paper asked so."""
        return [claim for claim in every if set(claim.experiments) & set(self.of.get(claim.paper, ()))]


def setups(path: Path) -> dict[str, Setup]:
    """By name. Raises what :func:`entries` raises."""
    return entries(path, Setup)


def page() -> str:
    """Markdown: a section for each set-up, with a table, and below it what is asked of its claims. Kept in
    ``_build/ledger``, since to read all records takes seconds."""
    book = ledger.root() / "book"

    def made() -> str:
        every = ledger.load().claims
        known = setups(book / "setups.yml")
        return "".join(_setup(name, setup, setup.claims(every)) for name, setup in known.items())

    read = [book / "claims.yml", book / "setups.yml", *sorted((book / "records").glob("*.csv"))]
    kept = ledger.root() / "_build/ledger/deviations.md"
    return kept_text.once(kept, identity.of(identity.package(), *read), made)


def _setup(name: str, setup: Setup, claims: Sequence[Claim]) -> str:
    columns = {"the paper": [tables.quotes(getattr(setup, field)) for field in FIELDS]}
    found = {scale: ours(claims, scale) for scale in SCALES}
    columns |= {SCALES[scale]: told for scale, told in found.items() if told}
    nothing = "".join(f"<p>{NOTHING[scale]}</p>" for scale, told in found.items() if not told)
    head = "".join(f'<th scope="col">{shown}</th>' for shown in columns)
    rows = "".join(
        f'<tr><th scope="row">{field}</th>'
        + "".join(f'<td data-of="{shown}">{escape(told[n])}</td>' for shown, told in columns.items())
        + "</tr>"
        for n, field in enumerate(FIELDS)
    )
    asked = "".join(f"<li>{_asked(claim)}</li>" for claim in claims)
    return (
        f'## {name}\n\n```{{raw}} html\n<div class="setup"><div class="pst-scrollable-table-container">'
        f'<table class="dataframe"><thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table></div>{nothing}'
        f"<details><summary>What is asked of its {len(claims)} claims</summary><ul>{asked}</ul></details></div>\n"
        "```\n\n"
    )


def ours(claims: Sequence[Claim], scale: str) -> list[str]:
    """What stands beside the paper's ``FIELDS``: of all recorded runs that the verdicts on ``claims`` rest on; nothing
    where there is no verdict."""
    rows, specs = _rows(scale), _specs(scale)
    decided = {finding.claim.id: finding.parts for finding in ledger.findings(scale) if finding.parts}
    claims = [claim for claim in claims if claim.id in decided]
    runs = {
        claim.id: {run for where in _selections(claim) for run in rows.runs(where)} & set(specs) for claim in claims
    }
    used = [specs[run] for run in sorted(set().union(*runs.values()))]
    if not used:
        return []
    read = [spec.corpus.languages for spec in used]
    # Of a claim that is tested over something else, such as languages, those that its runs have.
    seeds = [
        part.interval.n if part.unit == "seeds" else len({specs[run].corpus.seed for run in runs[name]})
        for name in runs
        for part in decided[name]
    ]
    partners = [language for language in LANGUAGES[1:] if any(language in each for each in read)]
    return [
        _encoders(used),
        f"{_range(spec.corpus.sentences for spec in used)} sentences a language, "
        f"{_range(spec.tokenizer.size for spec in used if spec.tokenizer.size)} word pieces",
        f"English with {_partners(partners)}; {_range(map(len, read))} in one encoder",
        _measures(claims),
        f"{_range(seeds)} seeds a claim",
    ]


def _partners(languages: Sequence[str]) -> str:
    missing = [LANGUAGE_NAMES[language] for language in LANGUAGES[1:] if language not in languages]
    if len(missing) > 2:
        return ", ".join(LANGUAGE_NAMES[language] for language in languages)
    return f"all others but {' and '.join(missing)}" if missing else f"the {len(languages)} others"


def _encoders(specs: Sequence[RunSpec]) -> str:
    models = [spec.model for spec in specs if isinstance(spec.model, EncoderSpec)]
    if not models:
        return "static vectors"
    sizes = [size_of(spec) for spec in specs if isinstance(spec.model, EncoderSpec)]
    millions = [each["parameters"] / 1e6 for each in sizes if each["parameters"]]
    tokens = [each["tokens"] / 1e6 for each in sizes if each["tokens"]]
    return (
        f"{_range(model.layers for model in models)} layers of width {_range(model.width for model in models)}, "
        f"{_range(millions)} million parameters; {_range(tokens)} million tokens read"
    )


def _range(values: Iterable[float]) -> str:
    """``"3"`` or ``"1 to 12"``."""
    ends = sorted(values)
    first, last = (f"{end:,.0f}" if end >= 10 or end == int(end) else f"{end:.2g}" for end in (ends[0], ends[-1]))
    return first if first == last else f"{first} to {last}"


def _asked(claim: Claim) -> str:
    tests = "; ".join(f"{test.text} {test.bound}" for test in claim.tests)
    return f"{ledger_page.link(claim.id)} {escape(_measures([claim]))}: {escape(tests)}"


def _measures(claims: Sequence[Claim]) -> str:
    """What is measured, and where: ``"accuracy; MRR, centred (first, middle layer)"``."""
    found: dict[str, set[str]] = {}
    for where in (where for claim in claims for where in _selections(claim) if "metric" in where):
        layers = found.setdefault(METRICS.get(where["metric"], where["metric"].replace("_", " ")), set())
        if "layer" in where:
            layers.add(str(where["layer"]))
    return "; ".join(f"{name}{_at(found[name])}" for name in sorted(found, key=str.lower))


def _at(layers: Set[str]) -> str:
    numbers = sorted(layer for layer in layers if not layer.isalpha())
    named = sorted(layers - set(numbers))
    told = [f"{', '.join(named)} layer"] * bool(named) + [f"layer {', '.join(numbers)}"] * bool(numbers)
    return f" ({'; '.join(told)})" if told else ""


def _selections(claim: Claim) -> list[Mapping[str, Any]]:
    """Those that its tests name, what a guess has excepted."""
    named = set().union(*(names_in(test) for test in claim.tests)) & set(claim.of)
    every = [ledger.load().selections(claim, measure) for measure in claim.measured or ("",)]
    return [where for each in every for name, where in each.items() if name in named]


@cache
def _rows(scale: str) -> Rows:
    return Rows({chapter: records.load(chapter, scale) for chapter in MODULES}, scale_of(scale).encoder.layers // 2)


@cache
def _specs(scale: str) -> dict[str, RunSpec]:
    told = pd.concat([records.provenance(chapter, scale) for chapter in MODULES])
    return {run: run_from_dict(json.loads(spec)) for run, spec in zip(told["run"], told["spec"], strict=True)}
