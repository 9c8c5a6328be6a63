"""The page of the experiments: all of them, each with its claims, and no claim of one that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xling_utils.book import deviations, experiments
from xling_utils.claims import ledger
from xling_utils.core.errors import UserError

BOOK = Path(__file__).parents[2] / "book"
KNOWN = experiments.experiments(BOOK / "experiments.yml")
PAPERS = "ABCDE"


def test_they_are_those_of_the_claims() -> None:
    assert list(KNOWN) == [f"R{number:02}" for number in range(1, 34)]
    asked = {number for claim in ledger.load().claims if claim.paper != "peer" for number in claim.experiments}
    assert asked == set(KNOWN), "the appendix has one of its own"


@pytest.mark.parametrize("number", KNOWN)
def test_the_papers_of_one_are_those_of_its_claims_and_set_ups(number: str) -> None:
    named = set(re.findall(r"\b[A-E](?=, )", KNOWN[number].where))
    of_claims = {claim.paper for claim in ledger.load().claims if number in claim.experiments} & set(PAPERS)
    assert named == of_claims
    setups = deviations.setups(BOOK / "setups.yml").values()
    assert {paper for setup in setups for paper, numbers in setup.of.items() if number in numbers} <= named


def test_a_line_has_its_chapters_and_its_claims() -> None:
    (line,) = (line for line in experiments.page().splitlines() if line.startswith("| R08 |"))
    chapter, claims = line.strip("| ").split(" | ")[-2:]
    assert chapter == "[chapter 3](/notebooks/03_overlap)"
    found = sorted(claim.id for claim in ledger.load().claims if "R08" in claim.experiments)
    assert found and re.findall(r">([A-Z]-\d+)<", claims) == found


def test_a_line_without_a_place_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "experiments.yml"
    path.write_text("R01: {asks: why}\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"experiments\.yml: .*where"):
        experiments.experiments(path)
