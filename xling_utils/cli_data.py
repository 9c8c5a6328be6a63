"""``xling data``: directories of real text from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from xling_utils.cli_output import OPTIONS, aligned

app = typer.Typer(help="Look after a directory of real text.", **OPTIONS)


@app.command()
def check(directory: Annotated[Path, typer.Argument(metavar="DIR")]) -> int:
    """Check that a data directory can be read, file by file."""
    from xling_utils.corpora import checks

    findings = checks.check(directory)
    for finding in findings:
        if finding.level == "broken":  # its message names the file and the line
            print(f"broken  {finding.message}", file=sys.stderr)
        else:
            print(f"{finding.level:8}{finding.path.relative_to(directory)}: {finding.message}")
    broken = sum(finding.level == "broken" for finding in findings)
    if rows := checks.summary(findings):
        print(aligned(rows))
    print(f"{directory}: {broken} broken" if broken else f"{directory}: nothing is broken")
    return 2 if broken else 0
