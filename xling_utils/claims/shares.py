"""What share one quantity of tidy rows is of another, over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from xling_utils.claims.predicates import Predicate, by_seed, is_pair, measured, names_in
from xling_utils.claims.rows import Means, Rows, Selection
from xling_utils.core.errors import UserError
from xling_utils.measures import Interval, share_of_means


def share(part: str, whole: str, selections: Mapping[str, Selection], rows: Rows) -> Interval | None:
    """The mean over seeds of ``part`` as a share of that of ``whole`` (:func:`share_of_means`), two quantities in the
    names of ``selections``; ``None`` where no seed has both. Raises :class:`UserError` as :func:`predicates.sample`
    does."""
    quantities = [Predicate(quantity, above=0) for quantity in (part, whole)]
    used = set().union(*map(names_in, quantities))
    if not used or any(is_pair(each.quantity) for each in quantities):
        raise UserError(f"share of {whole!r:.80} that {part!r:.80} is: write two quantities in names of selections")
    found = measured(used, selections, rows)
    if not found.keys:
        return None
    parts, wholes = (found.of(each.quantity) for each in quantities)
    both = [key for key in found.keys if isfinite(parts.of[key]) and isfinite(wholes.of[key])]
    if not both:
        return None
    first, second = (by_seed(Means(found.names, {key: each.of[key] for key in both})) for each in (parts, wholes))
    return share_of_means(first.values, second.values, first.languages)
