"""Models from elsewhere: loaded with care, refused in one line, the same measures for every family."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers.processors import TemplateProcessing
from transformers import AutoTokenizer, BertModel

from tests import families
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale
from xling_utils.core.specs import CorpusSpec
from xling_utils.corpora import controlled
from xling_utils.measures.encoders import hidden_states, hub
from xling_utils.measures.encoders.subject import Subject
from xling_utils.measures.tasks import language_neutrality, sentence_similarity, token_translation
from xling_utils.measures.tasks.sentence_retrieval import sentence_vectors
from xling_utils.measures.transfer.readers import TransformersReader

CORPUS = CorpusSpec("controlled", ("en", "fr"), 100)
SMOKE = scale("smoke")
FROM_TORCH = {"format": "pt"}
"""What transformers asks of a file's metadata."""


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
    subject = Subject(lm.model, lm.tokenizer, hub.key(lm), CORPUS, None, "lower", 0)
    assert subject.layers == families.LAYERS
    for rows in (
        list(language_neutrality.rows(subject, SMOKE)),
        list(token_translation.rows(subject, SMOKE)),
        list(sentence_similarity.of_models(subject, subject.untrained(), SMOKE, "fr")),
    ):
        assert {row["layer"] for row in rows if row.get("layer") is not None} == set(range(families.LAYERS + 1))


def test_the_key_is_of_the_model_and_the_twin_has_another(bert: Path) -> None:
    lm, again = hub.load(str(bert)), hub.load(str(bert))
    assert hub.key(lm) == hub.key(again)
    subject = Subject(lm.model, lm.tokenizer, hub.key(lm), CORPUS, None, "lower", 0)
    twin = subject.untrained()
    assert hub.key(twin) != subject.key and twin.key != subject.key
    assert hub.key(subject.untrained()) == hub.key(twin), "the same twin every time"
    assert hub.key(lm) == subject.key, "the model itself is left as it is"
    again.model.config.num_attention_heads //= 2
    assert hub.key(again) != subject.key, "the same weights, otherwise used"
    again = hub.load(str(bert))
    again.tokenizer.model_max_length -= 1
    assert hub.key(again) != subject.key, "the same weights, another tokenizer"
    again.model.register_buffer("a number", torch.tensor(1.0))
    one = hub.key(again)
    again.model.register_buffer("a number", torch.tensor(2.0))
    assert hub.key(again) != one


@pytest.mark.parametrize("family", families.FAMILIES + families.OTHERS)
def test_a_family_is_read_as_transformers_reads_it(family: str, tmp_path: Path) -> None:
    lm = hub.load(str(families.saved(tmp_path, family, texts())))
    assert lm.predicts == (family in families.FAMILIES)
    assert lm.pooling == ("weighted" if family in ("GPT-2", "Llama", "Qwen") else "mean")
    lines = ["the old fisherman sells fish .", "le marché", texts()[0]]
    for pooling in ("mean", "weighted"):
        found = sentence_vectors(replace(lm, pooling=pooling), lines)
        for number, layers in enumerate(families.states(lm.model, lm.tokenizer, lines)):
            for layer, states in enumerate(layers):
                weights = torch.arange(1.0, len(states) + 1) if pooling == "weighted" else torch.ones(len(states))
                wanted = (weights[:, None] * states).sum(dim=0) / weights.sum()
                torch.testing.assert_close(torch.from_numpy(found[layer, number]), wanted, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("family", ["GPT-2", "Qwen"])
def test_a_decoder_reads_a_token_before_the_text(family: str, tmp_path: Path) -> None:
    lm = hub.load(str(families.saved(tmp_path, family, texts())))
    encoded = lm.tokenizer("the old man", return_special_tokens_mask=True)
    assert lm.tokenizer.convert_ids_to_tokens(encoded["input_ids"])[0] == "</s>"
    assert encoded["special_tokens_mask"][0] == 1 and not any(encoded["special_tokens_mask"][1:])


def test_what_a_decoders_tokenizer_puts_behind_a_text_stays_there(tmp_path: Path) -> None:
    """As those of embedding models do."""
    folder = families.saved(tmp_path, "Qwen", texts())
    plain = hub.load(str(folder)).tokenizer.tokenize("the old man")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    end = (tokenizer.eos_token, tokenizer.eos_token_id)
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single=f"$A:0 {end[0]}:0", special_tokens=[end])
    tokenizer.save_pretrained(folder)
    lm = hub.load(str(folder))
    ids, special = lm.tokenizer("the old man", return_special_tokens_mask=True, return_attention_mask=False).values()
    assert lm.tokenizer.convert_ids_to_tokens(ids) == ["</s>", *plain, "</s>"]
    assert special == [1, *[0] * len(plain), 1]
    assert lm.tokenizer("the old man", truncation=True, max_length=4)["input_ids"][-1] == end[1]


@pytest.mark.parametrize("kept", [torch.bfloat16, torch.float16])
def test_a_model_and_its_twin_are_read_in_one_precision(kept: torch.dtype, bert: Path) -> None:
    hub.load(str(bert)).model.to(kept).save_pretrained(bert)
    lm = hub.load(str(bert))
    assert {weights.dtype for model in (lm.model, hub.drawn_anew(lm.model, 0)) for weights in model.parameters()} == {
        torch.float32
    }


def test_first_and_last_tokens_stand_for_a_sentence(bert: Path) -> None:
    lm = hub.load(str(bert))
    lines = ["the old fisherman sells fish .", "fish"]
    for pooling, place in (("first", 0), ("last", -1)):
        found = sentence_vectors(replace(lm, pooling=pooling), lines)
        for number, line in enumerate(lines):
            with torch.no_grad():
                states = lm.model(**lm.tokenizer(line, return_tensors="pt"), output_hidden_states=True).hidden_states
            wanted = torch.stack([state[0, place] for state in states])
            torch.testing.assert_close(torch.from_numpy(found[:, number]), wanted, atol=1e-5, rtol=1e-4)
    with pytest.raises(UserError, match="pooling 'middle': known are mean, weighted, last, first"):
        sentence_vectors(replace(lm, pooling="middle"), lines)


def test_a_model_without_its_head_is_read_without_it(bert: Path) -> None:
    whole = hub.load(str(bert))
    BertModel.from_pretrained(bert).save_pretrained(bert)
    bare = hub.load(str(bert))
    assert whole.predicts and not bare.predicts
    assert (sentence_vectors(bare, ["the old man"]) == sentence_vectors(whole, ["the old man"])).all()


def test_a_sentence_encoder_is_read_as_it_says(bert: Path) -> None:
    said = {"word_embedding_dimension": 16, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (bert / "1_Pooling").mkdir()
    (bert / "1_Pooling" / "config.json").write_text(json.dumps(said))
    assert hub.load(str(bert)).pooling == "first"
    assert hub.load(str(bert), "last").pooling == "last", "what is asked for comes first"
    for mode in ("mean", "mean_tokens"):
        (bert / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode": mode, "include_prompt": True}))
        assert hub.load(str(bert)).pooling == "mean"
    both = {"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}
    for unknown in ({"pooling_mode_max_tokens": True}, both, {"pooling_mode": ["mean"]}, {}):
        (bert / "1_Pooling" / "config.json").write_text(json.dumps(unknown))
        with pytest.raises(UserError, match="states no pooling that is known"):
            hub.load(str(bert))
        assert hub.load(str(bert), "last").pooling == "last"


def test_lacking_weights_are_named(tmp_path: Path) -> None:
    folder = families.saved(tmp_path, "GPT-2", texts())
    weights = load_file(folder / "model.safetensors")
    lost = next(name for name in weights if "mlp" in name)
    save_file({name: each for name, each in weights.items() if name != lost}, folder / "model.safetensors", FROM_TORCH)
    with pytest.raises(UserError, match=rf"the weights lack .*{lost.rpartition('transformer.')[2]}"):
        hub.load(str(folder))


def test_a_decoders_first_token_stands_for_nothing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the first token of a decoder has read nothing"):
        hub.load(str(families.saved(tmp_path, "Llama", texts())), "first")


def test_a_revision_of_a_name_on_the_hub_is_read(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "cache" / "models--some--bert"
    for commit, weights in (("a" * 40, bert), ("b" * 40, families.saved(tmp_path / "other", "DistilBERT", texts()))):
        shutil.copytree(weights, place / "snapshots" / commit)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text("a" * 40)
    (place / "refs" / "step-100").write_text("b" * 40)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert type(hub.load("some/bert").model).__name__ == "BertForMaskedLM"
    assert type(hub.load("some/bert@step-100").model).__name__ == "DistilBertForMaskedLM"
    with pytest.raises(UserError, match="some/bert@nowhere: no configuration"):
        hub.load("some/bert@nowhere")


def test_a_tokenizer_that_does_not_fit_is_refused(bert: Path) -> None:
    families.tokenizer(["a b c d e f g", *texts()], 500).save_pretrained(bert)
    families.masked_language_model("BERT", 50).save_pretrained(bert)
    with pytest.raises(UserError, match="the model knows 50; they do not fit"):
        hub.load(str(bert))


def test_tokens_that_no_text_has_may_be_more_than_the_model_knows(bert: Path) -> None:
    """As Gemma's for pictures. Nor need a tokenizer say which of its tokens begin and end an input."""
    tokenizer = AutoTokenizer.from_pretrained(bert)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<picture>"]})
    tokenizer.cls_token = tokenizer.sep_token = None
    tokenizer.save_pretrained(bert)
    lm = hub.load(str(bert))
    assert len(lm.tokenizer) > hidden_states.known_ids(lm.model) and lm.tokenizer.cls_token_id is None
    assert sentence_vectors(lm, ["the old man"]).shape[0] == families.LAYERS + 1
    with pytest.raises(UserError, match="lacks a token that begins or ends an input"):
        TransformersReader(lm)


def test_a_kind_of_model_that_cannot_be_read_is_named(bert: Path) -> None:
    with pytest.raises(UserError, match="SimpleNamespace: its configuration tells of no layers"):
        hidden_states.blocks_of(SimpleNamespace(config=SimpleNamespace()))
    with pytest.raises(UserError, match="SimpleNamespace: it has no embedding for each token"):
        hidden_states.known_ids(SimpleNamespace())
    lm = hub.load(str(bert))
    lm.model.config.max_position_embeddings = -1
    assert lm.limit == min(hidden_states.POSITIONS, lm.tokenizer.model_max_length)


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
    with pytest.raises(UserError, match="/no/where: no such folder; xling runs list shows"):
        Subject.of_model("/no/where", ("en", "fr"), None, 10)
    with pytest.raises(UserError, match="name a directory of real text"):
        Subject.of_model(str(bert), ("en", "fr"), None, 10)
