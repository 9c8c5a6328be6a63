"""The controlled world: a small world, spoken in fifteen languages, with gold labels for everything.

Original work of this project, generated, deterministic in a seed, of any size, and never the same text in two
languages unless asked for: each language draws its own documents from the one world.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations, islice
from typing import TYPE_CHECKING

from xling_utils.core import memory_mapped
from xling_utils.corpora.controlled.documents import documents
from xling_utils.corpora.controlled.grammar import GRAMMARS, Node, Token, linearise
from xling_utils.corpora.controlled.lexicon import concepts, words

if TYPE_CHECKING:
    from datasets import Dataset

FINGERPRINT_SEED = 0


def realise(tree: Node, language: str) -> list[Token]:
    """One tree in one language: its tokens in order, with gold heads. Raises on an unknown language."""
    forms = words(language)  # names an unknown language
    return linearise(tree, GRAMMARS[language], forms)


def _rows(
    language: str, sentences: int, seed: int, stream: str, domain: str | None = None
) -> Iterator[tuple[str, int]]:
    trees = ((number, tree) for number, trees in enumerate(documents(seed, stream, domain)) for tree in trees)
    for number, tree in islice(trees, sentences):
        yield " ".join(token.form for token in realise(tree, language)), number


def text(language: str, sentences: int, seed: int, *, held_out: bool = False, domain: str | None = None) -> Dataset:
    """``sentences`` sentences of ``language`` as a dataset with columns ``text`` and ``document``.

    Languages draw independently: no sentence of one is meant as the translation of another's. Held-out text
    is a third draw. ``domain`` keeps to the topics of one of ``world.DOMAINS``. Raises :class:`UserError` on an
    unknown language or domain.
    """
    words(language)
    stream = f"{language}/held out" if held_out else language
    if domain is not None:
        stream += f"/{domain}"
    return memory_mapped.text(_rows(language, sentences, seed, stream, domain))


def parallel(languages: tuple[str, ...], sentences: int, seed: int) -> list[dict[str, list[Token]]]:
    """``sentences`` sentences said in every one of ``languages``: a draw of its own, for tests only."""
    return [{lang: realise(tree, lang) for lang in languages} for tree in _trees(sentences, seed)]


def _trees(sentences: int, seed: int) -> list[Node]:
    return list(islice((tree for trees in documents(seed, "parallel") for tree in trees), sentences))


@cache
def word_order_distance(first: str, second: str, sentences: int = 500) -> float:
    """Share of pairs of content words that the two languages put in opposite orders, from 0 to 1, over
    ``sentences`` parallel sentences: Kendall's distance of word order, weighted by what is really said."""
    differ = total = 0
    for one, other in zip(_orders(first, sentences), _orders(second, sentences), strict=True):
        place = {key: i for i, key in enumerate(other)}
        uses = Counter(key for key in one if key in concepts())
        for left, right in combinations([key for key, count in uses.items() if count == 1], 2):
            total += 1
            differ += place[left] > place[right]
    return differ / total


@cache
def _orders(language: str, sentences: int) -> list[list[str]]:
    """What ``language`` says of the same sentences as any other, in its order."""
    return [[token.key for token in realise(tree, language)] for tree in _common_trees(sentences)]


@cache
def _common_trees(sentences: int) -> list[Node]:
    return _trees(sentences, FINGERPRINT_SEED)


@cache
def fingerprint(languages: tuple[str, ...]) -> str:
    """Identity of the world and of ``languages``: a hash of the tables' words and of 1,000 sentences of each."""
    digest = hashlib.sha256()
    for language in languages:
        for key, form in words(language).items():
            digest.update(f"{key}\t{form}\n".encode())
        for sentence, document in _rows(language, 1000, FINGERPRINT_SEED, language):
            digest.update(f"{document}\t{sentence}\n".encode())
    return digest.hexdigest()
