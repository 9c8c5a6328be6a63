"""Scores of labels and of named entities, with intervals over items, and what can be had without any model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence, Set
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from xling_utils.corpora.label_files import TAGS, repaired
from xling_utils.measures.metrics.intervals import Interval
from xling_utils.measures.metrics.retrieval import resampled_sums

Tags = Sequence[Sequence[str]]
Counts = npt.NDArray[np.int64]
TAGGINGS = 1 << 16
"""Sequences of tags whose spans are kept at hand: most sentences are tagged as others are."""


def spans(sentences: Tags, gold: Tags, predicted: Tags, known: Collection[str] = ()) -> Counts:
    """Right, predicted and gold spans of each sentence, int64 (sentences, 3), by ``seqeval``'s reading of BIO.

    Predicted tags are repaired first (``repaired``). Spans that are spelt as one of ``known`` do not count.
    """
    counts = np.zeros((len(sentences), 3), dtype=np.int64)
    for row, (words, right, guess) in enumerate(zip(sentences, gold, predicted, strict=True)):
        found = [_spans(tuple(right)), _spans(_repaired(tuple(guess)))]
        if known:
            found = [{span for span in of if " ".join(words[span[1] : span[2] + 1]) not in known} for of in found]
        counts[row] = len(found[0] & found[1]), len(found[1]), len(found[0])
    return counts


@lru_cache(maxsize=TAGGINGS)
def _spans(tags: tuple[str, ...]) -> Set[tuple[str, int, int]]:
    """Kind, first and last place of each."""
    from seqeval.metrics.sequence_labeling import get_entities

    return frozenset(get_entities(list(tags)))


@lru_cache(maxsize=TAGGINGS)
def _repaired(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(repaired(tags))


def names(sentences: Tags, gold: Tags) -> set[str]:
    """How the named entities of labelled sentences are spelt."""
    return {
        " ".join(words[first : last + 1])
        for words, tags in zip(sentences, gold, strict=True)
        for _, first, last in _spans(tuple(tags))
    }


def f1(counts: Counts, seed: int = 0) -> Interval:
    """Micro-averaged F1 of :func:`spans`, from 0 to 1, with a 95 % percentile bootstrap interval over sentences;
    its ``n`` is the number of gold spans. Without any span it is 0."""
    low, high = np.percentile(_f1(resampled_sums(counts, seed)), [2.5, 97.5])
    return Interval(f1_value(counts), float(low), float(high), int(counts[:, 2].sum()))


def f1_value(counts: Counts) -> float:
    """Micro-averaged F1 of :func:`spans`, from 0 to 1."""
    return float(_f1(counts.sum(axis=0)))


def _f1(sums: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Of sums (..., 3) of right, predicted and gold spans."""
    return 2 * sums[..., 0] / np.maximum(sums[..., 1] + sums[..., 2], 1)


def usual_tags(sentences: Tags, gold: Tags) -> dict[str, str]:
    """Word -> its most frequent tag: a tagger that knows nothing but words, for the words of another language
    those that are spelt alike."""
    counts: dict[str, Counter[str]] = {}
    for words, tags in zip(sentences, gold, strict=True):
        for word, tag in zip(words, tags, strict=True):
            counts.setdefault(word, Counter())[tag] += 1
    return {word: max(sorted(of), key=of.__getitem__) for word, of in counts.items()}


def random_tags(sentences: Tags, gold: Tags, seed: int) -> list[list[str]]:
    """Tags for ``sentences`` drawn by their frequency in ``gold``."""
    frequency = Counter(tag for tags in gold for tag in tags)
    weights = np.array([frequency[tag] for tag in TAGS], dtype=np.float64)
    rng = np.random.default_rng(seed)
    return [[TAGS[i] for i in rng.choice(len(TAGS), len(words), p=weights / weights.sum())] for words in sentences]
