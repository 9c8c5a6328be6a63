"""The encoder is BertForMaskedLM: same logits, layers, loss, parameters and files."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertForMaskedLM, BertForPreTraining

from xling_utils.core.errors import UserError
from xling_utils.core.specs import EncoderSpec
from xling_utils.models import encoder, transformers_format
from xling_utils.models.encoder import Encoder, Encoders
from xling_utils.models.parameters import parameter_count

SPEC = EncoderSpec(layers=3, width=24, heads=4, intermediate=40, positions=16)
VOCABULARY = 50


@pytest.fixture
def model() -> Encoder:
    """All parameters random, also those that start as zeros or ones: no two can be swapped unnoticed."""
    torch.manual_seed(0)
    model = Encoder(SPEC, VOCABULARY).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            centre = 1.0 if "norm" in name and name.endswith("weight") else 0.0
            parameter.copy_(centre + 0.3 * torch.randn(parameter.shape))
    return model


@pytest.fixture
def reference(model, tmp_path) -> BertForMaskedLM:
    transformers_format.save(model, tmp_path)
    return BertForMaskedLM.from_pretrained(tmp_path, local_files_only=True).eval()


@pytest.fixture
def ids() -> torch.Tensor:
    return torch.randint(VOCABULARY, (5, 16), generator=torch.Generator().manual_seed(1))


@torch.no_grad()
@pytest.mark.parametrize("masked", [False, True])
def test_logits_and_layers_are_those_of_transformers(model, reference, ids, masked):
    mask = torch.ones_like(ids)
    if masked:
        for row, length in enumerate((16, 9, 1, 5, 12)):
            mask[row, length:] = 0
    theirs = reference(ids, attention_mask=mask if masked else None, output_hidden_states=True)
    ours = model.hidden_states(ids, mask if masked else None)
    assert len(ours) == len(theirs.hidden_states) == SPEC.layers + 1
    for mine, other in zip(ours, theirs.hidden_states, strict=True):
        torch.testing.assert_close(mine, other, atol=1e-5, rtol=0)
    torch.testing.assert_close(model.logits(ours[-1]), theirs.logits, atol=1e-5, rtol=0)
    assert theirs.logits.std() > 0.5  # else agreement would mean little


@torch.no_grad()
@pytest.mark.parametrize("masked", [False, True])
def test_a_block_asked_for_some_places_answers_as_for_all(model, ids, masked):
    mask = (torch.arange(16) < torch.tensor([16, 9, 3, 5, 12])[:, None])[:, None, None] if masked else None
    x = model.embed(ids)
    chosen = torch.tensor([[0, 2], [2, 1], [1, 2], [2, 2], [0, 1]])
    some, everything = model.blocks[0](x, mask, chosen), model.blocks[0](x, mask)
    torch.testing.assert_close(some, everything.gather(1, chosen[..., None].expand(-1, -1, 24)), atol=1e-5, rtol=0)


@torch.no_grad()
@pytest.mark.parametrize("masked", [False, True])
def test_short_and_long_attention_agree(monkeypatch, model, ids, masked):
    mask = (torch.arange(16) < torch.tensor([16, 9, 1, 5, 12])[:, None]).long() if masked else None
    short = model.hidden_states(ids, mask)
    monkeypatch.setattr(encoder, "SHORT", 0)
    for one, other in zip(short, model.hidden_states(ids, mask), strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=0)


@torch.no_grad()
def test_what_is_masked_changes_nothing(model, ids):
    mask = torch.ones_like(ids)
    mask[:, 10:] = 0
    other = ids.clone()
    other[:, 10:] = (ids[:, 10:] + 1) % VOCABULARY
    one, two = model.hidden_states(ids, mask)[-1], model.hidden_states(other, mask)[-1]
    torch.testing.assert_close(one[:, :10], two[:, :10], atol=1e-5, rtol=0)
    assert (one - model.hidden_states(ids)[-1])[:, :10].abs().max() > 0.1


@torch.no_grad()
def test_layer_0_is_the_embedding_output(model, ids):
    torch.testing.assert_close(model.hidden_states(ids)[0], model.embed(ids), atol=0, rtol=0)


@torch.no_grad()
def test_short_inputs_take_the_first_positions(model, reference, ids):
    short = ids[:, :7]
    torch.testing.assert_close(model.logits(model.hidden_states(short)[-1]), reference(short).logits, atol=1e-5, rtol=0)


def test_loss_and_gradients_are_those_of_transformers(model, reference, ids):
    positions = torch.tensor([[3, 9], [1, 2], [8, 15], [0, 1], [7, 15]])
    labels = torch.tensor([[9, 0], [49, 21], [5, 8], [3, 3], [40, 11]])
    everywhere = torch.full_like(ids, -100).scatter(1, positions, labels)
    theirs = reference(ids, labels=everywhere).loss
    ours = model(ids, positions, labels)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)
    ours.backward()
    theirs.backward()
    embeddings = reference.bert.embeddings
    mine, other = model.positions.weight.grad, embeddings.position_embeddings.weight.grad
    torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-4)
    mine, other = model.words.weight.grad, embeddings.word_embeddings.weight.grad
    torch.testing.assert_close(mine[1:], other[1:], atol=1e-5, rtol=1e-4)  # theirs keeps [PAD] out


def test_a_saved_model_loads_back_bit_for_bit(model, tmp_path):
    transformers_format.save(model, tmp_path)
    back = transformers_format.load(tmp_path)
    assert back.spec == SPEC and not back.training
    assert back.state_dict().keys() == model.state_dict().keys()
    for name, value in model.state_dict().items():
        assert torch.equal(back.state_dict()[name], value), name


@torch.no_grad()
def test_a_model_that_transformers_made_and_saved_loads_here(ids, tmp_path):
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=16,
        layer_norm_eps=1e-12,
        initializer_range=0.3,
    )
    theirs = BertForMaskedLM(config).eval()
    theirs.save_pretrained(tmp_path)
    ours = transformers_format.load(tmp_path)
    logits = ours.logits(ours.hidden_states(ids)[-1])
    torch.testing.assert_close(logits, theirs(ids).logits, atol=1e-5, rtol=0)


def test_missing_weights_are_named(model, tmp_path):
    transformers_format.save(model, tmp_path)
    path = tmp_path / transformers_format.WEIGHTS_FILE
    state = load_file(path)
    del state["bert.encoder.layer.1.attention.self.key.weight"]
    save_file(state, path)
    with pytest.raises(UserError, match=r"layer\.1\.attention\.self\.key\.weight is missing"):
        transformers_format.load(tmp_path)


def test_the_decoder_is_tied_and_written_once(model, tmp_path):
    transformers_format.save(model, tmp_path)
    shapes = [tuple(value.shape) for value in load_file(tmp_path / transformers_format.WEIGHTS_FILE).values()]
    assert shapes.count((VOCABULARY, SPEC.width)) == 1
    assert json.loads((tmp_path / transformers_format.CONFIG_FILE).read_text())["tie_word_embeddings"] is True


@pytest.mark.parametrize("spec", [SPEC, EncoderSpec(1, 8, 8, 3, 5), EncoderSpec(5, 12, 1, 48, 9)])
def test_parameter_count(spec, tmp_path):
    built = Encoder(spec, 31)
    assert parameter_count(spec, 31) == sum(p.numel() for p in built.parameters())
    transformers_format.save(built, tmp_path)
    theirs = BertForMaskedLM.from_pretrained(tmp_path, local_files_only=True)
    assert parameter_count(spec, 31) == theirs.num_parameters()


@pytest.mark.parametrize(("width", "heads", "near"), [(50, 4, "48 and 52"), (3, 8, "8"), (65, 64, "64 and 128")])
def test_a_width_that_the_heads_do_not_divide(width, heads, near):
    with pytest.raises(UserError, match=f"width {width} .* {heads} heads; nearest that are: {near}$"):
        Encoder(replace(SPEC, width=width, heads=heads), VOCABULARY)


def test_an_input_longer_than_the_positions(model):
    with pytest.raises(UserError, match="17 tokens, 16 positions"):
        model.embed(torch.zeros(1, 17, dtype=torch.int64))


def test_initialisation_follows_the_seed():
    def first(seed: int) -> Encoder:
        torch.manual_seed(seed)
        return Encoder(SPEC, VOCABULARY)

    one, same, other = first(1), first(1), first(2)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), same.parameters(), strict=True))
    assert not torch.equal(one.words.weight, other.words.weight)


LANGUAGES = ("en", "fr", "ru")
LAYER_0 = ("words.weight", "positions.weight", "segments.weight", "norm.weight", "norm.bias", "decoder_bias")


def parts(encoders: Encoders) -> dict[str, list[dict[str, torch.Tensor]]]:
    return {language: dict(encoders.of(language).named_parameters()) for language in LANGUAGES}


@pytest.mark.parametrize("embeddings", [False, True])
@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_languages_own_what_is_separate_and_share_the_rest(embeddings, blocks):
    spec = replace(SPEC, separate_embeddings=embeddings, separate_blocks=blocks)
    encoders = Encoders(spec, VOCABULARY, LANGUAGES)
    found = parts(encoders)
    for name, english in found["en"].items():
        own = (embeddings and name in LAYER_0) or (name.startswith("blocks.") and int(name.split(".")[1]) < blocks)
        for language in LANGUAGES[1:]:
            assert (found[language][name] is english) != own, name
    assert sum(p.numel() for p in encoders.parameters()) == parameter_count(spec, VOCABULARY, 3)


@pytest.mark.parametrize("embeddings", [False, True])
def test_positions_of_their_own_start_unrelated_and_equally_far_apart(embeddings):
    torch.manual_seed(0)
    spec = replace(SPEC, separate_embeddings=embeddings, separate_positions=True)
    encoders = Encoders(spec, VOCABULARY, LANGUAGES)
    found = parts(encoders)
    for name, english in found["en"].items():
        for language in LANGUAGES[1:]:
            own = name in (LAYER_0 if embeddings else ("positions.weight", "segments.weight"))
            assert (found[language][name] is english) != own, name
    assert sum(p.numel() for p in encoders.parameters()) == parameter_count(spec, VOCABULARY, 3)
    english, russian = (found[language]["positions.weight"] for language in ("en", "ru"))
    torch.testing.assert_close(torch.cdist(english, english), torch.cdist(russian, russian))
    assert (english - russian).abs().max() > 0.05 and not torch.equal(russian, found["fr"]["positions.weight"])


def test_each_row_is_read_by_the_encoder_of_its_language(ids):
    torch.manual_seed(0)
    encoders = Encoders(replace(SPEC, separate_embeddings=True, separate_blocks=1), VOCABULARY, LANGUAGES)
    positions, labels = torch.tensor([[1, 2]] * 5), torch.tensor([[7, 8]] * 5)
    languages = torch.tensor([0, 2, 2, 0, 2])
    losses = [encoders.of("en")(ids[[0, 3]], positions[:2], labels[:2]) * 2,
              encoders.of("ru")(ids[[1, 2, 4]], positions[:3], labels[:3]) * 3]  # fmt: skip
    loss = encoders(languages, ids=ids, positions=positions, labels=labels)
    torch.testing.assert_close(loss, sum(losses) / 5)
    loss.backward()
    assert encoders.of("fr").words.weight.grad is None
    assert encoders.of("fr").blocks[1].up.weight.grad is not None  # shared


@pytest.mark.parametrize("separate", [False, True])
def test_all_encoders_come_back_sharing_what_they_shared(tmp_path, ids, separate):
    spec = replace(SPEC, separate_embeddings=separate, separate_blocks=int(separate))
    encoders = Encoders(spec, VOCABULARY, LANGUAGES)
    transformers_format.save_all(encoders, tmp_path)
    back = transformers_format.load_all(tmp_path, spec, LANGUAGES)
    for language in LANGUAGES:
        for name, value in encoders.of(language).state_dict().items():
            assert torch.equal(back.of(language).state_dict()[name], value)
    assert (back.of("en") is back.of("fr")) == (not separate)
    assert back.of("en").transform.weight is back.of("ru").transform.weight
    model = BertForMaskedLM.from_pretrained(tmp_path / "ru" if separate else tmp_path, local_files_only=True)
    ours = back.of("ru")
    torch.testing.assert_close(ours.logits(ours.hidden_states(ids)[-1]), model.eval()(ids).logits, atol=1e-5, rtol=0)


def test_more_separate_blocks_than_layers_are_refused():
    with pytest.raises(UserError, match="4 separate blocks, but only 3 layers"):
        Encoders(replace(SPEC, separate_blocks=4), VOCABULARY, LANGUAGES)


def test_next_sentence_prediction_is_that_of_transformers(tmp_path, ids):
    torch.manual_seed(0)
    model = Encoder(replace(SPEC, next_sentence=True), VOCABULARY).eval()
    assert sum(p.numel() for p in model.parameters()) == parameter_count(model.spec, VOCABULARY)
    transformers_format.save(model, tmp_path)
    reference = BertForPreTraining.from_pretrained(tmp_path, local_files_only=True).eval()
    positions, labels = torch.tensor([[1, 9]] * 5), torch.tensor([[7, 8]] * 5)
    segments, follows = (torch.arange(16) > 7).long().expand(5, 16), torch.tensor([0, 1, 1, 0, 1])
    everywhere = torch.full_like(ids, -100).scatter(1, positions, labels)
    theirs = reference(ids, token_type_ids=segments, labels=everywhere, next_sentence_label=follows).loss
    torch.testing.assert_close(model(ids, positions, labels, segments, follows), theirs, atol=1e-5, rtol=0)
    assert transformers_format.load(tmp_path).spec.next_sentence
