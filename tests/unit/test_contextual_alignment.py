"""A task carried from one encoder to another by a rotation: what is read, what is fitted, what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pandas as pd
import pytest
import torch

from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale
from xling_utils.core.specs import CorpusSpec, EncoderSpec, StaticSpec, TokenizerSpec
from xling_utils.measures.encoders.stored_run import Reading
from xling_utils.measures.transfer.contextual_alignment import (
    CONTEXTUAL,
    STACK,
    Carry,
    CarryingReader,
    Entities,
    Parallel,
    first_pieces,
    rows,
)
from xling_utils.measures.transfer.inputs import tagged
from xling_utils.measures.transfer.tuning import Recipe
from xling_utils.measures.transfer.zero_shot import Source

SMOKE = scale("smoke")
CORPUS, PIECES = CorpusSpec("controlled", ("en", "fr"), 200, 3), TokenizerSpec("wordpiece", 900)
ENCODER = EncoderSpec(layers=2, width=16, heads=2, intermediate=32, positions=32)
CONTROLLED = Source("controlled")


@pytest.fixture
def reading(stored) -> Reading:
    return Reading(stored(CORPUS, PIECES, ENCODER), SMOKE)


def reader(reading: Reading, blocks: int = 1) -> CarryingReader:
    torch.manual_seed(0)
    encoders = {language: reading.model.of(language) for language in ("en", "fr")}
    return CarryingReader(encoders, reading.coders, blocks)


def test_rows_of_one_encoder_say_what_a_rotation_adds(stored):
    run = stored(CORPUS, PIECES, ENCODER)
    found = pd.DataFrame(list(rows(run, None, SMOKE, None)))
    assert set(found["task"]) == {CONTEXTUAL} and set(found["source"]) == {"en"}
    assert set(found["metric"]) == {f"{m}{e}" for m in ("f1", "las") for e in ("", "_aligned", "_random")}
    assert sorted(found["layer"].unique()) == [0, 1, 2]
    assert found["value"].between(0, 1).all() and (found["low"] <= found["high"]).all() and (found["n"] > 0).all()
    assert set(found.loc[found["target"] == "en", "metric"]) == {"f1", "las"}
    again = pd.DataFrame(islice(rows(run, None, SMOKE, None), 3))
    pd.testing.assert_frame_equal(found[:3], again)


def test_rows_of_two_encoders_are_rotated(stored, tmp_path_factory, monkeypatch):
    run = stored(CORPUS, PIECES, ENCODER)
    beside = replace(run, key="other")
    read = []
    monkeypatch.setattr(Entities, "learned", lambda task, seed: lambda language: read.append(dict(task.reader.carries)))
    monkeypatch.setattr("xling_utils.measures.transfer.contextual_alignment.Trees", Entities)
    monkeypatch.setattr(
        "xling_utils.measures.transfer.contextual_alignment.row", lambda task, metric, *names_and_found: metric
    )
    assert list(rows(run, beside, SMOKE, None)) == 3 * 2 * ["f1", "f1", "f1_random"]
    english, fitted, turned = read[:3]
    assert english == {} and set(fitted) == set(turned) == {"fr"}
    assert not np.allclose(fitted["fr"].rotation, turned["fr"].rotation)
    np.testing.assert_array_equal(fitted["fr"].start, turned["fr"].start)


def test_another_encoders_space_is_carried_back(reading):
    """The other language is English read by the same encoder, but turned: the carry undoes it."""
    here = reader(reading)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(16, 16)))[0]
    pairs = Parallel.read(here, CONTROLLED, "fr", 80)
    same = Parallel("fr", (pairs.inputs[0], pairs.inputs[0]), np.tile(pairs.links[:1], (2, 1)))
    for layer in range(3):
        here.layer, here.carries = layer, {}
        plain = first_pieces(here, pairs.inputs[0], "en")
        here.carries = {"fr": Carry(np.zeros(16), turn, np.zeros(16))}
        carry = same.carry(here)
        turned = torch.from_numpy(first_pieces(here, pairs.inputs[0], "fr"))
        np.testing.assert_allclose(carry(turned).numpy(), plain, atol=1e-3)


def test_words_are_read_at_their_first_piece_in_their_order(reading):
    here = reader(reading)
    here.layer = 1
    sentences = [["the", "dog", "sees"], ["a"], ["not", "long", "ago"]]
    inputs = tagged(here, sentences, [[0] * len(words) for words in sentences], "en")
    found, row = first_pieces(here, inputs, "en"), 0
    for item in inputs:
        ids = torch.tensor([item.ids])
        with torch.inference_mode():
            state = reading.model.of("en").hidden_states(ids)[1][0]
        for place in item.places:
            np.testing.assert_allclose(found[row], state[place].numpy(), atol=1e-5)
            row += 1
    assert row == len(found) == 7


def test_the_first_layers_stay_as_they_are_and_the_rest_is_learned(reading):
    here = reader(reading, STACK["smoke"])
    before = {name: value.clone() for name, value in here.state_dict().items()}
    Entities(here, CONTROLLED, Recipe(60, 1, 16, 1e-3, 20)).learned(0)
    for name, value in here.state_dict().items():
        same = torch.equal(value, before[name])
        assert same == name.startswith("encoders."), name


def test_words_that_were_cut_off_are_in_no_pair(stored):
    run = stored(CORPUS, PIECES, replace(ENCODER, positions=6))
    here = reader(Reading(run, SMOKE))
    pairs = Parallel.read(here, CONTROLLED, "fr", 60)
    for links, inputs in zip(pairs.links, pairs.inputs, strict=True):
        assert links.max() < sum(len(item.places) for item in inputs)
        assert max(len(item.ids) for item in inputs) <= 6


@pytest.mark.parametrize(
    ("languages", "model", "message"),
    [
        (("fr",), ENCODER, "a run that reads English and one that reads another"),
        (("en",), ENCODER, "a run that reads English and one that reads another"),
        (("en", "fr"), StaticSpec("word2vec", 8), "takes encoders"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(stored, languages, model, message):
    run = stored(replace(CORPUS, languages=languages), PIECES, model)
    with pytest.raises(UserError, match=message):
        next(rows(run, None, SMOKE, None))


def test_encoders_of_different_width_are_refused(stored, tmp_path):
    run = stored(CORPUS, PIECES, ENCODER)
    small = tmp_path / "small"
    small.mkdir()
    for path in [path for path in tmp_path.iterdir() if path != small]:
        path.rename(small / path.name)
    run, wide = replace(run, path=small), stored(CORPUS, PIECES, replace(ENCODER, width=32))
    with pytest.raises(UserError, match="differ in width or number of layers"):
        next(rows(run, replace(wide, key="wide"), SMOKE, None))
