"""Labelled data for zero-shot transfer, behind one door: the controlled world, or real data in a directory.

Real files (plain, or with ``.xz`` after the name), one item a line, columns separated by tabs:

    nli/multinli15k/train.<language>.tsv            premise, hypothesis, label
    nli/xnli/dev.<language>.tsv and test...         the same; line i says the same in every language
    ner/panx/train.<language>.tsv and dev...        word, BIO tag; a blank line ends a sentence

PAN-X (WikiAnn) is released with labels for its first two parts only, so its dev file is our **test**, in every
language. Its train file is divided: a tenth of the sentences, chosen by a hash of their words, is our **dev**
and the rest our **train**. What stands in the test of any language, capitals or not, is in neither: as released, 3 %
of the English test sentences are training sentences, and 2 % of the French ones (names, lists). What differs only
until it is normalised stays: 2 of 19,429 English sentences, 9 of 17,776 French ones.

In the controlled world a sentence, or a pair of them, belongs to one split by a hash of its content words,
which no language changes: half of all to train, a quarter each to dev and to test. So no test item has been
trained on, and neither has its translation. Train and dev are draws of the language, apart from each other and
from the text that models are pretrained on; the test is one draw said in all languages, row by row.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from sys import maxsize
from typing import TYPE_CHECKING

from xling_utils.core.errors import UserError
from xling_utils.core.specs import LANGUAGES, Form
from xling_utils.corpora import kept
from xling_utils.corpora.controlled import realise
from xling_utils.corpora.controlled.documents import documents
from xling_utils.corpora.controlled.facts import Fact, tree
from xling_utils.corpora.controlled.grammar import Node
from xling_utils.corpora.controlled.inference import LABELS, pairs
from xling_utils.corpora.controlled.labels import entities
from xling_utils.corpora.controlled.lexicon import function_words
from xling_utils.corpora.directory import existing, given
from xling_utils.corpora.label_files import inference_lines, repaired, tagged_sentences
from xling_utils.corpora.loading import SOURCES
from xling_utils.corpora.text import normalise

if TYPE_CHECKING:
    from datasets import Dataset

Row = tuple[object, ...]
PAIR, SENTENCE = ("premise", "hypothesis", "label"), ("words", "tags")
SPLITS = ("train", "dev", "test")
INFERENCE_FILES = {"train": "nli/multinli15k/train", "dev": "nli/xnli/dev", "test": "nli/xnli/test"}
ENTITY_FILES = {"train": "ner/panx/train", "dev": "ner/panx/train", "test": "ner/panx/dev"}
SIDES = ("train", "train", "dev", "test")
"""The splits of the controlled world, each as often as it is large."""


def inference(
    source: str,
    language: str,
    split: str,
    *,
    count: int | None = None,
    seed: int = 0,
    data: Path | None = None,
    form: Form = "lower",
) -> Dataset:
    """Natural language inference: string columns ``premise``, ``hypothesis`` (words separated by spaces) and
    ``label`` (one of ``LABELS``).

    ``source`` is ``"controlled"`` (``count`` must be given; rows take turns through ``LABELS``) or
    ``"directory"``, where ``count`` rows are drawn by ``seed`` (the first of a larger sample's) and ``None`` is
    all, in file order. Rows of one split, count and seed are translations of each other: the test in both
    sources, and the dev and train sets of the directory. ``form`` concerns real text only.

    Raises :class:`UserError` naming file and line of an unknown label or of a premise without a hypothesis, the
    file that a language lacks and the languages that have it, or how many rows there are when too few.
    """
    check_request(source, split, count)
    if source == "controlled":

        def pairs_said() -> Dataset:
            drawn = _pairs(split, count, seed, stream(language, split))
            return dataset(PAIR, [(_said(language, p), _said(language, h), label) for p, h, label in drawn])

        return kept.controlled("inference", (language, split, count, seed), pairs_said)
    path = _file(data, INFERENCE_FILES[split], language)
    lines = list(inference_lines(path))
    chosen = [lines[row] for row in order(len(lines), count, seed)][:count]
    rows = []
    for number, *pair, label in chosen:
        premise, hypothesis = (normalise(text, form=form) for text in pair)
        if not premise or not hypothesis:
            raise UserError(f"{path}, line {number}: nothing of premise or hypothesis is text; remove the line")
        rows.append((premise, hypothesis, label))
    return dataset(PAIR, _enough(rows, count, path, split))


def named_entities(
    source: str,
    language: str,
    split: str,
    *,
    count: int | None = None,
    seed: int = 0,
    data: Path | None = None,
    form: Form = "lower",
) -> Dataset:
    """Named entities: columns ``words`` and ``tags`` (lists of strings, equally long in a row, never empty).

    Tags are BIO, see ``TAGS``. A word of the source that is several units of text (punctuation, Han, Thai
    clusters, names with a space) is several words here, ``B-`` on the first; one that is no text is left out.
    Arguments as for :func:`inference`; only the controlled test is parallel. In gold data an ``I-`` after ``O``
    begins an entity, as :func:`repaired` has it: PAN-X has 1,372 of them, all in Chinese.

    Raises :class:`UserError` naming file and line of a word without a tag, an unknown tag or an ``I-`` that
    goes on with another type than the entity has, and the rest as :func:`inference` does.
    """
    check_request(source, split, count)
    if source == "controlled":

        def sentences_said() -> Dataset:
            said = (realise(node, language) for node in sentences(language, split, count, seed))
            return dataset(SENTENCE, [_units([t.form for t in s], entities(s), str.split) for s in said])

        return kept.controlled("named entities", (language, split, count, seed), sentences_said)
    path = _file(data, ENTITY_FILES[split], language)
    released = [(words, tags) for _, words, tags in tagged_sentences(path)]
    if split != "test":
        others = _files(path.parents[2], ENTITY_FILES["test"])
        tests = {_key(words) for other in others for _, words, _ in tagged_sentences(other)}
        keys = (_key(words) for words, _ in released)
        sides = ["" if key in tests else "dev" if _hash(key) % 10 == 0 else "train" for key in keys]
        released = [sentence for sentence, side in zip(released, sides, strict=True) if side == split]

    def cut(word: str) -> list[str]:
        return normalise(word, form=form).split()

    ordered = (released[row] for row in order(len(released), count, seed))
    cut_up = (_units(words, repaired(tags), cut) for words, tags in ordered)
    rows = list(islice((sentence for sentence in cut_up if sentence[0]), count))
    return dataset(SENTENCE, _enough(rows, count, path, split))


def check_request(source: str, split: str, count: int | None) -> None:
    """Raises :class:`UserError` unless labelled data can be had for it."""
    if source not in SOURCES:
        raise UserError(f"labelled data: unknown source {source!r}; known: {', '.join(SOURCES)}")
    if split not in SPLITS:
        raise UserError(f"labelled data: unknown split {split!r}; known: {', '.join(SPLITS)}")
    if count is None and source == "controlled":
        raise UserError("labelled data: the controlled world has no end; give a count")
    if count is not None and count < 1:
        raise UserError(f"labelled data: {count} rows; give at least 1")


def dataset(names: tuple[str, ...], rows: Iterable[Row]) -> Dataset:
    """``rows`` under the ``names`` of their columns."""
    from datasets import Dataset

    return Dataset.from_list([dict(zip(names, row, strict=True)) for row in rows])


def lacking(task: str, languages: Iterable[str], data: Path) -> list[str]:
    """The files that ``task`` (``"NLI"`` or ``"NER"``), learned in English and tested in ``languages``, reads and the
    directory ``data`` does not have."""
    files = {"NLI": INFERENCE_FILES, "NER": ENTITY_FILES}[task]
    learned = [f"{files[split]}.en.tsv" for split in ("train", "dev")]
    tested = [f"{files['test']}.{language}.tsv" for language in languages]
    return [name for name in dict.fromkeys([*learned, *tested]) if not existing(data / name)]


def _file(data: Path | None, stem: str, language: str) -> Path:
    data = given(data)
    if path := existing(data / f"{stem}.{language}.tsv"):
        return path
    there = {path.name.split(".")[1] for path in _files(data, stem)}
    known = " ".join([*(x for x in LANGUAGES if x in there), *sorted(there.difference(LANGUAGES))]) or "none"
    raise UserError(f"{data / stem}.{language}.tsv: no such file, plain or .xz; languages that have one: {known}")


def _files(data: Path, stem: str) -> list[Path]:
    return sorted(path for end in ("", ".xz") for path in data.glob(f"{stem}.*.tsv{end}"))


def order(total: int, count: int | None, seed: int) -> Sequence[int]:
    """Row numbers: all in order, or shuffled by ``seed`` alone, so that parallel files give parallel samples."""
    return range(total) if count is None else random.Random(f"{seed}/labelled").sample(range(total), total)


def _enough(rows: Sequence[Row], count: int | None, path: Path, split: str) -> Sequence[Row]:
    if len(rows) < (count or 1):
        raise UserError(f"{path}: {len(rows)} rows for {split}, {count or 1} asked for; ask for fewer or add some")
    return rows


def _units(words: Sequence[str], tags: Sequence[str], cut: Callable[[str], list[str]]) -> tuple[list[str], list[str]]:
    """Each word as the units that ``cut`` gives, with tags to match, also where an entity's first word is none."""
    units: list[str] = []
    found: list[str] = []
    begins = False
    for word, tag in zip(words, tags, strict=True):
        begins = tag[0] == "B" or (tag[0] == "I" and begins)
        for unit in cut(word):
            units.append(unit)
            found.append(tag if tag == "O" else f"{'B' if begins else 'I'}-{tag[2:]}")
            begins = False
    return units, found


def _key(words: list[str]) -> str:
    return " ".join(words).lower()


def _hash(key: str) -> int:
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest())


def stream(language: str, split: str) -> str:
    """The draw of the controlled world that a split is taken from."""
    return "parallel" if split == "test" else f"{language}/labelled/{split}"


def sentences(language: str, split: str, count: int | None, seed: int) -> Iterator[Node]:
    """The first ``count`` sentences of a split of the controlled world."""
    endless = (node for document in documents(seed, stream(language, split)) for node in document)
    return islice((node for node in endless if side(node) == split), count)


def side(*sentences: Node) -> str:
    """The split that a sentence, or a pair, belongs to in every language: by its content words."""
    form_only = function_words()
    content = [sorted(node.key for node in top.walk() if node.key not in form_only) for top in sentences]
    return SIDES[_hash(repr(content)) % len(SIDES)]


def _said(language: str, fact: Fact) -> str:
    return " ".join(token.form for token in realise(tree(fact), language))


@lru_cache(maxsize=2)  # the parallel test is asked for once a language
def _pairs(split: str, count: int | None, seed: int, stream: str) -> list[tuple[Fact, Fact, str]]:
    return list(islice(_by_turns(split, seed, stream), count))


def _by_turns(split: str, seed: int, stream: str) -> Iterator[tuple[Fact, Fact, str]]:
    """The pairs of ``split``, endless, with labels in turn."""
    waiting: dict[str, deque[tuple[Fact, Fact, str]]] = {label: deque() for label in LABELS}
    for premise, hypothesis, label in pairs(maxsize, seed, stream):
        if side(tree(premise), tree(hypothesis)) == split:
            waiting[label].append((premise, hypothesis, label))
        if all(waiting.values()):
            yield from [queue.popleft() for queue in waiting.values()]
