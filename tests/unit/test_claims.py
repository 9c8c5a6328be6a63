"""The ledger: claims as data, findings on the committed rows, what chapters, terminal and page show of them."""

import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape
from scipy.stats import ttest_1samp

from xling_utils.book import ledger_page
from xling_utils.chapters import MODULES, columns, opened, records
from xling_utils.charts import tables
from xling_utils.claims import ledger, listing, plan, power, reading, replication, testing
from xling_utils.claims.predicates import Predicate, Sample, names_in
from xling_utils.claims.verdicts import (
    DECIDED,
    FAILS,
    HOLDS,
    IN_PART,
    OPEN,
    POWER,
    UNTESTABLE,
    UNTESTED,
    VERDICTS,
    margin,
    part,
)
from xling_utils.core.errors import UserError
from xling_utils.core.specs import LANGUAGES

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
            if found["verdict"] in (UNTESTED, UNTESTABLE):
                assert found["reason"], (claim["id"], scale)
                continue
            for test in found["tests"]:
                assert test["n"] >= 1 and test["value"] is not None, (claim["id"], scale)
                assert (test["low"] is None) == (test["n"] == 1), (claim["id"], scale)
    json.dumps(listed, allow_nan=False)


def test_no_claim_is_tested_on_runs_of_an_earlier_recipe() -> None:
    for scale, chapter in product(("controlled", "natural"), MODULES):
        found = [finding for finding in ledger.findings(scale) if finding.claim.chapter == chapter]
        if records.of_earlier_recipe(chapter, scale):
            assert {finding.verdict for finding in found} == {UNTESTED}, (chapter, scale)
        elif found and len(records.load(chapter, scale)):
            assert {finding.verdict for finding in found} - {UNTESTED}, (chapter, scale)


def test_all_but_a_few_claims_are_tested_in_the_controlled_world(listed: list[dict]) -> None:
    of_papers = [claim for claim in listed if claim["paper"] in ledger_page.PAPERS]
    found = {claim["id"]: claim["scales"]["controlled"] for claim in of_papers}
    untested = {name: each["reason"] for name, each in found.items() if each["verdict"] == UNTESTED}
    assert len(untested) <= 11, untested


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
    found = next(f for f in known.test({"04_architecture": table}, "controlled", alone=True) if f.claim.id == "C-15")
    assert [(part.measure, part.interval.value) for part in found.parts] == [
        ("retrieval", pytest.approx(0.2 - 0.667 * 0.4))
    ]


def of_two_conditions(**scores: tuple[float, float]) -> pd.DataFrame:
    """Rows of chapter 3, inference alone, of five seeds whose scores (mean, scatter) do not depend on one another."""
    shapes = {"default": (-1.0, -0.5, 0.0, 0.5, 1.0), "Fake-English": (0.4, -0.9, 1.0, -0.6, 0.1)}
    rows = [
        {"task": "NLI", "metric": metric, "condition": condition, "source": "en", "target": "fr", "layer": None,
         "run": f"{condition} {seed}", "seed": seed,
         "value": mean + scatter * deviation if metric == "accuracy" else 1 / 3}
        for condition, (mean, scatter) in zip(shapes, scores.values(), strict=True)
        for seed, deviation in enumerate(shapes[condition], 11)
        for metric in ("accuracy", "majority")
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(columns("03_overlap")))


def test_a_claim_on_its_floor_is_not_testable() -> None:
    known = ledger.load()
    needed = {**known.needs, "inference": ["E-01"]}  # Fake-English is above a guess

    def of(claim: str, **scores: tuple[float, float]) -> testing.Finding:
        found = replace(known, needs=needed).test({"03_overlap": of_two_conditions(**scores)}, "controlled", alone=True)
        return next(finding for finding in found if finding.claim.id == claim)

    able = of("C-07", default=(0.6, 0.01), fake=(0.5, 0.01))
    assert able.verdict == UNTESTED and "separate" in able.reason
    small = of("E-02", default=(0.60, 0.002), fake=(0.595, 0.002))
    assert small.verdict == IN_PART and small.criteria["Holm"] == IN_PART
    assert [part.measure for part in small.parts] == ["inference"] and len(small.without) == 2
    assert listing.verdict(small) == "holds in part (1 of 3 tests)"
    floor = of("E-02", default=(0.34, 0.03), fake=(0.333, 0.03))
    assert floor.verdict == UNTESTABLE and not floor.parts
    assert floor.reason == "on its floor, or without room: E-01: inference: Fake - Fake guess > 0 is not shown"
    assert listing.verdict(floor) == "not testable at this size"


def test_what_a_claim_needs_of_a_chapter_without_rows_is_not_known() -> None:
    rows = {"03_overlap": of_two_conditions(default=(0.60, 0.002), fake=(0.595, 0.002))}
    whole, alone = (ledger.load().test(rows, "controlled", alone=alone) for alone in (False, True))
    found, other = (next(each for each in made if each.claim.id == "E-02") for made in (whole, alone))
    assert found.verdict == UNTESTED and "room above its floor is not known: K-11: not recorded" in found.reason
    assert other.verdict == IN_PART and listing.verdict(other) == "holds in part (1 of 3 tests); K-11 not asked"


def test_a_floor_that_is_known_is_said_before_one_that_is_not() -> None:
    known = ledger.load()
    needed = replace(known, needs={**known.needs, "inference": ["K-11", "E-01"]})  # the first is of chapter 1
    rows = {"03_overlap": of_two_conditions(default=(0.34, 0.03), fake=(0.333, 0.03))}
    found = next(each for each in needed.test(rows, "controlled") if each.claim.id == "E-02")
    assert found.verdict == UNTESTABLE and "E-01" in found.reason and "K-11" not in found.reason


def test_what_is_needed_is_recorded_wherever_it_is_asked() -> None:
    for scale in ("controlled", "natural"):
        missing = {finding.reason for finding in ledger.findings(scale) if "not recorded" in finding.reason}
        assert not [reason for reason in missing if "floor" in reason], scale


def test_what_matters_is_of_the_metric_unless_the_test_says_so() -> None:
    known = ledger.load()
    claims = {claim.id: claim for claim in known.claims}
    assert known.matter(claims["D-14"], claims["D-14"].tests[0], "", "natural") == known.matters["accuracy"]
    assert known.matter(claims["E-04"], claims["E-04"].tests[0], "retrieval", "natural") == 0.01
    assert known.matter(claims["E-02"], claims["E-02"].tests[0], "inference", "natural") == 0  # a tenth is what matters
    assert known.matter(claims["A-22"], claims["A-22"].tests[0], "", "natural") == 0  # a bound of its own


def test_more_is_said_of_a_verdict_beside_its_numbers() -> None:
    found = {finding.claim.id: finding for finding in ledger.findings("controlled")}
    verdicts = {name: finding.verdict for name, finding in found.items()}
    said = {name: " ".join(listing.remarks(finding)) for name, finding in found.items()}
    for name, finding in found.items():
        if verdicts[name] == OPEN and any(part.interval.n > 1 and part.scatter for part in finding.parts):
            assert "Would have been seen" in said[name] and "seeds would decide it" in said[name], name
        if verdicts[name] == finding.criteria.get("Holm") == HOLDS:
            items = {part.test.over for part in finding.parts} - {None}
            assert ("of these" if items else "Beyond doubt") in said[name], name
    counts = ledger_page.criteria()
    of_controlled = [finding.criteria["Benjamini-Hochberg"] for finding in found.values() if finding.criteria]
    shown = re.findall(r"<td[^>]*>(\d+)</td>", counts.split("Benjamini-Hochberg")[1].split("</tr>")[0])
    assert [int(n) for n in shown] == [of_controlled.count(verdict) for verdict in ledger_page.COUNTED]


def test_seeds_that_a_claim_takes_are_those_that_decide_it() -> None:
    known = ledger.load()

    def of(mean: float, scatter: float) -> int | None:
        rows = of_two_conditions(default=(0.6, 0.0), fake=(mean, scatter))
        found = next(f for f in known.test({"03_overlap": rows}, "controlled", alone=True) if f.claim.id == "E-01")
        assert [part.measure for part in found.parts] == ["inference"]
        return power.seeds(replace(found, levels=(0.05, 0.05)))

    assert of(0.40, 0.05) > of(0.45, 0.05) > of(0.45, 0.02) >= 2
    assert of(1 / 3 + 0.02, 10.0) is None
    expected = TTestPower().fewest(effect=(0.45 - 1 / 3) / stdev(of_two_conditions(default=(0, 0), fake=(0.45, 0.05))))
    assert of(0.45, 0.05) == expected


class TTestPower:
    """Power by simulation: an independent peer of the noncentral t."""

    def fewest(self, effect: float) -> int:
        rng = np.random.default_rng(0)
        for n in range(2, 200):
            draws = rng.normal(effect, 1, (20_000, n))
            if (ttest_1samp(draws, 0, axis=1, alternative="greater").pvalue <= 0.025).mean() >= POWER:
                return n
        raise AssertionError(effect)


def stdev(rows: pd.DataFrame) -> float:
    own = rows[(rows["condition"] == "Fake-English") & (rows["metric"] == "accuracy")]
    return float(own["value"].std())


def test_an_equivalence_takes_both_bounds() -> None:
    kept = part(Predicate("x", within=0.02), "", Sample((0.05, -0.05, 0.05, -0.05), "seeds"))
    distance = margin(kept.test, kept.interval.value)
    n = int(power._fewest(distance, kept, 0.05, power._farther(distance, kept)))
    assert n > power._fewest(distance, kept, 0.05)
    draws = np.random.default_rng(0).normal(0, kept.scatter, (20_000, n))
    sides = (
        ttest_1samp(draws, bound, axis=1, alternative=side).pvalue
        for bound, side in ((-0.02, "greater"), (0.02, "less"))
    )
    shown = np.logical_and(*(p <= 0.025 for p in sides)).mean()
    assert POWER - 0.015 < shown < POWER + 0.03


def test_what_could_have_been_seen_counts_the_tests_of_a_claim() -> None:
    values = Sample((0.05, -0.01, 0.02, 0.04, 0.01), "seeds")
    above, within = (part(test, "", values) for test in (Predicate("x", above=0), Predicate("x", within=0.1)))
    finding = replace(ledger.findings("natural")[0], parts=(above, within), levels=(0.04, 0.02))
    assert [listing._seen(told, finding) for told in finding.parts] == [above.seen(0.02), within.seen(0.01)]
    assert above.seen(0.02) > above.seen(0.04), "one of two tests has to lie farther away than a test alone"


def test_seeds_that_take_languages_in_turn_are_more_than_the_languages() -> None:
    values, languages = (0.31, 0.30, 0.12, 0.11), ("fr", "fr", "hi", "hi")
    by_language = part(Predicate("x", above=0), "", Sample(values, "seeds", languages))
    alike = part(Predicate("x", above=0), "", Sample(tuple(v - 0.19 * (v > 0.2) for v in values), "seeds"))
    assert by_language.scatter == pytest.approx(0.00707, abs=1e-4)
    assert power._fewest(1.0, by_language, 0.05) == 3 and power._fewest(1.0, alike, 0.05) == 2


def test_the_more_seeds_the_more_is_decided() -> None:
    rows = re.findall(r"<tr>((?:<td[^>]*>[^<]*</td>)+)</tr>", ledger_page.power())
    assert len(rows) == len(ledger_page.SHOWN)
    for row in rows:
        _, claims, *decided = re.findall(r"<td[^>]*>([^<]*)</td>", row)
        counts = [int(count) for count in decided]
        assert counts == sorted(counts) and 0 < counts[0] < counts[-1] <= int(claims)


def test_what_seeds_cost_is_what_their_runs_took() -> None:
    made = {plan.finding.claim.id: plan for plan in power.plans("natural")}
    plan = made["D-03"]
    runs = records.provenance("05_language_means", "natural")
    assert 0 < plan.hours <= runs["seconds"].sum() / plan.recorded / 3600
    assert plan.cost == pytest.approx(plan.seeds * plan.hours)
    lines = power.lines(made.values())
    costs = [float(line["core-hours"]) for line in lines if line["core-hours"]]
    assert len(lines) == len(made) and costs == sorted(costs)


def test_the_table_of_a_chapter() -> None:
    live = records.load("03_overlap", "controlled")
    live = live[live["seed"] == 31]
    shown = listing.table("03_overlap", "controlled", live)
    assert list(shown.columns) == ["id", "paper", "claim", "test", "recorded", "this machine", "effect", "verdict"]
    assert (shown["id"] != "").sum() >= 15 and shown["this machine"].dropna().str.endswith("(1)").all()
    without = shown[shown[["recorded", "this machine"]].isna().all(axis=1)]
    assert set(without["verdict"]) <= {"not testable at this size"} and without["test"].str.startswith("on its").all()
    assert not without["effect"].any()
    alone = listing.table("03_overlap", "controlled", live, recorded=False)
    assert {OPEN, ""} <= set(alone["verdict"].str.split(r" \(|;").str[0]) <= {OPEN, UNTESTABLE, ""}
    assert alone["verdict"].str.endswith("; K-10, K-11 not asked").any(), "what chapter 1 would have to show"
    natural = listing.table("06_mds", "natural", records.load("06_mds", "natural")[:0], languages=["fr", "ru"])
    assert {"French", "Russian"} < set(natural.columns)
    floor = natural[natural["verdict"] == UNTESTABLE]
    assert len(floor) and floor[["recorded", "French", "Russian"]].isna().all(axis=None), "a gate's numbers, as results"
    nothing = pd.DataFrame(columns=list(columns("03_overlap")))
    assert listing.table("03_overlap", "smoke", nothing).empty


def test_the_page_escapes_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    page = ledger_page.page()
    assert page.count("<article") == len(ledger.load().claims)
    assert page.count("<details>") == page.count("<article")
    for claim in ledger.load().claims:
        assert escape(tables.prose(claim.claim)) in page
    bars = ledger_page.summary()
    for paper in "ABCDE":
        assert re.search(rf'aria-label="{paper}: \d+ ', bars)
    decided = [sum(each.verdict in DECIDED for each in ledger.findings(scale)) for scale in ("controlled", "natural")]
    assert f"{decided[0]} are decided in the controlled world and {decided[1]} on real text." in bars


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("claims: [", "not YAML"),
        ("claims: []", "'measures' is missing"),
        ("\x00", "not YAML"),
    ],
)
def test_a_broken_file_is_named(text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "book").mkdir()
    (tmp_path / "_toc.yml").write_text("root: book/intro")
    (tmp_path / "book/claims.yml").write_text(text)
    monkeypatch.setattr(ledger, "checkout", lambda what: tmp_path)
    with pytest.raises(UserError, match=f"claims.yml: {said}"):
        ledger.load()


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"claims": [{"id": "Z-1"}]}, "claim Z-1: 'paper' is missing"),
        ({"claims": [7]}, "claim 7: Input should be an object"),
        ({"measures": {"x": 7}}, "'measures.x': .* where 7 stands"),
        ({"guesses": {"x": ["y"]}}, "'guesses.x': "),
        ({"needs": {"": [["A-01"]]}}, "'needs..0': "),
        ({"needs": ["A-01"]}, "'needs': "),
        ({"matters": {"mrr": "much"}}, "'matters.mrr"),
        ({"colours": {}}, "unknown field 'colours'"),
        ({"natural_figures": {"x": "\ud800"}}, "not YAML .*invalid Unicode character"),
    ],
)
def test_a_broken_part_is_named(part: dict, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"claims.yml: {said}"):
        reading.claims(written(tmp_path, **{"claims": [], **part}))


def test_sound_claims_are_read(tmp_path: Path) -> None:
    assert [claim["id"] for claim in reading.claims(written(tmp_path, [entry()]))["claims"]] == ["Z-1"]
    with pytest.raises(UserError, match="two claims have the id Z-1"):
        reading.claims(written(tmp_path, [entry(), entry()]))


def written(folder: Path, claims: list[dict], **parts: object) -> Path:
    whole = {"measures": {}, "guesses": {}, "needs": {}, "matters": {"mrr": 0.1}, "natural_figures": {}}
    path = folder / "claims.yml"
    path.write_text(json.dumps(whole | {"claims": claims} | parts))
    return path


def entry(**changes: object) -> dict:
    test = {"quantity": "x", "above": 0}
    given = {"id": "Z-1", "paper": "A", "where": "", "chapter": "01_data_size", "experiments": [], "figure": "",
             "claim": "", "theirs": "", "of": {"x": {"metric": "mrr"}}, "tests": [test]}  # fmt: skip
    return given | changes


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"chapter": "99_none"}, "unknown chapter '99_none'"),
        ({"measured": ["taste"]}, "unknown measure 'taste'"),
        ({"tests": [{"quantity": "x"}]}, "takes one of above, below and within"),
        ({"tests": [{"quantity": "x", "above": 0, "below": 1}]}, "takes one of above, below and within"),
        ({"tests": [{"quantity": "x", "above": "0"}]}, "'tests.0.above'.* where '0' stands"),
        ({"tests": [{"quantity": "x - y", "above": 0}]}, "no selection is named 'y'"),
        ({"tests": [{"quantity": ["x"], "above": 0}]}, "'tests.0.quantity'"),
        ({"tests": [{"quantity": "x, x", "above": 0, "over": ["layer"]}]}, "'tests.0.over'"),
        ({"of": ["x"]}, "'of'"),
        ({"of": {"x": [1]}}, "'of.x'"),
        ({"of": {"x": {"n": 10**30}}}, "'of.x.n"),
        ({"of": {"x": {"metric": "mrr", "chapter": ["01_data_size"]}}}, "unknown chapter"),
        ({"of": {"x": {"metric": "f7"}}}, "what matters in 'f7' is not said"),
        ({"needs": ["Z-2"]}, "it needs 'Z-2', which is no claim"),
        ({"untested": [1]}, "'untested'"),
        ({"colour": 1}, "unknown field 'colour'"),
    ],
)
def test_a_broken_claim_is_named(changes: dict, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"claims.yml: claim Z-1: .*{said}"):
        reading.claims(written(tmp_path, [entry(**changes)]))


@pytest.mark.parametrize("change", [{"tests": ()}, {"claim": "Another."}, {"id": "Z-1"}, {"needs": ("K-01",)}])
def test_a_claim_that_was_changed_after_the_plan_says_so(change: dict) -> None:
    known, path = ledger.load(), ledger.root() / "book" / plan.FILE
    plan.check(known, path)
    frozen = next(claim for claim in known.claims if not claim.changed and not claim.needs)
    changed = replace(frozen, **change)
    with pytest.raises(UserError, match=f"claim {changed.id} is not what plan.yml froze"):
        plan.check(replace(known, claims=(changed,)), path)
    plan.check(replace(known, claims=(replace(changed, changed="1 December 2026: misread"),)), path)
    anew = next(claim for claim in known.claims if claim.chapter == "10_distance")  # locked, though it says "changed"
    with pytest.raises(UserError, match=f"claim {anew.id} is not what plan.yml froze"):
        plan.check(replace(known, claims=(replace(anew, tests=()),)), path)
    stricter = replace(known, matters={**known.matters, "mrr": 0.5})
    with pytest.raises(UserError, match="is not what"):
        plan.check(stricter, path)


def test_every_bound_is_frozen_and_its_direction() -> None:
    known, turned = ledger.load(), {"above": "below", "below": "above"}
    for claim in known.claims:
        asked = plan.asked(known, claim)
        for number, test in enumerate(claim.tests):
            given = vars(test)
            bound, value = next((name, given[name]) for name in (*turned, "within") if given[name] is not None)
            others = [replace(test, **{bound: value + 1e-9})]
            if bound in turned:
                others.append(replace(test, **{bound: None, turned[bound]: value}))
            for other in others:
                tests = (*claim.tests[:number], other, *claim.tests[number + 1 :])
                assert plan.asked(known, replace(claim, tests=tests)) != asked, (claim.id, other)


def test_a_seed_that_repeats_the_others_repeats_the_verdicts() -> None:
    rows = {}
    for chapter in MODULES:
        table = records.load(chapter, "controlled")
        if len(one := table[table["seed"] == 31]):  # which alone has room wherever a claim asks for it
            rows[chapter] = one.assign(seed=99)
    found = replication.check(rows)
    repeated, of = replication.share(found)
    assert of > 50 and repeated / of >= 0.9
    assert len(replication.fragile(found)) == of - repeated
    by_itself = replication.power([31])
    assert by_itself == {name: float(again) for name, again in found.groupby("claim")["repeated"].first().items()}
    decided = found[found["verdict"] == HOLDS]
    assert len(decided) and decided["new"].notna().all()
    assert of == found.loc[found["verdict"] != OPEN, "claim"].nunique(), "what cannot be told twice is not counted"
    turned = {chapter: table.assign(value=-table["value"]) for chapter, table in rows.items()}
    assert not replication.contradicted(found)
    opposed = replication.check(turned)
    assert replication.share(opposed)[0] < repeated and len(replication.contradicted(opposed)) > 20


def test_a_seed_contradicts_what_it_neither_repeats_nor_was_foreseen_by() -> None:
    found = pd.DataFrame(
        [("A", HOLDS, False, True), ("B", HOLDS, False, False), ("C", FAILS, True, False), ("D", OPEN, False, False)],
        columns=["claim", "verdict", "repeated", "foreseen"],
    )
    assert replication.fragile(found) == ["A", "B"] and replication.contradicted(found) == ["B"]


def test_a_verdict_is_held_against_seeds_that_it_was_made_without() -> None:
    tables = {chapter: records.load(chapter, "controlled") for chapter in ("01_data_size", "08_minimult")}
    recorded = {chapter: table[table["seed"].between(31, 38)] for chapter, table in tables.items()}
    minimult = recorded["08_minimult"]
    found = replication._left_out(recorded, "controlled")
    assert len(found) > 15 and {times for _, times in found.values()} <= {1, 2, 3, 4}
    repeated, of = (sum(counts) for counts in zip(*found.values(), strict=True))
    assert 0.9 < repeated / of <= 1
    odd = minimult["seed"].isin([31, 35])  # one fold, which now says the opposite
    opposed = minimult.assign(value=minimult["value"].where(~odd, -minimult["value"]))
    turned = replication._left_out({**recorded, "08_minimult": opposed}, "controlled")
    assert found["M-01"] == found["M-04"] == (4, 4)
    assert turned["M-01"] == (0, 1), "decided only where the odd ones are left out, which do not repeat it"
    assert turned["A-01"] == found["A-01"]


def test_rows_of_some_seeds_are_as_they_would_be_alone() -> None:
    tables = {name: records.load(name, "controlled") for name in ("01_data_size", "08_minimult")}
    known, some = ledger.load(), {31, 36, 40, 47}
    alone = {name: table[table["seed"].isin(some)] for name, table in tables.items()}
    whole = testing.prepared(tables, "controlled")
    found = known.test(whole.of_seeds(some), "controlled")
    assert repr(found) == repr(known.test(alone, "controlled"))
    assert sum(len(finding.parts) > 0 for finding in found) > 20
    assert "08_minimult" in whole.of_seeds(some) and "08_minimult" not in whole.of_seeds({99})


def test_of_every_partner_there_is_one_seed_in_each_part_that_is_left_out() -> None:
    chapter = records.load("04_architecture", "controlled")
    partner = chapter[chapter["target"] != "en"].groupby("seed")["target"].first()
    every = replication._seeds(replication._recorded())
    for first in range(folds := replication.FOLDS["controlled"]):
        assert sorted(partner.reindex(every[first::folds]).dropna()) == sorted(set(partner))


def test_the_page_says_how_often_and_which_not(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = ledger.load().claims[0].id
    counts = {"controlled": {claim: (3, 4), "K-01": (4, 4)}, "natural": {}}
    monkeypatch.setattr(replication, "left_out", counts.get)
    page = ledger_page.left_out()
    assert "7 of 8</b> decided verdicts (88 %)" in page and f'href="#claim-{claim}"' in page
    assert "K-01" not in page and "real text" not in page
    counts["controlled"] = {}
    assert "No verdict is recorded" in ledger_page.left_out()


@pytest.mark.parametrize(("new", "repeated"), [(0.01, True), (-0.5, True), (0.05, False), (float("nan"), False)])
def test_an_effect_too_small_to_matter_is_so_again(new: float, repeated: bool) -> None:
    slight = Sample((0.004, -0.003, 0.002, 0.001, -0.001), "seeds")
    found = part(Predicate("x", above=0.0), "", slight, matters=0.02)
    assert replication._repeats(found, new, FAILS) is repeated


def test_what_cannot_be_told_is_so_again_where_seeds_of_its_language_predict_it() -> None:
    values, languages = (0.31, 0.28, 0.30, -0.02, -0.05, 0.01), ("fr", "fr", "fr", "hi", "hi", "hi")
    found = part(Predicate("x", above=0.2), "", Sample(values, "seeds", languages))
    assert replication._predicted(found, 0.29, 1, "fr") and not replication._predicted(found, 0.29, 1, "hi")
    assert replication._predicted(found, -0.02, 1, "hi") and not replication._predicted(found, 0.15, 1, "fr")


@pytest.mark.parametrize("seeds", [{"fr": 3, "hi": 3}, {"fr": 4, "hi": 2, "ru": 2, "zh": 2}])
def test_another_seed_lies_where_it_is_predicted_as_often_as_that_says(seeds: dict[str, int]) -> None:
    languages = tuple(language for language, count in seeds.items() for _ in range(count))
    drawn = np.random.default_rng(0).normal(0, 1, (4_000, len(languages) + 1))
    drawn += [5.0 * (language == "fr") for language in (*languages, "fr")]
    inside = 0
    for *values, new in drawn.tolist():
        low, high = part(Predicate("x", above=0), "", Sample(tuple(values), "seeds", languages)).predicted("fr", 0.05)
        inside += low <= new <= high
    assert 0.94 < inside / len(drawn) < 0.96


def test_a_language_is_judged_with_the_english_of_its_own_encoders() -> None:
    chapter, scale = "04_architecture", "controlled"
    rows = records.load(chapter, scale)
    french = rows[rows["run"].isin(rows.loc[rows["target"] == "fr", "run"]) & rows["target"].isin(["en", "fr"])]
    own = ledger.load().test({chapter: french}, scale, alone=True)
    expected = {part.text: listing.short(part) for finding in own for part in finding.parts}
    parts = [part for each in ledger.findings_of_language("fr", chapter, scale) for part in each.parts]
    assert len(parts) > 30 and any("English" in part.text for part in parts)
    assert [listing.short(part) for part in parts] == [expected[part.text] for part in parts]
    shown = listing.table(chapter, scale, rows[:0], languages=["fr"]).dropna(subset="French")
    assert len(shown) and shown["French"].tolist() == [expected[test] for test in shown["test"]]


def test_a_new_seed_is_compared_in_what_is_recorded() -> None:
    recorded = records.load("01_data_size", "controlled")
    same = recorded[recorded["seed"] == 31].assign(seed=99)
    french = same[same["target"] == "fr"]
    untrained = french[french["model"] == "untrained"].assign(target="hi")
    little = french[french["sentences"] == french["sentences"].min()].assign(target="de")
    more = pd.concat([same, untrained, little], ignore_index=True)
    assert len(same) < len(same) + len(untrained) < len(more)
    found, expected = (replication.check({"01_data_size": rows})["new"] for rows in (more, same))
    assert found.notna().sum() > 10
    pd.testing.assert_series_equal(found, expected)


def test_a_used_seed_is_refused() -> None:
    for seed in (1, 31, -3):
        with pytest.raises(UserError, match="was used before"):
            replication.measure(seed)


def test_a_claim_is_a_line_with_its_tests_folded_below() -> None:
    def listed_of(chapter: str) -> pd.DataFrame:
        book = opened(chapter, "controlled", list(LANGUAGES[1:]), 1, "none")
        return listing.of_chapter(book, languages=["fr", "ru"])

    frame = listed_of("03_overlap")
    shown = tables.of_claims(frame).data
    claims = frame.loc[frame["id"] != "", "id"].unique()
    assert shown.count('<details class="claim">') == len(claims)
    results = shown[: shown.index("could not be tested at this size")]
    assert 10 < results.count("<summary>") < len(claims), "controls, and claims on their floor, are folded together"
    assert shown.count('<td data-of="recorded">') == frame["recorded"].notna().sum() > 0
    frame = listed_of("01_data_size")
    of_french = frame.index[frame["French"].notna()]
    frame.loc[of_french[0], "French"] = None
    shown, first = tables.of_claims(frame).data, frame.iloc[0]
    assert shown.count('class="nothing"') == 1
    line = shown[: shown.index("</summary>")]
    assert escape(first["claim"]) in line and first["verdict"] in line and tables.typeset(first["effect"]) in line
    assert line.count("claim-verdict") == 2 and "real text" in line and first["test"] not in line
    assert shown.rstrip().endswith(
        '<p class="claims-key">A: Liu et al., 2020a; B: Liu et al., 2020b; C: Conneau, Wu et al., 2020.</p>\n</div>'
    )


def test_papers_are_named_as_the_front_page_and_the_bibliography_name_them() -> None:
    listed, table = ((ROOT / "book" / name).read_text(encoding="utf-8") for name in ("references.bib", "intro.md"))
    entries = dict(re.findall(r"@\w+\{(\w+),(.*?)\n\}", listed, re.DOTALL))
    keys = dict(re.findall(r"\*\*([A-E])\*\*: \{cite:t\}`(\w+)`", table)) | {"peer": "dufter2020identifying"}
    assert set(keys) == set(tables.AUTHORS)
    for letter, key in keys.items():
        year, first = (re.search(rf"{field} *= \{{([^,}}]+)", entries[key])[1] for field in ("year", "author"))
        assert re.fullmatch(rf"{first}\b.*, {year}", tables.AUTHORS[letter])


def test_an_effect_is_of_the_test_that_the_verdict_rests_on() -> None:
    found = [finding for scale in ("controlled", "natural") for finding in ledger.findings(scale)]
    several = [finding for finding in found if len(finding.parts) > 1]
    assert {HOLDS, IN_PART, FAILS, OPEN} <= {finding.verdict for finding in several}
    for finding in several:
        ps = [part.p for part in finding.parts]
        least = {HOLDS: max(p[0] for p in ps), IN_PART: min(p[0] for p in ps), FAILS: min(p[2] for p in ps)}
        p = finding.rests_on.p
        assert least.get(finding.verdict, min(min(p[0], p[2]) for p in ps)) in (p[0], p[2])
        named = listing._effect(finding.rests_on, finding)
        assert named.startswith(f"{finding.rests_on.measure} ") == (len(finding.claim.measured) > 1), finding.claim.id


def test_a_listing_begins_with_its_counts() -> None:
    listed = listing.as_json()
    counts = listing.summary(listed)
    assert [line.partition(":")[0] for line in counts] == list(ledger.SCALES)
    for line in counts:
        assert sum(int(part.rsplit(" ", 1)[1]) for part in line.partition(": ")[2].split(", ")) == len(listed)
    told = {row["verdict"] for row in listing.lines(listed)}
    leaning = {f"{OPEN}; leans {way}" for way in ("for", "partly for", "against")}
    assert told & leaning and told <= {*VERDICTS, *leaning}
