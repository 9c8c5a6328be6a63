"""Four families of masked language models under the lens, all made here, none of them known by name."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertForSequenceClassification, ModernBertForMaskedLM, PreTrainedModel, PreTrainedTokenizerFast

from tests import families
from xling_utils.core.errors import UserError
from xling_utils.measures.encoders import hidden_states
from xling_utils.measures.encoders.hidden_states import LanguageModel, blocks_of
from xling_utils.measures.encoders.predictions import predicted
from xling_utils.measures.encoders.representations import language_means, shifted
from xling_utils.measures.tasks.sentence_retrieval import sentence_vectors

WORDS = [*families.SPECIAL, "the", "dog", "sees", "a", "cat", "and", "runs", ".", "o", "hund", "sieht"]
TEXTS = ["the dog sees a cat .", "runs .", "o hund sieht", "the cat and the dog"]
LAYERS, WIDTH = 3, 16


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return families.wrapped(made, 32)


def untrained(family: str) -> PreTrainedModel:
    return families.masked_language_model(family, len(WORDS), LAYERS, 32).eval()


@pytest.fixture(params=families.FAMILIES)
def model(request):
    return untrained(request.param)


def by_hand(model, tokenizer) -> list[np.ndarray]:
    """The states of each text alone, without padding, as the model itself gives them."""
    found = []
    for text in TEXTS:
        with torch.inference_mode():
            hidden = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states
        found.append(torch.stack(hidden)[:, 0].numpy())
    return found


def test_layers_are_the_models_own_whatever_is_padded_beside(model, tokenizer):
    (batch,) = LanguageModel(model, tokenizer).states(TEXTS)
    # ModernBERT lists its last layer after the closing norm, which is no block: compare up to it.
    last = LAYERS if isinstance(model, ModernBertForMaskedLM) else LAYERS + 1
    for row, expected in enumerate(by_hand(model, tokenizer)):
        here = batch.layers[:, row][:, batch.tokens[row]].numpy()
        assert here.shape == (LAYERS + 1, len(tokenizer(TEXTS[row])["input_ids"]), WIDTH)
        np.testing.assert_allclose(here[:last], expected[:last], atol=1e-5)
        assert batch.special[row].sum() == 2


@pytest.mark.parametrize("layer", range(LAYERS + 1))
def test_a_shift_moves_its_layer_by_the_vector_and_nothing_below(model, tokenizer, layer):
    vector = np.random.default_rng(layer).normal(size=WIDTH).astype(np.float32)
    (before,) = LanguageModel(model, tokenizer).states(TEXTS)
    with shifted(model, layer, vector):
        (during,) = LanguageModel(model, tokenizer).states(TEXTS)
        logits = model(**without_special(model, tokenizer)).logits
    (after,) = LanguageModel(model, tokenizer).states(TEXTS)
    torch.testing.assert_close(after.layers, before.layers, rtol=0, atol=0)
    moved = (during.layers - before.layers)[:, before.tokens]
    assert (moved[:layer] == 0).all()
    if layer == LAYERS:  # what comes after the last block is the prediction head
        assert not torch.allclose(logits, model(**without_special(model, tokenizer)).logits)
    else:
        assert moved[layer + 1].abs().max() > 1e-4
    torch.testing.assert_close(moved[layer], torch.from_numpy(vector).expand_as(moved[layer]), rtol=0, atol=1e-5)


def without_special(model, tokenizer) -> dict[str, torch.Tensor]:
    inputs = LanguageModel(model, tokenizer).encode(TEXTS)
    del inputs["special_tokens_mask"]
    return inputs


def test_means_are_over_tokens_or_over_sentences(model, tokenizer):
    (batch,) = LanguageModel(model, tokenizer).states(TEXTS)
    rows = [batch.layers[:, row][:, batch.tokens[row]].numpy() for row in range(len(TEXTS))]
    inner = np.concatenate([row[:, 1:-1] for row in rows], axis=1)
    np.testing.assert_allclose(language_means(model, tokenizer, TEXTS), inner.mean(axis=1), atol=1e-5)
    sentences = np.stack([row.mean(axis=1) for row in rows]).mean(axis=0)
    np.testing.assert_allclose(language_means(model, tokenizer, TEXTS, unit="sentence"), sentences, atol=1e-5)


def test_a_sentence_without_a_token_counts_for_nothing(tokenizer):
    model, plain = untrained("BERT"), copy.deepcopy(tokenizer)
    plain._tokenizer.post_processor = processors.Sequence([])
    assert plain("")["input_ids"] == []
    some, with_empty = (language_means(model, plain, [*TEXTS, *more], unit="sentence") for more in ([], ["", ""]))
    np.testing.assert_allclose(with_empty, some, atol=1e-6)
    vectors = sentence_vectors(LanguageModel(model, plain), [*TEXTS, "", ""])
    assert vectors[:, : len(TEXTS)].any(axis=-1).all() and not vectors[:, len(TEXTS) :].any()
    assert not sentence_vectors(LanguageModel(model, plain), ["", ""]).any()
    with pytest.raises(UserError, match="no token"):
        language_means(model, plain, ["", ""], unit="sentence")


def test_batches_add_up_whatever_is_read_together(model, tokenizer, monkeypatch):
    many = TEXTS * 5

    def by_text(places: int) -> list[torch.Tensor]:
        found = {}
        for batch in LanguageModel(model, tokenizer).states(many, places):
            assert batch.tokens.numel() <= max(places, batch.tokens.shape[1])
            found |= {text: batch.layers[:, row][:, batch.tokens[row]] for row, text in enumerate(batch.rows)}
        return [found[text] for text in range(len(many))]

    whole = by_text(10**6)
    for places in (1, 20):
        torch.testing.assert_close(by_text(places), whole, rtol=0, atol=1e-5)
    monkeypatch.setattr(hidden_states, "CHUNK", 3)
    torch.testing.assert_close(by_text(20), whole, rtol=0, atol=1e-5)


def test_translation_equals_the_model_run_anew_for_each_layer_and_weight(model, tokenizer, monkeypatch):
    monkeypatch.setattr("xling_utils.measures.encoders.predictions.PLACES", 4)
    difference = 3 * np.random.default_rng(5).normal(size=(LAYERS + 1, WIDTH)).astype(np.float32)
    layers, weights = [0, 2, LAYERS], [-1.0, 0.0, 2.0]
    calls = count_calls(model)
    found = predicted(LanguageModel(model, tokenizer), TEXTS, difference, layers, weights, batch=6)
    # Two texts with their three weights at once: each pair once from the start, and from layers 0, 2 and 3 on.
    assert sum(calls()) == 2 * (LAYERS + 3 + 1 + 0)
    for i, layer in enumerate(layers):
        for j, weight in enumerate(weights):
            for row, text in enumerate(TEXTS):
                with shifted(model, layer, weight * difference[layer]), torch.inference_mode():
                    logits = model(**tokenizer(text, return_tensors="pt")).logits
                assert found[i, j, row].tolist() == logits[0].argmax(-1)[1:-1].tolist(), (layer, weight, text)
    assert any((found[i, 2, 0] != found[i, 1, 0]).any() for i in range(3))


def test_translation_reads_texts_of_one_length_together_and_answers_in_their_order(tokenizer):
    model, zeros = untrained("BERT"), np.zeros((LAYERS + 1, WIDTH))
    texts = ["the dog sees a cat and runs .", "runs .", "o hund sieht", "dog", "the dog runs and a cat runs .", "a cat"]
    shapes = []
    model.get_input_embeddings().register_forward_hook(lambda _, inputs, __: shapes.append(tuple(inputs[0].shape)))
    found = predicted(LanguageModel(model, tokenizer), texts, zeros, [1], [0.0], batch=2)[0, 0]
    assert [shape for shape in shapes if shape[0] > 1] == [(2, n) for n in (4, 4, 5, 5, 10, 10)]
    assert [len(ids) for ids in found] == [len(text.split()) for text in texts]
    for text, ids in zip(texts, found, strict=True):
        assert ids.tolist() == predicted(LanguageModel(model, tokenizer), [text], zeros, [1], [0.0])[0, 0, 0].tolist()


def test_translation_of_nothing_is_nothing(tokenizer):
    model, zeros = untrained("BERT"), np.zeros((LAYERS + 1, WIDTH))
    assert predicted(LanguageModel(model, tokenizer), [], zeros, [1], [1.0]).shape == (1, 1, 0)
    nothing, something = predicted(LanguageModel(model, tokenizer), ["", "dog"], zeros, [1], [0.0])[0, 0]
    assert len(nothing) == 0 and len(something) == 1


def count_calls(model):
    """How often each block computes from now on; its own forward is put in the way of nothing."""
    counts = [0] * LAYERS

    def counting(number, forward):
        def called(*args, **kwargs):
            counts[number] += 1
            return forward(*args, **kwargs)

        return called

    for number, block in enumerate(blocks_of(model)):
        block.forward = counting(number, block.forward)
    return lambda: counts


@pytest.mark.parametrize("size", [len(WORDS), 40], ids=["few words", "as many words as positions"])
@pytest.mark.parametrize("family", families.FAMILIES)
def test_a_long_text_is_cut_to_the_positions_that_there_are(family, size, tokenizer):
    model = families.masked_language_model(family, size, LAYERS, 32).eval()
    endless = copy.deepcopy(tokenizer)
    endless.model_max_length = 10**30
    lm = LanguageModel(model, endless)
    (batch,) = lm.states(["dog " * 60])
    assert batch.tokens.shape[1] == lm.limit == (39 if family == "XLM-R" else 32)  # 40 positions, the first for padding


def test_translation_takes_models_that_predict_tokens(tokenizer):
    model, zeros = untrained("BERT"), np.zeros((LAYERS + 1, WIDTH))
    with pytest.raises(UserError, match="BertModel predicts no tokens"):
        predicted(LanguageModel(model.bert, tokenizer), TEXTS, zeros, [1], [1.0])
    with pytest.raises(UserError, match="BertForSequenceClassification predicts no tokens"):
        predicted(LanguageModel(BertForSequenceClassification(model.config), tokenizer), TEXTS, zeros, [1], [1.0])
    with pytest.raises(UserError, match="layers 0 to 3"):
        predicted(LanguageModel(model, tokenizer), TEXTS, zeros, [4], [1.0])
    with pytest.raises(UserError, match="no weight"):
        predicted(LanguageModel(model, tokenizer), TEXTS, zeros, [1], [])
    with pytest.raises(UserError, match=r"takes \(4, 16\)"):
        predicted(LanguageModel(model, tokenizer), TEXTS, zeros[1:], [1], [1.0])


def test_mistakes_are_named(tokenizer):
    model = untrained("BERT")
    with pytest.raises(UserError, match="layers 0 to 3"), shifted(model, 4, np.zeros(WIDTH)):
        pass
    with pytest.raises(UserError, match="states have 16 numbers"), shifted(model, 1, np.zeros(3)):
        pass
    with pytest.raises(UserError, match="unknown unit 'word'"):
        language_means(model, tokenizer, TEXTS, unit="word")
    for text in ([], [""]):
        with pytest.raises(UserError, match="no token"):
            language_means(model, tokenizer, text)
    model.resize_token_embeddings(6)
    with pytest.raises(UserError, match="tokenizer does not fit the model"):
        language_means(model, tokenizer, TEXTS)
