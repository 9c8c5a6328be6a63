"""The ledger: claims as data, findings on the committed rows, what chapters, terminal and page show of them."""

import html
import json
import re
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from xling_utils import chapters
from xling_utils.book import ledger_page
from xling_utils.chapters import MODULES, columns, records
from xling_utils.charts import tables
from xling_utils.claims import ledger, listing, replication
from xling_utils.claims.predicates import names_in
from xling_utils.claims.verdicts import OPEN, REPRODUCED, UNTESTED
from xling_utils.core.errors import UserError

ROOT = Path(__file__).parents[2]
EXPERIMENTS = {f"R{n:02}" for n in range(1, 34)}


@pytest.fixture(scope="module")
def listed() -> list[dict]:
    return listing.as_json()


def test_five_papers_and_all_experiments(listed: list[dict]) -> None:
    of_papers = [claim for claim in listed if claim["paper"] not in ledger_page.OTHERS]
    assert len(of_papers) >= 60
    assert {claim["paper"] for claim in of_papers} == set("ABCDE")
    assert {e for claim in of_papers for e in claim["experiments"]} == EXPERIMENTS


def test_every_claim_has_a_verdict_or_a_reason_at_every_scale(listed: list[dict]) -> None:
    for claim in listed:
        for scale, found in claim["scales"].items():
            if found["verdict"] == UNTESTED:
                assert found["reason"], (claim["id"], scale)
                continue
            for test in found["tests"]:
                assert test["n"] >= 1 and test["value"] is not None, (claim["id"], scale)
                assert (test["low"] is None) == (test["n"] == 1), (claim["id"], scale)
    json.dumps(listed, allow_nan=False)


def test_all_but_a_few_claims_are_tested_in_the_controlled_world(listed: list[dict]) -> None:
    of_papers = [claim for claim in listed if claim["paper"] in ledger_page.PAPERS]
    untested = {claim["id"]: claim["scales"]["controlled"].get("reason") for claim in of_papers}
    untested = {name: reason for name, reason in untested.items() if reason}
    assert len(untested) <= 8, untested


def test_figures_of_claims_are_figures_of_their_chapters() -> None:
    known = ledger.load()
    for claim in known.claims:
        text = (ROOT / "notebooks" / f"{claim.chapter}.py").read_text(encoding="utf-8")
        for scale in ("controlled", "natural"):
            if scale == "natural" and claim.figure not in known.natural_figures:
                continue
            assert f'"name": "{known.figure(claim, scale)}"' in text, claim.id


def test_a_claim_speaks_only_of_selections_it_makes() -> None:
    known = ledger.load()
    for claim in known.claims:
        assert claim.tests and claim.theirs
        for test, measure in product(claim.tests, claim.measured or ("",)):
            assert names_in(test) <= set(known.selections(claim, measure)), claim.id


def test_what_a_guess_has_is_selected_where_a_claim_is_measured() -> None:
    known = ledger.load()
    claim = next(claim for claim in known.claims if claim.id == "C-15")
    made = {measure: known.selections(claim, measure)["separate_third_guess"] for measure in claim.measured}
    assert [(where["task"], where["metric"]) for where in made.values()] == [
        ("word retrieval", "mrr_shuffled"), ("NLI", "majority"), ("NER", "random"),
    ]  # fmt: skip
    assert {where["level"] for where in made.values()} == {"bottom third"}
    values = {("base", "mrr_centred"): 0.5, ("bottom third", "mrr_centred"): 0.3}
    values |= {(level, "mrr_shuffled"): 0.1 for level in ("base", "bottom third")}
    rows = [
        {"task": "word retrieval", "metric": metric, "level": level, "factor": "separate" if level != "base" else level,
         "source": "en", "target": "fr", "layer": 1.0, "run": f"{level} {seed}", "seed": seed, "value": value}
        for (level, metric), value in values.items() for seed in (1, 2)
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=list(columns("04_architecture")))
    found = next(f for f in known.test({"04_architecture": table}, "controlled") if f.claim.id == "C-15")
    assert [(part.measure, part.interval.value) for part in found.parts] == [
        ("retrieval", pytest.approx(0.2 - 0.667 * 0.4))
    ]


def test_the_table_of_a_chapter() -> None:
    live = records.load("03_overlap", "controlled")
    live = live[live["seed"] == 11]
    shown = listing.table("03_overlap", "controlled", live)
    assert list(shown.columns) == ["id", "claim", "test", "recorded", "this machine", "verdict"]
    assert (shown["id"] != "").sum() >= 15 and shown["this machine"].str.endswith("(1)").all()
    alone = listing.table("03_overlap", "controlled", live, recorded=False)
    assert set(alone["verdict"]) == {listing.WORDS[OPEN], ""}
    natural = listing.table("03_overlap", "natural", live[:0], languages=["fr", "ru"])
    assert {"French", "Russian"} < set(natural.columns)
    nothing = pd.DataFrame(columns=list(columns("03_overlap")))
    assert listing.table("03_overlap", "smoke", nothing).empty


def test_the_page_escapes_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    page = ledger_page.page()
    assert page.count("<article") == len(ledger.load().claims)
    for claim in ledger.load().claims:
        assert html.escape(claim.claim) in page
    bars = ledger_page.summary()
    for paper in "ABCDE":
        assert re.search(rf'aria-label="{paper}: \d+ ', bars)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("claims: [", "claims.yml"),
        ("claims: []", "measures"),
        ("measures: {}\nguesses: {}\nnatural_figures: {}\nclaims: [{id: Z-1}]", "claim Z-1"),
        ("measures: {}\nguesses: {}\nnatural_figures: {}\nclaims: [7]", "claim 7"),
        ("measures: {x: 7}\nguesses: {}\nnatural_figures: {}\nclaims: []", "measure 'x'"),
        ("measures: {}\nguesses: {x: [y]}\nnatural_figures: {}\nclaims: []", "measure 'x'"),
        ("\x00", "claims.yml"),
    ],
)
def test_a_broken_file_is_named(text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "book").mkdir()
    (tmp_path / "_toc.yml").write_text("root: book/intro")
    (tmp_path / "book/claims.yml").write_text(text)
    monkeypatch.setattr(ledger, "checkout", lambda what: tmp_path)
    with pytest.raises(UserError, match=said):
        ledger.load()


def entry(**changes: object) -> dict:
    test = {"quantity": "x", "above": 0}
    given = {"id": "Z-1", "paper": "A", "where": "", "chapter": "01_data_size", "experiments": [], "figure": "",
             "claim": "", "theirs": "", "of": {"x": {}}, "tests": [test]}  # fmt: skip
    return given | changes


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"chapter": "99_none"}, "unknown chapter '99_none'"),
        ({"measured": ["taste"]}, "unknown measure 'taste'"),
        ({"tests": [{"quantity": "x"}]}, "takes one of above, below and within"),
        ({"tests": [{"quantity": "x", "above": 0, "below": 1}]}, "takes one of above, below and within"),
        ({"colour": 1}, "colour"),
    ],
)
def test_a_broken_claim_is_named(changes: dict, said: str) -> None:
    with pytest.raises(UserError, match=said):
        ledger._claim(entry(**changes), {}, Path("claims.yml"))


def test_a_seed_that_repeats_the_others_repeats_the_verdicts() -> None:
    rows = {}
    for chapter in MODULES:
        table = records.load(chapter, "controlled")
        if len(table):
            rows[chapter] = table[table["seed"] == 12].assign(seed=99)
    found = replication.check(rows)
    repeated, of = replication.share(found)
    assert of > 100 and repeated / of >= 0.9
    decided = found[found["verdict"] == REPRODUCED]
    assert len(decided) and decided["new"].notna().all()
    turned = {chapter: table.assign(value=-table["value"]) for chapter, table in rows.items()}
    assert replication.share(replication.check(turned))[0] < repeated


def test_a_language_is_judged_with_the_english_of_its_own_encoders() -> None:
    chapter = "04_architecture"
    rows = records.load(chapter, "natural")
    french = rows[rows["run"].isin(rows.loc[rows["target"] == "fr", "run"]) & rows["target"].isin(["en", "fr"])]
    own = ledger.load().test({chapter: french}, "natural")
    expected = {part.text: listing.short(part) for finding in own for part in finding.parts}
    shown = listing.table(chapter, "natural", rows[:0], languages=["fr"]).dropna(subset="French")
    assert len(shown) > 30 and shown["test"].str.contains("English").any()
    assert shown["French"].tolist() == [expected[test] for test in shown["test"]]


def test_a_new_seed_is_compared_in_what_is_recorded() -> None:
    recorded = records.load("01_data_size", "controlled")
    same = recorded[recorded["seed"] == 11].assign(seed=99)
    german, vectors = same[same["target"] == "hi"].assign(target="de"), same[same["model"] == "GloVe"].copy()
    vectors["target"] = vectors["target"].replace("fr", "hi")
    more = pd.concat([same, german, vectors[vectors["target"] == "hi"]], ignore_index=True)
    assert len(same) < len(same) + len(german) < len(more)
    found, expected = (replication.check({"01_data_size": rows})["new"] for rows in (more, same))
    assert found.notna().sum() > 10
    pd.testing.assert_series_equal(found, expected)


def test_a_used_seed_is_refused() -> None:
    for seed in (1, 11, -3):
        with pytest.raises(UserError, match="was used before"):
            replication.measure(seed)


def test_a_claim_stands_above_its_tests() -> None:
    frame = listing.table("02_window_size", "controlled", chapters.empty("02_window_size"))
    shown = tables.of_claims(frame).data
    assert shown.count('<tr class="claim">') == shown.count("<tbody>") == (frame["id"] != "").sum()
    assert shown.count('<td data-of="recorded">') == shown.count('<td data-of="test">') == len(frame)
    assert 'colspan="2"' in shown
    first = frame.iloc[0]
    assert f'{html.escape(first["claim"])} <span class="claim-verdict">{first["verdict"]}</span>' in shown
