"""A tidy row, as every task makes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from xling_utils.measures.metrics.intervals import Interval
from xling_utils.measures.metrics.retrieval import bootstrap


def row(
    task: str,
    metric: str,
    source: str,
    target: str,
    layer: int | None,
    found: Interval | npt.NDArray[Any] | float,
    n: int = 0,
    **labels: Any,
) -> dict[str, Any]:
    """What was ``found``, with its names, and ``labels`` as further columns.

    An array holds a value an item; the row has their mean, with a 95 % bootstrap interval over the items. A number
    that is known without one, such as chance, has no bounds; it says over how many, ``n``, if that says anything.
    """
    if isinstance(found, np.ndarray):
        found = bootstrap(found)
    elif not isinstance(found, Interval):
        found = Interval(found, float("nan"), float("nan"), n)
    names = {"task": task, "metric": metric, "source": source, "target": target, "layer": layer}
    return names | {"value": found.value, "low": found.low, "high": found.high, "n": found.n} | labels
