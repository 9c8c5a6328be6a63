"""The line under which every benchmark files its numbers."""

from __future__ import annotations

from xling_utils.runs.provenance import environment


def machine() -> str:
    """Processor, cores, versions, commit and date, as stored with every run."""
    known = environment(threads=1, processes=1)
    versions = ", ".join(f"{name} {known['versions'][name]}" for name in ("torch", "transformers", "accelerate"))
    return (
        f"{known['processor']}, {known['cores']} cores, {known['system']}; Python {known['python']}, {versions}; "
        f"commit {known['commit'] or 'unknown'}; {known['started']}"
    )
