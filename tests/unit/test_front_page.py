"""The front page: its numbers come from the records, and its marks are filled or named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xling_utils.book import front_page, ledger_page, rendering
from xling_utils.chapters import records
from xling_utils.chapters.overlap.plan import FAKE, PERMUTED
from xling_utils.claims import ledger
from xling_utils.claims.verdicts import DECIDED
from xling_utils.core.errors import UserError

INTRO = Path(__file__).parents[2] / "book/intro.md"
CLAIM = r'<a href="ledger\.html#claim-([\w-]+)">\1</a>'


def test_what_is_left_is_a_share_of_what_is_above_chance() -> None:
    """Seeds take the partner of English in turn, and each partner counts alike."""
    rows = records.load("03_overlap", "controlled")
    rows = rows[(rows["task"] == "word retrieval") & (rows["layer"] == 1) & rows["step"].isna()]

    def over_partners(condition: str, metric: str) -> float:
        found = rows[(rows["condition"] == condition) & (rows["metric"] == metric)]
        return float(found.groupby("target")["value"].mean().mean())

    chance = over_partners(FAKE, "chance")
    share = (over_partners(PERMUTED[1.0], "mrr_centred") - chance) / (over_partners(FAKE, "mrr_centred") - chance)
    (found,) = (found for lesson, found in front_page.left("controlled") if lesson.taken == front_page.ORDER)
    assert found.n == rows["seed"].nunique() and found.value == pytest.approx(share, rel=1e-3)
    assert front_page.values()["left word order"] == f"{100 * share:.0f}\N{NO-BREAK SPACE}%"
    assert front_page.values()["left word order low"] < front_page.values()["left word order high"]


def test_the_two_worlds_agree_as_far_as_the_page_says() -> None:
    (points,) = re.findall(r"differs by (\w+) points at most", INTRO.read_text(encoding="utf-8"))
    worlds = [{lesson.taken: kept.value for lesson, kept in front_page.left(scale)} for scale in front_page.SCALES]
    others = set(worlds[0]) - {front_page.LITTLE_TEXT, front_page.LITTLE_TRAINING}
    apart = max(abs(worlds[0][taken] - worlds[1][taken]) for taken in others)
    assert points == "eleven" and 0.10 < apart < 0.11
    least = [set(sorted(world, key=world.__getitem__)[:4]) for world in worlds]
    caption = {front_page.LITTLE_TRAINING, front_page.ORDER, front_page.SENTENCES, front_page.PARAMETERS}
    assert least == [caption, caption]


def test_every_mark_of_the_page_is_filled() -> None:
    page = INTRO.read_bytes()
    drawn = [name.encode() for name in front_page.FIGURES]
    assert re.findall(rb"<!-- fill: figure (.*) -->", page) == [*drawn, b"verdicts"], "as they are numbered"
    filled = rendering.filled(page).decode()
    assert "<!-- fill" not in filled and "<!-- value" not in filled
    assert filled.count('class="output vega-chart"') == len(drawn)
    assert re.findall(r"Figure (\d) </span>", filled) == [str(number + 1) for number in range(len(drawn) + 1)]
    assert filled.count("vega-bundle.js") == 1, "the page loads the scripts of its charts once"
    assert front_page.values()["left shared parameters"] in filled


def test_a_value_that_nothing_gives_is_named() -> None:
    with pytest.raises(UserError, match=r"nothing gives the value 'left word ordre' .*: 'left word order'"):
        rendering.filled(b"It is 9<!-- value: left word ordre --> of it.")
    for unknown in (b"ledger pge", b"ledger left_out"):
        with pytest.raises(UserError, match=f"nothing fills the mark '{unknown.decode()}'"):
            rendering.filled(b"So:\n\n<!-- fill: " + unknown + b" -->\n")


def test_each_answer_rests_on_decided_claims() -> None:
    """Each numbered answer links to claims, and each of these is decided in the controlled world."""
    section = INTRO.read_text(encoding="utf-8").split("## The answer")[1].split("\n## ")[0]
    answers = re.split(r"^\d\. ", section, flags=re.MULTILINE)[1:]
    verdicts = {finding.claim.id: finding.verdict for finding in ledger.findings("controlled")}
    assert len(answers) == 6
    claims = [re.findall(CLAIM, answer.split("\n\n")[0]) for answer in answers]
    for named in claims:
        assert named and all(verdicts[claim] in DECIDED for claim in named), named
    real = {finding.claim.id: finding.verdict for finding in ledger.findings("natural")}
    (but,) = re.findall(r"points 1 to 6\s(.*?) are not decided there, and four hold in part", section, re.DOTALL)
    behind = [claim for named in claims for claim in named]
    assert re.findall(CLAIM, but) == [claim for claim in behind if real[claim] not in DECIDED]
    assert [real[claim] for claim in behind].count("holds in part") == 4


def test_claims_that_oppose_each_other_in_both_worlds_are_named() -> None:
    found = ledger_page.in_both_worlds()
    verdicts = {finding.claim.id: {finding.verdict} for finding in ledger.findings("controlled")}
    for finding in ledger.findings("natural"):
        verdicts[finding.claim.id].add(finding.verdict)
    assert 20 < len(found["alike"]) < len(found["decided"])
    assert all(len(verdicts[name]) == 1 and verdicts[name] <= {*DECIDED} for name in found["alike"])
    assert all(verdicts[name] == {"holds", "does not hold"} for name in found["opposed"])
    rest = set(found["decided"]) - {*found["alike"], *found["opposed"]}
    assert all("holds in part" in verdicts[name] for name in rest), "as the page says of the rest"
    (sentence,) = re.findall(
        r"claims opposed in both worlds -->(.*?)\.\s", INTRO.read_text(encoding="utf-8"), re.DOTALL
    )
    assert re.findall(r"#claim-([A-Z]-\d+)", sentence) == found["opposed"]
