"""Transfer with moved states: what moves and what stays, and complete rows for every task, at smoke scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from tests import families
from tests.given import DATA, real
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale
from xling_utils.core.specs import CorpusSpec, EncoderSpec, TokenizerSpec
from xling_utils.corpora.treebanks import LOW_RESOURCE
from xling_utils.measures.encoders import hidden_states
from xling_utils.measures.encoders.hidden_states import LanguageModel
from xling_utils.measures.encoders.representations import shifted
from xling_utils.measures.encoders.subject import Subject
from xling_utils.measures.transfer.inputs import batches, paired, tagged
from xling_utils.measures.transfer.mean_shift import (
    MOVED,
    NLI,
    ORIGINAL,
    PARSING,
    POS,
    SHIFT,
    TASKS,
    UPPER,
    WEIGHTS,
    WHOLE,
    ZERO_MEAN,
    languages_with,
    rows,
)
from xling_utils.measures.transfer.moved import MovedReader
from xling_utils.measures.transfer.tuning import Recipe, Tagger, fine_tune

LAYERS, WIDTH = 3, 16
SMOKE = scale("smoke")
CPU = torch.device("cpu")
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def subject(stored) -> Subject:
    spec = EncoderSpec(layers=LAYERS, width=WIDTH, heads=2, intermediate=32, positions=32)
    return Subject.of_run(
        stored(CorpusSpec("controlled", ("en", "fr", "hi"), 200, 3), TokenizerSpec("wordpiece", 900), spec)
    )


@pytest.fixture(params=families.FAMILIES)
def model(request, subject):
    torch.manual_seed(0)
    return families.masked_language_model(request.param, len(subject.tokenizer), LAYERS, 32).eval()


# The reader


def read(reader: MovedReader, language: str, text: str) -> list[torch.Tensor]:
    """The states at every layer."""
    (batch,) = batches(paired(reader, [text], [text], [0], (language, language)), 1, reader.padding, CPU)
    with hidden_states.recording(hidden_states.blocks_of(reader.body)) as kept, torch.no_grad():
        reader.eval().states(language, batch.ids, batch.mask, batch.segments)
    return [hidden_states.state_of(output) for output in kept]


def test_states_move_at_their_layer_and_only_in_their_language(model, subject):
    reader = MovedReader(LanguageModel(model, subject.tokenizer), 2)
    text = subject.text("fr", 1)[0]
    before = {language: read(reader, language, text) for language in ("en", "fr")}
    vector = np.random.default_rng(0).normal(size=WIDTH).astype(np.float32)
    reader.moves = {"fr": vector}
    english, french = read(reader, "en", text), read(reader, "fr", text)
    assert all(torch.equal(now, old) for now, old in zip(english, before["en"], strict=True))
    assert all(torch.equal(french[layer], before["fr"][layer]) for layer in (0, 1))
    reader.moves = {}
    with shifted(reader.body, 2, vector):
        expected = read(reader, "fr", text)
    assert torch.equal(french[3], expected[3]) and not torch.allclose(french[3], before["fr"][3], atol=1e-3)


@pytest.mark.parametrize("layer", [0, 2])
def test_what_a_layer_depends_on_keeps_its_weights_bit_for_bit_and_the_rest_learns(model, subject, layer):
    reader = MovedReader(LanguageModel(model, subject.tokenizer), layer)
    reader.freeze_below(layer)
    before = {name: value.clone() for name, value in reader.state_dict().items()}
    torch.manual_seed(1)
    words = [line.split() for line in subject.text("en", 40)]
    inputs = tagged(reader, words, [[len(word) % 3 for word in line] for line in words], "en")
    fine_tune(Tagger(reader, 3), inputs, lambda: 1.0, Recipe(None, 1, 8, 1e-2, None), seed=0)
    changed = {name for name, value in reader.state_dict().items() if not torch.equal(value, before[name])}
    blocks = hidden_states.blocks_of(reader.body)
    (stem,) = {name for name, module in reader.named_modules() if module is blocks}
    numbers = {name.removeprefix(f"{stem}.").split(".")[0] for name in changed if name.startswith(stem)}
    assert numbers == {str(number) for number in range(layer, LAYERS)}
    assert not any("embed" in name for name in changed)


def test_a_layer_that_the_model_does_not_have_is_named(subject):
    with pytest.raises(UserError, match="layer 4: the model has layers 0 to 3"):
        MovedReader(subject, 4)


# The tasks


@pytest.mark.parametrize("task", TASKS)
def test_rows_are_complete_and_the_subject_stays_as_it_is(subject, task):
    weights = {name: value.clone() for name, value in subject.model.state_dict().items()}
    trainable = [parameter.requires_grad for parameter in subject.model.parameters()]
    state = torch.random.get_rng_state()
    table = pd.DataFrame(rows(subject, SMOKE, task))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(value, weights[name]) for name, value in subject.model.state_dict().items())
    assert [parameter.requires_grad for parameter in subject.model.parameters()] == trainable
    columns = ["task", "metric", "source", "target", "layer", "value", "low", "high", "n", "method", "weight"]
    assert list(table) == columns and set(table["task"]) == {task} and set(table["source"]) == {"en"}
    moved, others = (MOVED, (WHOLE, UPPER)) if task == NLI else (SHIFT, (ORIGINAL, ZERO_MEAN))
    metrics = {"uas", "las"} if task == PARSING else {"accuracy"}
    (floor,) = set(table["method"]) - {moved, *others}
    found = set(table[["metric", "method", "target"]].itertuples(index=False, name=None))
    wanted = {(metric, method, x) for metric in metrics for method in (*others, floor) for x in ("en", "fr", "hi")}
    assert found == wanted | {(metric, moved, x) for metric in metrics for x in ("fr", "hi")}
    assert len(table) == len(found) and table["value"].between(table["low"], table["high"]).all()
    with_weight = table[table["weight"].notna()]
    assert set(with_weight["method"]) == {moved} and set(with_weight["weight"]) <= set(WEIGHTS)
    at_layer = {moved, UPPER if task == NLI else ZERO_MEAN}
    assert set(table.loc[table["layer"].notna(), "method"]) == at_layer and set(table["layer"].dropna()) == {1}


def test_the_same_subject_gives_the_same_rows(subject):
    first, again = (pd.DataFrame(rows(subject, SMOKE, POS)) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    other = pd.DataFrame(rows(replace(subject, seed=9), SMOKE, POS))
    assert not other["value"].equals(first["value"])


def test_unknown_tasks_and_missing_data_are_named(subject, tmp_path):
    with pytest.raises(UserError, match="unknown task 'NER'; known: NLI with shift, POS, parsing"):
        next(rows(subject, SMOKE, "NER"))
    directory = replace(subject, corpus=replace(subject.corpus, source="directory"))
    with pytest.raises(UserError, match="--data"):
        languages_with(POS, directory)
    for task in TASKS:
        with pytest.raises(UserError, match=f"no test data of {task} in fr hi"):
            languages_with(task, replace(directory, data=tmp_path))


# Real data


@pytest.fixture
def real_subject(subject) -> Subject:
    corpus = replace(subject.corpus, source="directory", languages=("en", "sw", "th"))
    return replace(subject, data=DATA, corpus=corpus)


@real("ud")
def test_languages_of_real_data_are_those_that_have_tests(real_subject):
    assert languages_with(NLI, real_subject) == ("sw", "th")
    assert languages_with(POS, real_subject) == ("th",)
    assert languages_with(PARSING, real_subject) == ("th", *LOW_RESOURCE)
