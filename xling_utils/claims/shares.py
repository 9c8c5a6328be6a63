"""What share one quantity of tidy rows is of another, over seeds."""

from __future__ import annotations

from collections.abc import Mapping

from xling_utils.claims.predicates import Predicate, Rows, Selection, by_seed, measured, names_in
from xling_utils.measures import Estimate, Interval, over_seeds


def share(part: str, whole: str, selections: Mapping[str, Selection], rows: Rows) -> Interval | None:
    """The mean over seeds of ``part`` as a share of that of ``whole``, two quantities in the names of ``selections``,
    with its 95 % interval; ``None`` where no seed has both.

    A ratio of means, since a mean of ratios is ruled by the seeds and languages whose whole is next to nothing. Its
    interval is Student's over what each seed adds to it to first order (the delta method; Cochran, *Sampling
    Techniques*, 1977, sec. 6.4). Raises :class:`UserError` as :func:`predicates.sample` does.
    """
    quantities = [Predicate(quantity, above=0) for quantity in (part, whole)]
    frame = measured(set().union(*map(names_in, quantities)), selections, rows)
    if frame.empty:
        return None
    parts, wholes = (by_seed(frame.eval(each.quantity)) for each in quantities)
    size = Estimate.of(wholes.values, wholes.languages).mean
    ratio = Estimate.of(parts.values, parts.languages).mean / size
    pairs = zip(parts.values, wholes.values, strict=True)
    return over_seeds([ratio + (one - ratio * all_) / size for one, all_ in pairs], parts.languages)
