"""``xling data``: directories of real text from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xling_utils.book import languages_of
from xling_utils.cli.output import OPTIONS, aligned
from xling_utils.core.errors import UserError, printable

if TYPE_CHECKING:
    from xling_utils.corpora.checks import Finding

app = typer.Typer(help="Look after a directory of real text, and carry it to another machine.", **OPTIONS)


@app.command()
def check(
    directory: Annotated[Path, typer.Argument(metavar="DIR")],
    languages: Annotated[str, typer.Option(metavar="L,L,...", help="Only these, and English.")] = "",
    chapter: Annotated[
        str | None, typer.Option(metavar="N", help="Only what this chapter reads, and what a run of it would miss.")
    ] = None,
) -> int:
    """Check that a data directory can be read, file by file."""
    from xling_utils import chapters
    from xling_utils.corpora import checks
    from xling_utils.corpora.directory import languages as languages_with_text

    chapter = None if chapter is None else chapters.named(chapter)
    only = languages_of(languages) or (languages_with_text(directory) if chapter else ())
    others = [language for language in dict.fromkeys(only) if language != "en"]
    found = checks.check(directory, ("en", *others) if only else ())
    ready = chapters.ready(chapter, others, directory) if chapter else None
    findings = []
    for finding in found:
        if ready and not _concerns(finding, directory, ready.reads):
            continue
        findings.append(finding)
        if finding.level == "broken":  # its message names the file and the line
            print(printable(f"broken  {finding.message}"), file=sys.stderr)
        else:
            print(printable(f"{finding.level:8}{finding.path.relative_to(directory)}: {finding.message}"))
    if ready:
        print(f"{chapter}:", *ready.lines, sep="\n  ")
    broken = sum(finding.level == "broken" for finding in findings)
    if rows := checks.summary(findings):
        print(aligned(rows))
    print(printable(f"{directory}: {broken or 'nothing is'} broken"))
    return 2 if broken else 0


def _concerns(finding: Finding, directory: Path, reads: tuple[str, ...]) -> bool:
    """Whether a chapter that ``reads`` such files meets it; what is missing the chapter says itself."""
    return finding.level != "missing" and f"{finding.path.relative_to(directory)}/".startswith(reads)


@app.command()
def pack(
    directory: Annotated[Path, typer.Argument(metavar="DIR")],
    languages: Annotated[str, typer.Option(metavar="L,L,...", help="Languages beside English.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The archive to write, a .tar.xz.")],
) -> None:
    """Write what runs of these languages read to one archive, under the same names: they keep their keys."""
    from xling_utils.corpora import archive

    if not (others := languages_of(languages)):
        raise UserError("--languages: name at least one beside English")
    files, digest = archive.pack(directory, others, out)
    print(printable(f"{out}: {files} files, {out.stat().st_size / 1e6:.1f} MB, sha256 {digest}"))


@app.command()
def unpack(
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder.")],
) -> None:
    """Unpack an archive of `xling data pack`, all of it checked, or nothing."""
    from xling_utils.corpora import archive

    print(printable(f"{directory}: {archive.unpack(file, directory)} files, all as their sha256 says"))
