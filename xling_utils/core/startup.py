"""How the command line begins, and what is started under it."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from xling_utils.core.errors import UserError

LEAST_MEMORY = 2 << 30
"""Bytes of address space: what PyTorch maps, and room for a small encoder."""
KEEP_MEMORY = {
    "MALLOC_TOP_PAD_": str(2**26),
    "MALLOC_TRIM_THRESHOLD_": str(2**30),
    "MALLOC_MMAP_THRESHOLD_": str(2**30),
}
"""For glibc, which otherwise returns every activation to the kernel and has its pages cleared again at each step (5 to
9 % of the time of a small model that is trained, 13 % of one that learns inference). Other systems ignore it."""


def begin() -> None:
    """Begins a command line: where a stream was closed, what it is told goes nowhere."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):  # names of files may be in no encoding, terminals in an old one
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def check_memory() -> None:
    """Raises :class:`UserError` where this process may not have the memory that any chapter needs."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < LEAST_MEMORY:
        raise UserError(f"memory is limited to {limit >> 20} MB (ulimit -v), and {LEAST_MEMORY >> 20} are needed")


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Within it a process that is started has ``variables``, but for those that the user has set."""
    added = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
