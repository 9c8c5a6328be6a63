"""Chapter 6: can one vector move a sentence to another language? (R24 to R27)"""

from __future__ import annotations

from typing import Any

from xling_utils.chapters.planning import Chapter, Planned
from xling_utils.chapters.shared.joint import TRAINED, grid
from xling_utils.measures.names import PARSING, POS, SHIFTED, TOKEN_TRANSLATION
from xling_utils.measures.names import SHIFTED_INFERENCE as NLI

__all__ = ["CHAPTER", "COLUMNS", "experiment", "grid", "tasks"]

CHAPTER = "06_mds"
COLUMNS = ("model", "method", "weight")
"""``method`` of transfer, and the ``weight`` of the difference of means that is added."""
EXPERIMENTS = {TOKEN_TRANSLATION: "R24", NLI: "R25", POS: "R26", PARSING: "R27"}


def tasks(planned: Planned) -> tuple[str, ...]:
    """Token translation, and of the trained encoder transfer with a shift."""
    trained = dict(planned.condition)["model"] == TRAINED
    return (TOKEN_TRANSLATION, *SHIFTED) if trained else (TOKEN_TRANSLATION,)


def experiment(condition: dict[str, Any], row: dict[str, Any]) -> str | None:
    """An experiment a task."""
    return EXPERIMENTS.get(row["task"])


DECLARED = Chapter(CHAPTER, COLUMNS, grid, tasks, experiment)
