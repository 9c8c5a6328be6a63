"""The ``xling`` command. Everything heavy is imported inside the command that needs it."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from xling_utils.cli import data, probing, runs
from xling_utils.cli.output import (
    KEPT,
    OPTIONS,
    DataDirectory,
    Json,
    aligned,
    reported,
    root,
    say,
    show_system_error,
    show_usage_error,
    to_json,
)
from xling_utils.cli.parameters import Pairs, given_once, meant, on_the_line, typed_pairs
from xling_utils.core import startup
from xling_utils.core.errors import UserError, printable

app = typer.Typer(
    help="Run, render and inspect the book.", pretty_exceptions_enable=False, no_args_is_help=True, **OPTIONS
)
app.add_typer(runs.app, name="runs")
app.add_typer(data.app, name="data")
app.command()(probing.probe)

PARAMETERS = (
    "A parameter of the chapters: languages, live, sentences; of 5 to 7 model, aligned (of 5 without a model, too); "
    "with --records-only first_seed, processes."
)


@cache
def command() -> Any:
    """The command of :data:`app`, built once a process: signatures are read for longer than most commands run."""
    return typer.main.get_command(app)


def main() -> None:
    """Runs the command line: 0 on success, 1 when a chapter or benchmark failed, 2 with one line on standard
    error on a mistake of the caller, 130 when interrupted; 1, too, when nobody reads what it prints."""
    startup.begin()
    try:
        code = command()(standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1  # as Click has it
    except UserError as error:
        print(f"xling: {error}", file=sys.stderr)
        code = 2
    except typer.TyperException as error:
        code = show_usage_error(error)
    except OSError as error:
        code = show_system_error(error)
    if code == 130:
        print(f"xling: interrupted; {KEPT}", file=sys.stderr)
    sys.exit(code)


@app.command(cls=Pairs)
def run(
    ctx: typer.Context,
    chapter: Annotated[
        list[str] | None,
        typer.Argument(metavar="CHAPTER", help="01_data_size, ...; all if none is named."),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(metavar="S", help="smoke, controlled, natural or paper; smoke reads DIR where one is given."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Seeds for every condition: 1, with --records-only 5.")
    ] = None,
    data: DataDirectory = None,
    engine: Annotated[str | None, typer.Option(metavar="E", help="Where runs are trained: local or dask.")] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of Dask's scheduler, which then hands runs out.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(metavar="N", min=1, help="Runs trained at a time.")] = None,
    parameter: Annotated[list[str] | None, typer.Option("-p", metavar="NAME VALUE", help=PARAMETERS)] = None,
    records_only: Annotated[
        bool, typer.Option("--records-only", help="No notebooks: train and measure, rows into _build/records.")
    ] = False,
) -> int:
    """Execute chapters into _build/executed, those that are up to date excepted."""
    typed = typed_pairs(parameter or ())
    if (engine or typed.get("engine")) == "local" and (scheduler or typed.get("scheduler")):
        raise UserError("engine local trains here, and a scheduler hands runs out: leave one of them out")
    data = meant(data, ctx, {"scale": scale or "controlled"} | typed)
    options = {"scale": scale, "seeds": seeds, "data": data and str(data.absolute())}
    options |= {"engine": engine, "scheduler": scheduler, "jobs": jobs}
    given = given_once(options, ctx, typed)
    if records_only:
        from xling_utils.book import record as take
    else:
        from xling_utils.book import execute as take
    return reported(take(root(), chapter or [], given, typed, say=say))


@app.command()
def play(
    chapter: Annotated[
        str | None,
        typer.Argument(metavar="CHAPTER", help="01_data_size, ..., or experiment: one of yours; all if none is named."),
    ] = None,
) -> None:
    """Open a copy of a chapter in JupyterLab, in _build/play: no file of the book changes."""
    from xling_utils.book import play as begin

    begin(root(), chapter, say)


@app.command()
def book(
    ctx: typer.Context,
    repository: Annotated[
        str | None, typer.Option(metavar="URL", help="On GitHub: chapters get buttons for Binder and Colab.")
    ] = None,
    branch: Annotated[str, typer.Option(metavar="NAME", help="Of the repository; a tag will do.")] = "main",
) -> None:
    """Render the executed chapters and the pages to _build/html."""
    from xling_utils.book import render
    from xling_utils.cli import reference

    if not repository and on_the_line(ctx, "branch"):
        raise UserError("--branch is for --repository: without it no chapter gets a button")
    fills = {"commands": lambda: reference.commands(app), "columns": reference.columns}
    print(render(root(), repository=repository, branch=branch, fills=fills))


@app.command(cls=Pairs)
def plan(
    ctx: typer.Context,
    chapter: Annotated[str, typer.Argument(metavar="CHAPTER", help="01_data_size, ...")],
    scale: Annotated[str, typer.Option(metavar="S", help="smoke, controlled, natural or paper.")] = "controlled",
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="Seeds for every condition.")] = 5,
    data: DataDirectory = None,
    parameter: Annotated[
        list[str] | None, typer.Option("-p", metavar="NAME VALUE", help="languages or sentences, as run takes them.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the runs of a chapter, with size and cost, without training."""
    from xling_utils import chapters
    from xling_utils.book import chapters as known_chapters
    from xling_utils.book import checked
    from xling_utils.core.specs import LANGUAGES

    known = known_chapters(root())
    if chapter not in known:
        raise UserError(f"unknown chapter {chapter!r}; known: {', '.join(known)}")
    typed = typed_pairs(parameter or ())
    data = meant(data, ctx, {"scale": scale} | typed)
    options = {"scale": scale, "seeds": seeds, "data": data and str(data)}
    of_the_book = options | {"data": None, "languages": list(LANGUAGES[1:]), "sentences": None}
    asked = checked(chapter, of_the_book, given_once(options, ctx, typed), typed)
    rows = chapters.plan(chapter, **asked | {"data": Path(asked["data"]) if asked.get("data") else None})
    if as_json:
        print(to_json(rows))
        return
    left = [row for row in rows if not row["stored"]]
    hours = chapters.hours_of(sum(row["operations"] or 0 for row in left))
    unknown = any(row["stored"] is None for row in rows)
    stored = "their text is not at hand" if unknown else f"{len(rows) - len(left)} stored"
    told = f"{len(rows)} runs of {len({row['seed'] for row in rows})} seeds, {stored}; the others"
    print(f"{aligned(rows)}\n\n{told} take some {hours:,.{0 if hours > 10 else 1}f} core-hours to train")


@app.command(name="claims")
def show_claims(
    scale: Annotated[
        str | None, typer.Option(metavar="S", help="controlled, natural or paper; all without it.")
    ] = None,
    as_json: Json = False,
    check_seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Train and measure one more seed, and hold every verdict against it."),
    ] = None,
    power: Annotated[
        bool, typer.Option("--power", help="How many seeds would decide each claim of a scale, and what they cost.")
    ] = False,
    jobs: Annotated[int | None, typer.Option(metavar="N", min=1, help="With --check-seed: runs at a time.")] = None,
) -> int:
    """Show what became of every claim of the papers."""
    from xling_utils.claims import listing, replication
    from xling_utils.claims import power as planning
    from xling_utils.claims.ledger import SCALES

    root()
    if scale is not None and scale not in SCALES:
        raise UserError(f"unknown scale {scale!r}; known: {', '.join(SCALES)}")
    if jobs is not None and check_seed is None:
        raise UserError("--jobs is for --check-seed: nothing is trained without it")
    if check_seed is not None:
        if scale or as_json or power:
            raise UserError("--check-seed takes no --scale, --json or --power")
        from xling_utils.measures import MeasuresFailed
        from xling_utils.runs import RunsFailed

        try:
            found = replication.check(replication.measure(check_seed, jobs))
        except (RunsFailed, MeasuresFailed) as error:
            print(f"xling: {printable(str(error))}", file=sys.stderr)
            return 1
        path = replication.write(found.assign(alone=found["claim"].map(replication.power())), check_seed)
        repeated, of = replication.share(found)
        print(f"{repeated} of {of} decided verdicts repeated by seed {check_seed}: {path}")
        return 0
    if power:
        planned = planning.lines(planning.plans(scale or SCALES[0]))
        print(to_json(planned) if as_json else aligned(planned))
        return 0
    listed = listing.as_json([scale] if scale else SCALES)
    if as_json:
        print(to_json(listed))
        return 0
    print("\n".join([f"{len(listed)} claims", *listing.summary(listed), "", aligned(listing.lines(listed))]))
    return 0


@app.command()
def bench(
    name: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="All if none is named.")] = None,
    list_names: Annotated[bool, typer.Option("--list", help="Only list the names.")] = False,
) -> int:
    """Run the benchmarks one after the other."""
    scripts = {path.stem: path for path in sorted((root() / "benchmarks").glob("[!_]*.py"))}
    for wanted in name or ():
        if wanted not in scripts:
            raise UserError(f"unknown benchmark {wanted!r}; known: {', '.join(scripts)}")
    if list_names:
        print("\n".join(name or scripts))
        return 0
    failed = []
    for each in name or scripts:
        say(f"## {each}")
        if subprocess.run([sys.executable, str(scripts[each])], check=False).returncode:
            failed.append(each)
    if failed:
        print(f"xling: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0
