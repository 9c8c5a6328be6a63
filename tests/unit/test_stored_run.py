"""A stored run opened for measuring: what its words, pieces and vectors are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from xling_utils import corpora
from xling_utils.core.scales import scale as scale_of
from xling_utils.core.specs import Change, CorpusSpec, EncoderSpec, StaticSpec, TokenizerSpec, TrainingSpec
from xling_utils.measures.encoders.representations import contextual_words, static_words
from xling_utils.measures.encoders.stored_run import Reading, counted_words
from xling_utils.models import transformers_format
from xling_utils.models.encoder import Encoder, Encoders
from xling_utils.runs.store import SNAPSHOTS, Run

SCALE = replace(scale_of("smoke"), sentences=(100, 200), context_tokens=1_200)
CORPUS = CorpusSpec("controlled", ("en", "fr"), 200, 1)
ENCODER = EncoderSpec(layers=2, width=8, heads=2, intermediate=16, positions=32)
PIECES = TokenizerSpec("wordpiece", 500)

Stored = Callable[..., Run]


def expected(
    reading: Reading, encoder: Encoder, language: str, words: list[str], length: int, tokens: int
) -> np.ndarray:
    """Means over the beginning of the whole text."""
    coder = reading.coders[language]
    pieces = [tuple(ids) for ids in coder.encode(words)]
    return contextual_words(encoder, coder.stream(reading.texts[language]), pieces, length, tokens).vectors


def test_words_are_counted_in_as_much_text_as_the_small_corpus_has(stored: Stored) -> None:
    small = corpora.load(replace(CORPUS, sentences=100))
    counts = Reading(stored(CORPUS, PIECES, StaticSpec("glove", 4)), SCALE).counts
    assert counts == {language: counted_words(text) for language, text in small.items()}
    everything = Reading(stored(CORPUS, PIECES, StaticSpec("glove", 4)), replace(SCALE, sentences=(900, 9_000))).counts
    assert sum(everything["en"].values()) > 1.5 * sum(counts["en"].values())


def test_conditions_are_asked_for_the_same_words_in_the_same_contexts(stored: Stored) -> None:
    fake, backwards = Change("fake", ("en",)), Change("reversed", ("fr",))
    spoilt = (
        Change("permuted", CORPUS.languages),
        Change("unigrams", ("fr",)),
        Change("code_switched", CORPUS.languages),
    )

    def asked(*changes: Change) -> dict[str, list[str]]:
        reading = Reading(stored(replace(CORPUS, changes=changes), PIECES, StaticSpec("glove", 4)), SCALE)
        return {language: list(text["text"]) for language, text in reading.texts.items()}

    plain, faked = asked(), asked(fake)
    for change in spoilt:
        assert asked(change) == plain and asked(fake, change) == faked
    assert faked["fr"] == plain["fr"] and faked["en"] != plain["en"], "another language has its own letters"
    assert asked(backwards)["fr"] == [" ".join(reversed(line.split(" "))) for line in plain["fr"]], "and its own order"


@pytest.mark.parametrize("pieces", [PIECES, TokenizerSpec("wordpiece", 500, separate=True, markers=True)])
def test_each_language_is_read_by_its_own_encoder(stored: Stored, pieces: TokenizerSpec) -> None:
    model = replace(ENCODER, separate_embeddings=True, separate_blocks=1)
    reading = Reading(stored(CORPUS, pieces, model), SCALE)
    encoders = transformers_format.load_all(reading.run.path, model, CORPUS.languages)
    for language in CORPUS.languages:
        words = [word for word, _ in reading.counts[language].most_common(40)]
        found = reading.vectors(language, words)
        assert found.shape == (3, 40, 8) and found.dtype == np.float32 and found.any(axis=2).all()
        means = expected(reading, encoders.of(language), language, words, SCALE.training.length, SCALE.context_tokens)
        np.testing.assert_allclose(found, means, atol=1e-6)


def test_inputs_are_as_long_as_those_of_training(stored: Stored) -> None:
    reading = Reading(stored(CORPUS, PIECES, ENCODER, TrainingSpec(1, length=9)), SCALE)
    words = [word for word, _ in reading.counts["fr"].most_common(20)]
    encoder = transformers_format.load(reading.run.path)
    means = expected(reading, encoder, "fr", words, 9, SCALE.context_tokens)
    np.testing.assert_allclose(reading.vectors("fr", words), means, atol=1e-6)


def test_snapshots_come_in_order_and_read_less_of_the_text(stored: Stored) -> None:
    run = stored(CORPUS, PIECES, ENCODER)
    final = transformers_format.load(run.path)
    (run.path / SNAPSHOTS).mkdir()
    for step, scaled in ((20, 0.5), (100, 2.0)):
        tensors = {name: value * scaled for name, value in transformers_format.to_transformers(final).items()}
        save_file(tensors, run.path / SNAPSHOTS / f"{step:08d}.safetensors", metadata={"format": "pt"})
    reading = Reading(run, SCALE)
    (early, first), (late, second) = reading.snapshots()
    assert (early, late) == (20, 100)
    assert torch.equal(first.words.weight * 4, second.words.weight)
    words = [word for word, _ in reading.counts["en"].most_common(10)]
    means = expected(reading, first, "en", words, SCALE.training.length, SCALE.context_tokens)
    np.testing.assert_allclose(reading.vectors("en", words, first), means, atol=1e-6)


def test_static_vectors_are_one_layer(stored: Stored) -> None:
    reading = Reading(stored(CORPUS, PIECES, StaticSpec("word2vec", 4)), SCALE)
    words = [word for word, _ in reading.counts["en"].most_common(30)]
    pieces = [tuple(ids) for ids in reading.coders["en"].encode(words)]
    assert not isinstance(reading.model, Encoders)
    assert np.array_equal(reading.vectors("en", words), static_words(reading.model, pieces)[None])


@pytest.mark.parametrize("model", [ENCODER, StaticSpec("glove", 8)])
def test_a_word_that_the_tokenizer_does_not_know_has_a_zero_vector(
    stored: Stored, model: EncoderSpec | StaticSpec
) -> None:
    reading = Reading(stored(CORPUS, TokenizerSpec("words", 30), model), SCALE)
    known, *_, unknown = [word for word, _ in reading.counts["en"].most_common(60)]
    vectors = reading.vectors("en", [known, unknown, f"{known} {unknown}"])
    assert vectors[:, 0].any() and not vectors[:, 1].any()


@pytest.mark.parametrize("model", [ENCODER, StaticSpec("glove", 8)])
def test_nor_has_one_whose_language_has_special_tokens_of_its_own(
    stored: Stored, model: EncoderSpec | StaticSpec
) -> None:
    reading = Reading(stored(CORPUS, TokenizerSpec("words", 30, specials=True), model), SCALE)
    for language in CORPUS.languages:
        vocabulary = reading.coders[language].tokenizer.get_vocab()
        words = [word for word, _ in reading.counts[language].most_common(60)]
        known = [word in vocabulary for word in words]
        assert 0 < sum(known) < 60
        assert reading.vectors(language, words)[0].any(axis=1).tolist() == known
