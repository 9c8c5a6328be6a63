"""``xling runs``: the store of trained runs from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xling_utils.cli.output import OPTIONS, Json, aligned, to_json
from xling_utils.core.errors import UserError, printable
from xling_utils.core.specs import RunSpec, to_dict

if TYPE_CHECKING:
    from xling_utils.runs import RunStore

app = typer.Typer(help="Look into the store of trained runs, check it, clean it.", **OPTIONS)


@app.command("list")
def list_runs(as_json: Json = False) -> None:
    """List the stored runs."""
    store = _store()
    rows = [_row(store.root / key) for key in store.keys()]  # noqa: SIM118
    print(to_json(rows) if as_json else aligned(rows) or printable(f"no runs in {store.root}"))


@app.command()
def show(key: Annotated[str, typer.Argument(metavar="KEY")]) -> None:
    """Show the spec and the provenance of a run."""
    store = _store()
    stored = store.get(key)
    if stored is None:
        raise UserError(f"no run {key!r} in {store.root}; `xling runs list` shows what there is")
    print(to_json({"path": str(stored.path), "spec": to_dict(stored.spec), "provenance": stored.provenance}))


@app.command()
def verify() -> int:
    """Check every file of every run against its manifest; nothing is moved."""
    store = _store()
    problems = store.verify()
    for key, problem in problems.items():
        print(printable(f"{key}: {problem}"))
    print(printable(f"{len(store.keys())} runs in {store.root}, {len(problems)} damaged"))
    return 1 if problems else 0


@app.command()
def prune(
    keep: Annotated[list[str] | None, typer.Option(metavar="KEY", help="Also remove every run but these.")] = None,
) -> None:
    """Remove what interrupted processes left and what is damaged."""
    store = _store()
    if unknown := sorted(set(keep or ()) - set(store.keys())):
        raise UserError(f"no run {unknown[0]!r} in {store.root}, so nothing is removed")
    removed = store.prune(keep=keep or None)
    print("\n".join(map(printable, removed)) if removed else "nothing to remove")


def _row(path: Path) -> dict[str, Any]:
    from xling_utils.core.files import json_object
    from xling_utils.runs.store import read_spec

    columns = ("key", "kind", "languages", "sentences", "steps", "seed", "seconds", "finished", "megabytes", "variant")
    try:
        spec, provenance = read_spec(path), json_object(path / "provenance.json")
    except UserError:
        return dict.fromkeys(columns) | {"key": path.name, "kind": "damaged"}
    size = round(sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6, 1)
    corpus, made = spec.corpus, [provenance.get("seconds"), provenance.get("finished")]
    values = [path.name, spec.kind, "-".join(corpus.languages), corpus.sentences]
    values += [spec.training.steps if spec.training else None, spec.seed, *made, size, _variant(spec)]
    return dict(zip(columns, values, strict=True))


SAID = {"sentences", "languages", "seed", "source", "steps", "intermediate", "positions", "method", "epochs"}
"""Fields of a run that have a column, or follow from the others."""
OF_THE_RECIPE = {"batch", "hidden_rate", "learning_rate", "mask_rate", "precision", "warmup", "weight_decay"}


def _variant(spec: RunSpec) -> str:
    """What tells runs of the same text apart, in few words: ``"layers 3, width 64, size 1600, length 24"``."""
    parts = to_dict(spec)
    changes = [
        f"{change['kind']} {change.get('amount', 1.0):g} of {'-'.join(change['languages'])}"
        for change in parts["corpus"].pop("changes", ())
    ]
    left = [
        f"{name.replace('_', ' ')} {'-'.join(value) if isinstance(value, list) else value}"
        for part in ("model", "tokenizer", "corpus", "training")
        for name, value in (parts[part] or {}).items()
        if name not in SAID | OF_THE_RECIPE and value not in (False, None, [])
    ]
    return ", ".join([*changes, *left])


def _store() -> RunStore:
    from xling_utils.runs import RunStore

    return RunStore()
