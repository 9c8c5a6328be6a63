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
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from xling_utils import chapters
from xling_utils.claims.layers import of_layers
from xling_utils.core.errors import UserError
from xling_utils.core.specs import LANGUAGES

Selection = Mapping[str, Any]
EMPTY_UNLESS_NAMED = ("step", "part_of_speech")
EXTREMES = ("least", "most")
TYPOLOGY = "typology"
"""A selection of this key takes no rows: it is the distance of each language from English, and ``word order`` its one
kind so far."""
ARITHMETIC = (
    *(ast.Expression, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.USub, ast.Add, ast.Sub, ast.Mult, ast.Div),
    *(ast.Name, ast.Constant, ast.Load),
)
"""What a quantity is made of."""
FEWEST_POINTS, FEWEST_LANGUAGES = 4, 5
"""A correlation over fewer points, or languages, is none."""
MOST = 1e12
"""No number of a quantity is that large."""


@dataclass(frozen=True)
class Predicate:
    """One thing that must hold: ``quantity``, an expression in the names of selections, lies ``above`` or ``below`` a
    number, or ``within`` so much of zero. With ``over`` it is a correlation instead, of the two quantities that a comma
    parts, over that column (``language``, ``layer``, a condition); by ranks where ``ranks`` says so. ``matters`` is the
    smallest effect of interest where it is not that of the metric, 0 where the bound is what matters."""

    quantity: str
    above: float | None = None
    below: float | None = None
    within: float | None = None
    over: str | None = None
    ranks: bool = False
    matters: float | None = None

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


class Rows:
    """Tidy rows of one scale by chapter, ready to be selected from. ``middle`` is the layer that the chapters read
    single numbers at; every selection is made once."""

    def __init__(self, tables: Mapping[str, pd.DataFrame], middle: int) -> None:
        self._middle = middle
        self._tables = {chapter: _with_keys(table) for chapter, table in tables.items() if len(table)}
        self._made: dict[str, pd.Series] = {}
        self._masks: dict[tuple[str, str, str], npt.NDArray[np.bool_]] = {}

    def __contains__(self, chapter: str) -> bool:
        return chapter in self._tables

    def means(self, where: Selection, keys: Sequence[str]) -> pd.Series:
        """Means of the selected values by ``keys``, without ``language`` where the selection names it; those of
        English by the language that it was read with; a distance by language alone. Raises :class:`UserError` on a
        column that the rows of the chapter do not have."""
        name = repr((sorted(where.items()), keys))
        if name not in self._made:
            table = self._tables.get(where["chapter"])
            self._made[name] = pd.Series(dtype=float) if table is None else self._means(table, where, keys)
        return self._made[name]

    def runs(self, where: Selection) -> set[str]:
        """The keys of the runs that the selected rows were measured on, those beside them among them."""
        table = self._tables.get(where["chapter"])
        if table is None or TYPOLOGY in where:
            return set()
        selected = self._selected(table, where, [column for column in ("run", "beside") if column in table])
        return {run for column in selected for run in selected[column].dropna()}

    def _means(self, rows: pd.DataFrame, where: Selection, keys: Sequence[str]) -> pd.Series:
        if TYPOLOGY in where:
            return _distances(rows)
        _known(set(keys), rows)
        rows, named = self._selected(rows, where, [*keys, "value", "beside_English"]), "language" in where
        if where.get("language") == "en" and rows["beside_English"].notna().all():
            rows, named = rows.assign(language=rows["beside_English"]), False
        by = [key for key in keys if key != "language" or not named]
        return rows.groupby(by)["value"].mean()

    def _selected(self, rows: pd.DataFrame, where: Selection, columns: Sequence[str]) -> pd.DataFrame:
        """The ``columns`` of the rows that ``where`` selects."""
        wanted = dict.fromkeys((c for c in EMPTY_UNLESS_NAMED if c in rows), None) | dict(where)
        _known(set(wanted) - {"chapter"}, rows)
        kept = np.ones(len(rows), dtype=bool)
        if not {"language", "source", "target"} & set(where):
            kept &= ~self._mask(where["chapter"], "language", "en")
        for column, value in wanted.items():
            if column not in ("chapter", "layer") and value not in EXTREMES:
                kept &= self._mask(where["chapter"], column, value)
        extremes = [column for column, value in wanted.items() if value in EXTREMES]
        rows = rows.loc[kept, list(dict.fromkeys([*columns, *extremes, "layer", "deepest"]))]
        for column in extremes:
            if wanted[column] == "least" and rows[column].nunique() < 2:
                rows = rows[:0]  # there is no more to be less than
            rows = rows[rows[column] == (rows[column].min() if wanted[column] == "least" else rows[column].max())]
        return of_layers(rows, where.get("layer"), self._middle)[list(columns)]

    def _mask(self, chapter: str, column: str, value: Any) -> npt.NDArray[np.bool_]:
        """Where ``column`` has ``value``, or one of a list of them; claims share most of these."""
        name = (chapter, column, repr(value))
        if name not in self._masks:
            held = self._tables[chapter][column]
            found = held.isna() if value is None else held.isin(value if isinstance(value, list) else [value])
            self._masks[name] = found.to_numpy(dtype=bool)
        return self._masks[name]


def sample(test: Predicate, selections: Mapping[str, Selection], rows: Rows) -> Sample:
    """The values of ``test``, each selection naming its ``chapter``.

    Empty where one of its selections finds no rows that it shares with the others. Raises :class:`UserError` on a
    column that the rows do not have, on a name without a selection, and on a quantity that is none, or is not two
    where it is correlated.
    """
    names = names_in(test)
    if not names or test.quantity.count(",") != bool(test.over):
        raise UserError(f"quantity {test.quantity!r:.80}: write one in names of selections; with over, two and a comma")
    frame = measured(names, selections, rows, test.over)
    if frame.empty:
        return Sample((), "seeds")
    if not test.over:
        return by_seed(frame.eval(test.quantity))
    first, second = (frame.eval(part) for part in test.quantity.split(","))
    by = [key for key in frame.index.names if key != test.over]
    fewest = FEWEST_LANGUAGES if test.over == "language" else FEWEST_POINTS
    return by_seed(_correlations(pd.DataFrame({"x": first, "y": second}), by, fewest, test.ranks))


def measured(used: set[str], selections: Mapping[str, Selection], rows: Rows, over: str | None = None) -> pd.DataFrame:
    """A column a name of ``used``, a row a seed and language (and what a correlation is ``over``) that all have.
    Raises as :func:`sample` does."""
    names = [name for name in selections if name in used]
    for name in names:
        _plain(name, selections[name])
    if unknown := used - set(names):
        raise UserError(f"no selection is named {sorted(unknown)[0]!r}")
    keys = list(dict.fromkeys(["seed", "language", *([over] if over else [])]))
    columns = [rows.means(selections[name], keys).rename(name) for name in names]
    return pd.DataFrame() if any(column.empty for column in columns) else _joined(columns)


def by_seed(values: pd.Series) -> Sample:
    """Of values by seed and language: those that are comparable, a mean a seed."""
    values = _balanced(values[np.isfinite(values)])
    seeds = values.groupby("seed").mean()
    if len(seeds) == 1 and "language" in values.index.names and len(values) > 1:
        return Sample(tuple(values), "languages")
    return Sample(tuple(seeds), "seeds", _languages(values))


def names_in(test: Predicate) -> set[str]:
    """The selections that a test speaks of. Raises :class:`UserError` if its quantity is more than arithmetic: pandas
    would call and look up what it names."""
    try:
        nodes = list(ast.walk(ast.parse(str(test.quantity), mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        nodes = []
    numbers = (node.value for node in nodes if isinstance(node, ast.Constant))
    if not nodes or not all(isinstance(node, ARITHMETIC) for node in nodes) or not all(map(_is_number, numbers)):
        raise UserError(f"quantity {test.quantity!r:.80}: write names, numbers, + - * / and a comma between two")
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MOST


def _plain(name: str, where: object) -> None:
    """Raises :class:`UserError` on a selection that is no mapping of columns to values and lists of values."""
    columns = where if isinstance(where, Mapping) else {0: where}
    values = [x for value in columns.values() for x in (value if isinstance(value, list) else [value])]
    named = all(isinstance(x, str) for x in (*columns, columns.get("chapter")))
    if not named or not all(isinstance(x, str | int | float | None) for x in values):
        raise UserError(f"selection {name!r:.80}: write columns with a value or a list of values")


def _known(columns: set[str], rows: pd.DataFrame) -> None:
    if unknown := columns - set(rows):
        raise UserError(f"no column {min(unknown)!r}; known: {', '.join(sorted(rows))}")


def _with_keys(table: pd.DataFrame) -> pd.DataFrame:
    deepest = table.groupby("run")["layer"].transform("max")
    beside = chapters.beside_english(table)
    whole = table.assign(language=chapters.language(table), deepest=deepest, beside_English=beside)
    return whole.astype(dict.fromkeys(whole.select_dtypes("str").columns, object))  # selected and grouped faster


@cache
def _distance(language: str) -> float:
    from xling_utils.corpora.controlled import word_order_distance

    return word_order_distance("en", language)


def _distances(rows: pd.DataFrame) -> pd.Series:
    there = set(rows["language"])
    found = {language: _distance(language) for language in LANGUAGES[1:] if language in there}
    return pd.Series(found).rename_axis("language")


def _joined(columns: Sequence[pd.Series]) -> pd.DataFrame:
    """One row a key that all columns have; a column with fewer keys (no language, no seed) stands beside every row."""
    frame, *others = sorted((column.to_frame() for column in columns), key=lambda c: -len(c.index.names))
    for other in others:
        frame = frame.join(other, how="inner")
    return frame


def _balanced(values: pd.Series) -> pd.Series:
    """Those of the languages that most seeds have, and of the seeds that have all of them: a mean over French alone and
    one over five languages are no two observations of one thing. All of them where seeds take languages in turn."""
    if "language" not in values.index.names or values.empty:
        return values
    keys = _keys(values)
    have = Counter(language for _, language in keys)
    if len(have) > 1 and len(keys) == len({seed for seed, _ in keys}):
        return values
    most = {language for language, count in have.items() if count == max(have.values())}
    whole = Counter(seed for seed, language in keys if language in most)
    kept = [language in most and whole[seed] == len(most) for seed, language in keys]
    return values[kept] if any(kept) else values


def _languages(values: pd.Series) -> tuple[str, ...]:
    """The languages of each seed, where they are not the same for all."""
    if "language" not in values.index.names:
        return ()
    spoken: dict[Any, list[str]] = {}
    for seed, language in sorted(_keys(values)):
        spoken.setdefault(seed, []).append(language)
    found = tuple(map(" ".join, spoken.values()))
    return found if len(set(found)) > 1 else ()


def _keys(values: pd.Series) -> list[tuple[Any, str]]:
    """Seed and language of each."""
    index = values.index
    return list(zip(index.get_level_values("seed"), index.get_level_values("language"), strict=True))


def _correlations(pairs: pd.DataFrame, by: Sequence[str], fewest: int, ranks: bool) -> pd.Series:
    """A correlation a group of ``by``; none of a constant, and none of too few points."""
    found = {}
    for key, group in pairs.dropna().groupby(list(by)):
        if len(group) >= fewest and (group.nunique() > 1).all():
            found[key] = group["x"].corr(group["y"], method="spearman" if ranks else "pearson")
    index = pd.MultiIndex.from_tuples(list(found), names=list(by))
    return pd.Series(list(found.values()), index=index, dtype=float)
