"""Files of labelled text, one item a line: what they may say, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from xling_utils.core.errors import UserError
from xling_utils.corpora.controlled.inference import LABELS
from xling_utils.corpora.lines import read_lines

TAGS = ("O", *(f"{position}-{kind}" for kind in ("PER", "LOC", "ORG") for position in "BI"))
BEFORE = {tag: {"O", f"B{tag[1:]}", tag} if tag[0] == "I" else {*TAGS} for tag in TAGS}
"""Tag -> those that it may follow."""
SPELLINGS = {label: label for label in LABELS} | {"contradictory": "contradiction"}
"""Label as a file spells it -> label. MultiNLI-15k has "contradictory" where XNLI has "contradiction"."""


def repaired(tags: Sequence[str]) -> list[str]:
    """The tags as valid BIO, by the heuristic of Conneau, Wu et al. (2020, section 3.2): an ``I-X`` that stands
    alone becomes ``B-X``, and an entity of several types takes its last (B-X I-Y I-Z becomes B-Z I-Z I-Z)."""
    valid = list(tags)
    kind = ""
    for place in reversed(range(len(tags))):
        if tags[place] == "O":
            continue
        begins = tags[place].startswith("B-") or place == 0 or tags[place - 1] == "O"
        kind = kind or tags[place][2:]
        valid[place] = f"{'B' if begins else 'I'}-{kind}"
        if begins:
            kind = ""
    return valid


def inference_lines(path: Path) -> Iterator[tuple[int, str, str, str]]:
    """Yields (line number from 1, premise, hypothesis, label): raw text, and the label as in ``LABELS``.

    Raises :class:`UserError` naming the line where it is not that, and as :func:`read_lines` does.
    """
    for number, line in read_lines(path):
        columns = line.split("\t")
        if len(columns) != 3:
            wanted = "write premise, hypothesis and label, a tab between them"
            raise UserError(f"{path}, line {number}: {len(columns)} columns instead of 3; {wanted}")
        premise, hypothesis, label = columns
        if not premise.strip() or not hypothesis.strip():
            lonely = "premise without a hypothesis" if premise.strip() else "hypothesis without a premise"
            raise UserError(f"{path}, line {number}: {lonely}; fill it in, or remove the line in every language")
        if label not in SPELLINGS:
            known = ", ".join(SPELLINGS)
            raise UserError(f"{path}, line {number}: unknown label {label!r}; write one of {known}")
        yield number, premise, hypothesis, SPELLINGS[label]


def tagged_sentences(path: Path) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yields (line number of the first word, words, tags) as the file has them, an ``I-`` after ``O`` included.

    Raises :class:`UserError` naming the line where it is not that, and as :func:`read_lines` does.
    """
    words: list[str] = []
    tags: list[str] = []
    number = 0
    for number, line in read_lines(path):
        word, _, tag = line.partition("\t")
        if tag not in BEFORE or not word.strip():
            if line.strip():
                raise _not_tagged(path, number, line)
            if words:
                yield number - len(words), words, tags
            words, tags = [], []
            continue
        if tags and tags[-1] not in BEFORE[tag]:
            after = f"{tag} after {tags[-1]} is not BIO"
            raise UserError(f"{path}, line {number}: {after}; begin an entity with B-{tag[2:]}")
        words.append(word)
        tags.append(tag)
    if words:
        yield number + 1 - len(words), words, tags


def _not_tagged(path: Path, number: int, line: str) -> UserError:
    word, *tags = line.split("\t")
    if len(tags) != 1 or not word.strip():
        wanted = "write a word, a tab and its tag, and a blank line after a sentence"
        return UserError(f"{path}, line {number}: not one word with one tag; {wanted}")
    return UserError(f"{path}, line {number}: unknown tag {tags[0]!r}; write one of {' '.join(TAGS)}")
