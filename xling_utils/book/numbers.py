"""Numbers in running text, computed from the records: ``book/numbers.yml`` says what each of them is.

Text has a number and, behind it, a mark that no reader sees::

    found at 9.7<!-- value: Fake-English above chance --> times chance

The book is rendered with what the records give; a test finds a typed number that they do not give, and any that has no
mark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from xling_utils.book import front_page, ledger_page
from xling_utils.chapters import MODULES, records
from xling_utils.charts import tables
from xling_utils.claims import ledger
from xling_utils.claims.predicates import Predicate, sample
from xling_utils.claims.rows import Rows, Selection
from xling_utils.claims.shares import share
from xling_utils.core import files, identity, kept_text, typed
from xling_utils.core.errors import UserError
from xling_utils.core.scales import SCALES
from xling_utils.core.scales import scale as scale_of
from xling_utils.core.specs import canonical_json
from xling_utils.measures import Interval, over_seeds

MARK = re.compile(r"(?P<typed>[\N{MINUS SIGN}.0-9]+(?:\N{NO-BREAK SPACE}%)?)<!-- value: (?P<name>[^\n]+?) -->")
"""What was typed, and the name of the number."""
OPENING = "<!-- value:"
ENDS = ("low", "high")
"""After the name of a number: that end of its 95 % interval."""


def _written(value: float, digits: int, unit: str = "") -> str:
    """Rounded, with a real minus and no minus before a zero."""
    rounded = f"{value:.{digits}f}"
    if not float(rounded):
        rounded = rounded.lstrip("-")
    return tables.typeset(rounded) + unit


PERCENT = "\N{NO-BREAK SPACE}%"
FORMS: dict[str, Callable[[float], str]] = {
    "share": lambda value: _written(value, 2).replace("0.", ".", 1) if abs(value) < 1 else _written(value, 2),
    "percent": lambda value: _written(100 * value, 0, PERCENT),
    "tenths of a percent": lambda value: _written(100 * value, 1, PERCENT),
    "times": lambda value: _written(value, 1),
}
"""``.06``, ``25 %``, ``2.5 %`` and ``9.7``."""


@dataclass(frozen=True)
class Number:
    """A ``quantity`` of selected rows of a ``chapter`` at a ``scale`` (see :mod:`predicates`), or the share that it is
    of another (``share_of``), on the rows of ``measured``, a measure of ``book/claims.yml``, and the ``form``
    that it is written in."""

    chapter: str
    scale: str
    quantity: str
    of: Mapping[str, Selection]
    form: str
    measured: str = ""
    share_of: str = ""


def values() -> dict[str, str]:
    """Every number as it stands in the text, by its name, and by its name and the end of its interval; those of the
    front page by the names that :func:`front_page.left` gives them, and those of :func:`ledger_page.in_both_worlds`.

    Raises :class:`UserError` with the name of one that the rows do not give."""
    root = ledger.root()
    read = [root / "book/numbers.yml", root / "book/claims.yml", *sorted((root / "book/records").glob("*.csv"))]
    sizes = (canonical_json(scale_of(scale)) for scale in SCALES)
    return dict(_values(read[0], identity.of(identity.package(), *sizes, *read)))


@cache
def _values(path: Path, made_of: str) -> dict[str, str]:
    """Those kept in ``_build/ledger``, if they were made of the same."""
    place = ledger.root() / "_build/ledger/numbers.json"
    return json.loads(kept_text.once(place, made_of, lambda: json.dumps(_computed(path), indent=1)))


def _computed(path: Path) -> dict[str, str]:
    numbers = _read(path)
    used = {(number.scale, number.chapter) for number in numbers.values()}
    rows = {
        scale: Rows(
            {chapter: records.load(chapter, of) for of, chapter in used if of == scale},
            scale_of(scale).encoder.layers // 2,
        )
        for scale in {scale for scale, _ in used}
    }
    found = front_page.values()
    found |= {f"claims {kind} in both worlds": str(len(ids)) for kind, ids in ledger_page.in_both_worlds().items()}
    for name, number in numbers.items():
        write, interval = FORMS[number.form], _interval(path, name, number, rows[number.scale])
        ends = zip(("", *ENDS), (interval.value, interval.low, interval.high), strict=True)
        found |= {f"{name} {end}".strip(): write(value) for end, value in ends}
    return found


def _interval(path: Path, name: str, number: Number, rows: Rows) -> Interval:
    common = {"chapter": number.chapter, **(ledger.load().measures[number.measured] if number.measured else {})}
    selections = {key: {**common, **where} for key, where in number.of.items()}
    try:
        if number.share_of:
            found = share(number.quantity, number.share_of, selections, rows)
        else:
            over = sample(Predicate(number.quantity, above=0), selections, rows)
            found = over_seeds(over.values, over.languages) if over.values else None
    except UserError as error:
        raise UserError(f"{path}: {name}: {error}") from None
    if not found:
        raise UserError(f"{path}: {name}: not recorded at scale {number.scale}")
    return found


def _read(path: Path) -> dict[str, Number]:
    numbers: dict[str, Number] = {}
    for name, entry in _each_scale(files.yaml_mapping(path)):
        try:
            made = typed.read(Number, (Number,), entry)
        except (typed.Mistyped, TypeError) as error:  # and a key that is none
            raise UserError(f"{path}: {name}: {error}") from None
        known: dict[str, tuple[str, Collection[str]]] = {
            "chapter": (made.chapter, MODULES),
            "scale": (made.scale, SCALES),
            "form": (made.form, FORMS),
            "measure": (made.measured or "retrieval", ledger.load().measures),
        }
        for kind, (given, among) in known.items():
            if given not in among:
                raise UserError(f"{path}: {name}: unknown {kind} {given!r}; known: {', '.join(among)}")
        if str(name) in numbers:
            raise UserError(f"{path}: {name}: given twice, by its name and by one whose scale is 'both'")
        numbers[str(name)] = made
    return numbers


def _each_scale(entries: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The entries, two of one whose scale is "both": under its name, and under its name "on real text"."""
    for name, entry in entries.items():
        if isinstance(entry, dict) and entry.get("scale") == "both":
            yield name, {**entry, "scale": "controlled"}
            yield f"{name} on real text", {**entry, "scale": "natural"}
        else:
            yield name, entry


def filled(text: str, known: Mapping[str, str]) -> str:
    """``text`` with the numbers of ``known`` in place of what was typed and of its marks. Raises :class:`UserError`
    on a mark that nothing gives, and on one with no number before it."""

    def value(mark: re.Match[str]) -> str:
        name = mark["name"]
        if name not in known:
            near = ", ".join(map(repr, get_close_matches(name, known, 3, 0)))
            raise UserError(f"nothing gives the value {name!r} of a page; nearest that are given: {near}")
        return known[name]

    done = MARK.sub(value, text)
    if OPENING in done:
        raise UserError(f"no number before the mark {done[done.index(OPENING) :].splitlines()[0]:.60}")
    return done
