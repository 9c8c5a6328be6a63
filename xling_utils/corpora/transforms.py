"""What can be done to text before a model reads it, to see what its languages must have in common.

Spelling (Fake-English), word order (permutation), everything but frequency (unigrams), shared words (code
switching) and the length of a context (slices). Pure functions of their arguments: ``rng`` is a numpy Generator,
and one sentence takes from it what it needs before the next does, so the beginning of a text changes alike
whatever follows it (:func:`resample_unigrams`, which must know the whole text, excepted).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain, islice
from typing import TypeVar

import numpy as np

from xling_utils.core.errors import UserError

Token = TypeVar("Token")

UNUSED = range(0x40000, 0xE0000)
"""The planes of Unicode in which nothing is assigned: no language, case, decomposition or format rule."""
FAKE_SHIFT = UNUSED.start
"""Takes every character that Unicode assigns (planes 0 to 3) to one of :data:`UNUSED`."""

LONGEST = 2_000
"""Words of a sentence that can be permuted."""


def fake_english(text: str, shift: int = FAKE_SHIFT) -> str:
    """``text`` with every character but white space moved up by ``shift`` code points: digits and punctuation
    too, so that no word piece is shared with any other text, while words stay words. One to one.

    The characters that result are valid but unassigned. ``corpora.text.normalise`` leaves them alone, but would
    have changed the letters before the shift: normalise first, where the text is normalised at all. Raises
    :class:`UserError` when a character would not land in :data:`UNUSED`. Source: K et al. 2020, sec. 3.2.1.
    """
    return text.translate(_shifts(shift))


class _Shifts(dict[int, int]):
    """Code point -> shifted code point, worked out when first met."""

    def __init__(self, shift: int) -> None:
        self.shift = shift

    def __missing__(self, code: int) -> int:
        space = chr(code).isspace()
        target = code if space else code + self.shift
        if not space and target not in UNUSED:
            raise UserError(
                f"fake English: U+{code:04X} shifted by {self.shift:#x} is not in the unassigned planes "
                f"{UNUSED.start:#x} to {UNUSED.stop - 1:#x}; shift each text once, by {FAKE_SHIFT:#x}"
            )
        self[code] = target
        return target


@cache
def _shifts(shift: int) -> _Shifts:
    return _Shifts(shift)


def permute_words(tokens: Sequence[str], fraction: float, rng: np.random.Generator) -> list[str]:
    """The words of one sentence after swapping ``fraction`` of their L * (L - 1) / 2 pairs of places, drawn
    without replacement, one pair after the other.

    0 changes nothing; 1 is no uniform permutation either, but leaves little of the order. K et al. 2020 (sec.
    3.2.2) swap word pieces; here whole words move, so that the pieces, and the tokenizer, stay those of the text.
    Raises :class:`UserError` when ``fraction`` is not within 0 and 1, and on more than :data:`LONGEST` words, whose
    pairs would fill the memory.
    """
    _share("permute_words: fraction", fraction)
    if len(tokens) > LONGEST:
        raise UserError(f"a line of {len(tokens):,} words cannot be permuted; put one sentence on a line")
    pairs = len(tokens) * (len(tokens) - 1) // 2
    drawn = rng.choice(pairs, size=round(fraction * pairs), replace=False) if pairs else np.empty(0, np.int64)
    # Pair k of (0,1), (0,2), (1,2), (0,3), ...: the second place is the largest j with j * (j - 1) / 2 <= k.
    second = ((1 + np.sqrt(8 * drawn + 1)) // 2).astype(np.int64)
    first = drawn - second * (second - 1) // 2
    permuted = list(tokens)
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        permuted[i], permuted[j] = permuted[j], permuted[i]
    return permuted


def resample_unigrams(sentences: Sequence[Sequence[str]], rng: np.random.Generator) -> list[list[str]]:
    """Sentences of the same lengths, each word drawn anew, with replacement, by its frequency in ``sentences``.

    Nothing but frequencies and lengths is left. Source: K et al. 2020, sec. 3.2.3.
    """
    words = list(chain.from_iterable(sentences))
    drawn = iter(rng.integers(max(len(words), 1), size=len(words)).tolist())
    return [[words[i] for i in islice(drawn, len(sentence))] for sentence in sentences]


def code_switch(
    tokens: Sequence[str],
    dictionary: Mapping[str, Sequence[str]],
    rng: np.random.Generator,
    word_rate: float = 0.3,
    batch_rate: float = 0.15,
) -> list[str]:
    """The words of one sentence, some replaced by translations: extra anchor points between two languages.

    With probability ``batch_rate`` the sentence is switched: then each of its words that ``dictionary`` (word ->
    translations of one unit each) holds is replaced with probability ``word_rate`` by one of its translations,
    all alike likely. So at most ``word_rate * batch_rate`` of a text's words change.

    Conneau, Wu et al. 2020 (sec. 4.2) replace 30 % of the words in the dictionary, weigh translations by their
    quality, and change at most 15 % of the words of a batch. On average ``batch_rate=0.5`` keeps to that bound,
    and so does 1 where no more than half of the text's words are in the dictionary. Raises :class:`UserError`
    when a rate is not within 0 and 1.
    """
    _share("code_switch: word_rate", word_rate)
    _share("code_switch: batch_rate", batch_rate)
    if rng.random() >= batch_rate:
        return list(tokens)
    switched = list(tokens)
    for place, chance in enumerate(rng.random(len(tokens))):
        if chance < word_rate and (translations := dictionary.get(tokens[place])):
            switched[place] = translations[int(rng.integers(len(translations)))]
    return switched


def _share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise UserError(f"{name} is {value}; give a share from 0 to 1")
