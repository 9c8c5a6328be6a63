"""Zero-shot transfer: inputs, readers, fine-tuning and scores, on toy tasks."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertForMaskedLM, PreTrainedTokenizerFast

from xling_utils.core.specs import EncoderSpec
from xling_utils.corpora.label_files import TAGS
from xling_utils.measures.encoders.hidden_states import LanguageModel
from xling_utils.measures.transfer import scores
from xling_utils.measures.transfer.inputs import Input, batches, paired, tagged
from xling_utils.measures.transfer.readers import EncoderReader, Reader, StaticReader, TransformersReader
from xling_utils.measures.transfer.tuning import Classifier, Recipe, Tagger, answers, fine_tune
from xling_utils.models import transformers_format
from xling_utils.models.encoder import Encoders
from xling_utils.models.tokenization import CLS, PAD, SEP, SPECIAL, Coder

WORDS = [f"w{i}" for i in range(20)]
SPEC = EncoderSpec(layers=2, width=16, heads=2, intermediate=32, positions=16)
SEPARATE = EncoderSpec(
    layers=2, width=16, heads=2, intermediate=32, positions=16, separate_embeddings=True, separate_blocks=1
)
RECIPE = Recipe(items=None, epochs=4, batch=16, learning_rate=1e-2, held_out=None)
WITH_MUON = replace(RECIPE, hidden_rate=0.01)
CPU = torch.device("cpu")
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    pieces = [*SPECIAL, *WORDS, "##x"]
    tokenizer = Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


def read_by(tokenizer: Tokenizer, kind: str, spec: EncoderSpec = SPEC) -> Reader:
    torch.manual_seed(3)
    coders = {"en": Coder(tokenizer), "fr": Coder(tokenizer)}
    if kind == "static":
        vectors = np.random.default_rng(0).standard_normal((tokenizer.get_vocab_size(), 16), dtype=np.float32)
        return StaticReader(vectors, coders, 16)
    encoders = Encoders(spec, tokenizer.get_vocab_size(), ("en", "fr")).eval()
    return EncoderReader(encoders, coders)


@pytest.fixture
def pairs() -> tuple[list[str], list[str], list[int]]:
    """The label is whether the two sentences have the same words."""
    rng = random.Random(0)
    rows = []
    for number in range(1500):
        size = rng.randint(2, 5)
        first, second = (rng.sample(WORDS, size) for _ in range(2))
        other = rng.sample(first, size) if number % 2 else second
        rows.append((" ".join(first), " ".join(other), number % 2))
    premises, hypotheses, labels = zip(*rows, strict=True)
    return list(premises), list(hypotheses), list(labels)


@pytest.fixture
def sentences() -> tuple[list[list[str]], list[list[int]]]:
    """The label says in which third of the vocabulary a word stands."""
    rng = random.Random(0)
    drawn = [rng.choices(range(20), k=rng.randint(2, 9)) for _ in range(200)]
    return [[WORDS[i] for i in line] for line in drawn], [[i // 7 for i in line] for line in drawn]


def test_a_pair_is_one_input_with_its_longer_half_cut(tokenizer):
    reader = read_by(tokenizer, "encoder")
    long, short = " ".join(WORDS), "w1 w2 w3"
    for premise, hypothesis, sizes in (
        (short, "w4", (3, 1)),
        (long, short, (10, 3)),
        (short, long, (3, 10)),
        (long, long, (7, 6)),
    ):
        (found,) = paired(reader, [premise], [hypothesis], [2], ("en", "fr"))
        assert found.ids[0] == CLS and found.ids[-1] == SEP and len(found.ids) <= reader.limit
        assert found.segments == [0] * (sizes[0] + 2) + [1] * (sizes[1] + 1)
        assert found.ids[1 : sizes[0] + 1] == reader.encode("en", [premise])[0][: sizes[0]]
        assert found.labels == [2]


def test_words_are_answered_at_their_first_piece_as_far_as_they_fit(tokenizer):
    reader = read_by(tokenizer, "encoder")
    (found,) = tagged(reader, [["w1x", "w2", "w3xx", "w4"]], [[0, 1, 2, 3]], "en")
    assert found.places == [1, 3, 4, 7] and found.labels == [0, 1, 2, 3]
    (cut,) = tagged(reader, [["w1x"] * 20], [[0] * 20], "en")
    assert len(cut.ids) <= reader.limit and len(cut.places) == len(cut.labels) == 7


def test_batches_hold_every_input_once_and_little_padding(tokenizer, pairs):
    inputs = paired(read_by(tokenizer, "encoder"), *pairs, ("en", "en"))
    for rng in (None, np.random.default_rng(0)):
        found = list(batches(inputs, 16, PAD, CPU, rng))
        assert sorted(n for batch in found for n in batch.numbers) == list(range(len(inputs)))
        assert sum(int((batch.mask == 0).sum()) for batch in found) < 0.05 * sum(batch.ids.numel() for batch in found)
        assert all(bool(((batch.ids == PAD) == (batch.mask == 0)).all()) for batch in found)


@pytest.mark.parametrize("kind", ["encoder", "static"])
def test_padding_changes_no_state(tokenizer, kind):
    reader = read_by(tokenizer, kind)
    short, long = Input([CLS, 7, 8, SEP], [0, 0, 0, 0], [], [0]), Input([CLS, *range(5, 15), SEP], [0] * 12, [], [0])
    (alone,) = batches([short], 8, PAD, CPU)
    (beside,) = batches([short, long], 8, PAD, CPU)
    with torch.no_grad():
        one = reader.states("en", alone.ids, alone.mask, alone.segments)
        two = reader.states("en", beside.ids, beside.mask, beside.segments)
    torch.testing.assert_close(one[0], two[0, :4], atol=1e-6, rtol=0)


@pytest.mark.parametrize("kind", ["encoder", "static"])
def test_words_are_tagged_after_fine_tuning(tokenizer, sentences, kind):
    reader = read_by(tokenizer, kind)
    model = Tagger(reader, 3)
    inputs = tagged(reader, *sentences, "en")
    fine_tune(model, inputs[:150], _accuracy(model, inputs[150:]), Recipe(None, 12, 8, 1e-2, None), seed=0)
    assert _accuracy(model, inputs[150:])() > 0.95


def test_the_epoch_is_the_best_on_dev_and_of_equals_the_first(tokenizer, sentences):
    inputs = tagged(read_by(tokenizer, "encoder"), *sentences, "en")

    def after(scores_of_epochs: list[float]) -> int:
        torch.manual_seed(0)
        model = Tagger(read_by(tokenizer, "encoder"), 3)
        seen = []

        def dev() -> float:
            seen.append(model.head.weight.detach().clone())
            return scores_of_epochs[len(seen) - 1]

        assert fine_tune(model, inputs, dev, RECIPE, seed=0) == scores_of_epochs
        (kept,) = [epoch for epoch, weight in enumerate(seen) if torch.equal(weight, model.head.weight)]
        return kept

    assert after([0.1, 0.4, 0.3, 0.4]) == 1
    assert after([0.0, 0.0, 0.0, 0.0]) == 0
    assert after([0.1, 0.2, 0.3, 0.4]) == 3


def test_pairs_are_compared_after_fine_tuning(tokenizer, pairs):
    reader = read_by(tokenizer, "encoder")
    torch.manual_seed(0)
    model = Classifier(reader, 2)
    inputs = paired(reader, *pairs, ("en", "en"))
    history = fine_tune(model, inputs[:1300], _accuracy(model, inputs[1300:]), Recipe(None, 8, 16, 3e-3, None), seed=0)
    assert len(history) == 8
    assert _accuracy(model, inputs[1300:])() == max(history) > 0.85


def _accuracy(model, inputs):
    def measure() -> float:
        pairs = zip(answers(model, inputs, "en"), inputs, strict=True)
        right = [a == b for found, item in pairs for a, b in zip(found, item.labels, strict=True)]
        return sum(right) / len(right)

    return measure


@pytest.mark.parametrize("recipe", [RECIPE, WITH_MUON], ids=["AdamW", "Muon"])
def test_the_same_seed_gives_the_same_model(tokenizer, pairs, recipe):
    def trained(seed: int) -> dict[str, torch.Tensor]:
        reader = read_by(tokenizer, "encoder")
        torch.manual_seed(0)
        model = Classifier(reader, 2)
        inputs = paired(reader, *pairs, ("en", "en"))
        fine_tune(model, inputs[:100], _accuracy(model, inputs[100:150]), recipe, seed)
        return model.state_dict()

    one, again, other = trained(1), trained(1), trained(2)
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert not torch.equal(one["head.weight"], other["head.weight"])


@pytest.mark.parametrize("kind", ["encoder", "static"])
def test_muon_takes_the_matrices_of_an_encoder_and_nothing_of_static_vectors(tokenizer, sentences, kind):
    def weights_after(recipe: Recipe) -> dict[str, torch.Tensor]:
        torch.manual_seed(0)
        model = Tagger(read_by(tokenizer, kind), 3)
        fine_tune(model, tagged(model.reader, *sentences, "en"), iter(range(9)).__next__, recipe, seed=0)
        return model.state_dict()

    one, other = weights_after(RECIPE), weights_after(replace(RECIPE, hidden_rate=0.01))
    assert all(torch.equal(one[name], other[name]) for name in one) == (kind == "static")


@pytest.mark.parametrize("recipe", [RECIPE, WITH_MUON], ids=["AdamW", "Muon"])
@pytest.mark.parametrize("spec", [SPEC, SEPARATE], ids=["shared", "separate"])
def test_parts_of_one_language_and_word_embeddings_stay_bit_identical(tokenizer, sentences, spec, recipe):
    reader = read_by(tokenizer, "encoder", spec)
    before = {name: value.clone() for name, value in reader.state_dict().items()}
    fine_tune(Tagger(reader, 3), tagged(reader, *sentences, "en"), iter(range(9)).__next__, recipe, seed=0)
    changed = {name for name, value in reader.state_dict().items() if not torch.equal(value, before[name])}
    english, french = (f"encoders.members.{number}." for number in (0, len(reader.encoders.members) - 1))
    assert not any(name.startswith((english + "words", french + "words")) for name in changed)
    assert english + "blocks.1.up.weight" in changed and french + "blocks.1.up.weight" in changed
    assert (english + "blocks.0.up.weight" in changed) == (spec is SPEC)
    assert french + "blocks.0.up.weight" not in changed or spec is SPEC


def test_an_encoder_and_its_copy_in_transformers_read_alike(tokenizer, pairs, tmp_path):
    ours = read_by(tokenizer, "encoder")
    transformers_format.save(ours.encoders.of("en"), tmp_path)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **names)
    fast.model_input_names = ["input_ids", "attention_mask"]
    theirs = TransformersReader(
        LanguageModel(BertForMaskedLM.from_pretrained(tmp_path, local_files_only=True).eval(), fast)
    )
    assert (theirs.width, theirs.limit, theirs.start, theirs.padding) == (ours.width, ours.limit, CLS, PAD)
    mine, other = (paired(reader, *pairs, ("en", "fr")) for reader in (ours, theirs))
    assert mine == other
    (batch,) = batches(mine, len(mine), PAD, CPU)
    with torch.no_grad():
        states = [reader.states("en", batch.ids, batch.mask, batch.segments) for reader in (ours, theirs)]
    torch.testing.assert_close(states[0][batch.mask.bool()], states[1][batch.mask.bool()], atol=1e-5, rtol=0)
    trainable = [{n for n, p in r.named_parameters() if p.requires_grad} for r in (ours, theirs)]
    assert not any("word" in name for names in trainable for name in names)


def test_predicted_spans_are_counted_after_repair():
    words = [["a", "b", "c", "d"]]
    gold = [["B-PER", "I-PER", "O", "B-LOC"]]
    # I-PER alone begins an entity; the first entity takes its last type; the second is right
    assert scores.spans(words, gold, [["I-PER", "I-PER", "O", "I-LOC"]]).tolist() == [[2, 2, 2]]
    assert scores.spans(words, gold, [["B-LOC", "I-PER", "O", "B-LOC"]]).tolist() == [[2, 2, 2]]
    assert scores.spans(words, gold, [["B-PER", "O", "O", "B-ORG"]]).tolist() == [[0, 2, 2]]
    assert scores.spans(words, gold, gold, known={"d"}).tolist() == [[1, 1, 1]]
    assert scores.names(words, gold) == {"a b", "d"}


def test_f1_is_that_of_seqeval():
    from seqeval.metrics import f1_score

    rng = random.Random(0)
    gold, guess = ([scores.repaired(rng.choices(TAGS, k=8)) for _ in range(50)] for _ in range(2))
    counts = scores.spans([["w"] * 8] * 50, gold, guess)
    found = scores.f1(counts)
    assert found.value == pytest.approx(f1_score(gold, guess))
    assert found.low < found.value < found.high and found.n == counts[:, 2].sum()
    assert scores.f1_value(counts * 0) == 0


def test_baselines_know_words_or_frequencies_only():
    words, gold = [["Nina", "sees", "Rome"], ["Rome"], ["Rome"]], [["B-PER", "O", "O"], ["B-LOC"], ["B-LOC"]]
    assert scores.usual_tags(words, gold) == {"Nina": "B-PER", "sees": "O", "Rome": "B-LOC"}
    drawn = scores.random_tags([["w"] * 500], gold, seed=0)[0]
    assert set(drawn) == {"O", "B-PER", "B-LOC"}
    assert drawn.count("B-LOC") == pytest.approx(200, abs=40)
