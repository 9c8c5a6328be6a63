"""What a claim says of tidy rows: which rows, which quantity of them, and a bound that it must keep.

A *selection* is a mapping from columns to values. Beside plain values a column takes a list (any of them), ``null``
(empty), and, of numbers, ``least`` and ``most``. ``language`` is the one of a row's two languages that is not English;
rows of English alone are taken only where ``language: en`` asks for them. A selection that names its language is
averaged over it. ``step`` and ``part_of_speech`` are empty
unless a selection names them. ``layer`` takes a number, ``first``, ``last``, ``middle`` (what the chapters read single
numbers at), ``lower`` or ``upper`` (the mean of that half), or a depth such as ``8/12``, or a list of these;
what it takes is averaged, and without it all layers are.
"""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import isfinite, isnan
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from xling_utils.claims.rows import MOST, Key, Means, Real, Rows, Selection, mean
from xling_utils.core.errors import UserError

OPERATORS: dict[type[ast.operator], Callable[..., npt.NDArray[np.float64]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
ARITHMETIC = (ast.Tuple, ast.BinOp, ast.UnaryOp, ast.USub, *OPERATORS, ast.Name, ast.Constant, ast.Load)
"""What a quantity is made of."""
FEWEST_POINTS, FEWEST_LANGUAGES = 4, 5
"""A correlation over fewer points, or languages, is none."""
MOST_NODES = 1000
"""No quantity is made of so many parts."""


@dataclass(frozen=True)
class Predicate:
    """One thing that must hold: ``quantity``, an expression in the names of selections, lies ``above`` or ``below`` a
    number, or ``within`` so much of zero. With ``over`` it is a correlation instead, of the two quantities that a comma
    parts, over that column (``language``, ``layer``, a condition); by ranks where ``ranks`` says so. ``matters`` is the
    smallest effect of interest where it is not that of the metric, 0 where the bound is what matters."""

    quantity: str
    above: Real | None = None
    below: Real | None = None
    within: Real | None = None
    over: str | None = None
    ranks: bool = False
    matters: Real | None = None

    @property
    def bound(self) -> str:
        """``"> 0"``, ``"< 0.02"`` or ``"within 0.05"``."""
        if self.within is not None:
            return f"within {self.within:g}"
        return f"> {self.above:g}" if self.above is not None else f"< {self.below:g}"

    @property
    def text(self) -> str:
        """The quantity as a reader sees it."""
        plain = self.quantity.replace("_", " ")
        if not self.over:
            return plain
        return (
            f"{'Spearman' if self.ranks else 'Pearson'} correlation of {plain.replace(',', ' and')} over {self.over}s"
        )


@dataclass(frozen=True)
class Sample:
    """The values that a test is decided on, one a seed; or one a language, where a single seed is there (``unit``).
    Where seeds were measured in different languages, ``languages`` says in which each."""

    values: tuple[float, ...]
    unit: str
    languages: tuple[str, ...] = ()


def sample(test: Predicate, selections: Mapping[str, Selection], rows: Rows) -> Sample:
    """The values of ``test``, each selection naming its ``chapter``.

    Empty where one of its selections finds no rows that it shares with the others. Raises :class:`UserError` on a
    column that the rows do not have, on a name without a selection, and on a quantity that is none, or is not two
    where it is correlated.
    """
    parts = quantities(test.quantity, 2 if test.over else 1)
    if test.over == "seed":
        raise UserError(f"over {test.over!r:.80}: write a column other than 'seed'")
    found = measured(parts, selections, rows, test.over)
    if not found.keys or (test.over and test.over not in found.names):
        return Sample((), "seeds")
    if not test.over:
        return by_seed(found.of(parts[0]))
    return by_seed(_correlations(found, parts, test.over, test.ranks))


@dataclass(frozen=True)
class Measured:
    """``columns`` by the name of their selection, a value for each of ``keys``, which have parts of such ``names``."""

    names: tuple[str, ...]
    keys: Sequence[Key]
    columns: Mapping[str, npt.NDArray[np.float64]]

    def of(self, quantity: ast.expr) -> Means:
        """The values of one of :func:`quantities`."""
        with np.errstate(all="ignore"):
            return Means(self.names, dict(zip(self.keys, self._value(quantity).tolist(), strict=True)))

    def _value(self, node: ast.AST) -> npt.NDArray[np.float64]:
        if isinstance(node, ast.Name):
            return self.columns[node.id]
        if isinstance(node, ast.UnaryOp):
            return -self._value(node.operand)
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](self._value(node.left), self._value(node.right))
        assert isinstance(node, ast.Constant)
        return np.full(len(self.keys), node.value, dtype=np.float64)


def measured(
    asked: Sequence[ast.expr], selections: Mapping[str, Selection], rows: Rows, over: str | None = None
) -> Measured:
    """A column a name in the quantities ``asked``, a value a seed and language (and what a correlation is ``over``)
    that all have; one with less in its keys (no language, no seed) stands beside every value. Raises as :func:`sample`
    does."""
    used = set().union(*map(_names, asked))
    names = [name for name in selections if name in used]
    if unknown := used - set(names):
        raise UserError(f"no selection is named {sorted(unknown)[0]!r}")
    wanted = list(dict.fromkeys(["seed", "language", *([over] if over else [])]))
    found = {name: rows.means(selections[name], wanted) for name in names}
    if not all(means.of for means in found.values()):
        return Measured((), [], {})
    most = max(found.values(), key=lambda means: len(means.names))
    if {"seed", *(part for means in found.values() for part in means.names)} - {*most.names}:
        raise UserError(f"{', '.join(names)}: none of these has all of {', '.join(wanted)}")
    parts = {name: [most.names.index(part) for part in means.names] for name, means in found.items()}
    keys, values = [], []
    for key in most.of:
        there = [means.of.get(tuple(key[part] for part in parts[name])) for name, means in found.items()]
        if None not in there:
            keys.append(key)
            values.append(there)
    columns = np.array(values, dtype=np.float64).reshape(-1, len(names)).T
    return Measured(most.names, keys, dict(zip(names, columns, strict=True)))


def by_seed(values: Means) -> Sample:
    """Of values by seed and language: those that are comparable, a mean a seed."""
    named = "language" in values.names
    places = [values.names.index(part) for part in ("seed", "language")[: 1 + named]]
    finite = {tuple(key[place] for place in places): value for key, value in values.of.items() if isfinite(value)}
    if named:
        finite = _balanced(finite)
    seeds: dict[Any, list[float]] = {}
    for key in sorted(finite):
        seeds.setdefault(key[0], []).append(finite[key])
    if len(seeds) == 1 and len(finite) > 1:
        return Sample(tuple(finite.values()), "languages")
    return Sample(tuple(map(mean, seeds.values())), "seeds", _languages(finite) if named else ())


def names_in(test: Predicate) -> set[str]:
    """The selections that a test speaks of. Raises :class:`UserError` if its quantity is more than arithmetic."""
    return _names(_parsed(test.quantity))


def quantities(text: str, count: int = 1) -> list[ast.expr]:
    """The one quantity, or two, that ``text`` has, with a comma between two. Raises :class:`UserError` where it has
    others, and on one that no selection has a part in."""
    whole = _parsed(text)
    parts = whole.elts if count > 1 and isinstance(whole, ast.Tuple) else [whole]
    nested = any(isinstance(node, ast.Tuple) for part in parts for node in ast.walk(part))
    if len(parts) != count or nested or not any(map(_names, parts)):
        wanted = "a quantity" if count == 1 else "two quantities, with a comma between,"
        raise UserError(f"{text!r:.80}: write {wanted} in names of selections")
    return parts


def _names(quantity: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(quantity) if isinstance(node, ast.Name)}


@cache
def _parsed(quantity: str) -> ast.expr:
    try:
        tree = ast.parse(quantity.strip(), mode="eval").body
        nodes = list(ast.walk(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        nodes = []
    numbers = (node.value for node in nodes if isinstance(node, ast.Constant))
    whole = 0 < len(nodes) < MOST_NODES and all(isinstance(node, ARITHMETIC) for node in nodes)
    if not whole or not all(map(_is_number, numbers)):
        raise UserError(f"quantity {quantity!r:.80}: write names, numbers, + - * / and a comma between two")
    return tree


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MOST


def _balanced(values: dict[Key, float]) -> dict[Key, float]:
    """Those of the languages that most seeds have, and of the seeds that have all of them: a mean over French alone and
    one over five languages are no two observations of one thing. All of them where seeds take languages in turn: one
    each, or none that most seeds have."""
    have, seeds = Counter(language for _, language in values), {seed for seed, _ in values}
    if len(have) > 1 and (len(values) == len(seeds) or 2 * max(have.values()) <= len(seeds)):
        return values
    most = {language for language, count in have.items() if count == max(have.values())}
    whole = Counter(seed for seed, language in values if language in most)
    kept = {key: value for key, value in values.items() if key[1] in most and whole[key[0]] == len(most)}
    return kept or values


def _languages(values: Mapping[Key, float]) -> tuple[str, ...]:
    """The languages of each seed, where they are not the same for all."""
    spoken: dict[Any, list[str]] = {}
    for seed, language in sorted(values):
        spoken.setdefault(seed, []).append(language)
    found = tuple(map(" ".join, spoken.values()))
    return found if len(set(found)) > 1 else ()


def _correlations(found: Measured, parts: Sequence[ast.expr], over: str, ranks: bool) -> Means:
    """A correlation of two quantities over a part of the keys, for each of the rest; none of a constant, and none of
    too few points."""
    place = found.names.index(over)
    first, second = (found.of(part).of.values() for part in parts)
    groups: dict[Key, list[tuple[float, float]]] = {}
    for key, pair in zip(found.keys, zip(first, second, strict=True), strict=True):
        if not any(map(isnan, pair)):
            groups.setdefault(key[:place] + key[place + 1 :], []).append(pair)
    fewest, made = FEWEST_LANGUAGES if over == "language" else FEWEST_POINTS, {}
    for key, pairs in groups.items():
        x, y = (pd.Series(column) for column in zip(*pairs, strict=True))
        if len(pairs) >= fewest and x.nunique() > 1 and y.nunique() > 1:
            made[key] = float(x.corr(y, method="spearman" if ranks else "pearson"))
    return Means(found.names[:place] + found.names[place + 1 :], made)
