"""The loss curve of a run while it is trained; :class:`xling_utils.runs.store.Run` reads it back."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

from xling_utils.runs.store import TRACE_COLUMNS


@dataclass
class Trace:
    """The loss curve: rows of ``step, loss, held_out_loss, tokens, seconds``; losses as in ``Run.trace``."""

    rows: list[list[float]] = field(default_factory=list)
    total: float = 0.0
    count: int = 0

    def close(self, step: int, held_out_loss: float, tokens: int, seconds: float) -> None:
        """Adds a row for all steps since the last."""
        self.rows.append([step, self.total / self.count, held_out_loss, tokens, round(seconds, 2)])
        self.total, self.count = 0.0, 0

    def write(self, path: Path) -> None:
        """As CSV."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(TRACE_COLUMNS)
            writer.writerows(self.rows)
