"""The sizes that a run is asked for: those of a scale, or fewer sentences, or the smallest sizes on real text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from xling_utils.core.scales import Scale
from xling_utils.core.scales import scale as scale_of

SMALLEST = "smoke"
"""The scale that takes whatever text it is given."""


def sized(name: str, sentences: int | None = None, data: Path | None = None) -> Scale:
    """The scale of that ``name``, of so many ``sentences`` a language, if that is said: the small corpus keeps its
    proportion to the large one. The smallest scale reads real text where there is a directory ``data`` of it."""
    found = scale_of(name)
    if name == SMALLEST and data is not None:
        found = replace(found, source="directory")
    if sentences is None:
        return found
    small, large = found.sentences
    return replace(
        found,
        sentences=(max(1, sentences * small // large), sentences),
        multilingual=replace(found.multilingual, sentences=sentences),
    )
