"""Which word of a sentence is which of its translation? Learned from parallel sentences alone.

The model of fast_align, which C uses (sec. 5.1.2): every word of one side is put down by a word of the other, or by
none, with a preference for the diagonal whose strength is learned too (Dyer et al. 2013, a reparametrisation of IBM
model 2). Fitted by expectation maximisation with their sparse Dirichlet prior, without the preference at first (IBM
model 1), so that it is learned from words that are known; in both directions, of whose links those are kept that both
find, since wrong pairs do a dictionary more harm than missing ones. No library does this here: eflomal and fast_align
come as C++ sources, and NLTK's models need minutes where this needs seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from xling_utils.core.errors import UserError

ROUNDS = 5
"""Of expectation maximisation, without the diagonal and then with it (Dyer et al. 2013, sec. 4: five)."""
PRIOR = 0.01
"""Of the Dirichlet over what a word is translated by; below 1, so that few translations are preferred."""
UNALIGNED = 0.08
"""How likely a word is put down by none, before the words are known (Dyer et al. 2013, sec. 2)."""
HIGHEST_TENSION = 20.0
"""How strongly the diagonal is preferred at most; 0 is IBM model 1."""
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def align(
    source_sentences: Sequence[Sequence[str]], target_sentences: Sequence[Sequence[str]]
) -> list[list[tuple[int, int]]]:
    """The places (from 0) of words that translate each other, (source, target), for every pair of sentences, in order
    of the source. A word is in one link at most; a sentence without words has none.

    Memory and time grow with the sum over pairs of the product of their lengths. Raises :class:`UserError` if there
    are not as many sentences on one side as on the other.
    """
    if len(source_sentences) != len(target_sentences):
        raise UserError(
            f"word alignment: {len(source_sentences)} and {len(target_sentences)} sentences; "
            "they must be translations, line by line"
        )
    source, target = _Words.of(source_sentences), _Words.of(target_sentences)
    links: list[list[tuple[int, int]]] = [[] for _ in source_sentences]
    if not len(source.type) or not len(target.type):
        return links
    there, back = _origins(source, target), _origins(target, source)
    for i, j in enumerate(back.tolist()):
        if j >= 0 and there[j] == i:
            links[source.sentence[i]].append((int(source.place[i]), int(target.place[j])))
    return links


@dataclass(frozen=True)
class _Words:
    """All words of one side, one after another: the numbers of their ``type``s, from 1; their ``sentence``s; their
    ``place`` there; and the sentences' ``lengths``."""

    type: Ints
    sentence: Ints
    place: Ints
    lengths: Ints

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> _Words:
        numbers: dict[str, int] = {}
        types = [numbers.setdefault(word, len(numbers) + 1) for word in chain.from_iterable(sentences)]
        lengths = np.array([len(words) for words in sentences], dtype=np.int64)
        return cls(np.array(types), np.repeat(np.arange(len(sentences)), lengths), _within(lengths), lengths)


def _within(lengths: Ints) -> Ints:
    """0, 1, ... within each of groups of such ``lengths``."""
    return np.arange(lengths.sum()) - np.repeat(_first(lengths), lengths)


def _first(lengths: Ints) -> Ints:
    """Where each of groups of such ``lengths`` begins."""
    return np.cumsum(lengths) - lengths


def _origins(source: _Words, target: _Words) -> Ints:
    """For each word of ``target`` the number of the word of ``source`` that most likely put it down, or -1."""
    links = _Links(source, target)
    translation, tension = np.ones(links.kinds), 0.0
    for number in range(2 * ROUNDS):
        posterior = links.weighed(translation, tension)
        posterior /= links.spread(links.sums(posterior))
        if number >= ROUNDS:
            tension = links.tension(tension, posterior)
        translation = links.translation(posterior)
    return links.best(links.weighed(translation, tension))


class _Links:
    """Every link that is possible, word of the target by word: with none first, then with each word of its sentence."""

    def __init__(self, source: _Words, target: _Words) -> None:
        available = source.lengths[target.sentence]
        self.counts = available + 1
        self.first = _first(self.counts)
        at = _within(self.counts)
        self.none = at == 0
        self.origin = np.where(self.none, -1, self.spread(_first(source.lengths)[target.sentence] - 1) + at)
        types = target.type.max() + 1
        both, self.kind = np.unique(
            np.append(source.type, 0)[self.origin] * types + self.spread(target.type), return_inverse=True
        )
        self.kinds, self.above = len(both), both // types
        down = self.spread((target.place + 1) / target.lengths[target.sentence])
        across = at / self.spread(np.maximum(available, 1))
        self.distance = np.where(self.none, 0.0, -np.abs(across - down))

    def spread(self, of_words: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What belongs to each word of the target, for each of its links."""
        return np.repeat(of_words, self.counts)

    def sums(self, of_links: Floats) -> Floats:
        """Over the links of each word of the target."""
        return np.add.reduceat(of_links, self.first)

    def weighed(self, translation: Floats, tension: float) -> Floats:
        """How likely a word of the target is with each of its links."""
        near = self._near(tension)
        total = np.maximum(self.sums(near), np.finfo(float).tiny)
        return np.where(self.none, UNALIGNED, near * self.spread((1 - UNALIGNED) / total)) * translation[self.kind]

    def _near(self, tension: float) -> Floats:
        return np.where(self.none, 0.0, np.exp(tension * self.distance))

    def translation(self, posterior: Floats) -> Floats:
        """exp of the expected logarithm of how likely a word is to put down another (variational Bayes)."""
        from scipy.special import digamma

        counts = np.bincount(self.kind, posterior) + PRIOR
        return np.exp(digamma(counts) - digamma(np.bincount(self.above, counts))[self.above])

    def tension(self, tension: float, posterior: Floats) -> float:
        """One Newton step towards the tension under which links are as near to the diagonal as they were found."""
        near = self._near(tension)
        total = np.maximum(self.sums(near), np.finfo(float).tiny)
        mean = self.sums(near * self.distance) / total
        variance = self.sums(near * self.distance**2) / total - mean**2
        aligned = 1 - posterior[self.first]
        curvature = float(aligned @ variance)
        if curvature <= 0:  # sentences of one word have no diagonal
            return tension
        gradient = float(posterior @ self.distance - aligned @ mean)
        return float(np.clip(tension + gradient / curvature, 0, HIGHEST_TENSION))

    def best(self, score: Floats) -> Ints:
        """The origin of the best link of each word, the first of equals."""
        found = np.flatnonzero(score == self.spread(np.maximum.reduceat(score, self.first)))
        return self.origin[found[np.searchsorted(found, self.first)]]
