"""Dependency trees, behind one door: the controlled world's, or treebanks of Universal Dependencies in a directory.

Real files are CoNLL-U (plain, or with ``.xz`` after the name), in the folders and under the names they are released
with: ``ud/UD_<treebank>/<language>_<treebank>-ud-<split>.conllu``; between the split and ``.conllu`` a remark may
stand. Where a language has several files for a split, the parallel treebank (PUD) comes first, whose sentences say
the same in every language; then the first by name. So English is read from EWT and tested on PUD. Files with other
names are passed over: the Swahili ones are drafts, most of their words without a head.

The controlled splits are those of :mod:`labelled`: no test sentence, and no translation of one, is in train or dev.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xling_utils.core.errors import UserError
from xling_utils.core.specs import Form
from xling_utils.corpora import kept
from xling_utils.corpora.controlled import labels, realise
from xling_utils.corpora.directory import existing, given, listed
from xling_utils.corpora.labelled import SPLITS, check_request, dataset, order, sentences
from xling_utils.corpora.lines import read_lines
from xling_utils.corpora.text import normalise

if TYPE_CHECKING:
    from datasets import Dataset

UPOS = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ",
    "SYM", "VERB", "X",
)  # fmt: skip
RELATIONS = (
    "root", "acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop",
    "csubj", "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark",
    "nmod", "nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "punct", "reparandum", "vocative", "xcomp",
)  # fmt: skip
"""The universal relations (https://universaldependencies.org/u/dep), the root's first."""
LOW_RESOURCE = ("bxr", "fo", "ga", "hsb", "kk", "kmr", "sme")
"""Languages outside the book's fifteen with little to train on: those of the CoNLL 2018 shared task without a
development set that D means (sec. 5.2), and Faroese, which had no training data there."""

WORDS_ONLY = re.compile(r"\d+[-.]\d+\t")
"""Where the line of a multiword token or of an empty node begins: they are no words of the tree."""

NOT_READ: dict[str, Callable[[list[str], int], Any]] = dict.fromkeys(
    ("xpos", "feats", "deps", "misc"), lambda line, column: line[column]
)
"""Columns that nobody looks at, and how conllu is to leave them: taking them apart takes a third of its time."""

Tree = tuple[list[str], list[str], list[int], list[str]]
COLUMNS = ("words", "tags", "heads", "relations")


def treebank(
    source: str,
    language: str,
    split: str,
    *,
    count: int | None = None,
    seed: int = 0,
    data: Path | None = None,
    form: Form = "lower",
) -> Dataset:
    """Sentences with their trees: columns ``words``, ``tags`` (of ``UPOS``), ``heads`` (int64, 1-based, 0 is the root)
    and ``relations`` (of ``RELATIONS``, without subtype), lists of equal length in a row.

    A word that is several units of text (:func:`normalise`) stays one word here, its units separated by spaces; one
    that is no text is an empty string. Words only: multiword tokens and empty nodes are passed over. Arguments as for
    :func:`labelled.inference`; the controlled tests and the samples of PUD are translations, row by row.

    Raises :class:`UserError` naming file and line of what is not a tree (see :func:`trees`), the languages that have
    a treebank where one has none, and how many sentences there are when too few.
    """
    check_request(source, split, count)
    if source == "controlled":

        def said() -> Dataset:
            own = sentences(language, split, count, seed)
            lines = labels.conllu((realise(node, language) for node in own), language).splitlines()
            return dataset(COLUMNS, trees(enumerate(lines, 1), f"controlled {language}"))

        return kept.controlled("treebank", (language, split, count, seed), said)
    path = _file(data, language, split)
    released = list(trees(read_lines(path), str(path)))
    if len(released) < (count or 1):
        raise UserError(f"{path}: {len(released)} sentences, {count} asked for; ask for fewer")
    chosen = [released[row] for row in order(len(released), count, seed)[:count]]
    return dataset(COLUMNS, (([normalise(word, form=form) for word in tree[0]], *tree[1:]) for tree in chosen))


def languages_with_trees(data: Path, split: str) -> tuple[str, ...]:
    """The languages that have a treebank for ``split`` in ``data``, by name."""
    return tuple(sorted(_files(data, split)))


@cache
def commonest_tags(data: Path, language: str, least: int = 3) -> dict[str, str]:
    """The tag that most occurrences of a word have in the training treebank, for words of one unit that it holds
    ``least`` times and that have one tag in more than half of them. Empty where the language has no such treebank.

    Raises :class:`UserError` as :func:`treebank` does."""
    if language not in languages_with_trees(data, "train"):
        return {}
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in treebank("directory", language, "train", data=data):
        for word, tag in zip(row["words"], row["tags"], strict=True):
            counts[word][tag] += 1
    found = {}
    for word, tags in counts.items():
        (tag, often), total = tags.most_common(1)[0], tags.total()
        if word and " " not in word and total >= least and often > total / 2:
            found[word] = tag
    return found


def trees(lines: Iterable[tuple[int, str]], where: str) -> Iterator[Tree]:
    """Yields the words, tags, heads and relations of each sentence of numbered CoNLL-U lines, words as they are.

    Raises :class:`UserError` naming ``where`` and the line: a line without ten columns, an unknown tag or relation, a
    head that is none of the sentence's words, words not numbered in order, no root or several, a cycle; and if there
    is no sentence at all.
    """
    block: list[tuple[int, str]] = []
    found = False
    for number, line in (*lines, (0, "")):
        if line.strip():
            if not line.startswith("#"):
                if line.count("\t") != 9:
                    raise UserError(f"{where}, line {number}: {line.count(chr(9)) + 1} columns; CoNLL-U has 10")
                block.append((number, line))
        elif block:
            yield _tree(block, where)
            block, found = [], True
    if not found:
        raise UserError(f"{where}: an empty treebank; give a file with at least one tree")


def _tree(block: list[tuple[int, str]], where: str) -> Tree:
    import conllu

    numbers = [number for number, line in block if not WORDS_ONLY.match(line)]
    try:
        (parsed,) = conllu.parse("\n".join(line for _, line in block), field_parsers=NOT_READ)
    except (conllu.exceptions.ParseException, ValueError) as error:  # the latter of a number without end
        raise UserError(f"{where}, sentence of line {block[0][0]}: not CoNLL-U ({error})") from None
    tokens = [token for token in parsed if isinstance(token["id"], int)]

    def wrong(row: int, what: str) -> UserError:
        return UserError(f"{where}, line {numbers[row] if numbers else block[0][0]}: {what}")

    heads: list[int] = []
    for row, token in enumerate(tokens):
        if token["id"] != row + 1:
            raise wrong(row, f"word {token['id']} where word {row + 1} should be")
        if token["upos"] not in UPOS:
            raise wrong(row, f"unknown part of speech {token['upos']!r}; known: {' '.join(UPOS)}")
        if token["head"] is None or not 0 <= token["head"] <= len(tokens):
            head = "no" if token["head"] is None else token["head"]
            raise wrong(row, f"head {head} in a sentence of {len(tokens)} words")
        if token["deprel"].split(":")[0] not in RELATIONS:
            raise wrong(row, f"unknown relation {token['deprel']!r}; see universaldependencies.org/u/dep")
        heads.append(token["head"])
    if heads.count(0) != 1:
        raise wrong(0, f"a sentence with {heads.count(0)} roots; a tree has one")
    if caught := cycle(heads):
        raise wrong(min(caught) - 1, f"word {min(caught)} stands above itself: a cycle is no tree")
    relations = [token["deprel"].split(":")[0] for token in tokens]
    return [token["form"] for token in tokens], [token["upos"] for token in tokens], heads, relations


def cycle(heads: Sequence[int]) -> list[int]:
    """Words that stand above each other in turn, of the ``heads`` of words 1, 2, ...; none where all lead to 0. Every
    word is visited twice at most."""
    seen_from = [0] + [-1] * len(heads)
    for start in range(1, len(seen_from)):
        word = start
        while seen_from[word] < 0:
            seen_from[word] = start
            word = heads[word - 1]
        if word and seen_from[word] == start:
            found = [word]
            while heads[found[-1] - 1] != word:
                found.append(heads[found[-1] - 1])
            return found
    return []


def _files(data: Path, split: str) -> dict[str, Path]:
    """Language -> the file that is read, without ``.xz``: the parallel treebank's, else the first by name. Raises
    :class:`UserError` where a name stands in two folders, and on a folder that cannot be read."""
    pattern = re.compile(rf"[a-z]+_[a-z]+-ud-{split}(\..+)?\.conllu")
    folders: dict[str, Path] = {}
    for path in sorted(path for folder in listed(data / "ud").glob("UD_*/") for path in listed(folder).iterdir()):
        name = path.name.removesuffix(".xz")
        if pattern.fullmatch(name) and folders.setdefault(name, path.parent) != path.parent:
            raise UserError(f"{path}: stands in {folders[name]}, too; remove one of the two")
    found: dict[str, Path] = {}
    for name in sorted(folders, key=lambda name: ("_pud-" not in name, name)):
        found.setdefault(name.partition("_")[0], folders[name] / name)
    return found


def files_read(data: Path) -> set[Path]:
    """All that :func:`treebank` reads in ``data``. Raises :class:`UserError` where it cannot be told."""
    return {path for split in SPLITS for named in _files(data, split).values() if (path := existing(named))}


def _file(data: Path | None, language: str, split: str) -> Path:
    data = given(data)
    named = _files(data, split).get(language)
    path = existing(named) if named else None
    if path is None:
        known = " ".join(languages_with_trees(data, split)) or "none"
        raise UserError(f"{data}/ud: no treebank for the {split} of {language}; languages that have one: {known}")
    return path
