"""Two encoders compared: parallel sentences, stored runs as transformers has them, tidy rows, verdicts."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from tests.given import DATA, real
from xling_utils import corpora
from xling_utils.chapters.cka import figures as cka_figures
from xling_utils.chapters.cka import plan as cka
from xling_utils.charts import layer_shapes
from xling_utils.claims import ledger, listing
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale
from xling_utils.core.specs import CorpusSpec, EncoderSpec, StaticSpec, TokenizerSpec
from xling_utils.corpora import parallel
from xling_utils.measures.encoders.stored_run import Reading, masked_lm
from xling_utils.measures.tasks import language_neutrality, lexicon_induction, sentence_similarity
from xling_utils.models.tokenization import CLS, SEP

SMOKE = scale("smoke")
CORPUS, PIECES = CorpusSpec("controlled", ("en", "fr"), 200, 3), TokenizerSpec("wordpiece", 900)
ENCODER = EncoderSpec(layers=2, width=16, heads=2, intermediate=32, positions=32)


# Parallel sentences


def test_controlled_sentences_are_translations_and_two_draws():
    many = parallel.multiway("controlled", ("en", "hi"), 50)
    english, hindi = parallel.pairs("controlled", "hi", 40)
    assert len(many["en"]) == len(many["hi"]) == 50 and len(english) == len(hindi) == 40
    assert len(set(english) & set(many["en"])) < 5, "a handful of short sentences may come twice"
    assert parallel.multiway("controlled", ("en", "hi"), 10)["hi"] == many["hi"][:10]
    assert all(any("ऀ" <= c <= "ॿ" for c in line) for line in hindi)


def tatoeba(folder: Path, english: str, french: str) -> Path:
    (folder / "tatoeba").mkdir()
    (folder / "tatoeba/fr-en.en").write_text(english, encoding="utf-8")
    (folder / "tatoeba/fr-en.fr").write_text(french, encoding="utf-8")
    return folder


def test_tatoeba_is_normalised_as_text_is(tmp_path):
    data = tatoeba(tmp_path, "I see.\nYou, too!\n", "Je vois.\nToi aussi !\n")
    assert parallel.pairs("directory", "fr", 5, data=data) == (["i see .", "you , too !"], ["je vois .", "toi aussi !"])
    assert parallel.pairs("directory", "fr", 1, data=data, form="cased") == (["I see ."], ["Je vois ."])


def test_files_of_unequal_length_and_missing_ones_are_named(tmp_path):
    data = tatoeba(tmp_path, "a\nb\n", "a\n")
    with pytest.raises(UserError, match=r"tatoeba/fr-en: .* differ: en 2, fr 1"):
        parallel.pairs("directory", "fr", 5, data=data)
    with pytest.raises(UserError, match=r"no de-en\.en; Tatoeba has no pair en-de here"):
        parallel.pairs("directory", "de", 5, data=data)
    with pytest.raises(UserError, match="name its directory"):
        parallel.pairs("directory", "fr", 5)


def test_rows_that_repeat_a_sentence_in_any_language_are_left_out():
    said = {"en": ["a", "b", "a", "c", "d"], "fr": ["x", "y", "z", "y", "w"]}
    assert parallel.distinct(said, 9) == {"en": ["a", "b", "d"], "fr": ["x", "y", "w"]}
    assert parallel.distinct(said, 2) == {"en": ["a", "b"], "fr": ["x", "y"]}


@real("nli")
def test_no_sentence_of_xnli_stands_in_both_halves_of_a_probe():
    def said(count):
        return parallel.multiway("directory", ("en", "fr"), count, data=DATA)

    subject = SimpleNamespace(said=said, corpus=SimpleNamespace(source="directory"))
    found = language_neutrality._said(subject, 400)
    assert all(len({*lines}) == 400 for lines in found.values())
    assert len({*said(400)["en"]}) < 200, "as the file has them each premise stands three times"


@real("tatoeba")
def test_real_sentences_are_line_by_line_translations():
    many = parallel.multiway("directory", ("en", "fr", "ru"), 10_020, data=DATA)
    assert {len(lines) for lines in many.values()} == {10_020}
    assert len(parallel.multiway("directory", ("en", "fr"), 10_021, data=DATA)["fr"]) == 10_020, "all there are"
    english, thai = parallel.pairs("directory", "th", 1_000, data=DATA)
    assert len(english) == len(thai) == 548


# Stored runs


def moved(run, folder):
    """``run`` where the next one does not replace it."""
    layers = getattr(run.spec.model, "layers", 0)
    kept = folder / f"{layers}-{run.spec.model.width}"
    shutil.copytree(run.path, kept, ignore=shutil.ignore_patterns("*-*"))
    return replace(run, key=kept.name, path=kept)


def test_a_stored_run_is_read_as_in_pretraining(stored):
    run = stored(CORPUS, PIECES, ENCODER)
    lm = masked_lm(run)
    text = Reading(run, SMOKE).texts["fr"]["text"][0]
    coder = Reading(run, SMOKE).coders["fr"]
    assert lm.tokenizer(text)["input_ids"] == [CLS, *coder.encode([text])[0], SEP]
    assert lm.tokenizer("[MASK]")["input_ids"].count(lm.tokenizer.mask_token_id) == 0, "text is never the mask"
    (batch,) = lm.states([text])
    with torch.inference_mode():
        own = Reading(run, SMOKE).model.of("fr").hidden_states(batch.ids.cpu())
    torch.testing.assert_close(batch.layers.cpu(), torch.stack(list(own)), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("pieces", "model", "message"),
    [
        (replace(PIECES, separate=True), ENCODER, "ids of their own"),
        (replace(PIECES, markers=True), ENCODER, "ids of their own"),
        (PIECES, StaticSpec("word2vec", 8), "not static vectors"),
        (PIECES, replace(ENCODER, separate_blocks=1), "parts or ids of their own"),
        (PIECES, replace(ENCODER, separate_embeddings=True), "parts or ids of their own"),
    ],
)
def test_runs_that_no_single_model_can_stand_for_are_refused(stored, pieces, model, message):
    with pytest.raises(UserError, match=message):
        masked_lm(stored(CORPUS, pieces, model))


def test_rows_of_one_encoder_and_of_two(stored, tmp_path_factory):
    run = stored(CORPUS, PIECES, ENCODER)
    rows = pd.DataFrame(list(sentence_similarity.rows(run, None, SMOKE, None)))
    assert set(rows["metric"]) == {"cka", "cka_debiased", "p_at_1", "p_at_1_rotated"}
    assert set(rows["target"]) == {"fr"}
    assert sorted(rows["layer"].unique()) == [0, 1, 2]
    assert rows["value"].between(-0.1, 1).all()
    fitted, tested = sentence_similarity.SENTENCES["smoke"]
    assert set(rows.loc[rows["metric"].str.startswith("cka"), "n"]) == {fitted}
    assert set(rows.loc[rows["metric"].str.startswith("p_at"), "n"]) == {tested}


def test_english_beside_itself_is_the_same_shape(stored):
    run = stored(replace(CORPUS, languages=("en",)), PIECES, ENCODER)
    rows = pd.DataFrame(list(sentence_similarity.rows(run, run, SMOKE, None)))
    assert set(rows["metric"]) == {"cka", "cka_debiased"} and set(rows["target"]) == {"en"}
    assert rows["value"].tolist() == pytest.approx([1.0] * 6)


def test_a_run_without_english_is_refused(stored):
    run = stored(replace(CORPUS, languages=("fr",)), PIECES, ENCODER)
    with pytest.raises(UserError, match="does not read English"):
        list(sentence_similarity.rows(run, None, SMOKE, None))


@pytest.mark.parametrize("deeper", [0, 1])
def test_encoders_of_different_depth_are_compared_as_deep_as_the_shallower(stored, tmp_path, deeper):
    pair = [moved(stored(CORPUS, PIECES, replace(ENCODER, layers=layers)), tmp_path) for layers in (2, 3)]
    rows = pd.DataFrame(list(sentence_similarity.rows(pair[deeper], pair[1 - deeper], SMOKE, None)))
    assert set(rows.groupby("metric")["layer"].agg(list).map(tuple)) == {(0, 1, 2)} and rows["metric"].nunique() == 4


@pytest.mark.parametrize("other", [replace(ENCODER, layers=3), replace(ENCODER, width=32), StaticSpec("glove", 16)])
def test_words_of_models_of_different_shape_are_not_aligned(stored, tmp_path, other):
    run, beside = (moved(stored(CORPUS, PIECES, model), tmp_path) for model in (ENCODER, other))
    with pytest.raises(UserError, match=rf"{run.key} and {beside.key} differ in width or number of layers"):
        list(lexicon_induction.rows(run, beside, SMOKE, None))


@pytest.mark.parametrize("languages", [("en",), ("fr",)])
def test_words_are_not_aligned_without_both_languages(stored, tmp_path, languages):
    both = moved(stored(CORPUS, PIECES, ENCODER), tmp_path)
    run = stored(replace(CORPUS, languages=languages), PIECES, ENCODER)
    asked = [(run, None), (both, run) if languages == ("en",) else (run, both)]
    for pair in asked:
        with pytest.raises(UserError, match="a run that reads English and one that reads another language"):
            list(lexicon_induction.rows(*pair, SMOKE, None))


@pytest.mark.parametrize(("model", "layers"), [(ENCODER, 3), (StaticSpec("word2vec", 8), 1)])
def test_words_are_aligned_on_one_half_and_looked_up_in_the_other(stored, model, layers):
    run = stored(replace(CORPUS, sentences=600), PIECES, model)
    rows = pd.DataFrame(list(lexicon_induction.rows(run, None, SMOKE, None)))
    assert set(rows["metric"]) == {"p_at_1_csls", "p_at_1_shuffled"}
    assert rows["layer"].nunique() == layers and set(rows["target"]) == {"fr"}
    assert rows["value"].between(0, 1).all() and rows["n"].nunique() == 1


def test_a_rotation_found_on_one_half_carries_over_to_the_other(stored, monkeypatch):
    run = stored(replace(CORPUS, sentences=600), PIECES, StaticSpec("word2vec", 16))
    rng = np.random.default_rng(0)
    turned, of = np.linalg.qr(rng.normal(size=(16, 16)))[0], {}
    french = dict(corpora.dictionary("controlled", "fr"))

    def vectors(self, language, words, snapshot=None):
        if language == "en":
            return np.stack([of.setdefault(french[w], rng.normal(size=16)) for w in words])[None]
        return np.stack([of.get(w, np.ones(16)) @ turned for w in words])[None]

    monkeypatch.setattr(Reading, "vectors", vectors)
    rows = pd.DataFrame(list(lexicon_induction.rows(run, None, SMOKE, None))).set_index("metric")["value"]
    assert rows["p_at_1_csls"] > 0.9 and rows["p_at_1_shuffled"] < 0.2


# The chapter


def table(rotated: float = 0.5) -> pd.DataFrame:
    """Three seeds as C has it, scattered: bilingual above monolingual above random, retrieval as high as CKA."""
    rows = []
    for seed in (11, 12, 13):
        for encoders, level in zip(cka.ENCODERS, (0.9, 0.7, 0.2, 0.95), strict=True):
            for layer in range(4):
                value = level * (1 + 0.003 * seed) - 0.02 * layer
                named = {"seed": seed, "encoders": encoders, "layer": layer}
                named["target"] = "en" if encoders == cka.SAME else "fr"
                for metric in cka.EXPERIMENTS:
                    share = value * (rotated if metric.startswith("p_at") else 0.1 if metric.endswith("_random") else 1)
                    share += 1e-5 * seed * layer**2 * metric.startswith("p_at")
                    rows.append(named | {"metric": metric, "value": share})
    return pd.DataFrame(rows).assign(source="en", low=np.nan, high=np.nan)


def verdicts(rows: pd.DataFrame) -> dict[str, str]:
    found = ledger.load().test({"07_cka": rows.assign(run=rows["encoders"])}, "controlled", alone=True)
    return {finding.claim.id: finding.verdict for finding in found}


def test_verdicts_follow_the_rows():
    alike, tells = ("C-19", "C-21", "C-22", "C-26"), ("C-33", "C-34")
    assert {verdicts(table())[name] for name in (*alike, *tells)} == {"holds"}
    turned = verdicts(table().assign(value=lambda rows: 1 - rows["value"]))
    assert {turned[name] for name in ("C-19", "C-21", "C-22", "C-33")} == {"does not hold"}
    assert turned["C-34"] == "not testable at this size", "nothing is carried over that could be more or less"
    assert turned["C-26"] == "holds"
    for rotated, expected in ((0.5, 1), (-1, -1)):
        found = cka.correlations(table(rotated), cka.MONOLINGUAL)
        assert list(found.index) == [(seed, "fr") for seed in (11, 12, 13)] and found.tolist() == pytest.approx(
            [expected] * 3, abs=0.01
        )


def test_one_model_is_judged_over_languages_and_by_what_there_is():
    rows = table()
    rows = rows[(rows["seed"] == 11) & rows["encoders"].isin([cka.BILINGUAL, cka.RANDOM])]
    languages = [rows.assign(target=name, value=rows["value"] + shift) for name, shift in (("fr", 0), ("ru", 0.001))]
    shown = listing.table("07_cka", "controlled", pd.concat(languages).assign(run="r"), recorded=False)
    assert len(shown) and shown["this machine"].str.contains("2 languages").all()
    (measure,) = cka_figures.heat_map(pd.concat(languages)).to_dict()["params"]
    assert measure["bind"]["options"] == [
        "CKA, debiased, mean of 2 languages",
        "CKA, debiased, French",
        "CKA, French",
        "CKA, debiased, Russian",
        "CKA, Russian",
    ]


def test_every_figure_has_what_it_shows():
    static = {"seed": 11, "encoders": cka.STATIC, "layer": 0, "target": "fr", "metric": "p_at_1_csls", "value": 0.5}
    rows = pd.concat([table(), pd.DataFrame([static]).assign(source="en", low=0.4, high=0.6)])
    words = cka_figures.words(rows)
    assert cka_figures.transfer(rows).to_dict() and cka_figures.transfer(rows[rows["metric"] == "cka"]) is None
    for chart in (cka_figures.heat_map(table()), cka_figures.retrieval(table()), words):
        spec = chart.to_dict()
        (rows,) = spec["datasets"].values()
        measure, whose = (param["bind"]["options"] for param in spec["params"] if param["name"].endswith("_shown"))
        assert {row["measure"] for row in rows} == set(measure)
        assert whose == ["all seeds", "seed 11", "seed 12", "seed 13"]
        assert {row["whose"] for row in rows} == set(whose)
        assert spec["description"] and all(np.isfinite(row["value"]) for row in rows)
    (drawn,) = words.to_dict()["datasets"].values()
    static = [(row["whose"], row["layer"]) for row in drawn if row["kind"] == cka.STATIC]
    assert static == [(whose, layer) for layer in range(4) for whose in ("all seeds", "seed 11")]
    heat = cka_figures.heat_map(table()).to_dict()["datasets"]
    assert {row["kind"] for rows in heat.values() for row in rows} == set(cka.ENCODERS)
    correlated = cka_figures.correlation(table())
    assert list(correlated["correlation"]) == ["1.00 (1.00 to 1.00)"] * 2 and list(correlated["seeds"]) == [3, 3]
    assert len(layer_shapes.HUES) >= len(cka.ENCODERS)


def test_the_grid_takes_the_base_run_and_leaves_out_nothing():
    grid = cka.grid(scale("controlled"), ("fr", "es", "de", "ru"), 2, "headline")
    assert [dict(p.condition)["encoders"] for p in grid] == 2 * [*cka.ENCODERS[:3], cka.STATIC, cka.SAME]
    assert all((p.beside is None) == (dict(p.condition)["encoders"] == cka.BILINGUAL) for p in grid)
    same = next(p for p in grid if dict(p.condition)["encoders"] == cka.SAME)
    assert same.beside.corpus == same.spec.corpus and same.beside.seed != same.spec.seed and same.target == "en"
    assert {p.target for p in cka.grid(scale("controlled"), ("fr", "es", "de", "ru"), 1, "all")} == {
        "en",
        "fr",
        "de",
        "ru",
    }
    assert cka.grid(scale("controlled"), ("fr",), 1, "none") == []


def test_texts_to_mine_have_translations_in_a_third():
    found = parallel.unaligned("controlled", "fr", 30)
    assert found and len(found.english) == len(found.other) == 30
    assert found.gold == [(row, row) for row in range(10)]
    said = parallel.unaligned("controlled", "de", 30)
    assert said and said.english == found.english and said.other != found.other


def bucc(folder: Path, gold: str) -> Path:
    (folder / "bucc2018").mkdir()
    for name, text in (("en", "en-1\tYes.\nen-2\tNo.\n"), ("zh", "zh-1\t是。\nzh-2\t不。\n"), ("gold", gold)):
        (folder / "bucc2018" / f"zh-en.dev.{name}").write_text(text, encoding="utf-8")
    return folder


def test_bucc_is_read_by_the_names_of_its_sentences(tmp_path):
    data = bucc(tmp_path, "zh-2\ten-1\n")
    found = parallel.unaligned("directory", "zh", 10, data=data)
    assert found and found.gold == [(1, 0)] and found.english == ["yes .", "no ."]
    assert parallel.unaligned("directory", "fr", 10, data=data) is None
    cut = parallel.unaligned("directory", "zh", 1, data=data)
    assert cut and cut.gold == [] and len(cut.other) == 1


def test_a_gold_pair_that_is_none_is_named_with_its_line(tmp_path):
    data = bucc(tmp_path, "zh-2\ten-1\nen-1\tzh-2\n")
    with pytest.raises(UserError, match=r"zh-en\.dev\.gold, line 2"):
        parallel.unaligned("directory", "zh", 10, data=data)
    (data / "bucc2018" / "zh-en.dev.en").write_text("only text\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"zh-en\.dev\.en, line 1"):
        parallel.unaligned("directory", "zh", 10, data=data)


@real("tatoeba")
def test_real_texts_to_mine_have_257_pairs():
    found = parallel.unaligned("directory", "zh", 20_000, data=DATA)
    assert found and (len(found.english), len(found.other), len(found.gold)) == (13_589, 8_624, 257)
