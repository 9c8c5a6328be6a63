"""Batches: a function of (seed, step) alone, packed, balanced, corrupted as BERT's."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import datasets
import numpy as np
import pytest

from tests.given import write
from xling_utils import corpora
from xling_utils.core.errors import UserError
from xling_utils.core.specs import Change, CorpusSpec, TrainingSpec
from xling_utils.models.tokenization import CLS, FIRST, MASK, SEP, TokenStream
from xling_utils.runs.batches import Batch, Batches

TRAINING = TrainingSpec(steps=100, batch=8, length=12, mask_rate=0.25)
ROOM = 10_000
"""Ids set aside for a language's tokens, each of which stands in one place only."""


def stream(number: int = 0, sentences: int = 200, longest: int = 9, seed: int = 0) -> TokenStream:
    """Sentences of distinct tokens from ``FIRST + number * ROOM`` on: a token tells where it stands."""
    lengths = np.random.default_rng([seed, number]).integers(1, longest, sentences) + 1
    ids = (FIRST + number * ROOM + np.arange(lengths.sum())).astype(np.int32)
    ids[np.cumsum(lengths) - 1] = SEP
    starts = np.cumsum(lengths) - lengths
    return TokenStream(
        ids, starts, np.zeros(sentences, dtype=np.int64), np.zeros(len(ids), dtype=bool), (FIRST, FIRST + 5 * ROOM)
    )


def restored(batch: Batch) -> np.ndarray:
    ids = batch.ids.copy()
    np.put_along_axis(ids, batch.positions, batch.labels, axis=1)
    return ids


def made(languages: int = 2, seed: int = 5, training: TrainingSpec = TRAINING) -> Batches:
    streams = {str(n): stream(n) for n in range(languages)}
    return Batches(streams, training, seed)


def same(one: Batch, two: Batch) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in ("ids", "positions", "labels"))


def test_a_batch_depends_on_seed_and_step_alone():
    forwards, backwards = made(), made()
    ahead = [forwards(step) for step in range(6)]
    back = [backwards(step) for step in reversed(range(6))][::-1]
    assert all(map(same, ahead, back))
    assert not same(ahead[0], ahead[1])
    assert not same(ahead[0], made(seed=6)(0))


PINNED = {
    "batches": ("training", {}, "2975498bbab13edfa6f15240e1f5b2b3cf594de7ebc3cf419a8638346eb1ef56"),
    "batches of two halves": (
        "training",
        {"next_sentence": True},
        "97111df272addd30e21f4c7921ed0987887124f10c0b4f9ca1f55e0762b40fc0",
    ),
    "plain": ("corpus", (), "da2eda3031d99688eb52600cf1f622f4efb53ab585f416939df4a5fb2feacd47"),
    "permuted": (
        "corpus",
        (Change("permuted", ("en", "fr"), 0.5),),
        "56149ab9a016feaf18160583a766a23728575da1bbe9b06a1d6b201fe5bccfc3",
    ),
    "code-switched": (
        "corpus",
        (Change("code_switched", ("en", "fr"), 0.5),),
        "c36a78a115f651a44f6f0e716d19ee6eebf570af80507d66f27315de67dae615",
    ),
    "unigrams": (
        "corpus",
        (Change("unigrams", ("en", "fr")),),
        "14d8b99a62390865050590528b4c3f13ad3fcaf61dc15b565d4be7dcbf42a481",
    ),
}


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Text of two languages, and a dictionary."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    for language, line in (("en", "The fish of market {} swims to the sea ."), ("fr", "Le poisson {} nage .")):
        write(tmp_path / f"text/{language}/a.txt", "\n\n".join(line.format(number) for number in range(60)))
    write(tmp_path / "dictionaries/wiktionary/en-fr.tsv", "fish\tpoisson\nfish\tpoissons\nswims\tnage\n")
    return tmp_path


@pytest.mark.parametrize("name", PINNED)
def test_what_the_key_of_a_run_stands_for_is_pinned(name, small):
    recipe, given, digest = PINNED[name]
    if recipe == "training":
        arrays = Batches({str(n): stream(n) for n in range(2)}, TRAINING, 5, **given)(3).arrays()
        found = b"".join(array.astype("<i8").tobytes() for array in arrays.values())
    else:
        texts = corpora.load(CorpusSpec("directory", ("en", "fr"), 30, 1, given), small)
        found = "\n".join(line for text in texts.values() for line in text["text"]).encode()
    assert sha256(found).hexdigest() == digest, (
        f"{name}: runs of one key would no longer be the same run; if that is meant, raise RECIPES[{recipe!r}] in "
        "core/specs.py, and write the new digest here"
    )


def test_a_batch_ignores_the_global_generators():
    np.random.seed(0)
    one = made()(3)
    np.random.seed(1)
    assert same(one, made()(3))


def test_making_batches_leaves_the_text_alone():
    source = stream()
    before = source.ids.copy()
    Batches({"en": source}, TRAINING, 0)(0)
    assert np.array_equal(source.ids, before)


def test_two_processes_share_the_rows_of_one():
    batch = made()(4)
    parts = [batch.part(rank, 2) for rank in range(2)]
    for name in ("ids", "positions", "labels"):
        whole = getattr(batch, name)
        assert np.array_equal(np.stack([getattr(part, name) for part in parts], axis=1).reshape(whole.shape), whole)
    assert same(batch.part(0, 1), batch)


def test_a_batch_that_does_not_divide_is_refused():
    with pytest.raises(UserError, match="8 inputs does not divide among 3 processes"):
        made()(0).part(0, 3)


def test_inputs_are_packed_runs_of_text_from_the_start_of_a_sentence():
    source = stream()
    batches = Batches({"en": source}, TRAINING, 1)
    begun = set()
    for step in range(60):
        ids = restored(batches(step))
        assert (ids[:, 0] == CLS).all()
        for row in ids[:, 1:]:
            start = int(row[0]) - FIRST  # a sentence's first token is never [SEP]
            assert start in source.starts
            assert np.array_equal(row, source.ids[start : start + TRAINING.length - 1])
            begun.add(start)
    usable = source.starts[source.starts <= len(source.ids) - (TRAINING.length - 1)]
    assert len(begun) > 0.85 * len(usable)  # 480 draws of 200 starts reach 91 %
    assert max(begun) > source.starts[-20]


def test_a_text_of_exactly_one_input_gives_it():
    ids = np.arange(FIRST, FIRST + 11, dtype=np.int32)
    only = TokenStream(
        ids, np.array([0, 4]), np.zeros(2, dtype=np.int64), np.zeros(11, dtype=bool), (FIRST, FIRST + 11)
    )
    batch = Batches({"en": only}, TRAINING, 0)(0)
    assert (restored(batch)[:, 1:] == ids).all()


def test_a_language_shorter_than_one_input_is_named():
    short = TokenStream(
        np.arange(5, 15, dtype=np.int32), np.array([0]), np.zeros(1, dtype=np.int64), np.zeros(10, dtype=bool), (5, 100)
    )
    with pytest.raises(UserError, match="the text of sw has 10 tokens, one input takes 11; give more"):
        Batches({"en": stream(), "sw": short}, TRAINING, 0)
    with pytest.raises(UserError, match="the held-out text of sw has"):
        Batches({"en": stream(), "sw": short}, TRAINING, 0, held_out=True)


def test_languages_take_turns_across_batches():
    batches = made(languages=3)
    counts = np.zeros(3, dtype=int)
    for step in range(3):
        first_tokens = restored(batches(step))[:, 1]
        counts += np.bincount((first_tokens - FIRST) // ROOM, minlength=3)
        assert counts.max() - counts.min() <= 1
    assert counts.tolist() == [8, 8, 8]


def test_the_number_of_chosen_tokens_is_fixed_and_no_place_is_chosen_twice():
    batch = made()(0)
    assert batch.positions.shape == batch.labels.shape == (8, 3)  # 0.25 * 12
    assert (np.diff(batch.positions, axis=1) > 0).all()
    few = made(training=TrainingSpec(steps=1, batch=8, length=12, mask_rate=0.01))(0)
    assert few.positions.shape == (8, 1)


def test_special_tokens_are_never_chosen_and_ordinary_ones_all_alike():
    batches, chosen, ordinary = made(), np.zeros(12), np.zeros(12)
    for step in range(400):
        batch = batches(step)
        assert (batch.labels >= FIRST).all()
        np.add.at(chosen, batch.positions.ravel(), 1)
        ordinary += (restored(batch) >= FIRST).sum(axis=0)
    assert chosen[0] == 0
    rates = chosen[1:] / ordinary[1:]
    assert rates.max() - rates.min() < 0.06  # 2,000 ordinary tokens a column: standard error 0.01


def test_a_row_short_of_ordinary_tokens_gives_special_ones():
    ids = np.full(50, SEP, dtype=np.int32)
    ids[0::11] = FIRST
    source = TokenStream(ids, np.array([0]), np.zeros(1, dtype=np.int64), np.zeros(50, dtype=bool), (FIRST, 100))
    batch = Batches({"en": source}, TRAINING, 0)(0)
    assert (batch.labels == FIRST).sum(axis=1).tolist() == [1] * 8


def test_of_the_chosen_tokens_80_10_10():
    training = TrainingSpec(steps=1, batch=64, length=48, mask_rate=0.25)
    vocabulary = FIRST + 5 * ROOM
    batches = made(training=training)
    shown, labels = [], []
    for step in range(40):
        batch = batches(step)
        shown.append(np.take_along_axis(batch.ids, batch.positions, axis=1).ravel())
        labels.append(batch.labels.ravel())
    seen, true = np.concatenate(shown), np.concatenate(labels)
    others = seen[(seen != MASK) & (seen != true)]
    assert len(seen) == 30_720
    assert (seen == MASK).mean() == pytest.approx(0.8, abs=0.01)
    assert len(others) / len(seen) == pytest.approx(0.1, abs=0.008)
    assert (seen == true).mean() == pytest.approx(0.1, abs=0.008)
    assert others.min() >= FIRST and others.max() < vocabulary
    assert np.histogram(others, bins=4, range=(FIRST, vocabulary))[0].min() > 0.2 * len(others)


def shown(training: TrainingSpec, *streams: TokenStream) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What stands in the chosen places of 20 batches, what stood there, and the languages of the rows."""
    batches = Batches({str(number): one for number, one in enumerate(streams)}, training, 5)
    found = [batches(step) for step in range(20)]
    seen = np.concatenate([np.take_along_axis(batch.ids, batch.positions, axis=1) for batch in found])
    return seen, np.concatenate([b.labels for b in found]), np.concatenate([b.languages for b in found])


def of_its_own(number: int) -> TokenStream:
    """A language with ids of its own, special ones too."""
    room = (FIRST + number * ROOM, FIRST + (number + 1) * ROOM)
    return replace(stream(number), ordinary=room, special=number * 9 * ROOM)


def test_random_words_come_from_the_rows_language_from_any_or_not_at_all():
    training = TrainingSpec(steps=1, batch=64, length=48, mask_rate=0.25)
    streams = [replace(of_its_own(number), special=0) for number in range(2)]
    for kind, strange in (("", 0.0), ("any", 0.05), ("none", 0.0)):
        seen, labels, languages = shown(replace(training, random_words=kind), *streams)
        other = (seen >= FIRST) & ((seen - FIRST) // ROOM != languages[:, None])
        assert other.mean() == pytest.approx(strange, abs=0.01), kind
        assert (seen == MASK).mean() == pytest.approx(0.9 if kind == "none" else 0.8, abs=0.015), kind
        assert (seen == labels).mean() == pytest.approx(0.1, abs=0.015), kind
    with pytest.raises(UserError, match="unknown random words 'some'; known: '', any, none"):
        shown(replace(training, random_words="some"), *streams)


def test_a_language_with_special_tokens_of_its_own_begins_and_masks_with_them():
    streams = [of_its_own(number) for number in range(2)]
    batches = Batches({"en": streams[0], "fr": streams[1]}, TRAINING, 5)
    moved = batches(0).languages * 9 * ROOM
    assert np.array_equal(batches(0).ids[:, 0], CLS + moved)
    seen, _, languages = shown(TRAINING, *streams)
    masked = (seen == MASK) | (seen == MASK + 9 * ROOM)
    assert masked.mean() > 0.7
    assert (seen[masked] == np.broadcast_to(MASK + 9 * ROOM * languages[:, None], seen.shape)[masked]).all()


def test_everything_else_is_shown_as_it_is():
    batch = made()(2)
    untouched = np.ones(batch.ids.shape, dtype=bool)
    np.put_along_axis(untouched, batch.positions, False, axis=1)
    assert np.array_equal(batch.ids[untouched], restored(batch)[untouched])
    assert not (batch.ids[untouched] == MASK).any()


def test_arrays_are_int64():
    batch = made()(0)
    assert {array.dtype for array in (batch.ids, batch.positions, batch.labels)} == {np.dtype(np.int64)}


def test_slices_keep_every_token():
    source = stream()
    batches = Batches({"en": source}, replace(TRAINING, sliced=True), 1)
    assert np.diff(batches.starts[0]).tolist() == [TRAINING.length - 1] * (len(batches.starts[0]) - 1)
    assert len(source.ids) - (batches.starts[0][-1] + TRAINING.length - 1) < TRAINING.length - 1
    for row in restored(batches(0))[:, 1:]:
        tokens = row[row != SEP]
        assert (np.diff(tokens) <= 2).all()  # consecutive but for the separators between


def test_the_second_half_follows_or_does_not():
    batches = Batches({str(n): stream(n) for n in range(2)}, TRAINING, 5, next_sentence=True)
    middle, followed = TRAINING.length // 2, 0
    for step in range(20):
        batch = batches(step)
        ids = restored(batch)
        assert (ids[:, middle] == SEP).all() and (ids[:, 0] == CLS).all()
        assert batch.segments is not None and batch.follows is not None
        assert batch.segments[0].tolist() == [0] * (middle + 1) + [1] * (TRAINING.length - middle - 1)
        for row, language, apart in zip(ids, batch.languages, batch.follows, strict=True):
            own = batches.streams[language].ids.tolist()
            start, second = own.index(row[1]), row[middle + 1 :].tolist()
            assert row[1:middle].tolist() == own[start : start + middle - 1]
            following = own[start + middle - 1 : start + middle - 1 + len(second)]
            assert (second == following) == (apart == 0) or second[:2] == following[:2]
            followed += apart == 0
    assert 50 < followed < 110  # of 160


def test_every_row_knows_its_language():
    batch = made(languages=3)(1)
    assert np.array_equal(batch.languages, (restored(batch)[:, 1] - FIRST) // ROOM)
    assert batch.part(1, 2).languages.tolist() == batch.languages[1::2].tolist()
