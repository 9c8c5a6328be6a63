"""Specs: the key is stable and tells runs apart, JSON goes round, mistakes are named."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from xling_utils.core.errors import UserError
from xling_utils.core.specs import (
    RECIPES,
    Change,
    CorpusSpec,
    EncoderSpec,
    RunSpec,
    StaticSpec,
    TokenizerSpec,
    TrainingSpec,
    canonical_json,
    run_from_dict,
    run_key,
    to_dict,
)
from xling_utils.runs.keys import key_of

RUN = RunSpec(
    CorpusSpec("controlled", ("en", "fr"), 100, 7),
    TokenizerSpec("wordpiece", 900),
    EncoderSpec(2, 32, 2, 128, 32),
    TrainingSpec(20, 16, 24),
    seed=7,
    recipes=(("corpus", 1), ("training", 1)),
)
STATIC = replace(RUN, model=StaticSpec("glove", 32, 5, 2), training=None)
UNTRAINED = replace(RUN, training=None)


def test_the_key_of_a_run_is_pinned():
    """Every stored run and every committed record is found by it: a change here orphans them all."""
    assert run_key(RUN, "text") == "4ae2d8fb879f2b6053c6"


def test_the_runs_of_the_committed_records_keep_their_keys():
    """Those of the controlled world, whose text is at hand everywhere; one pair of languages is enough."""
    checked = 0
    for path in sorted((Path(__file__).resolve().parents[2] / "book/records").glob("*.controlled.runs.csv")):
        for key, spec in pd.read_csv(path)[["run", "spec"]].itertuples(index=False):
            run = run_from_dict(json.loads(spec))
            if run.corpus.languages == ("en", "fr"):
                assert key_of(run, None) == key, path.name
                assert canonical_json(run) == spec
                checked += 1
    assert checked > 100


def test_a_number_without_its_point_is_the_same_number():
    """A worker reads what was asked for from JSON, where types count."""
    assert RUN.training
    whole = replace(RUN, training=replace(RUN.training, mask_rate=1, warmup=0, learning_rate=1))
    real = replace(RUN, training=replace(RUN.training, mask_rate=1.0, warmup=0.0, learning_rate=1.0))
    assert whole == real and canonical_json(whole) == canonical_json(real)
    assert canonical_json(run_from_dict(to_dict(whole))) == canonical_json(whole)


def test_the_key_is_the_same_in_another_process():
    code = f"from xling_utils.core.specs import *; print(run_key(run_from_dict({to_dict(RUN)!r}), 'text'))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == run_key(RUN, "text")


def test_the_key_of_a_run_with_a_vocabulary_of_the_data_follows_that_file(tmp_path):
    vocabulary = tmp_path / "vocab/bert-base-multilingual-cased.vocab.txt"
    for path, content in ((vocabulary, "a\n"), (tmp_path / "text/en/a.txt", "One line .\n")):
        path.parent.mkdir(parents=True)
        path.write_text(content, encoding="utf-8")
    own = replace(RUN, corpus=CorpusSpec("directory", ("en",), 1))
    given = replace(own, tokenizer=TokenizerSpec("mbert", 0))
    before = [key_of(run, tmp_path) for run in (own, given)]
    assert before == [key_of(run, tmp_path) for run in (own, given)]
    vocabulary.write_text("b\n", encoding="utf-8")
    assert key_of(own, tmp_path) == before[0]
    assert key_of(given, tmp_path) != before[1]


def test_every_part_of_a_run_changes_its_key():
    variants = [
        RUN,
        STATIC,
        UNTRAINED,
        replace(RUN, seed=8),
        replace(RUN, corpus=replace(RUN.corpus, languages=("fr", "en"))),
        replace(RUN, corpus=replace(RUN.corpus, seed=8)),
        replace(RUN, tokenizer=replace(RUN.tokenizer, size=901)),
        replace(RUN, model=replace(RUN.model, heads=4)),
        replace(RUN, training=replace(RUN.training, learning_rate=2e-3)),
        replace(RUN, recipes=(("corpus", 2), ("training", 1))),
    ]
    keys = {run_key(variant, "text") for variant in variants} | {run_key(RUN, "other text")}
    assert len(keys) == len(variants) + 1
    assert all(len(key) == 20 and set(key) <= set("0123456789abcdef") for key in keys)


@pytest.mark.parametrize("run", [RUN, STATIC, UNTRAINED], ids=lambda run: run.kind)
def test_json_goes_round(run):
    back = run_from_dict(json.loads(json.dumps(to_dict(run))))
    assert back == run and hash(back) == hash(run)
    assert canonical_json(back) == canonical_json(run)
    assert type(back.model) is type(run.model)


def test_kinds_and_current_recipes():
    assert [run.kind for run in (RUN, STATIC, UNTRAINED)] == ["bert", "glove", "untrained"]
    bert = RunSpec(RUN.corpus, RUN.tokenizer, RUN.model, RUN.training, 7)
    glove = RunSpec(RUN.corpus, RUN.tokenizer, STATIC.model, None, 7)
    assert dict(bert.recipes) == {name: RECIPES[name] for name in ("corpus", "tokenizer", "encoder", "training")}
    assert dict(glove.recipes) == {name: RECIPES[name] for name in ("corpus", "tokenizer", "static")}


def test_what_is_switched_off_leaves_no_trace():
    """So that a new possibility orphans no stored run."""
    for name in ("changes", "next_sentence", "separate_positions", "specials", "random_words"):
        assert name not in canonical_json(RUN)
    on = replace(RUN, corpus=replace(RUN.corpus, changes=(Change("permuted", ("fr",), 0.5),)))
    assert run_key(on, "text") != run_key(RUN, "text")
    assert run_from_dict(to_dict(on)) == on
    assert json.loads(canonical_json(UNTRAINED))["training"] is None


@pytest.mark.parametrize("part", ["corpus", "tokenizer", "model", "training"])
def test_an_unknown_field_of_a_part_is_named(part):
    data = to_dict(RUN)
    data[part]["colour"] = "red"
    with pytest.raises(UserError, match=r"unknown field 'colour'; known: \w+"):
        run_from_dict(data)


def test_an_unknown_field_of_the_run_is_named():
    with pytest.raises(UserError, match="RunSpec: unknown field 'colour'"):
        run_from_dict(to_dict(RUN) | {"colour": "red"})


@pytest.mark.parametrize("field", sorted(to_dict(RUN)))
def test_a_run_without_one_of_its_parts_is_refused(field):
    data = to_dict(RUN)
    del data[field]
    with pytest.raises(UserError, match=f"{field!r} is missing"):
        run_from_dict(data)


def test_an_unknown_method_of_static_vectors_is_refused():
    data = to_dict(STATIC)
    data["model"]["method"] = "nosuch"
    with pytest.raises(UserError, match=r"StaticSpec: 'method': .*'word2vec' or 'glove' where 'nosuch' stands"):
        run_from_dict(data)


def test_a_part_without_a_needed_field_is_refused():
    data = to_dict(RUN)
    del data["training"]["steps"]
    with pytest.raises(UserError, match=r"TrainingSpec: .*'steps'"):
        run_from_dict(data)


def test_half_of_a_character_is_refused():
    data = to_dict(RUN)
    data["corpus"]["source"] = "\ud800"
    with pytest.raises(UserError, match=r"RunSpec: something that JSON cannot hold .*hex escape"):
        run_from_dict(data)
