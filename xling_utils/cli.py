"""The ``xling`` command. Everything heavy is imported inside the command that needs it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from xling_utils.errors import UserError
from xling_utils.specs import LANGUAGES

if TYPE_CHECKING:
    from xling_utils.notebooks import ChapterFailure
    from xling_utils.store import RunStore

OPTIONS: dict[str, Any] = {"rich_markup_mode": None, "add_completion": False}

app = typer.Typer(
    help="Run, render and inspect the book.", pretty_exceptions_enable=False, no_args_is_help=True, **OPTIONS
)
runs = typer.Typer(help="Look into the store of trained runs, check it, clean it.", **OPTIONS)
data = typer.Typer(help="Look after a directory of real text.", **OPTIONS)
app.add_typer(runs, name="runs")
app.add_typer(data, name="data")

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
DataDirectory = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", envvar="XLING_DATA", help="The directory of real text."),
]


def main() -> None:
    """Runs the command line: 0 on success, 1 when a chapter or benchmark failed, 2 with one line on standard
    error on a mistake of the caller, 130 when interrupted."""
    try:
        code = app(standalone_mode=False)
    except UserError as error:
        print(f"xling: {error}", file=sys.stderr)
        code = 2
    except typer.TyperException as error:
        code = _show_usage_error(error)
    if code == 130:
        print("xling: interrupted; what was finished is kept, the same command continues", file=sys.stderr)
    sys.exit(code)


class _Pairs(TyperCommand):
    """A command whose ``-p`` takes a name and a value, as papermill's does."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        joined, rest = [], list(args)
        while rest:
            word = rest.pop(0)
            if word == "-p":
                if len(rest) < 2:
                    raise UserError("-p takes a NAME and a VALUE: -p scale controlled")
                word = f"-p{rest.pop(0)}={rest.pop(0)}"
            joined.append(word)
        return super().parse_args(ctx, joined)


@app.command(cls=_Pairs)
def run(
    chapter: Annotated[
        list[str] | None,
        typer.Argument(metavar="CHAPTER", help="01_data_size, ...; all if none is named."),
    ] = None,
    scale: Annotated[str | None, typer.Option(metavar="S", help="smoke, controlled, natural or paper.")] = None,
    seeds: Annotated[int | None, typer.Option(metavar="N", min=1, help="Seeds for every condition.")] = None,
    data: DataDirectory = None,
    engine: Annotated[str | None, typer.Option(metavar="E", help="Where runs are trained: local or dask.")] = None,
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Of Dask's scheduler.")] = None,
    jobs: Annotated[int | None, typer.Option(metavar="N", min=1, help="Runs trained at a time.")] = None,
    parameter: Annotated[
        list[str] | None, typer.Option("-p", metavar="NAME VALUE", help="Any parameter of the chapters.")
    ] = None,
) -> int:
    """Execute chapters into _build/executed, those that are up to date excepted."""
    from xling_utils.notebooks import execute

    options = {"scale": scale, "seeds": seeds, "data": data and str(data.absolute())}
    options |= {"engine": engine, "scheduler": scheduler, "jobs": jobs}
    given = {name: value for name, value in options.items() if value is not None}
    typed = dict(pair.split("=", 1) for pair in parameter or ())
    if twice := sorted({n for n, v in options.items() if v is not None and n != "data"} & set(typed)):
        raise UserError(f"{twice[0]} is given twice, as --{twice[0]} and with -p")
    given = {name: value for name, value in given.items() if name not in typed}
    return _reported(execute(_root(), chapter or [], given, typed, say=lambda line: print(line, flush=True)))


@app.command()
def book() -> None:
    """Render the executed chapters and the pages to _build/html."""
    from xling_utils.rendering import render

    print(render(_root()))


@app.command()
def probe(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A folder, or a name on the Hub.")],
    data: DataDirectory = None,
    languages: Annotated[str, typer.Option(metavar="L,L,...", help="Languages beside English.")] = ",".join(
        LANGUAGES[1:]
    ),
) -> int:
    """Put any masked language model under the lens: chapters 5 to 7, as a small book of its own."""
    from xling_utils.probe import probe as run_probe

    chosen = [language.strip() for language in languages.split(",") if language.strip()]
    pages, failures = run_probe(_root(), model, chosen, data, say=lambda line: print(line, flush=True))
    if not failures:
        print(pages)
    return _reported(failures)


@app.command()
def plan(
    chapter: Annotated[str, typer.Argument(metavar="CHAPTER", help="01_data_size, ...")],
    scale: Annotated[str, typer.Option(metavar="S", help="smoke, controlled, natural or paper.")] = "controlled",
    data: DataDirectory = None,
    as_json: Json = False,
) -> None:
    """List the runs of a chapter, with size and cost, without training."""
    from xling_utils import chapters
    from xling_utils.notebooks import chapters as known_chapters
    from xling_utils.specs import SCALES

    for kind, value, known in (("chapter", chapter, known_chapters(_root())), ("scale", scale, SCALES)):
        if value not in known:
            raise UserError(f"unknown {kind} {value!r}; known: {', '.join(known)}")
    rows = chapters.plan(chapter, scale, data=data)
    print(_json(rows) if as_json else _table(rows))


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
    jobs: Annotated[int | None, typer.Option(metavar="N", min=1, help="Runs trained at a time.")] = None,
) -> None:
    """Show what became of every claim of the papers."""
    from xling_utils import ledger, replication
    from xling_utils.claims import SCALES

    _root()
    if scale and scale not in SCALES:
        raise UserError(f"unknown scale {scale!r}; known: {', '.join(SCALES)}")
    if check_seed is not None:
        found = replication.check(replication.measure(check_seed, jobs))
        path = replication.write(found, check_seed)
        repeated, of = replication.share(found)
        print(f"{repeated} of {of} verdicts repeated by seed {check_seed}: {path}")
        return
    listed = ledger.as_json([scale] if scale else SCALES)
    print(_json(listed) if as_json else _table(ledger.lines(listed)))


@app.command()
def bench(
    name: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="All if none is named.")] = None,
    list_names: Annotated[bool, typer.Option("--list", help="Only list the names.")] = False,
) -> int:
    """Run the benchmarks one after the other."""
    scripts = {path.stem: path for path in sorted((_root() / "benchmarks").glob("[!_]*.py"))}
    if list_names:
        print("\n".join(scripts))
        return 0
    for wanted in name or ():
        if wanted not in scripts:
            raise UserError(f"unknown benchmark {wanted!r}; known: {', '.join(scripts)}")
    failed = []
    for each in name or scripts:
        print(f"## {each}", flush=True)
        if subprocess.run([sys.executable, str(scripts[each])], check=False).returncode:
            failed.append(each)
    if failed:
        print(f"xling: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


@runs.command("list")
def list_runs(as_json: Json = False) -> None:
    """List the stored runs."""
    store = _store()
    rows = [_row(store.root / key) for key in store.keys()]  # noqa: SIM118
    print(_json(rows) if as_json else _table(rows) or f"no runs in {store.root}")


@runs.command()
def show(key: Annotated[str, typer.Argument(metavar="KEY")]) -> None:
    """Show the spec and the provenance of a run."""
    from xling_utils.specs import to_dict

    store = _store()
    stored = store.get(key)
    if stored is None:
        raise UserError(f"no run {key!r} in {store.root}; `xling runs list` shows what there is")
    print(_json({"path": str(stored.path), "spec": to_dict(stored.spec), "provenance": stored.provenance}))


@runs.command()
def verify() -> int:
    """Check every file of every run against its manifest; nothing is moved."""
    store = _store()
    problems = store.verify()
    for key, problem in problems.items():
        print(f"{key}: {problem}")
    print(f"{len(store.keys())} runs in {store.root}, {len(problems)} damaged")
    return 1 if problems else 0


@runs.command()
def prune(
    keep: Annotated[list[str] | None, typer.Option(metavar="KEY", help="Also remove every run but these.")] = None,
) -> None:
    """Remove what interrupted processes left and what is damaged."""
    store = _store()
    if unknown := sorted(set(keep or ()) - set(store.keys())):
        raise UserError(f"no run {unknown[0]!r} in {store.root}, so nothing is removed")
    removed = store.prune(keep=keep or None)
    print("\n".join(removed) if removed else "nothing to remove")


@data.command()
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
        print(_table(rows))
    print(f"{directory}: {broken} broken" if broken else f"{directory}: nothing is broken")
    return 2 if broken else 0


def _reported(failures: Sequence[ChapterFailure]) -> int:
    """The exit code of chapters of which ``failures`` did not run to their end."""
    for failure in failures:
        print(f"xling: {failure.chapter}: {failure.message} [log: {failure.log}]", file=sys.stderr)
    if not failures:
        return 0
    return 2 if all(failure.user for failure in failures) else 1


def _row(path: Path) -> dict[str, Any]:
    columns = ("key", "kind", "languages", "sentences", "steps", "seed", "seconds", "finished", "megabytes")
    try:
        spec = json.loads((path / "spec.json").read_text(encoding="utf-8"))
        provenance = json.loads((path / "provenance.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return dict.fromkeys(columns) | {"key": path.name, "kind": "damaged"}
    training = spec["training"] or {}
    kind = spec["model"].get("method") or ("bert" if training else "untrained")
    size = round(sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6, 1)
    corpus, made = spec["corpus"], [provenance.get("seconds"), provenance.get("finished")]
    values = [path.name, kind, "-".join(corpus["languages"]), corpus["sentences"], training.get("steps")]
    return dict(zip(columns, [*values, spec["seed"], *made, size], strict=True))


def _root() -> Path:
    from xling_utils.store import project_root

    root = project_root()
    if root is None:
        raise UserError(f"{Path.cwd()} is not in a book: change to the folder that holds _toc.yml and notebooks/")
    return root


def _store() -> RunStore:
    from xling_utils.store import RunStore

    return RunStore()


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as aligned text, one column a key of the first row."""
    if not rows:
        return ""
    names = list(rows[0])
    cells = [names] + [["" if row[n] is None else str(row[n]) for n in names] for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)
    return "\n".join(line.rstrip() for line in lines)


def _show_usage_error(error: typer.TyperException) -> int:
    context = getattr(error, "ctx", None)
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    if "\n" in message:  # the help that a command without arguments asks for
        print(message)
    else:
        path = context.command_path if context else "xling"
        print(f"{path}: {message.rstrip('.')} (see {path} --help)", file=sys.stderr)
    return 2
