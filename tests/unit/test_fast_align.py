"""Word alignment: a lexicon that is known, the controlled world's gold, and sentences that say little."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pytest

from xling_utils.core.errors import UserError
from xling_utils.corpora import controlled
from xling_utils.measures.metrics.fast_align import align

WORDS = 60


def translated(count: int, reverse: bool, seed: int = 0) -> tuple[list[list[str]], list[list[str]], list[list[int]]]:
    """Sentences of numbers, the same in letters in another order, and where each source word went; some target
    sentences have a word more, which is nobody's translation."""
    rng = np.random.default_rng(seed)
    source, target, places = [], [], []
    for _ in range(count):
        numbers = rng.choice(WORDS, size=rng.integers(3, 9), replace=False)
        order = list(range(len(numbers)))[:: -1 if reverse else 1]
        words = [f"w{numbers[i]}" for i in order]
        place = [order.index(i) for i in range(len(order))]
        if rng.random() < 0.3:
            words.append("extra")
        source.append([str(n) for n in numbers])
        target.append(words)
        places.append(place)
    return source, target, places


@pytest.mark.parametrize("reverse", [False, True])
def test_a_lexicon_is_found_whatever_the_word_order(reverse):
    source, target, places = translated(300, reverse)
    true = [(row, link) for row, place in enumerate(places) for link in enumerate(place)]
    found = [(row, link) for row, links in enumerate(align(source, target)) for link in links]
    assert set(found) <= set(true) and len(found) > 0.99 * len(true)


def test_a_word_that_comes_twice_is_told_apart_by_its_place():
    source, target, _ = translated(200, reverse=False)
    source.append(["1", "2", "1", "3"])
    target.append(["w1", "w2", "w1", "w3"])
    assert align(source, target)[-1] == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_either_side_may_come_first():
    source, target, _ = translated(100, reverse=True)
    turned = [[(i, j) for j, i in links] for links in align(target, source)]
    assert [sorted(links) for links in turned] == align(source, target)


@pytest.mark.parametrize(
    ("language", "precision", "recall"),
    [("fr", 0.99, 0.98), *((language, 0.975, 0.975) for language in ("ar", "tr", "zh", "hi"))],
)
def test_links_of_the_controlled_world_are_its_gold(language, precision, recall):  # as the page on metrics says
    said = controlled.parallel(("en", language), 400, 7)
    sides = [[[token.form for token in row[name]] for row in said] for name in ("en", language)]
    right = found = gold = recovered = 0
    for row, links in zip(said, align(*sides), strict=True):
        keys = [[token.key for token in row[name]] for name in ("en", language)]
        once = [{key for key, count in Counter(side).items() if count == 1} for side in keys]
        true = {(keys[0].index(key), keys[1].index(key)) for key in once[0] & once[1]}
        found += len(links)
        right += sum(keys[0][i] == keys[1][j] for i, j in links)
        gold += len(true)
        recovered += len(true & set(links))
    assert right / found > precision and recovered / gold > recall


def test_a_word_is_in_one_link_at_most():
    rng = np.random.default_rng(1)
    source, target = ([[str(n) for n in rng.integers(9, size=rng.integers(1, 12))] for _ in range(100)] for _ in "ab")
    for links, left, right in zip(align(source, target), source, target, strict=True):
        for side, words in zip(zip(*links, strict=True), (left, right), strict=True) if links else ():
            assert len(set(side)) == len(side) and max(side) < len(words)


def test_sentences_without_words_have_no_links():
    assert align([], []) == []
    assert align([[], ["a"], []], [["x"], [], []]) == [[], [], []]
    source, target, places = translated(50, reverse=True)
    found = align([[], *source, ["1"]], [["w1"], *target, []])
    assert found == [[], *(list(enumerate(place)) for place in places), []]


def test_unequal_numbers_of_sentences_are_named():
    with pytest.raises(UserError, match="2 and 1 sentences; they must be translations"):
        align([["a"], ["b"]], [["x"]])


def test_work_grows_with_the_pairs_and_not_with_their_square():
    def worked(count: int) -> float:
        source, target, _ = translated(count, reverse=True)
        began = time.process_time()
        align(source, target)
        return time.process_time() - began

    worked(100)  # what is loaded once
    assert worked(6_400) < 30 * worked(800), "eight times as many pairs"
