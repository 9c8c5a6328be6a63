"""What share one quantity of tidy rows is of another, over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from xling_utils.claims.predicates import by_seed, measured, quantities
from xling_utils.claims.rows import Means, Rows, Selection
from xling_utils.measures import Estimate, Interval, share_of_means


def share(part: str, whole: str, selections: Mapping[str, Selection], rows: Rows) -> Interval | None:
    """The mean over seeds of ``part`` as a share of that of ``whole`` (:func:`share_of_means`), two quantities in the
    names of ``selections``; ``None`` where no seed has both, and of a whole of nothing. Raises :class:`UserError` as
    :func:`predicates.sample` does."""
    asked = [*quantities(part), *quantities(whole)]
    found = measured(asked, selections, rows)
    if not found.keys:
        return None
    parts, wholes = (found.of(each) for each in asked)
    both = [key for key in found.keys if isfinite(parts.of[key]) and isfinite(wholes.of[key])]
    first, second = (by_seed(Means(found.names, {key: each.of[key] for key in both})) for each in (parts, wholes))
    if not both or not Estimate.of(second.values, second.languages).mean:
        return None
    return share_of_means(first.values, second.values, first.languages)
