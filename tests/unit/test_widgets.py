"""The widgets of chapters 5 to 7 over a model made by hand, whose every prediction is known."""

from __future__ import annotations

import re
from types import SimpleNamespace

import ipywidgets
import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch import nn
from transformers import PreTrainedTokenizerFast
from transformers.modeling_outputs import MaskedLMOutput

from xling_utils.chapters.language_means.widget import LayerWidget
from xling_utils.chapters.mds.widget import TranslationWidget, readable
from xling_utils.chapters.shared.in_page import error_line
from xling_utils.core.errors import UserError
from xling_utils.core.specs import CorpusSpec
from xling_utils.measures.encoders.subject import Subject

HOSTILE = "<script>alert(1)</script>"
WORDS = ["[PAD]", "[UNK]", "dog", "##s", "tree", ".", "chien", "##aux", HOSTILE]
TEXT = {"en": "dogs tree .", "fr": f"chienaux {HOSTILE} ."}
LONGEST = 8


class Bilingual(nn.Module):
    """A state is a concept (four numbers) and a language: 1 English, -1 French, 0 the full stop, which both have.

    Blocks pass it on. Of a concept's two words it predicts that of the language that the last number is nearer to.
    """

    def __init__(self) -> None:
        super().__init__()
        self.config = SimpleNamespace(num_hidden_layers=2, hidden_size=5, max_position_embeddings=LONGEST)
        concepts = torch.eye(4)
        rows = [torch.zeros(5), torch.zeros(5)]
        rows += [torch.cat([concepts[i], torch.tensor([1.0 if i < 3 else 0.0])]) for i in range(4)]
        rows += [torch.cat([concepts[i], torch.tensor([-1.0])]) for i in range(3)]
        self.embeddings = nn.Embedding.from_pretrained(torch.stack(rows))
        self.blocks = nn.ModuleList([nn.Identity(), nn.Identity()])
        self.dtype, self.device = torch.float32, torch.device("cpu")
        object.__setattr__(self, "base_model", self)  # no body of its own, as a module of itself it would recur

    def get_input_embeddings(self) -> nn.Embedding:
        return self.embeddings

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        state = self.embeddings(input_ids)
        for block in self.blocks:
            state = block(state)
        weight = self.embeddings.weight * torch.tensor([100.0] * 4 + [1.0])
        return MaskedLMOutput(logits=state @ weight.T)


class Made(Subject):
    """Both languages have every concept equally often, so their means differ by 1.5 in the last number alone."""

    def text(self, language, sentences):
        return [TEXT[language]] * sentences


@pytest.fixture
def subject() -> Made:
    made = Tokenizer(models.WordPiece({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", model_max_length=LONGEST
    )
    corpus = CorpusSpec("controlled", ("en", "fr"), 100, 1)
    return Made(Bilingual(), tokenizer, "made", corpus, None, "lower", 1)


@pytest.fixture
def translation(subject: Made) -> TranslationWidget:
    return TranslationWidget(subject, {"en": "dogs .", "fr": "chienaux ."}, sentences=4)


def controls(box: ipywidgets.VBox) -> dict[str, ipywidgets.Widget]:
    """Everything in it that has a value, by its label; the output has none."""
    if hasattr(box, "children"):
        return {name: found for child in box.children for name, found in controls(child).items()}
    return {box.description: box}


@pytest.mark.parametrize("layer", [0, 1, 2])
@pytest.mark.parametrize(("weight", "flipped"), [(-3, False), (0, False), (0.5, False), (0.75, True), (3, True)])
def test_a_token_flips_where_the_shift_outweighs_its_language(translation, layer, weight, flipped) -> None:
    said = [("chien", "target"), ("##aux", "target")] if flipped else [("dog", "source"), ("##s", "source")]
    expected = [("dog", *said[0]), ("##s", *said[1]), (".", ".", "both")]
    assert translation.translated("dogs .", "en", "fr", layer, weight) == expected
    back = translation.translated("chienaux.", "fr", "en", layer, weight)
    assert [row.side for row in back] == ["target" if flipped else "source"] * 2 + ["both"]


def test_what_is_of_neither_language_says_so(translation) -> None:
    assert translation.translated("dog zebra", "en", "fr", 1, 0)[1][::2] == ("[UNK]", "neither")


def test_means_and_token_sets_are_computed_once_a_language(translation, monkeypatch) -> None:
    translation.to_html("dogs .", "en", "fr", 1, 1.0)
    monkeypatch.setattr(Made, "text", None)
    translation.to_html("tree", "fr", "en", 2, -1.0)


def test_markup_in_a_sentence_or_a_vocabulary_stays_text(translation, subject) -> None:
    assert translation.translated("tree", "en", "fr", 1, 1.0) == [("tree", HOSTILE, "target")]
    box = translation.widget()
    by_label = controls(box)
    for sentence in ("tree", HOSTILE, f"dog {HOSTILE}", "dog <img src=x onerror=alert(1)>"):
        by_label["Sentence"].value = sentence
        shown = box.children[-1].value
        assert "<script" not in shown and "<img" not in shown
    by_label["Sentence"].value = "tree"
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in box.children[-1].value
    assert HOSTILE not in error_line(UserError(HOSTILE))


@pytest.mark.parametrize(
    ("sentence", "languages", "layer", "message"),
    [
        ("", ("en", "fr"), 1, "there is no word in it"),
        (" \u200b\n ", ("en", "fr"), 1, "there is no word in it"),
        ("zebra zoo", ("en", "fr"), 1, "knows no word"),
        ("dog " * (LONGEST + 1), ("en", "fr"), 1, f"takes {LONGEST} tokens"),
        ("dog", ("en", "en"), 1, "Both languages are English"),
        ("dog", ("en", "de"), 1, "language 'de'"),
        ("dog", ("en", "fr"), 3, "layers 0 to 2"),
    ],
)
def test_a_mistake_is_named(translation, sentence, languages, layer, message) -> None:
    with pytest.raises(UserError, match=message):
        translation.to_html(sentence, *languages, layer, 1.0)


def test_the_translation_widget_follows_its_controls(translation) -> None:
    box = translation.widget()
    by_label, shown = controls(box), box.children[-1]
    assert (by_label["From"].value, by_label["To"].value, by_label["Layer"].value) == ("en", "fr", 1)
    assert shown.value == translation.to_html("dogs .", "en", "fr", 1, 1.0)
    by_label["Weight"].value, by_label["Layer"].value = 0.5, 2
    assert shown.value == translation.to_html("dogs .", "en", "fr", 2, 0.5)
    by_label["From"].value = "fr"
    assert re.fullmatch(r'<p role="alert"[^>]*>Both languages are French[^<\n]*</p>', shown.value)
    assert by_label["Sentence"].value == "chienaux ."
    by_label["To"].value = "en"
    assert shown.value == translation.to_html("chienaux .", "fr", "en", 2, 0.5)
    by_label["Sentence"].value = "chien"
    by_label["From"].value, by_label["To"].value = "en", "fr"
    assert by_label["Sentence"].value == "chien", "a reader's own sentence stays when the language changes"


def test_word_pieces_are_shown_as_readers_write_them(translation) -> None:
    shown = translation.to_html("dogs .", "en", "fr", 1, 0)
    assert re.findall(r'<b [^>]*dir="auto"[^>]*>([^<]*)</b>', shown) == ["dog", "dog", "-s", "-s", ".", "."]
    spelt = {"▁a": 0, "▁walk": 1, "ing": 2, ".": 3, "▁": 4, "<unk>": 5}
    made = Tokenizer(models.BPE({**spelt, "a": 6}, [("▁", "a")], unk_token="<unk>"))
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    sentencepiece = PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>")
    assert [readable(token, sentencepiece) for token in spelt] == ["a", "walk", "-ing", ".", "␣", "<unk>"]
    of_bytes = Tokenizer(models.BPE({"a": 0, "Ġ": 1, "Ġa": 2, "ĠÃ©t": 3}, [("Ġ", "a")]))
    of_bytes.pre_tokenizer, of_bytes.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    bytes_of = PreTrainedTokenizerFast(tokenizer_object=of_bytes)
    assert [readable(token, bytes_of) for token in ("a", "Ġa", "ĠÃ©t")] == ["a", "a", "ét"]


def test_removing_the_means_leaves_nothing_between_the_languages(subject) -> None:
    layers = LayerWidget(subject, sentences=3, tokens=8)
    for layer in (0, 1, 2):
        before, after = layers.pictured("en", "fr", layer)
        # Between: 0.75 squared. Within: four concepts, each a variance of 3/16, and 3/16 of the last number.
        assert before.share == pytest.approx(0.5625 / (0.5625 + 5 * 3 / 16))
        assert after.share == pytest.approx(0, abs=1e-9)
        assert before.points["en"].shape == after.points["fr"].shape == (8, 2)
        apart = before.points["en"].mean(axis=0) - before.points["fr"].mean(axis=0)
        np.testing.assert_allclose(apart, [-1.5, 0], atol=1e-5)
        np.testing.assert_allclose(after.points["en"].mean(axis=0), after.points["fr"].mean(axis=0), atol=1e-5)


def test_means_are_of_other_text_than_the_tokens(subject, monkeypatch) -> None:
    monkeypatch.setattr(Made, "text", lambda _, language, sentences: ["dog", "dog", "tree", "tree"][:sentences])
    states, means = LayerWidget(subject, sentences=2)._read("en")
    np.testing.assert_array_equal(states[0], [[0, 0, 1, 0, 1]] * 2)
    np.testing.assert_array_equal(means[0], [1, 0, 0, 0, 1])


def test_the_layer_widget_shows_the_numbers_and_follows_its_controls(subject) -> None:
    box = LayerWidget(subject, sentences=3, tokens=8).widget()
    by_label, shown = controls(box), box.children[-1]
    assert (
        shown.value.count("<svg") == 2
        and "37.5\N{NO-BREAK SPACE}%" in shown.value
        and "0.0\N{NO-BREAK SPACE}%" in shown.value
    )
    assert "layer 1" in shown.value
    by_label["Layer"].value = 2
    assert "layer 2" in shown.value
    by_label["and"].value = "en"
    assert re.fullmatch(r'<p role="alert"[^>]*>Both languages are English[^<\n]*</p>', shown.value)


def test_widgets_take_two_languages_and_an_example(subject) -> None:
    with pytest.raises(UserError, match="an example in one of them"):
        TranslationWidget(subject, {"de": "Hund"})
    alone = Made("made", subject.model, subject.tokenizer, CorpusSpec("controlled", ("en",), 9, 1), None, True, 1)
    for make in (lambda: TranslationWidget(alone, {"en": "dog"}), lambda: LayerWidget(alone)):
        with pytest.raises(UserError, match="two languages"):
            make()
    with pytest.raises(UserError, match="layers 0 to 2"):
        LayerWidget(subject).pictured("en", "fr", 3)
    with pytest.raises(UserError, match="language 'de'"):
        LayerWidget(subject).pictured("en", "de", 1)
