"""The page of what is different here: every claim of the papers has one set-up, and ours is what the records say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xling_utils.book import deviations
from xling_utils.chapters import records
from xling_utils.charts import LANGUAGE_NAMES
from xling_utils.claims import ledger
from xling_utils.core.errors import UserError
from xling_utils.core.specs import LANGUAGES

BOOK = Path(__file__).parents[2] / "book"


def test_every_claim_of_a_paper_has_one_set_up() -> None:
    every = ledger.load().claims
    found = [claim.id for setup in deviations.setups(BOOK / "setups.yml").values() for claim in setup.claims(every)]
    assert sorted(found) == sorted(claim.id for claim in every if claim.paper in "ABCDE")


def test_ours_are_the_recorded_runs() -> None:
    (claim,) = (each for each in ledger.load().claims if each.id == "E-04")  # Fake-English against permuted words
    rows, told = records.load("03_overlap", "controlled"), records.provenance("03_overlap", "controlled")
    runs = set(rows[rows["condition"].isin(["Fake-English", "permuted 100 %"])]["run"])
    specs = [json.loads(spec) for run, spec in zip(told["run"], told["spec"], strict=True) if run in runs]
    partners = sorted({spec["corpus"]["languages"][1] for spec in specs}, key=LANGUAGES.index)
    encoder, text, languages, measure, seeds = deviations.ours([claim], "controlled")
    assert encoder.startswith(f"{specs[0]['model']['layers']} layers of width {specs[0]['model']['width']}, ")
    assert text.startswith(f"{specs[0]['corpus']['sentences']:,} sentences a language")
    names = ", ".join(LANGUAGE_NAMES[partner] for partner in partners)
    assert languages == f"English with {names}; 2 in one encoder"
    assert "MRR, centred (middle layer)" in measure
    assert seeds == f"{len({spec['seed'] for spec in specs})} seeds a claim"


def test_claims_without_rows_have_no_runs() -> None:
    (claim,) = (each for each in ledger.load().claims if each.id == "C-30")
    assert deviations.ours([claim], "controlled") == []
    (name, setup), *_ = deviations.setups(BOOK / "setups.yml").items()
    shown = deviations._setup(name, setup, [claim])
    assert all(shown.count(line) == 1 for line in deviations.NOTHING.values())
    assert shown.count("<td data-of=") == len(deviations.FIELDS) and shown.count('<th scope="col">') == 1


def test_what_a_set_up_lacks_is_named(tmp_path: Path) -> None:
    path = tmp_path / "setups.yml"
    path.write_text("One:\n  of: {A: [R01]}\n  encoder: large\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"setups\.yml: .*text.*languages"):
        deviations.setups(path)
