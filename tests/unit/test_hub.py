"""Models from elsewhere: loaded with care, refused in one line, the same measures for every family."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from transformers import BertModel, GPT2Config, GPT2LMHeadModel

from tests import families
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale
from xling_utils.core.specs import CorpusSpec
from xling_utils.corpora import controlled
from xling_utils.measures.encoders import hub
from xling_utils.measures.encoders.masked_lm import Subject
from xling_utils.measures.tasks import language_neutrality, sentence_similarity, token_translation

CORPUS = CorpusSpec("controlled", ("en", "fr"), 100)
SMOKE = scale("smoke")


def texts() -> list[str]:
    return [line for language in CORPUS.languages for line in controlled.text(language, 100, 0)["text"][:]]


@pytest.fixture(scope="module", params=families.FAMILIES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return families.saved(tmp_path_factory.mktemp("models"), request.param, texts())


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    return families.saved(tmp_path / "bert", "BERT", texts())


def test_every_family_goes_through_every_measure(folder: Path) -> None:
    lm = hub.load(str(folder))
    subject = Subject(lm.model, lm.tokenizer, hub.key(lm.model), CORPUS, None, "lower", 0)
    assert subject.layers == families.LAYERS
    for rows in (
        list(language_neutrality.rows(subject, SMOKE)),
        list(token_translation.rows(subject, SMOKE)),
        list(sentence_similarity.of_models(subject, subject.untrained(), SMOKE, "fr")),
    ):
        assert {row["layer"] for row in rows if row.get("layer") is not None} == set(range(families.LAYERS + 1))


def test_the_key_is_of_the_weights_and_the_twin_has_others(bert: Path) -> None:
    lm, again = hub.load(str(bert)), hub.load(str(bert))
    assert hub.key(lm.model) == hub.key(again.model)
    subject = Subject(lm.model, lm.tokenizer, hub.key(lm.model), CORPUS, None, "lower", 0)
    twin = subject.untrained()
    assert hub.key(twin.model) != subject.key and twin.key != subject.key
    assert hub.key(subject.untrained().model) == hub.key(twin.model), "the same twin every time"
    assert hub.key(lm.model) == subject.key, "the model itself is left as it is"


def test_a_model_without_its_head_is_refused(bert: Path) -> None:
    BertModel.from_pretrained(bert).save_pretrained(bert)
    with pytest.raises(UserError, match="nothing predicts tokens"):
        hub.load(str(bert))


def test_a_causal_model_is_refused(bert: Path) -> None:
    GPT2LMHeadModel(GPT2Config(vocab_size=50, n_embd=8, n_layer=1, n_head=2)).save_pretrained(bert)
    with pytest.raises(UserError, match="gpt2 is no masked language model"):
        hub.load(str(bert))


def test_a_decoder_is_refused_though_its_family_has_encoders(bert: Path) -> None:
    config = json.loads((bert / "config.json").read_text())
    (bert / "config.json").write_text(json.dumps(config | {"is_decoder": True}))
    with pytest.raises(UserError, match="no masked language model"):
        hub.load(str(bert))


def test_a_tokenizer_that_does_not_fit_is_refused(bert: Path) -> None:
    families.tokenizer(["a b c d e f g", *texts()], 500).save_pretrained(bert)
    families.masked_language_model("BERT", 50).save_pretrained(bert)
    with pytest.raises(UserError, match="the model knows 50; they do not fit"):
        hub.load(str(bert))


def test_weights_in_a_pickle_are_not_read(bert: Path) -> None:
    model = hub.load(str(bert)).model
    torch.save(model.state_dict(), bert / "pytorch_model.bin")
    (bert / "model.safetensors").unlink()
    with pytest.raises(UserError, match="no weights that can be read"):
        hub.load(str(bert))


def test_code_that_comes_with_a_model_is_not_run(bert: Path) -> None:
    config = json.loads((bert / "config.json").read_text()) | {
        "model_type": "made-up", "auto_map": {"AutoConfig": "evil.Config", "AutoModelForMaskedLM": "evil.Model"},
    }  # fmt: skip
    (bert / "config.json").write_text(json.dumps(config))
    (bert / "evil.py").write_text(f"open({str(bert / 'ran')!r}, 'w')\n")
    with pytest.raises(UserError, match="no configuration that can be read"):
        hub.load(str(bert))
    assert not (bert / "ran").exists()


def test_what_is_nowhere_is_named(tmp_path: Path, bert: Path) -> None:
    with pytest.raises(UserError, match="no/where: no configuration"):
        hub.load("no/where")
    shutil.rmtree(bert)
    bert.mkdir()
    with pytest.raises(UserError, match="no configuration that can be read"):
        hub.load(str(bert))
    with pytest.raises(UserError, match="name a directory of real text"):
        Subject.of_model(str(bert), ("en", "fr"), None, 10)
