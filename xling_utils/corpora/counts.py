"""What a file of a data directory holds, counted. Each raises :class:`UserError` on a file or line of another shape."""

from __future__ import annotations

import re
from collections.abc import Iterable
from io import StringIO
from itertools import islice
from pathlib import Path

from xling_utils.core.errors import UserError
from xling_utils.corpora import treebanks
from xling_utils.corpora.directory import dictionary_lines
from xling_utils.corpora.label_files import inference_lines, tagged_sentences
from xling_utils.corpora.lines import read_lines

TREES_PARSED = 100  # a file, by the conllu package; the columns of all lines are counted


def lines(path: Path) -> int:
    """Lines."""
    number = 0
    for number, _ in read_lines(path):  # noqa: B007
        pass
    return number


def table(path: Path, columns: int, separator: str, last: str = ".*") -> int:
    """Lines; all but blank ones have ``columns`` columns, the last one like the pattern ``last``."""
    number = 0
    wanted = re.compile(last, re.DOTALL)
    for number, line in read_lines(path):
        values = line.split(separator)
        if line.strip() and len(values) != columns:
            between = "tabs" if separator == "\t" else "white space"
            raise UserError(f"{path}, line {number}: write {columns} columns with {between} between, not {len(values)}")
        if line.strip() and not wanted.fullmatch(values[-1]):
            raise UserError(f"{path}, line {number}: unknown label {values[-1]!r}")
    return number


def dictionary(path: Path) -> int:
    """Lines; each with a word and its translation."""
    number = 0
    for number, *_ in dictionary_lines(path):  # noqa: B007
        pass
    return number


def inference(path: Path) -> int:
    """Pairs of sentences."""
    return sum(1 for _ in inference_lines(path))


def gold(path: Path, sides: Iterable[Path]) -> int:
    """Pairs of numbers, of sentences that the files of the two ``sides`` have."""
    known = {line.split("\t")[0] for side in sides for _, line in read_lines(side)}
    number = 0
    for number, line in read_lines(path):
        ids = line.split("\t")
        if len(ids) != 2 or not known.issuperset(ids):
            raise UserError(f"{path}, line {number}: not the numbers of two sentences")
    return number


def entities(path: Path) -> int:
    """Words with a tag."""
    return sum(len(words) for _, words, _ in tagged_sentences(path))


def trees(path: Path) -> int:
    """Trees, each as it is read."""
    return sum(1 for _ in treebanks.trees(read_lines(path), str(path)))


def conllu(path: Path) -> int:
    """Trees of a file that nobody reads; the columns of all lines are looked at."""
    from conllu import parse_incr
    from conllu.exceptions import ParseException

    sample: list[str] = []
    trees = 0
    number, inside = 0, False
    for number, line in read_lines(path):
        if line and not line.startswith("#") and line.count("\t") != 9:
            raise UserError(f"{path}, line {number}: {line.count(chr(9)) + 1} columns instead of 10")
        trees += inside and not line
        inside = bool(line)
        if trees < TREES_PARSED:
            sample.append(line)
    try:
        parsed = sum(1 for _ in islice(parse_incr(StringIO("\n".join(sample) + "\n\n")), TREES_PARSED))
    except (ParseException, ValueError) as error:  # the latter of a number without end
        raise UserError(f"{path}: not CoNLL-U ({error})") from None
    if not parsed:
        raise UserError(f"{path}: not CoNLL-U: no tree")
    return trees + inside
