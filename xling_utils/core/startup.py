"""How the command line begins."""

from __future__ import annotations

import os
import resource
import sys

from xling_utils.core.errors import UserError

LEAST_MEMORY = 2 << 30
"""Bytes of address space: what PyTorch maps, and room for a small encoder."""


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
