"""The chapters' grids, plans and notebook pairs."""

import json
import re
import shlex
from itertools import product
from pathlib import Path

import jupytext
import pandas as pd
import pytest
from nbformat.v4 import new_output

from benchmarks._earlier import FIRST_SEED, LONGER, earlier
from xling_utils import chapters
from xling_utils.book import chapter_pages
from xling_utils.chapters import planning, records, rows
from xling_utils.chapters.data_size import figures as data_size_figures
from xling_utils.chapters.data_size import plan as data_size
from xling_utils.chapters.minimult import plan as minimult
from xling_utils.chapters.shared import joint, published
from xling_utils.charts import tables
from xling_utils.charts.shapes import LANGUAGE_NAMES
from xling_utils.core import scales, specs
from xling_utils.core.errors import UserError
from xling_utils.core.specs import LANGUAGES, EncoderSpec, run_from_dict, to_dict
from xling_utils.runs import Compute

ROOT = Path(__file__).resolve().parents[2]
OTHERS = LANGUAGES[1:]
IN_TURN = ("02_window_size", "03_overlap", "04_architecture")
"""Chapters whose seeds take languages in turn in the controlled world."""


def test_headline_holds_the_base_pair_at_both_sizes() -> None:
    scale = scales.scale("controlled")
    plan = data_size.grid(scale, OTHERS, 2, "headline")
    assert {p.spec.corpus.languages for p in plan} == {("en", "fr")}
    assert {dict(p.condition)["sentences"] for p in plan} == set(scale.sentences)
    assert {dict(p.condition)["model"] for p in plan} == set(data_size.MODELS)
    assert {p.spec.seed for p in plan} == {31, 32}
    assert all(p.headline for p in plan)


def test_none_asks_for_nothing_and_all_for_every_language() -> None:
    scale = scales.scale("controlled")
    assert data_size.grid(scale, OTHERS, 5, "none") == []
    plan = data_size.grid(scale, OTHERS, 5, "all")
    assert {p.target for p in plan} == set(OTHERS)
    for target in OTHERS:
        assert {p.spec.seed for p in plan if p.target == target} == set(range(31, 36))


def test_no_reported_seed_was_tuned_on() -> None:
    for scale in ("smoke", "controlled", "natural", "paper"):
        plan = data_size.grid(scales.scale(scale), OTHERS, chapters.ALL_SEEDS, "all")
        assert not {p.spec.seed for p in plan} & set(scales.DEVELOPMENT_SEEDS)


def test_equal_epochs_means_fewer_updates_in_proportion() -> None:
    scale = scales.scale("natural")
    plan = data_size.grid(scale, ["fr"], 1, "headline")
    steps = {dict(p.condition)["model"]: p.spec.training.steps for p in plan if p.spec.training}
    small, large = scale.sentences
    assert steps[data_size.EQUAL_EPOCHS] == pytest.approx(steps["BERT"] * small / large, abs=1)


APART = ("beside", "part_of_speech", "text", "order")
"""Columns that are no factor of an experiment: what a run is compared with, of what words rows are, and other seeds."""


@pytest.mark.parametrize("scale", ["smoke", "controlled", "natural", "paper"])
def test_plan_counts_parameters_without_training(scale: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XLING_STORE", str(tmp_path))
    rows = chapters.plan("01_data_size", scale)
    assert rows and json.dumps(rows)
    bert = [row for row in rows if row["condition"].startswith("model=BERT ")]
    assert all(row["parameters"] > 0 and row["operations"] > row["tokens"] for row in bert)
    if scale == "paper":  # BERT base with multilingual BERT's vocabulary: 177.9 M less the pooler, and tied
        assert bert[0]["parameters"] == pytest.approx(177.9e6, rel=0.01)


def test_static_vectors_are_as_wide_as_the_encoder() -> None:
    for name in ("smoke", "controlled", "natural", "paper"):
        scale = scales.scale(name)
        for planned in data_size.grid(scale, ["fr"], 1, "headline"):
            assert planned.spec.model.width == scale.encoder.width
            assert planned.spec.tokenizer == scale.tokenizer(("en", "fr"))


def test_specs_of_the_grid_survive_json() -> None:
    for planned in data_size.grid(scales.scale("controlled"), OTHERS, 1, "all"):
        assert run_from_dict(to_dict(planned.spec)) == planned.spec


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scale": "huge"}, "unknown scale 'huge'"),
        ({"languages": ("xx",)}, "unknown language 'xx'"),
        ({"languages": ("en",)}, "unknown language 'en'"),
        ({"languages": ("fr", "fr")}, "each once"),
        ({"languages": ()}, "at least one in a list"),
        ({"languages": "en,tr"}, "text, not a list"),
        ({"languages": [None]}, "language None: give a code"),
        ({"languages": [["fr"]]}, "give a code"),
        ({"languages": "[fr]"}, r"languages is text, not a list; with papermill itself: -y 'languages: \[fr\]'"),
        ({"seeds": 0}, "seeds must be at least 1"),
        ({"seeds": True}, "seeds takes a whole number, not True"),
        ({"seeds": 10**9}, "at most 100000"),
        ({"live": "some"}, "unknown live 'some'"),
        ({"live": ["all"]}, r"unknown live \['all'\]"),
        ({"jobs": "many"}, "jobs takes a whole number, not 'many'"),
        ({"jobs": 1.5}, "jobs takes a whole number, not 1.5"),
        ({"jobs": [2]}, r"jobs takes a whole number, not \[2\]"),
        ({"jobs": 0}, "jobs must be at least 1"),
        ({"first_seed": 0}, "first_seed must be at least 1"),
        ({"processes": None}, "processes takes a whole number"),
        ({"model": [1]}, r"model takes text, not \[1\]"),
        ({"aligned": ""}, "aligned takes text"),
        ({"scheduler": 1}, "scheduler takes text"),
        *(
            ({"scheduler": given}, "is no address; write one as in tcp://127.0.0.1:8786")
            for given in ("nonsense", "file:///tmp/x", "http://[::1", "inproc:", "tcp://host:0", "tcp://host:99999")
        ),
    ],
)
def test_wrong_parameters_are_named(change: dict, words: str) -> None:
    given = {"scale": "controlled", "languages": ("fr",), "seeds": 1, "live": "headline"} | change
    with pytest.raises(UserError, match=words):
        chapters.check_parameters(given)


@pytest.mark.parametrize("address", ["127.0.0.1:8786", "tcp://[::1]:8786", "tls://a-host.example:1"])
def test_right_parameters_pass(address: str) -> None:
    chapters.check_parameters({"scheduler": address, "jobs": None, "rate": "of another's"})


def test_real_text_may_have_languages_of_its_own() -> None:
    chapters.check_parameters({"scale": "natural", "languages": ("fi",)})


def test_unknown_chapter_is_named() -> None:
    with pytest.raises(UserError, match="unknown chapter '99'; known: 01_data_size"):
        chapters.declared("99")


@pytest.mark.parametrize("source", sorted((ROOT / "notebooks").glob("*.py")), ids=lambda p: p.stem)
def test_notebook_pairs_hold_the_same_cells_and_no_output(source: Path) -> None:
    script = jupytext.read(source)
    notebook = jupytext.read(source.with_suffix(".ipynb"))
    assert [c.source for c in script.cells] == [c.source for c in notebook.cells]
    assert [c.metadata.get("tags") for c in script.cells] == [c.metadata.get("tags") for c in notebook.cells]
    assert not any(cell.get("outputs") for cell in notebook.cells)
    assert sum("parameters" in c.metadata.get("tags", []) for c in script.cells) == 1


@pytest.mark.parametrize("source", sorted((ROOT / "notebooks").glob("*.py")), ids=lambda p: p.stem)
def test_saving_in_jupyter_leaves_the_source_of_a_chapter_as_it_is(source: Path) -> None:
    notebook = jupytext.read(source)
    notebook.metadata["language_info"] = {"name": "python", "version": "3.14.0"}
    for number, cell in enumerate(notebook.cells):
        cell.metadata |= {"editable": True, "trusted": True, "execution": {"iopub.execute_input": "today"}}
        if cell.cell_type == "code":
            cell.execution_count, cell.outputs = number, [new_output("stream", text="what it said")]
    assert jupytext.writes(notebook, "py:percent") == source.read_text(encoding="utf-8")


def test_published_tables_read_as_printed() -> None:
    table = published.table("B_table_1_pos").set_index(["group", "language"])["mrr"]
    for group in ("closed", "open", "NOUN", "VERB", "ADV", "ADJ"):
        printed = table[group].drop("avg")
        assert table[(group, "avg")] == pytest.approx(printed.mean(), abs=6e-4), group
    with pytest.raises(UserError, match="no table 'nothing'"):
        published.table("nothing")


@pytest.mark.parametrize("scale", ["controlled", "natural"])
def test_committed_records_have_provenance_and_reported_seeds(scale: str) -> None:
    rows, runs = records.load("01_data_size", scale), records.provenance("01_data_size", scale)
    assert len(rows), "chapter 1 shows recorded results"
    assert set(rows["run"]) == set(runs["run"])
    assert not set(rows["seed"]) & set(scales.DEVELOPMENT_SEEDS)
    assert runs[["commit", "processor", "torch", "seconds", "tokens"]].notna().all().all()
    current = {"controlled": scales.scale("controlled"), "natural": scales.scale("natural")}[scale]
    for text in runs["spec"]:
        spec = run_from_dict(json.loads(text))
        if isinstance(spec.model, EncoderSpec):
            assert spec.model == current.encoder, "records of another encoder than the scale's"


@pytest.mark.parametrize("scale", ["controlled", "natural"])
@pytest.mark.parametrize("chapter", chapters.MODULES)
def test_no_row_is_recorded_twice(chapter: str, scale: str) -> None:
    rows, runs = records.load(chapter, scale), records.provenance(chapter, scale)
    assert not rows.drop(columns=["value", "low", "high"]).duplicated().any() and runs["run"].is_unique


def test_comparison_finds_the_same_measurements() -> None:
    rows = records.load("01_data_size", "controlled").head(50)
    moved = rows.assign(value=rows["value"] + 0.01)
    same = records.compare(rows, moved)
    assert len(same) == len(rows)
    assert (same["recorded"] - same["live"]).to_numpy() == pytest.approx(0.01)
    assert records.compare(rows, rows.assign(run="other")).empty
    assert isinstance(same, pd.DataFrame)


def test_intervals_are_over_seeds_else_over_languages_else_over_items() -> None:
    rows = pd.DataFrame(
        {"seed": [11] * 3 + [12] * 3 + [13] * 3, "source": ["fr", "de", "es"] * 3, "target": "en", "layer": 0,
         "value": [0.1, 0.3, 0.2, 0.2, 0.4, 0.3, 0.0, 0.2, 0.1], "low": 0.0, "high": [0.5, 0.6, 0.7] * 3}
    )  # fmt: skip
    (seeds,) = joint.summary(rows, ["layer"]).to_dict("records")
    assert (seeds["value"], seeds["seeds"]) == (pytest.approx(0.2), 3) and seeds["low"] < 0 < 0.4 < seeds["high"]
    one = rows[rows["seed"] == 11]
    (languages,) = joint.summary(one, ["layer"]).to_dict("records")
    assert (languages["low"] + languages["high"]) / 2 == pytest.approx(0.2) and 0.4 < languages["high"] < 0.5
    (items,) = joint.summary(one[one["source"] == "de"], ["layer"]).to_dict("records")
    assert (items["value"], items["low"], items["high"]) == (pytest.approx(0.3), 0.0, 0.6)


def test_a_seed_without_a_value_is_not_counted() -> None:
    rows = pd.DataFrame({"layer": 0, "seed": [1, 2, 3], "value": [0.1, float("nan"), 0.3]})
    (found,) = data_size.summary(rows, ["layer"]).to_dict("records")
    assert found["value"] == pytest.approx(0.2) and found["seeds"] == 2
    (nothing,) = data_size.summary(rows[1:2], ["layer"]).to_dict("records")
    assert nothing["value"] != nothing["value"]


def test_real_parts_of_speech_are_recorded_of_every_language_with_an_encoder() -> None:
    table = records.load("01_data_size", "natural")
    found = data_size_figures.classes_by_language(table, scales.scale("natural"))
    assert set(found["language"]) == {LANGUAGE_NAMES[x] for x in data_size.NATURAL_LANGUAGES}
    assert (found["seeds"] == 5).all()
    closed, opened = (found[f"{kind} classes"].astype(float) for kind in ("closed", "open"))
    told = found["difference"].str.split().str[0].astype(float)
    assert (told - (closed - opened)).abs().max() < 0.002, "rounded to three digits"


def test_static_vectors_are_shown_by_all_words_of_the_dictionary_not_by_parts_of_speech_among_them() -> None:
    table = records.load("01_data_size", "natural")
    (shown,) = data_size_figures.natural_static(table).to_dict()["datasets"].values()
    whole = table[(table["experiment"] == "R01") & (table["model"] == "word2vec") & (table["metric"] == "mrr")]
    expected = whole[whole["sentences"] == whole["sentences"].max()].groupby("target")["value"].mean()
    found = {row["target"]: row["value"] for row in shown if row["shown"] == "word2vec"}
    assert found == pytest.approx(expected.to_dict()) and len(found) == 13


def test_charts_show_no_interval_over_two() -> None:
    rows = pd.DataFrame({"seed": [11, 12, 13], "source": "fr", "target": "en", "layer": 0, "value": [0.1, 0.2, 0.3]})
    for summary in (data_size.summary, joint.summary):
        bounds = [summary(rows.head(n), ["layer"])[["low", "high"]].isna().all(axis=None) for n in (2, 3)]
        assert bounds == [True, False]


NOT_OF_REAL_TEXT = {("09_scatter", "natural")}


@pytest.mark.parametrize(
    ("chapter", "scale"), sorted({*product(chapters.MODULES, ("controlled", "natural"))} - NOT_OF_REAL_TEXT)
)
def test_the_command_below_a_figure_trains_every_recorded_run(
    chapter: str, scale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the recipe, and from the first seed on, that were in force when they were made."""
    _, told = chapter_pages._origin(ROOT, chapter, scale)
    (command,) = re.findall("`(xling run .*?)`", told)
    words = shlex.split(command)
    named = next((_listed(word) for word in words if word.startswith("[")), list(OTHERS))
    begun = int(words[words.index("first_seed") + 1]) if "first_seed" in words else scales.FIRST_REPORTED_SEED
    blocks = [(begun - scales.FIRST_REPORTED_SEED, named, int(words[words.index("--seeds") + 1]))]
    for seed in re.findall(r"\d+", "".join(re.findall(r"and as many from ((?:\d+, )*\d+)\b(?! from)", told))):
        blocks.append((int(seed) - scales.FIRST_REPORTED_SEED, *blocks[0][1:]))
    for count, seed, languages in re.findall(r"(\d+) from seed (\d+) on with `(.*?)`", told):
        blocks.append((int(seed) - scales.FIRST_REPORTED_SEED, _listed(languages), int(count)))
    runs = pd.read_csv(ROOT / f"book/records/{chapter}.{scale}.runs.csv", keep_default_na=False)
    earlier_recipe = specs.of_earlier_recipe(runs["spec"])
    if earlier_recipe:
        monkeypatch.setitem(specs.RECIPES, "training", 1)
        monkeypatch.setitem(scales._SCALES, scale, earlier(scales.scale(scale)))
        monkeypatch.setattr(minimult, "LONGER", LONGER)
        first = FIRST_SEED
    else:
        first = scales.FIRST_REPORTED_SEED
    moved = [
        planned.moved(first - scales.FIRST_REPORTED_SEED + later)
        for later, languages, seeds in blocks
        for planned in chapters.declared(chapter).grid(scales.scale(scale), languages, seeds, "all")
    ]
    made = {spec for planned in moved for spec in planned.specs}
    recorded = {run_from_dict(json.loads(spec)) for spec in runs["spec"]}
    assert recorded and not recorded - made
    assert earlier_recipe or not made - recorded


def _listed(languages: str) -> list[str]:
    return languages.strip("[]").split(", ") if languages else list(OTHERS)


def test_a_caption_tells_which_seeds_read_which_languages(tmp_path: Path) -> None:
    (tmp_path / "book/records").mkdir(parents=True)
    rows = tmp_path / "book/records/03_overlap.controlled.csv"
    lines = ["seed,source,target", *(f"{seed},en,{'fr' if seed < 33 else 'zh'}" for seed in range(31, 36))]
    rows.write_text("\n".join([*lines, "31,enfake,fr"]), encoding="utf-8")
    rows.with_suffix(".runs.csv").write_text("spec\n", encoding="utf-8")
    _, told = chapter_pages._origin(tmp_path, "03_overlap", "controlled")
    command = "by `xling run 03_overlap --seeds 2 -p languages '[fr]' --records-only -p first_seed 31`"
    assert told == f"{command}, 3 from seed 33 on with `[zh]`"
    rows.write_text("\n".join(["seed,source,target", "31,en,fr", "35,en,fr", "39,en,zh"]), encoding="utf-8")
    _, told = chapter_pages._origin(tmp_path, "03_overlap", "controlled")
    assert told.endswith("first_seed 31`, and as many from 35, 1 from seed 39 on with `[zh]`")


def test_on_real_text_inference_is_asked_of_every_encoder_and_of_an_untrained_one() -> None:
    plan = data_size.grid(scales.scale("natural"), ["fr", "hi", "sw"], 1, "all")
    asked = {(p.target, dict(p.condition)["model"]) for p in plan if "NLI" in data_size.tasks(p)}
    encoders = {(target, model) for target in ("fr", "hi") for model in data_size.ENCODERS}
    assert asked == encoders | {("fr", model) for model in data_size.STATIC}


@pytest.mark.parametrize(("scale", "fewest"), [("controlled", 5), ("natural", 3)])
@pytest.mark.parametrize("chapter", chapters.MODULES)
def test_records_are_of_as_many_seeds_as_the_book_promises(chapter: str, scale: str, fewest: int) -> None:
    table = records.load(chapter, scale)
    table = table[table["task"] != "NLI with shift"]  # every seed at the weight that its development set chose
    factors = [name for name in chapters.declared(chapter).columns if name not in APART]
    languages = [] if chapter in IN_TURN else ["source", "target"]
    seeds = table.groupby([*factors, "task", *languages], dropna=False)["seed"].nunique()
    assert list(seeds[seeds < fewest].index) == []


def test_rows_of_an_earlier_recipe_stand_in_no_figure_with_those_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    chapter = "02_window_size"
    recorded = records.load(chapter, "controlled")
    live = recorded.head(20)
    recipes = [dict(json.loads(spec)["recipes"]) for spec in records.provenance(chapter, "controlled")["spec"]]
    (recipe,) = {each["training"] for each in recipes if "training" in each}  # static vectors have none
    monkeypatch.setitem(specs.RECIPES, "training", recipe)
    assert not records.of_earlier_recipe(chapter, "controlled")
    assert len(records.beside(live, recorded, chapter, "controlled")) == len(live)
    assert {*records.of_one_recipe([chapter], "controlled")} == {chapter}
    monkeypatch.setitem(specs.RECIPES, "training", recipe + 1)
    assert records.of_earlier_recipe(chapter, "controlled") and not records.of_one_recipe([chapter], "controlled")
    assert records.beside(live, recorded, chapter, "controlled").empty
    elsewhere = live.assign(target="sw")
    assert len(records.beside(elsewhere, recorded, chapter, "controlled")) == len(live), "nothing to be mixed with"
    assert tables.of_earlier_recipe(False) is None and "earlier recipe" in tables.of_earlier_recipe(True).data


@pytest.mark.parametrize("page", ["intro", "ledger"])
def test_pages_that_show_all_records_say_which_recipe_they_are_of(page: str) -> None:
    earlier = any(records.of_earlier_recipe(chapter, "controlled") for chapter in chapters.MODULES)
    text = (ROOT / "book" / f"{page}.md").read_text(encoding="utf-8")
    assert ("recorded runs are of an {ref}`earlier recipe <recipe>`" in text) == earlier


def test_what_would_take_days_is_said_before_it_begins(monkeypatch: pytest.MonkeyPatch, capsys, tmp_path: Path) -> None:
    monkeypatch.setattr(rows, "ensure_rows", lambda *_: dict.fromkeys([], Path()))
    with pytest.raises(UserError, match="nothing can be measured"):
        chapters.table("02_window_size", "natural", ["fr"], 5400, "headline", Compute(data=tmp_path))
    assert re.search(r"10800 runs, some \d{3} core-hours to train", capsys.readouterr().err)
    with pytest.raises(KeyError):  # nothing is measured here
        chapters.table("02_window_size", "controlled", ["fr"], 20, "headline")
    assert not capsys.readouterr().err
    base = scales.scale("controlled").bert(("en", "fr"), 15_000, 31)
    assert 10 < 3600 * planning.core_hours([base]) < 60, "twenty seconds on the core that it was measured on"
