"""The front page: its numbers come from the records, and its marks are filled or named."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from xling_utils.book import front_page, rendering
from xling_utils.chapters import records
from xling_utils.chapters.overlap.plan import FAKE, PERMUTED
from xling_utils.claims import ledger
from xling_utils.claims.verdicts import DECIDED
from xling_utils.core.errors import UserError

INTRO = Path(__file__).parents[2] / "book/intro.md"


def test_what_is_left_is_the_mean_over_seeds_of_what_is_above_chance() -> None:
    table = records.load("03_overlap", "controlled")
    layer = table[(table["task"] == "word retrieval") & (table["layer"] == 1) & (table["target"] == "fr")]
    rows = layer[layer["step"].isna() & layer["part_of_speech"].isna()] if "part_of_speech" in layer else layer

    def by_seed(condition: str, metric: str) -> np.ndarray:
        found = rows[(rows["condition"] == condition) & (rows["metric"] == metric)]
        return found.groupby("seed")["value"].mean().to_numpy()

    chance = by_seed(FAKE, "chance")
    share = (by_seed(PERMUTED[1.0], "mrr_centred") - chance) / (by_seed(FAKE, "mrr_centred") - chance)
    (found,) = (found for lesson, found in front_page.left("controlled") if lesson.taken == front_page.ORDER)
    assert found.n == len(share) and found.value == pytest.approx(share.mean(), rel=1e-4)
    assert front_page.values()["left word order"] == f"{100 * share.mean():.0f}\N{NO-BREAK SPACE}%"


def test_every_mark_of_the_page_is_filled() -> None:
    page = INTRO.read_bytes()
    assert set(re.findall(rb"<!-- fill: figure (.*) -->", page)) == {name.encode() for name in front_page.FIGURES}
    filled = rendering.filled(page).decode()
    assert "<!-- fill" not in filled and "<!-- value" not in filled
    assert filled.count('class="output vega-chart"') == len(front_page.FIGURES)
    assert filled.count("vega-bundle.js") == 1, "the page loads the scripts of its charts once"
    for name in ("left shared parameters", "converted"):
        assert front_page.values()[name] in filled


def test_a_value_that_nothing_gives_is_named() -> None:
    with pytest.raises(UserError, match=r"nothing gives the value 'left nothing' of a page; known: .*left word order"):
        rendering.filled(b"It is 9<!-- value: left nothing --> of it.")


def test_each_answer_rests_on_decided_claims() -> None:
    """Each numbered answer links to claims, and each of these is decided in the controlled world."""
    section = INTRO.read_text(encoding="utf-8").split("## The answer")[1].split("\n## ")[0]
    answers = re.split(r"^\d\. ", section, flags=re.MULTILINE)[1:]
    verdicts = {finding.claim.id: finding.verdict for finding in ledger.findings("controlled")}
    assert len(answers) == 5
    for answer in answers:
        named = re.findall(r'<a href="ledger\.html#claim-([\w-]+)">\1</a>', answer.split("\n\n")[0])
        assert named and all(verdicts[claim] in DECIDED for claim in named), (named, answer)
