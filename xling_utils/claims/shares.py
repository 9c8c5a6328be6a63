"""What share one quantity of tidy rows is of another, over seeds."""

from __future__ import annotations

from collections.abc import Mapping

from xling_utils.claims.predicates import Predicate, by_seed, measured, names_in
from xling_utils.claims.rows import Rows, Selection
from xling_utils.measures import Interval, share_of_means


def share(part: str, whole: str, selections: Mapping[str, Selection], rows: Rows) -> Interval | None:
    """The mean over seeds of ``part`` as a share of that of ``whole`` (:func:`share_of_means`), two quantities in the
    names of ``selections``; ``None`` where no seed has both. Raises :class:`UserError` as :func:`predicates.sample`
    does."""
    quantities = [Predicate(quantity, above=0) for quantity in (part, whole)]
    found = measured(set().union(*map(names_in, quantities)), selections, rows)
    if not found.keys:
        return None
    parts, wholes = (by_seed(found.of(each.quantity)) for each in quantities)
    return share_of_means(parts.values, wholes.values, parts.languages)
