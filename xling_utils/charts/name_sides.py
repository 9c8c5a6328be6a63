"""Where the names of points stand in a chart, so that they cover nothing."""

from __future__ import annotations

import math
from typing import Literal

import pandas as pd

SIDES: dict[str, tuple[int, int, Literal["left", "center", "right"]]] = {
    "right": (9, 0, "left"), "left": (-9, 0, "right"), "above": (0, -13, "center"), "below": (0, 13, "center"),
}  # fmt: skip
"""Of a point, where its name may stand: pixels to the right and down, and which end of it is there."""
NARROWEST, NAME, EDGE = (170, 200), (6.2, 10), 12
"""Pixels between the outermost points on a phone; of a letter of a name, across, and of a line; between the first point
and the axis."""


def sides(rows: pd.DataFrame) -> list[str]:
    """Where the name of each point stands, of :data:`SIDES`: the first where it covers no name, point or interval, and
    not the axis, on the narrowest page; where there is none, that with the least covered."""
    (wide, high), (letter, line) = NARROWEST, NAME
    across = rows["distance"].max() - rows["distance"].min() or 1
    up = rows["high"].max() - rows["low"].min() or 1
    x = (rows["distance"] - rows["distance"].min()) / across * wide
    tops, middles, bottoms = ((rows["high"].max() - rows[of]) / up * high for of in ("high", "value", "low"))
    marks = [(at - 5, top - 5, at + 5, bottom + 5) for at, top, bottom in zip(x, tops, bottoms, strict=True)]
    names: dict[int, tuple[float, ...]] = {}
    found = ["right"] * len(rows)
    for place in 2 * sorted(range(len(rows)), key=lambda place: -x.iloc[place]):  # again, when all the others stand
        names.pop(place, None)
        long, others = letter * len(rows["language"].iloc[place]), marks[:place] + marks[place + 1 :]
        boxes = {}
        for side, (dx, dy, align) in SIDES.items():
            left = x.iloc[place] + dx - {"left": 0, "center": long / 2, "right": long}[align]
            top = middles.iloc[place] + dy - line / 2
            boxes[side] = left, top, left + long, top + line
        axis = -math.inf, -math.inf, -EDGE, math.inf
        there = *others, *names.values(), axis
        cover = {side: sum(_shared(box, one) for one in there) for side, box in boxes.items()}
        found[place] = min(cover, key=cover.__getitem__)
        names[place] = boxes[found[place]]
    return found


def _shared(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """The area that two boxes (left, top, right, bottom) share."""
    across, down = (min(one[n + 2], other[n + 2]) - max(one[n], other[n]) for n in (0, 1))
    return max(0, across) * max(0, down)
