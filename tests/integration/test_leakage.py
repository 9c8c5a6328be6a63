"""Whether a model has read what it is tested on: counted against all text that training may draw.

Where test sentences do recur, the bound is stated here and on the page of data. A bound that rises is a leak.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import islice

import pytest

from tests.given import DATA, real
from xling_utils import corpora
from xling_utils.core.scales import FIRST_REPORTED_SEED, scale
from xling_utils.corpora import controlled, directory, labelled, parallel, treebanks
from xling_utils.corpora.controlled.documents import documents
from xling_utils.measures.transfer.zero_shot import LABELLED_SEED


def sides(source: str, language: str, split: str, **options: object) -> list[tuple[str, str]]:
    rows = labelled.inference(source, language, split, **options)
    return list(zip(rows["premise"][:], rows["hypothesis"][:], strict=True))


def said(rows: Iterable[list[str]]) -> list[str]:
    """Words of sentences as the text has them."""
    return [" ".join(" ".join(words).split()) for words in rows]


# The controlled world


@pytest.mark.parametrize("language", ["en", "hi"])
def test_controlled_test_sentences_recur_by_chance_only(language: str) -> None:
    sizes = scale("controlled")
    text = corpora.load(sizes.corpus((language,), sizes.sentences[-1], FIRST_REPORTED_SEED))[language]
    read = set(text["text"][:])

    def found(sentences: Iterable[str]) -> list[bool]:
        return [sentence in read for sentence in sentences]

    # Two draws of a small world share a fifth of their sentences, all of them short: tests no more than any other.
    chance = found(controlled.text(language, 1_000, FIRST_REPORTED_SEED, held_out=True)["text"])
    assert 0.15 < sum(chance) / 1_000 < 0.25
    trees = treebanks.treebank("controlled", language, "test", count=1_000, seed=LABELLED_SEED)
    for test in (parallel.multiway("controlled", (language,), 1_000)[language], said(trees["words"][:])):
        assert sum(found(test)) <= sum(chance) + 50
        assert max(len(sentence.split()) for sentence in test if sentence in read) <= 12
    pairs = sides("controlled", language, "test", count=999, seed=LABELLED_SEED)
    assert sum(found(sentence for pair in pairs for sentence in pair)) < 0.02 * 2 * len(pairs)
    assert sum(all(found(pair)) for pair in pairs) <= 3  # of both at once a thousand pairs have .4 by chance


def test_no_controlled_test_document_is_read() -> None:
    def keys(seed: int, stream: str, count: int) -> set[tuple[str, ...]]:
        drawn = islice(documents(seed, stream), count)
        return {tuple(node.key for tree in document for node in tree.walk()) for document in drawn}

    read = keys(FIRST_REPORTED_SEED, "en", 2_700)
    seeds = (LABELLED_SEED, parallel.MULTIWAY_SEED, parallel.PAIRS_SEED, parallel.UNALIGNED_SEED)
    for tested in (*(keys(seed, "parallel", 500) for seed in seeds), keys(FIRST_REPORTED_SEED, "en/held out", 200)):
        assert not read & tested


# Real text


class _Letters(dict[int, int | None]):
    """For ``str.translate``: neither punctuation nor spaces."""

    def __missing__(self, code: int) -> int | None:
        self[code] = code if unicodedata.category(chr(code))[0] in "LMN" else None
        return self[code]


LETTERS = _Letters()


def letters(sentence: str) -> str:
    """``sentence`` without punctuation and spaces."""
    return sentence.translate(LETTERS)


@real("text")
@pytest.mark.parametrize("language", ["fr", "bg", "ar", "vi"])  # those with most of one test or another
def test_next_to_no_real_test_sentence_is_read(language: str) -> None:
    tatoeba = parallel.pairs("directory", language, 10_000, data=DATA)[1]
    inference = {sentence for pair in sides("directory", language, "test", data=DATA) for sentence in pair}
    trees = said(treebanks.treebank("directory", language, "test", data=DATA)["words"][:])
    names = said(labelled.named_entities("directory", language, "test", data=DATA)["words"][:])
    kept_out, spelt = directory.protected_sentences(DATA, language), set(map(letters, tatoeba)) - {""}
    read: set[str] = set()
    loosely: set[str] = set()
    for _, sentence in directory.sentences(DATA, language):
        read.add(sentence)
        loosely.add(letters(sentence))
    assert not kept_out & read and set(tatoeba) <= kept_out
    assert len(spelt & loosely) <= 35  # 3.5 % of Arabic: other punctuation
    assert len(inference & read) <= 9  # of some 6,680: "no problem."
    assert len(set(trees) & read) <= 3
    assert len(set(names) & read) <= 0.1 * len(set(names))  # titles of articles, without their labels


@real("text")
def test_no_real_task_is_learned_on_its_test() -> None:
    pairs = {split: sides("directory", "en", split, data=DATA) for split in labelled.SPLITS}
    tested = {sentence for pair in pairs["test"] for sentence in pair}
    assert not tested & {sentence for split in ("train", "dev") for pair in pairs[split] for sentence in pair}
    trees, names = (
        {split: set(said(read("directory", "en", split, data=DATA)["words"][:])) for split in labelled.SPLITS}
        for read in (treebanks.treebank, labelled.named_entities)
    )
    assert not trees["test"] & (trees["train"] | trees["dev"])
    assert len(names["test"] & (names["train"] | names["dev"])) <= 2  # that differ before they are normalised
