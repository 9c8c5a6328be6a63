"""Chapters 2 to 4: grids that vary one thing, share the base run, and match the papers' sizes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from xling_utils import chapters
from xling_utils.chapters import planning, records
from xling_utils.chapters.architecture import figures as architecture_figures
from xling_utils.chapters.architecture import plan as architecture
from xling_utils.chapters.data_size import figures as data_size_figures
from xling_utils.chapters.data_size import plan as data_size
from xling_utils.chapters.minimult import plan as minimult
from xling_utils.chapters.overlap import plan as overlap
from xling_utils.chapters.shared import contrast_figures, contrasts, layer_by_layer, published
from xling_utils.chapters.window_size import plan as window_size
from xling_utils.charts import shapes
from xling_utils.core.scales import scale
from xling_utils.core.specs import LANGUAGES, run_from_dict, to_dict

CHAPTERS = ("02_window_size", "03_overlap", "04_architecture")
OTHERS = ("fr", "es", "de", "ru")


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.parametrize("name", ["controlled", "natural"])
def test_the_base_run_is_that_of_chapter_1(chapter, name):
    first = {p.spec for p in data_size.grid(scale(name), OTHERS, 1, "headline")}
    headline = chapters.declared(chapter).grid(scale(name), OTHERS, 1, "headline")
    assert sum(p.spec in first for p in headline) == 1
    assert len(headline) <= 3


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_run_of_a_grid_is_another(chapter):
    grid = chapters.declared(chapter).grid(scale("controlled"), OTHERS, 2, "all")
    assert len({p.spec for p in grid}) == len(grid) == len({(p.condition, p.spec.seed) for p in grid})
    for planned in grid:
        assert run_from_dict(to_dict(planned.spec)) == planned.spec
        assert set(dict(planned.condition)) == set(chapters.declared(chapter).columns)


def test_no_experiment_of_chapters_2_to_4_is_missing():
    named = set(overlap.EXPERIMENTS.values()) | set(architecture.EXPERIMENTS.values()) | {"R03", "R04", "R11", "R33"}
    wanted = {f"R{n:02d}" for n in (3, 4, *range(6, 20), 33)}
    assert named == wanted
    for module in (overlap, architecture):
        names = {
            name for p in module.grid(scale("controlled"), OTHERS, 1, "all") for name in dict(p.condition).values()
        }
        assert names >= set(overlap.EXPERIMENTS if module is overlap else architecture.EXPERIMENTS)


def test_short_windows_keep_the_tokens_of_a_step():
    grid = window_size.grid(scale("controlled"), OTHERS, 1, "all")
    tokens = {p.spec.training.batch * p.spec.training.length for p in grid if p.spec.training}
    masked = {round(p.spec.training.mask_rate * p.spec.training.length) / p.spec.training.length
              for p in grid if p.spec.training}  # fmt: skip
    assert len(tokens) == len(masked) == 1


def test_depth_varies_at_fixed_parameters():
    rows = {row["condition"]: row["parameters"] for row in chapters.plan("04_architecture", "controlled")}
    base = rows["factor=base level=base"]
    for depth in architecture.DEPTHS:
        assert rows[f"factor=depth level={architecture.counted(depth, 'layer')}"] == pytest.approx(base, rel=0.05)


def test_the_plan_counts_what_the_tables_print():
    rows = chapters.plan("04_architecture", "paper")
    assert {row["seed"] for row in rows} == set(range(31, 36))
    printed = [float(row["condition"].split("level=")[1].split(" M")[0]) for row in rows]
    assert len(printed) == 5 * (32 - 2)  # the base run stands in three tables
    for row, millions in zip(rows, printed, strict=True):
        assert row["parameters"] / 1e6 == pytest.approx(millions, rel=0.003)
    assert sum(round(row["parameters"] / 1e6, 2) == m for row, m in zip(rows, printed, strict=True)) == 5 * 27


def test_the_papers_tables_are_read_under_our_names():
    tables = published.table
    assert set(overlap.paper_overlap(tables)["condition"]) == set(overlap.OVERLAP)
    assert set(overlap.paper_order(tables)["condition"]) == set(overlap.ORDER) - {overlap.PERMUTED_ONE}, "not counted"
    assert set(overlap.paper_domain(tables)["condition"]) == set(overlap.DOMAIN)
    for factor in (*architecture_figures.COUNTED, *architecture_figures.NAMED):
        found = architecture_figures.paper(factor, tables)
        assert found["value"].between(0, 1).all() and len(found)
        if factor in architecture_figures.NAMED:
            levels = {dict(p.condition)["level"] for p in architecture.grid(scale("controlled"), OTHERS, 1, "all")}
            assert set(found["condition"]) <= levels | set(architecture.base_levels(scale("controlled")).values())
    table_1 = overlap.paper_overlap(tables).set_index(["shown", "condition", "measure"])["value"]
    assert table_1["paper E", overlap.DEFAULT, "inference (accuracy)"] == pytest.approx(
        (72.3 + 60.1 + 66.4) / 300, abs=0.02
    )


def rows_of(condition: str, by_seed: dict[int, float], guess: float) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"condition": condition, "task": "NLI", "metric": metric, "target": "fr", "layer": None, "step": None,
             "seed": seed, "value": value, "run": f"{condition}{seed}"}
            for seed, accuracy in by_seed.items()
            for metric, value in (("accuracy", accuracy), ("majority", guess))
        ]
    )  # fmt: skip


def test_differences_are_paired_by_seed_and_in_percent_of_what_lies_above_a_guess():
    def told(guess: float, *seeds: int) -> list[str | None]:
        base, other = {1: 0.5, 2: 0.7, 3: 0.6}, {1: 0.4, 2: 0.6, 3: 0.5}
        table = pd.concat([rows_of("base", base, guess), rows_of("other", other, guess - 0.1)])
        found = contrast_figures.values(table[table["seed"].isin(seeds)], scale("controlled"), ["condition"], "fr")
        return contrast_figures.differences(found, "condition", "base")["inference"].tolist()

    # t of 2 degrees, times what seeds .1 above and below add to the share: a sixth, a quarter of .1 / .6, of .1 / .4
    assert told(0.0, 1, 2, 3) == ["-17 (-24 to -10)"] and told(0.2, 1, 2, 3) == ["-25 (-41 to -9)"]
    assert told(0.0, 1) == ["-20"]
    assert told(0.55, 1, 2, 3) == told(0.55, 1) == [None], "the base is not above it"


def test_real_text_is_drawn_a_mark_a_language_beneath_their_mean():
    rows = pd.DataFrame(
        [
            {"condition": condition, "seed": seed, "task": "NER", "metric": "f1", "target": target, "layer": None,
             "step": None, "run": f"{condition}{seed}{target}", "value": value + seed / 100}
            for condition, value in ((overlap.FAKE, 0.5), (overlap.UNIGRAMS, 0.1))
            for seed in (11, 12, 13)
            for target in ("en", "fr", "ru")
        ]
    )  # fmt: skip
    natural = scale("natural")
    assert contrast_figures.targets(rows) == ["fr", "ru"]
    found = contrast_figures.by_language(rows, natural, "condition")
    assert dict(zip(found["shown"], found["seeds"], strict=True)) == {shapes.MEAN: 6, "French": 3, "Russian": 3}
    assert found.loc[found["shown"] != shapes.MEAN, ["low", "high"]].isna().all(axis=None)
    # t of 4 degrees: two languages' seeds, each .01 around the same mean
    fake = found[found["shown"].eq(shapes.MEAN) & found["condition"].eq(overlap.FAKE)].iloc[0]
    assert fake["value"] == pytest.approx(0.62) and fake["high"] - 0.62 == pytest.approx(
        2.776 * 0.01 / 6**0.5, abs=1e-4
    )
    floors = contrast_figures.floors(rows[rows["target"] != "en"])
    spec = contrast_figures.figure(found, floors, overlap.ORDER, "A description.").to_dict()
    drawn = next(
        layer["encoding"]["color"]["scale"]["domain"] for layer in spec["layer"] if "color" in layer["encoding"]
    )
    assert drawn == [shapes.MEAN, "French", "Russian"]
    alone = contrast_figures.by_language(rows[rows["target"] != "ru"], natural, "condition")
    assert set(alone["shown"]) == {"French"} and alone["high"].notna().all()
    nothing = rows.iloc[:0]
    assert contrast_figures.by_language(nothing, natural, "condition").empty


def test_languages_are_told_apart_by_colour_or_shape():
    assert set(shapes.LANGUAGE_MARKS) == {shapes.LANGUAGE_NAMES[language] for language in LANGUAGES[1:]}
    assert len(set(shapes.LANGUAGE_MARKS.values())) == len(shapes.LANGUAGE_MARKS)
    together = [shapes.LANGUAGE_MARKS[shapes.LANGUAGE_NAMES[code]][0] for code in contrasts.NATURAL_LANGUAGES]
    assert len(set(together)) == len(together)


def in_turn() -> pd.DataFrame:
    """Seeds 31 and 32 of French, 33 and 34 of Russian; an encoder of more languages beside them."""
    rows = [
        {"condition": condition, "seed": seed, "task": "NLI", "metric": metric, "source": source, "target": target,
         "layer": None, "step": None, "run": f"{condition}{seed}", "value": value + seed / 1000}
        for seed in (31, 32, 33, 34)
        for own in ["fr" if seed < 33 else "ru"]
        for condition, value in (("base", 0.5), ("other", 0.4 if own == "fr" else 0.2))
        for metric, source, target in (("accuracy", "en", "en"), ("accuracy", "en", own), ("accuracy_mixed", own, "en"))
    ]  # fmt: skip
    more = [row | {"condition": "more", "target": "fr", "run": "more"} for row in rows if row["seed"] == 34]
    return pd.DataFrame([*rows, *more[:1]])


def test_seeds_may_take_languages_in_turn() -> None:
    table = in_turn()
    assert contrasts.partners(table, "fr") == {31: "fr", 32: "fr", 33: "ru", 34: "ru"}
    found = contrast_figures.values(table, scale("controlled"), ["condition"], "fr")
    assert set(found["condition"]) == {"base", "other"}, "French is not the language of seed 34"
    lost = contrast_figures.paired(*(found[found["condition"] == name] for name in ("base", "other")))
    assert lost.value == pytest.approx(0.2) and lost.n == 4
    assert lost.high - lost.low == pytest.approx(0), "the languages differ by much, seeds of a language by nothing"
    shown = contrast_figures.rows_of(table.iloc[:0], table, scale("controlled"), "condition", "fr")
    inference = shown.set_index("condition").loc["other"]
    assert inference["value"] == pytest.approx(0.3325) and inference["seeds"] == 4
    apart = 4.302653 * (0.5e-6 / 4) ** 0.5  # Student's t of 2, seeds of a language .001 apart
    assert inference["high"] - inference["value"] == pytest.approx(apart, rel=1e-4)


def test_mixed_pairs_of_languages_in_turn_are_of_english_and_the_other() -> None:
    table = in_turn()
    shown = overlap.mixed(table, "fr").set_index("condition")
    assert list(shown.columns) == ["en / en", "other / other", "en / other", "other / en"]
    assert shown.loc["other", "other / en"] == shown.loc["other", "other / other"] == pytest.approx(0.3325)
    assert list(overlap.mixed(table[table["seed"] < 33], "fr").columns)[2:] == ["fr / fr", "en / fr", "fr / en"]


def rows(values: dict[int, float]) -> pd.DataFrame:
    return pd.DataFrame({"seed": list(values), "value": list(values.values())})


def test_paired_differences_are_taken_seed_by_seed() -> None:
    gap = contrast_figures.paired(rows({11: 0.5, 12: 0.9, 13: 0.1}), rows({11: 0.4, 12: 0.8, 14: 0.0}))
    assert gap.n == 2 and gap.value == pytest.approx(0.1)
    one = pd.DataFrame({"seed": [11, 11, 12], "value": [0.2, 0.4, 0.3]})
    assert contrast_figures.paired(one, rows({11: 0.0, 12: 0.0})).value == pytest.approx(0.3)
    assert contrast_figures.paired(rows({11: 0.5}), rows({12: 0.4})).n == 0


def test_of_real_text_english_changes_its_domain_where_there_is_enough_text(tmp_path: Path, capsys) -> None:
    planned = overlap.grid(scale("natural"), ("fr", "zh"), 1, "all")
    domains = {
        (p.target, dict(p.condition)["condition"]): p.spec.corpus.domains for p in planned if p.spec.corpus.domains
    }
    everyday, news = overlap.REAL_DOMAINS
    assert domains == {
        ("fr", overlap.SAME_DOMAIN): (everyday, everyday),
        ("fr", overlap.OTHER_DOMAIN): (news, everyday),
    }
    for name in ("en/tatoeba.txt", "fr/tatoeba.txt.xz"):
        (tmp_path / "text" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "text" / name).touch()
    left = planning.possible(planned, tmp_path)
    gone = {dict(p.condition)["condition"] for p in planned} - {dict(p.condition)["condition"] for p in left}
    assert gone == {overlap.OTHER_DOMAIN}
    assert f"no text/en/{news}.txt in {tmp_path}; left out: {{'condition': '{overlap.OTHER_DOMAIN}'}}" in (
        capsys.readouterr().err
    )
    assert planning.possible(planned, None) == planned


def test_a_double_needs_no_text_of_its_own(tmp_path: Path, capsys) -> None:
    (tmp_path / "text/en").mkdir(parents=True)
    (tmp_path / "text/en" / f"{minimult.TEXT}.txt.xz").touch()
    planned = minimult.grid(scale("natural"), ("fr",), 1, "all")
    assert planning.possible(planned, tmp_path) == planned
    assert capsys.readouterr().err == ""


def test_a_task_whose_files_are_not_there_is_left_out_by_name(tmp_path: Path, capsys) -> None:
    planned = overlap.grid(scale("natural"), ("fr",), 1, "headline")
    for name in (
        "nli/multinli15k/train.en.tsv",
        "nli/xnli/dev.en.tsv.xz",
        "nli/xnli/test.en.tsv",
        "nli/xnli/test.fr.tsv",
        "dictionaries/wiktionary/en-fr.tsv",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = planning.measurable(overlap.CHAPTER, planned, tmp_path)
    assert set(found) == set(planned) and set(found.values()) == {("word retrieval", "NLI")}
    assert capsys.readouterr().err == (
        f"xling: 03_overlap: no ner/panx/dev.en.tsv, ner/panx/dev.fr.tsv, ner/panx/train.en.tsv in {tmp_path}; "
        "not measured: NER\n"
    )
    controlled = overlap.grid(scale("controlled"), ("fr",), 1, "headline")
    assert set(planning.measurable(overlap.CHAPTER, controlled, None).values()) == {("word retrieval", "NLI", "NER")}


def test_tasks_that_lack_the_same_files_are_all_named(tmp_path: Path, capsys) -> None:
    planned = planning.declared("06_mds").grid(scale("natural"), ("fr",), 1, "headline")
    (tmp_path / "nli" / "xnli").mkdir(parents=True)
    for language in ("en", "fr"):
        (tmp_path / "nli" / "xnli" / f"test.{language}.tsv").touch()
    planning.measurable("06_mds", planned, tmp_path)
    assert capsys.readouterr().err.strip().endswith("; not measured: NLI with shift, POS, parsing")


def test_parts_of_speech_need_a_treebank_of_english(tmp_path: Path, capsys) -> None:
    planned = data_size.grid(scale("natural"), ("fr",), 1, "headline")
    (tmp_path / "dictionaries" / "wiktionary").mkdir(parents=True)
    (tmp_path / "dictionaries" / "wiktionary" / "en-fr.tsv").touch()
    planning.measurable(data_size.CHAPTER, planned, tmp_path)
    assert "ud/UD_*/en_*-ud-train.conllu" in (said := capsys.readouterr().err) and "parts of speech" in said
    (tmp_path / "ud" / "UD_English-EWT").mkdir(parents=True)
    (tmp_path / "ud" / "UD_English-EWT" / "en_ewt-ud-train.conllu.xz").touch()
    planning.measurable(data_size.CHAPTER, planned, tmp_path)
    planning.measurable(overlap.CHAPTER, overlap.grid(scale("natural"), ("fr",), 1, "headline"), tmp_path)
    assert "parts of speech" not in capsys.readouterr().err


def test_chapters_do_without_inference() -> None:
    recorded = records.load("01_data_size", "controlled")
    words = recorded[recorded["task"] == "word retrieval"]
    assert data_size_figures.inference(chapters.empty("01_data_size"), words, ["fr", "en"]) is None
    assert data_size_figures.inference(chapters.empty("01_data_size"), recorded, ["fr", "en"]) is not None
    chapter = records.load("03_overlap", "controlled")
    assert overlap.mixed(chapter[chapter["task"] == "word retrieval"], "fr").empty
    assert len(overlap.mixed(chapter, "fr")) > 5


def test_any_two_conditions_are_those_of_the_rows_at_every_layer():
    table = records.load("03_overlap", "controlled")
    drawn = layer_by_layer.rows(table, "fr")
    words = table[(table["task"] == "word retrieval") & table["step"].isna() & (table["layer"] == 1)]
    wanted = words[(words["condition"] == "Fake-English") & (words["metric"] == "mrr")]
    found = drawn[(drawn["condition"] == "Fake-English") & (drawn["measure"] == "plain cosine") & (drawn["layer"] == 1)]
    for whose, own in found.groupby("whose"):
        language, _, which = whose.partition(", ")
        rows = (
            wanted if whose == layer_by_layer.ALL else wanted[wanted["target"].map(shapes.LANGUAGE_NAMES) == language]
        )
        rows = rows if which == "all seeds" else rows[rows["seed"] == int(which.removeprefix("seed "))]
        assert own["value"].tolist() == pytest.approx([rows["value"].mean()])
        assert own["seeds"].tolist() == [len(rows)]
    many = 1 + wanted["target"].nunique() + wanted["seed"].nunique()
    assert len(found) == many, "the mean of all, of every language, and every seed"
    guesses = drawn[(drawn["condition"] == "chance") & (drawn["whose"] == "French, all seeds") & (drawn["layer"] == 1)]
    of_french = words[words["target"] == "fr"].groupby("metric")["value"].mean()
    of_measure = {"centred": "chance", "plain cosine": "chance", "centred, among all words": "chance_vocabulary"}
    wanted_of = {measure: of_french[chance] for measure, chance in of_measure.items()}
    assert guesses.set_index("measure")["value"].to_dict() == pytest.approx(wanted_of)
    alone = table[table["condition"] == "default"]
    assert layer_by_layer.figure(alone, "fr") is None, "there are no two"


def test_seeds_that_take_languages_in_turn_have_a_mean_of_all():
    drawn = layer_by_layer.rows(records.load("03_overlap", "controlled"), "fr")
    whose = list(dict.fromkeys(drawn["whose"]))
    assert whose[:2] == [layer_by_layer.ALL, "French, all seeds"] and "German, seed 35" in whose
    assert "French, seed 35" not in whose


def test_little_is_less_than_the_most_that_a_table_read() -> None:
    """Records may be of other sizes than the scale has by now."""
    of = [
        ("word2vec", 35_000, 256),
        ("word2vec", 3_500, 5),
        ("word2vec", 35_000, 5),
        ("BERT", 35_000, 24),
        ("BERT", 3_500, 6),
    ]
    table = pd.DataFrame(of, columns=["model", "sentences", "window"]).assign(task="word retrieval", value=0.1)
    static = window_size.named(table, "word2vec", scale("natural"))
    assert list(static["condition"]) == ["window 5", "window 256", "window 5, little data", "BERT"]
    inputs = window_size.named(table, "BERT", scale("natural"))
    assert list(inputs["condition"]) == ["24 tokens", "6 tokens, little data"]
    assert set(inputs["condition"]) <= set(window_size.names(scale("natural")))
