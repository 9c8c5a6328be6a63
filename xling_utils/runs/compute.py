"""Where runs are trained and measured, and of which text."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from xling_utils.core.errors import UserError

ENGINES = ("local", "dask")
ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?([\w.-]+|\[[\da-fA-F:.]+\]):(?P<port>\d{1,5})")
"""Of a scheduler of Dask's."""
MOST = 100_000
"""Of anything that a parameter counts."""


@dataclass(frozen=True)
class Compute:
    """``data`` is the directory of real text. ``jobs`` runs are trained at a time, and as many measured (default: as
    many as keep the cores busy), each in a child process with its share of the cores, or trained in ``processes``
    processes that share one run's batches.

    With a ``scheduler`` each training is one task of the distributed scheduler at that address; the store and ``data``
    must be on a file system that all its workers share. With ``engine="dask"`` alone that is a cluster on this machine.

    Raises :class:`UserError` on an unknown engine, and on what is no number from 1.
    """

    data: Path | None = None
    engine: str = "local"
    scheduler: str | None = None
    jobs: int | None = None
    processes: int = 1

    def __post_init__(self) -> None:
        if self.data:  # wherever the process is that reads it
            object.__setattr__(self, "data", self.data.absolute())
        if self.engine not in ENGINES:
            raise UserError(f"unknown engine {self.engine!r}; known: {', '.join(ENGINES)}")
        if self.jobs is not None:
            check_number("jobs", self.jobs)
        check_number("processes", self.processes)
        if self.scheduler:
            check_address(self.scheduler)

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Compute:
        """Those of a chapter's ``parameters`` that say where."""
        own = {field.name: parameters[field.name] for field in fields(cls) if field.name in parameters}
        return cls(**own | {"data": Path(own["data"]) if own.get("data") else None})

    @property
    def on_dask(self) -> bool:
        """Whether Dask hands the runs out: a scheduler says so by itself."""
        return self.engine == "dask" or self.scheduler is not None

    def at_a_time(self, most: int) -> int:
        """How many of ``most`` single processes run at a time."""
        return min(self.jobs or usable_cores(), most)


def check_number(name: str, value: Any, least: int = 1, most: int = MOST) -> None:
    """Raises :class:`UserError` unless ``value`` is a whole number that something can be counted with."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise UserError(f"{name} takes a whole number, not {value!r:.80}")
    if not least <= value <= most:
        raise UserError(f"{name} must be at least {least} and at most {most}, not {value}")


def check_address(text: str) -> None:
    """Raises :class:`UserError` unless ``text`` looks like the address of a Dask scheduler."""
    found = ADDRESS.fullmatch(text)
    if not found or not 0 < int(found["port"]) < 1 << 16:
        raise UserError(f"scheduler {text!r:.80} is no address; write one as in tcp://127.0.0.1:8786")


HERE = Compute()
"""On this machine, without real text."""


def on_cpu() -> bool:
    """Whether ``ACCELERATE_USE_CPU`` keeps training off GPUs, in the words that accelerate takes, which is slow to
    import."""
    return os.environ.get("ACCELERATE_USE_CPU", "").lower() in ("y", "yes", "t", "true", "on", "1")


def usable_cores() -> int:
    """The cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
