"""Sentence retrieval with means, mining, and how much language states hold."""

from __future__ import annotations

import numpy as np
import pytest

from xling_utils.core.errors import UserError
from xling_utils.measures.encoders.language_identity import probe_accuracy, variance_share, without_means
from xling_utils.measures.metrics.retrieval import _resampled
from xling_utils.measures.tasks import report_card
from xling_utils.measures.tasks.sentence_retrieval import METHODS, mined, placed, rows


def two_languages(sentences: int = 60, width: int = 12) -> tuple[dict, dict]:
    """The same meanings in two places: layer 0 as they are, layer 1 with a language's own constant added."""
    rng = np.random.default_rng(0)
    meaning = rng.normal(size=(sentences, width))
    noise = {language: rng.normal(size=(2, sentences, width)) * 0.05 for language in ("en", "fr")}
    offset = {"en": np.zeros((2, width)), "fr": np.stack([np.zeros(width), np.full(width, 6.0)])}
    # What both share keeps the source inside a cone, so that the constant changes who is nearest.
    vectors = {language: meaning + 1 + noise[language] + offset[language][:, None] for language in noise}
    return vectors, {language: 1 + offset[language] for language in offset}


def test_a_constant_of_a_language_is_removed_by_its_mean():
    vectors, means = two_languages()
    found = {(r["layer"], r["method"]): r for r in rows(vectors, means, "fr", "en", "parallel")}
    assert set(found) == {(layer, method) for layer in (0, 1) for method in METHODS}
    assert all(found[0, method]["value"] == 1 for method in METHODS)
    assert found[1, "original"]["value"] < 0.7
    assert found[1, "zero-mean"]["value"] == found[1, "mean difference shift"]["value"] == 1
    assert found[0, "original"]["n"] == 60 and found[0, "original"]["metric"] == "p_at_1"


def test_the_shift_moves_the_source_alone():
    x, y = np.eye(3), np.ones((2, 3))
    means = np.array([1.0, 0, 0]), np.array([0, 0, 5.0])
    assert (placed(x, y, means, "original")[0] == x).all()
    moved, kept = placed(x, y, means, "mean difference shift")
    assert (moved == x + np.array([-1, 0, 5])).all() and (kept == y).all()
    both = placed(x, y, means, "zero-mean")
    assert (both[0] == x - means[0]).all() and (both[1] == y - means[1]).all()
    with pytest.raises(UserError, match="unknown method 'none'"):
        placed(x, y, means, "none")


def test_files_of_unequal_length_are_refused():
    vectors, means = two_languages()
    vectors["fr"] = vectors["fr"][:, :-1]
    with pytest.raises(UserError, match="59 sentences in fr, 60 in en"):
        list(rows(vectors, means, "fr", "en", "parallel"))


def test_mining_finds_the_pairs_and_scores_those_that_chose_no_threshold():
    rng = np.random.default_rng(1)
    pairs = [(row, 3 * row) for row in range(40)]
    target = rng.normal(size=(200, 30))
    source = rng.normal(size=(150, 30))
    source[[row for row, _ in pairs]] = target[[row for _, row in pairs]] + 0.05 * rng.normal(size=(40, 30))
    counts, threshold = mined(source, target, pairs)
    assert counts.shape == (75, 3) and counts.sum(axis=0).tolist() == [20, 20, 20] and 0.7 < threshold < 1
    broken = [(row, (3 * row + 1) % 120) if row % 2 else (row, 3 * row) for row in range(40)]
    lost, same = mined(source, target, broken)
    assert lost.sum(axis=0).tolist() == [0, 20, 20] and same == threshold
    with pytest.raises(UserError, match="each half"):
        mined(source, target, [(2, 6)])


def test_variance_lies_between_languages_or_within_them():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(1, 4000, 5))
    same = variance_share({"en": x[:, :2000], "fr": x[:, 2000:]})
    apart = variance_share({"en": x[:, :2000], "fr": x[:, 2000:] + [6, 0, 0, 0, 0]})
    assert same[0] < 0.01
    assert apart[0] == pytest.approx(9 / (9 + 5), abs=0.02)  # a shift of 6 puts means 3 from their middle
    assert variance_share({"en": np.ones((1, 3, 2)), "fr": np.zeros((1, 3, 2))})[0] == 1
    many = variance_share({"en": np.repeat(x[:, :2000], 3, axis=1), "fr": x[:, 2000:] + [6, 0, 0, 0, 0]})
    assert many[0] == pytest.approx(apart[0], abs=1e-6)
    with pytest.raises(UserError, match="two languages"):
        variance_share({"en": x})
    for other in (x[:, :0], x[:, :, 1:], np.concatenate([x, x])):
        with pytest.raises(UserError, match=r"not en \(1, 4000, 5\), fr"):
            variance_share({"en": x, "fr": other})


def test_a_probe_reads_the_mean_and_not_what_is_left_without_it():
    rng = np.random.default_rng(3)

    def drawn() -> dict[str, np.ndarray]:
        return {
            "en": rng.normal(size=(2, 600, 6)),
            "fr": rng.normal(size=(2, 600, 6)) + np.array([0, 2])[:, None, None],
        }

    train, test = drawn(), drawn()
    accuracy = probe_accuracy(train, test)
    assert accuracy[0] < 0.6 and accuracy[1] > 0.95
    means = {language: x.mean(axis=1) for language, x in train.items()}
    left = probe_accuracy(without_means(train, means), without_means(test, means))
    assert left.max() < 0.6


def test_shares_in_bootstrap_samples_are_those_of_their_tokens():
    rng = np.random.default_rng(5)
    of = np.sort(rng.integers(0, 8, 50))
    tokens = {
        language: report_card.Tokens(rng.normal(size=(1, 50, 3)) + shift, of, 8)
        for language, shift in (("en", 0.0), ("fr", 1.0))
    }
    found = report_card._drawn_shares(tokens, 0)
    assert found.shape == (report_card.DRAWS,)
    for drawn, share in list(zip(_resampled(8, 0, report_card.DRAWS).astype(int), found, strict=True))[:20]:
        places = np.concatenate([np.flatnonzero(of == number) for number in np.repeat(np.arange(8), drawn)])
        (direct,) = variance_share({language: each.states[:, places] for language, each in tokens.items()})
        assert share == pytest.approx(direct, abs=1e-9)


def test_intervals_of_what_tokens_say_are_over_sentences():
    """Tokens of one sentence are alike: the interval holds what many sentences say, which one over tokens would not."""
    truth, held = 0.25 / (0.25 + 2 * 2.0), 0  # means a half from their middle in one of two dimensions
    for seed in range(60):
        rng = np.random.default_rng(seed)
        of = np.repeat(np.arange(40), 10)
        tokens = {}
        for language, shift in (("en", [0.0, 0.0]), ("fr", [1.0, 0.0])):
            states = rng.normal(size=(40, 2))[of] + rng.normal(size=(400, 2)) + shift
            tokens[language] = (report_card.Tokens(states[None], of, 40),) * 2
        share, told, _ = report_card._identity_rows(tokens, 0)
        assert share["low"] < share["value"] < share["high"] and told["low"] < told["value"] < told["high"]
        held += share["low"] <= truth <= share["high"]
    assert held >= 51  # of 60: fewer has a chance of one in a thousand at 95 %
