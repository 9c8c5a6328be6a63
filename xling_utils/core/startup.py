"""How this package's own processes begin: the command line, the kernels of chapters, the renderer."""

from __future__ import annotations

import os
import resource
import sys

from xling_utils.core.errors import UserError

LEAST_MEMORY = 2 << 30
"""Bytes of address space: what PyTorch maps, and room for a small encoder."""


def begin() -> None:
    """Begins a command line: where a stream was closed, what it is told goes nowhere."""
    spare()
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):  # names of files may be in no encoding, terminals in an old one
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


def check_memory() -> None:
    """Raises :class:`UserError` where this process may not have the memory that any chapter needs."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < LEAST_MEMORY:
        raise UserError(f"memory is limited to {limit >> 20} MB (ulimit -v), and {LEAST_MEMORY >> 20} are needed")


def spare() -> None:
    """Spares this process an import that takes a second: where it is installed, jsonschema builds a grammar of
    international addresses (RFC 3987), which nothing here checks, and it does without where it is not."""
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def command(code: str) -> list[str]:
    """The command of a Python process that runs ``code``, so begun."""
    return [sys.executable, "-c", f"from xling_utils.core.startup import spare; spare(); {code}"]


KERNEL = "import runpy; runpy.run_module('ipykernel_launcher', run_name='__main__')"
RENDERER = "from jupyter_book.cli.main import main; main()"
