"""What the making of a run takes: seconds of the clock and of this process's processors."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Spent:
    """``seconds`` of the clock and ``cpu_seconds`` of one run's share of its process."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.seconds + other.seconds, self.cpu_seconds + other.cpu_seconds)

    def told(self, prefix: str = "") -> dict[str, float]:
        """For the provenance, in hundredths, ``prefix`` before either name."""
        return {f"{prefix}{name}": round(value, 2) for name, value in vars(self).items()}


class Stopwatch:
    """Runs from when it is made."""

    def __init__(self) -> None:
        self._read = time.monotonic(), time.process_time()

    def lap(self, runs: Sequence[Spent]) -> None:
        """Puts what has passed since the last lap down to ``runs``, in equal shares."""
        before, self._read = self._read, (time.monotonic(), time.process_time())
        for spent in runs:
            spent.seconds += (self._read[0] - before[0]) / len(runs)
            spent.cpu_seconds += (self._read[1] - before[1]) / len(runs)
