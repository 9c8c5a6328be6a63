"""Where and when a run was made."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

CPUINFO = Path("/proc/cpuinfo")
PACKAGES = ("torch", "transformers", "accelerate", "tokenizers", "datasets", "gensim", "numpy", "safetensors")
INSTRUCTIONS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
"""Sets of instructions, each with those before it, by which PyTorch chooses how to compute a product: processors of one
name differ in them, and then in digits."""


def environment(threads: int, processes: int) -> dict[str, Any]:
    """What a reader needs to know about where a run was made; a package that is not installed had no part in it."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {}
    for name in ("xling-utils", *PACKAGES):
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return {
        "started": now(),
        "commit": _commit(),
        "python": platform.python_version(),
        "versions": versions,
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": threads,
        "processes": processes,
    }


def now() -> str:
    """In UTC, as ISO 8601 has it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _processor() -> str:
    """Its name, and the largest of the sets of :data:`INSTRUCTIONS` that it says to have."""
    try:
        lines = CPUINFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    told = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    has = [name for name in INSTRUCTIONS if name in told.get("flags", "").split()]
    return ", ".join([told.get("model name", platform.processor()), *has[-1:]])


def _commit() -> str | None:
    """The commit of this package's checkout, marked ``+`` with uncommitted changes; None outside of one, in a checkout
    of something else too."""
    here = Path(__file__).parent

    def git(*command: str) -> str:
        asked = ["git", "-C", str(here), *command]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()

    try:
        if git("rev-parse", "--show-prefix") != f"{here.parent.name}/{here.name}/":
            return None
        return git("describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+")
    except (OSError, subprocess.CalledProcessError):
        return None
