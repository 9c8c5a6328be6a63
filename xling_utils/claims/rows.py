"""Tidy rows, ready to be selected from: which of them a *selection* takes (see :mod:`predicates`), and their means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass
from functools import cache
from math import fsum, isfinite, isnan, nan
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from annotated_types import Gt, Lt

from xling_utils import chapters
from xling_utils.claims.layers import of_layer
from xling_utils.core.errors import UserError
from xling_utils.core.specs import LANGUAGES

MOST = 1e12
"""No number of a quantity or a selection is that large."""
Real = Annotated[float, Gt(-MOST), Lt(MOST)]
Plain = Annotated[int, Gt(-MOST), Lt(MOST)] | Real | bool | str | None
Selection = Mapping[str, Plain | list[Plain]]
"""Columns, each with a value or a list of values."""
Key = tuple[Any, ...]
Places = npt.NDArray[np.intp]
"""Numbers of rows."""
EMPTY_UNLESS_NAMED = ("step", "part_of_speech")
EXTREMES = ("least", "most")
TYPOLOGY = "typology"
"""A selection of this key takes no rows: it is the distance of each language from English, and ``word order`` its one
kind so far."""


@dataclass(frozen=True)
class Means:
    """Values by key, in the order of the keys; ``names`` says what the parts of a key are."""

    names: tuple[str, ...]
    of: Mapping[Key, float]


class Rows:
    """Tidy rows of one scale by chapter. ``middle`` is the layer that the chapters read single numbers at; every
    selection is made once."""

    def __init__(self, tables: Mapping[str, pd.DataFrame], middle: int) -> None:
        self._middle = middle
        self._tables = {chapter: _Table(table) for chapter, table in tables.items() if len(table)}
        self._made: dict[str, Means] = {}
        self._seeds: Set[int] | None = None

    def __contains__(self, chapter: str) -> bool:
        table = self._tables.get(chapter)
        return table is not None and (self._seeds is None or not self._seeds.isdisjoint(table.seeds))

    def of_seeds(self, seeds: Iterable[int]) -> Rows:
        """Those of ``seeds``. Selections are made of all rows, here as there."""
        kept = copy(self)
        kept._seeds = frozenset(seeds)
        return kept

    def means(self, where: Selection, keys: Sequence[str]) -> Means:
        """Means of the selected values by ``keys``, without ``language`` where the selection names it; those of
        English by the language that it was read with; a distance by language alone. Raises :class:`UserError` on a
        column that the rows of the chapter do not have."""
        name = repr((sorted(where.items()), keys))
        if name not in self._made:
            table = self._tables.get(str(where["chapter"]))
            self._made[name] = Means((), {}) if table is None else self._means(table, where, keys)
        found = self._made[name]
        if self._seeds is None or "seed" not in found.names:
            return found
        place = found.names.index("seed")
        return Means(found.names, {key: value for key, value in found.of.items() if key[place] in self._seeds})

    def runs(self, where: Selection) -> set[str]:
        """The keys of the runs that the selected rows were measured on, those beside them among them."""
        table = self._tables.get(str(where["chapter"]))
        if table is None or TYPOLOGY in where:
            return set()
        places = self._selected(table, where)
        return {run for column in ("run", "beside") if column in table.columns for run in table.held(column, places)}

    def _means(self, table: _Table, where: Selection, keys: Sequence[str]) -> Means:
        if TYPOLOGY in where:
            return _distances(table)
        table.known(keys)
        places = self._selected(table, where)
        columns = {key: key for key in keys if key != "language" or "language" not in where}
        if where.get("language") == "en" and "language" in keys and table.whole("beside_English", places):
            columns = {key: "beside_English" if key == "language" else key for key in keys}
        return Means(tuple(columns), table.means(list(columns.values()), places))

    def _selected(self, table: _Table, where: Selection) -> Places:
        """The rows that ``where`` selects, in their order; twice where two names of a list of layers are of one."""
        wanted = dict.fromkeys((c for c in EMPTY_UNLESS_NAMED if c in table.columns), None) | dict(where)
        wanted = {column: value for column, value in wanted.items() if column not in ("chapter", "layer")}
        table.known(wanted)
        kept = np.ones(len(table), dtype=bool)
        if not {"language", "source", "target"} & set(where):
            kept &= ~table.mask("language", "en")
        for column, value in wanted.items():
            if value not in EXTREMES:
                kept &= table.mask(column, value)
        places = np.flatnonzero(kept)
        for column, value in wanted.items():
            if value in EXTREMES:
                places = table.extreme(column, value, places)
        named = where.get("layer")
        if named is None or not len(places):
            return places
        layers = named if isinstance(named, list) else [named]
        at, deepest = (table.numbers(column)[places] for column in ("layer", "deepest"))
        return np.concatenate([places[:0], *(places[of_layer(at, deepest, layer, self._middle)] for layer in layers)])


class _Table:
    """The rows of a chapter, with the columns ``language``, ``deepest`` (layer of the run) and ``beside_English``.
    Columns become numbers of their sorted values, each once: these are selected and grouped fast."""

    def __init__(self, table: pd.DataFrame) -> None:
        deepest = table.groupby("run")["layer"].transform("max")
        beside = chapters.beside_english(table)
        self._table = table.assign(language=chapters.language(table), deepest=deepest, beside_English=beside)
        self.columns = set(self._table)
        self.seeds = frozenset(table["seed"].unique())
        self._coded: dict[str, tuple[npt.NDArray[np.intp], pd.Index]] = {}
        self._masks: dict[tuple[str, str], npt.NDArray[np.bool_]] = {}

    def __len__(self) -> int:
        return len(self._table)

    def known(self, columns: Sequence[str] | Mapping[str, Any]) -> None:
        """Raises :class:`UserError` on a column that is none."""
        if unknown := set(columns) - self.columns:
            raise UserError(f"no column {min(unknown)!r}; known: {', '.join(sorted(self.columns))}")

    def numbers(self, column: str) -> npt.NDArray[np.float64]:
        return self._table[column].to_numpy(dtype=np.float64)

    def mask(self, column: str, value: Any) -> npt.NDArray[np.bool_]:
        """Where ``column`` has ``value`` (None: nothing), or one of a list of them; claims share most of these."""
        name = (column, repr(value))
        if name not in self._masks:
            codes, values = self._codes(column)
            wanted = value if isinstance(value, list) else [value]
            found = np.append(values.isin([each for each in wanted if each is not None]), None in wanted)
            self._masks[name] = found[codes]  # what has no value has the code -1
        return self._masks[name]

    def extreme(self, column: str, which: str, places: Places) -> Places:
        """Those of ``places`` with the ``least`` or ``most`` that any of them has; none have the least of one value."""
        codes = self._codes(column)[0][places]
        there = np.unique(codes[codes >= 0])
        if len(there) < (2 if which == "least" else 1):
            return places[:0]
        return places[codes == there[0 if which == "least" else -1]]

    def whole(self, column: str, places: Places) -> bool:
        """Whether all of ``places`` have a value."""
        return bool((self._codes(column)[0][places] >= 0).all())

    def held(self, column: str, places: Places) -> list[Any]:
        """The different values that ``places`` have."""
        codes, values = self._codes(column)
        found = np.unique(codes[places])
        return values[found[found >= 0]].tolist()

    def means(self, columns: Sequence[str], places: Places) -> dict[Key, float]:
        """The mean value of each group of ``places`` by ``columns``, of those that have them all."""
        coded = [self._codes(column) for column in columns]
        whole = np.logical_and.reduce([codes[places] >= 0 for codes, _ in coded])
        places = places[whole]
        if not len(places):
            return {}
        sizes = [len(values) for _, values in coded]
        groups = np.ravel_multi_index([codes[places] for codes, _ in coded], sizes)
        order = np.argsort(groups, kind="stable")
        found, starts = np.unique(groups[order], return_index=True)
        parts = np.split(self.numbers("value")[places[order]], starts[1:])
        keys = zip(
            *(values[of].tolist() for (_, values), of in zip(coded, np.unravel_index(found, sizes), strict=True)),
            strict=True,
        )
        return {key: mean(part.tolist()) for key, part in zip(keys, parts, strict=True)}

    def _codes(self, column: str) -> tuple[npt.NDArray[np.intp], pd.Index]:
        if column not in self._coded:
            codes, values = pd.factorize(self._table[column], sort=True)
            text = isinstance(values.dtype, pd.StringDtype)  # which cannot be asked for every value
            self._coded[column] = codes, pd.Index(values, dtype=object if text else None)
        return self._coded[column]


def mean(values: Sequence[float]) -> float:
    """Of those that are numbers; whatever their order, to the last digit. NaN of none, and where one is infinite."""
    there = [value for value in values if not isnan(value)]
    try:
        return fsum(there) / len(there) if there and all(map(isfinite, there)) else nan
    except OverflowError:
        return nan


@cache
def _distance(language: str) -> float:
    from xling_utils.corpora.controlled import word_order_distance

    return word_order_distance("en", language)


def _distances(table: _Table) -> Means:
    there = set(table.held("language", np.arange(len(table))))
    return Means(("language",), {(language,): _distance(language) for language in LANGUAGES[1:] if language in there})
