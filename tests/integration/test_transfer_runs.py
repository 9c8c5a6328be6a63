"""Zero-shot transfer on stored runs: tidy rows, the same every time, in the spelling of the corpus."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.given import DATA, real
from tests.smoke import trained
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale
from xling_utils.core.specs import Change, CorpusSpec, EncoderSpec, RunSpec
from xling_utils.measures.transfer import random_labels, zero_shot
from xling_utils.measures.transfer.tuning import Recipe
from xling_utils.runs.store import Run, RunStore

SMOKE = scale("smoke")
COLUMNS = {"task", "metric", "source", "target", "layer", "value", "low", "high", "n"}


def smoke(**changes: object) -> RunSpec:
    return replace(SMOKE.bert(("en", "fr"), 300, 1), **changes)


SPECS = {
    "bert": smoke(),
    "separate": smoke(model=replace(SMOKE.encoder, separate_embeddings=True, separate_blocks=1)),
    "fake": smoke(corpus=CorpusSpec("controlled", ("en", "fr"), 300, 1, (Change("fake", ("en",)),))),
    "word2vec": SMOKE.static("word2vec", ("en", "fr"), 300, 1),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    store = RunStore(tmp_path_factory.mktemp("store"))
    found = trained(store, *SPECS.values())
    return {name: found[spec] for name, spec in SPECS.items()}


def measured(run: Run, task: str) -> dict[tuple[str, str, str], float]:
    rows = list(zero_shot.rows(run, SMOKE, None, task))
    assert all(set(row) == COLUMNS and row["task"] == task and 0 <= row["value"] <= 1 for row in rows)
    assert all(row["low"] <= row["value"] <= row["high"] for row in rows if row["n"])
    return {(row["metric"], row["source"], row["target"]): row["value"] for row in rows}


@pytest.mark.parametrize("name", SPECS)
def test_inference_gives_tidy_rows(runs, name):
    rows = measured(runs[name], "NLI")
    everywhere = {(metric, "en", to) for metric in ("accuracy", "majority", "random") for to in ("en", "fr")}
    mixed = {("accuracy_mixed", "en", "fr"), ("accuracy_mixed", "fr", "en")}
    together = name in ("bert", "fake")  # one encoder reads both languages
    assert set(rows) == everywhere | {("accuracy_dev", "en", "en")} | (mixed if together else set())
    assert rows["majority", "en", "fr"] == rows["random", "en", "fr"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("name", SPECS)
def test_entities_give_tidy_rows(runs, name):
    rows = measured(runs[name], "NER")
    everywhere = {(metric, "en", to) for metric in ("f1", "lookup", "random") for to in ("en", "fr")}
    assert everywhere | {("f1_dev", "en", "en"), ("f1_new_names", "en", "fr")} <= set(rows)
    assert rows["lookup", "en", "en"] > 0.5
    # Nina is Nina in French, but no name is spelt as in Fake-English
    assert rows["lookup", "en", "fr"] == 0 if name == "fake" else rows["lookup", "en", "fr"] > 0.4


def test_random_labels_are_dealt_out_anew_but_for_the_test(runs):
    plain, shuffled = zero_shot.Source("controlled"), random_labels.Shuffled("controlled")
    for split, changed in (("train", True), ("dev", True), ("test", False)):
        *texts, labels = plain.columns("NLI", "en", split, 60)
        *same, dealt = shuffled.columns("NLI", "en", split, 60)
        assert texts == same and sorted(labels) == sorted(dealt) and (labels != dealt) == changed
    rows = list(random_labels.rows(runs["bert"], SMOKE, None))
    assert [(row["task"], row["metric"], row["target"]) for row in rows] == [
        ("NLI", "accuracy_random_labels", "en"), ("NLI", "accuracy_random_labels", "fr"),
    ]  # fmt: skip


def test_the_same_run_gives_the_same_rows(runs):
    for task in zero_shot.TASKS:
        assert measured(runs["bert"], task) == measured(runs["bert"], task)


def test_nothing_of_another_language_is_read_before_the_test(runs, monkeypatch):
    asked = []
    whole = zero_shot.Source.columns

    def columns(self, kind, language, split, count):
        asked.append((language, split))
        return whole(self, kind, language, split, count)

    monkeypatch.setattr(zero_shot.Source, "columns", columns)
    for task in zero_shot.TASKS:
        measured(runs["bert"], task)
    assert {split for language, split in asked if language != "en"} == {"test"}
    assert {split for language, split in asked if language == "en"} == {"train", "dev", "test"}


def test_an_unknown_task_and_a_run_without_english_are_mistakes(runs):
    with pytest.raises(UserError, match="unknown task 'POS'; known: NLI, NER"):
        list(zero_shot.rows(runs["bert"], SMOKE, None, "POS"))
    french = replace(runs["bert"], spec=SMOKE.bert(("fr", "es"), 300, 1))
    with pytest.raises(UserError, match="does not know English"):
        list(zero_shot.rows(french, SMOKE, None, "NLI"))


@real("nli")
def test_real_text_transfers(tmp_path, monkeypatch):
    corpus = CorpusSpec("directory", ("en", "zh"), 300, 1)
    spec = replace(SMOKE.bert(("en", "zh"), 300, 1), corpus=corpus, tokenizer=scale("natural").tokenizer(("en", "zh")))
    assert isinstance(spec.model, EncoderSpec)
    spec = replace(spec, tokenizer=replace(spec.tokenizer, size=6000))
    run = trained(RunStore(tmp_path), spec, data=DATA)[spec]
    for task, metric in (("NLI", "accuracy"), ("NER", "f1")):
        monkeypatch.setitem(zero_shot.RECIPES, ("smoke", task), Recipe(100, 1, 32, 1e-3, 60))
        rows = list(zero_shot.rows(run, SMOKE, DATA, task))
        assert {row["target"] for row in rows if row["metric"] == metric} == {"en", "zh"}
