"""What the notebook on scatter shows, of the chapter as it was opened."""

from __future__ import annotations

from typing import Any

import pandas as pd

from xling_utils.chapters.opening import Opened
from xling_utils.chapters.scatter import plan
from xling_utils.chapters.scatter.plan import CONDITIONS, DIFFERENCE, SOURCES, Scatter

SHOWN = (*CONDITIONS, DIFFERENCE)
FEW = 3
"""Seeds, as many studies have."""


def figure(chapter: Opened) -> Any:
    """Figure: every run three times, by the seed of its text, of its weights, and of its order; none of no runs."""
    from xling_utils.charts import level_shapes

    found = plan.values(chapter.both, chapter.sizes)
    if found.empty:
        return None
    frames = [
        found.assign(source=source, level=found[column].map(f"{source} {{:.0f}}".format))
        for source, column in SOURCES.items()
    ]
    return level_shapes.levels(
        pd.concat(frames, ignore_index=True),
        choices=SHOWN,
        description="Retrieval of every run by the seed of its text, of its first weights, and of its order.",
    )


def sources(chapter: Opened) -> pd.DataFrame | None:
    """Standard deviation, share of the variance and p by source, of each condition and of their difference."""
    rows = [
        {"of": name, "source": source, "standard deviation": part**0.5, "share, %": round(100 * part / found.whole)}
        | {"p that it has none": found.p.get(source, float("nan"))}
        for name, found in _scatters(chapter).items()
        for source, part in found.parts.items()
    ]
    return pd.DataFrame(rows) if rows else None


def what_few_seeds_see(chapter: Opened) -> pd.DataFrame | None:
    """How far a mean over :data:`FEW` runs scatters (its standard error): where all seeds are drawn anew for each, and
    where the text, or the weights, are the same for all: an error that no interval shows."""
    rows = []
    for name, found in _scatters(chapter).items():
        for fixed in (None, "text", "weights"):
            seen = sum(part for source, part in found.parts.items() if source != fixed) / FEW
            hidden = found.parts[fixed] if fixed else 0.0
            said = f"the same {fixed} for all" if fixed else "all drawn anew"
            rows.append({"of": name, "seeds": said, "shown": seen**0.5, "true": (seen + hidden) ** 0.5})
    return pd.DataFrame(rows) if rows else None


def _scatters(chapter: Opened) -> dict[str, Scatter]:
    found = plan.values(chapter.both, chapter.sizes)
    every = {name: plan.scatter(found[found["condition"] == name]) for name in SHOWN}
    return {name: each for name, each in every.items() if each}
