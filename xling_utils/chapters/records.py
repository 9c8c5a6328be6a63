"""Committed results: tidy rows of earlier runs, with where they come from, under ``book/records``.

``NN_chapter.SCALE.csv`` holds the rows, ``NN_chapter.SCALE.runs.csv`` one line a run: its spec and provenance.
A chapter writes both to ``_build/records`` for what it has just measured; whoever wants to commit them copies
them over (CONTRIBUTING says when).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import pandas as pd

from xling_utils.chapters.rows import columns, empty
from xling_utils.core import specs
from xling_utils.core.errors import UserError
from xling_utils.core.files import table as read_table
from xling_utils.core.project import checkout
from xling_utils.core.specs import LANGUAGES, canonical_json
from xling_utils.core.writing import held, write_aside
from xling_utils.measures.kept_rows import from_csv, to_csv
from xling_utils.runs import RunStore

OWN = ".own"
"""Behind the scale in the names of rows that the book's own do not compare with."""
MEASURED = ("value", "low", "high", "n")
"""Columns that say what was measured; the others say what it is that was."""
PROVENANCE = (
    "commit",
    "processor",
    "threads",
    "python",
    "torch",
    "tokens",
    "seconds",
    "tokens_per_second",
    "finished",
)


def _path(folder: str, chapter: str, scale: str, kind: str) -> Path:
    return checkout("records") / folder / f"{chapter}.{scale}{kind}"


def load(chapter: str, scale: str) -> pd.DataFrame:
    """The committed rows of a chapter at a scale; no rows where none are committed yet."""
    path = _path("book/records", chapter, scale, ".csv")
    return from_csv(path, columns(chapter)) if path.exists() else empty(chapter)


def of_languages(rows: pd.DataFrame, languages: Sequence[str]) -> pd.DataFrame:
    """Recorded ``rows`` unless they are about other languages than ``languages``: then none of them."""
    about = {*rows["target"]} & {*LANGUAGES[1:]}
    return rows if not about or about & {*languages} else rows.iloc[:0]


def provenance(chapter: str, scale: str) -> pd.DataFrame:
    """One line a committed run: ``run, spec`` and the columns of ``PROVENANCE``."""
    path = _path("book/records", chapter, scale, ".runs.csv")
    names = ["run", "spec", *PROVENANCE]
    if not path.exists():
        return pd.DataFrame(columns=names)
    return read_table(path, names, numbers=("tokens", "seconds"), dtype={"run": "str", "commit": "str"})


def of_earlier_recipe(chapter: str, scale: str) -> bool:
    """Whether any committed run was trained in another way than today's."""
    return specs.of_earlier_recipe(provenance(chapter, scale)["spec"])


def of_one_recipe(chapters: Iterable[str], scale: str) -> dict[str, pd.DataFrame]:
    """Chapter -> its committed rows, without chapters that have runs :func:`of_earlier_recipe`: what rests on several
    chapters does not mix ways of training."""
    return {chapter: load(chapter, scale) for chapter in chapters if not of_earlier_recipe(chapter, scale)}


def beside(measured: pd.DataFrame, recorded: pd.DataFrame, chapter: str, scale: str) -> pd.DataFrame:
    """Those of the ``measured`` rows that a figure may show beside the ``recorded`` ones: none where both are of one
    language and the recorded ones of an earlier recipe."""
    mixed = measured["target"].isin(recorded["target"]).any() and of_earlier_recipe(chapter, scale)
    return empty(chapter) if mixed else measured


def write(
    chapter: str,
    scale: str,
    table: pd.DataFrame,
    store: RunStore | None = None,
    *,
    model: str | None = None,
    add: bool = False,
) -> Path | None:
    """Writes freshly measured rows and their runs' provenance to ``_build/records``, or with ``add`` beside those of
    other seeds that are there; returns the rows' path. Rows of a ``model`` from elsewhere have no run to tell of."""
    if table.empty:
        return None
    path = _path("_build/records", chapter, scale, ".csv")
    path.parent.mkdir(parents=True, exist_ok=True)
    with held(path.parent.with_suffix(".lock")):  # of several that add to it one reads and writes at a time
        _write(path, chapter, scale, table, store, model, add)
    return path


def _write(
    path: Path, chapter: str, scale: str, table: pd.DataFrame, store: RunStore | None, model: str | None, add: bool
) -> None:
    kept = from_csv(path, columns(chapter)) if add and path.exists() else empty(chapter)
    kept = kept[~kept["seed"].isin(table["seed"])]
    whole = table[list(columns(chapter))]
    if len(kept):
        whole = pd.concat([kept, whole], ignore_index=True).sort_values("seed", kind="stable")
    if not model:
        told = _provenance_rows(store or RunStore(), dict.fromkeys(_keys(table)))
        beside = _path("_build/records", chapter, scale, ".runs.csv")
        if len(kept):
            if not beside.exists():
                raise UserError(
                    f"{beside}: is missing, which tells of the runs of {path.name}; put it back, or move both"
                )
            known = read_table(beside, ["run", "spec", *PROVENANCE], dtype=str, keep_default_na=False)
            told = pd.concat([known[known["run"].isin(_keys(kept))], told]).drop_duplicates("run")
        write_aside(beside, told.to_csv(index=False))  # before the rows, which are never without their runs
    write_aside(path, to_csv(whole))


def _keys(table: pd.DataFrame) -> list[str]:
    return [*table["run"], *(table["beside"].dropna() if "beside" in table else ())]


def _provenance_rows(store: RunStore, keys: Iterable[str]) -> pd.DataFrame:
    rows = []
    for key in keys:
        run = store.get(key)
        if run is None:
            raise UserError(f"records: run {key} is no longer in the store {store.root}")
        versions = run.provenance.get("versions")
        known = run.provenance | {"torch": versions.get("torch") if isinstance(versions, dict) else None}
        rows.append({"run": key, "spec": canonical_json(run.spec)} | {name: known.get(name) for name in PROVENANCE})
    return pd.DataFrame(rows)


def compare(live: pd.DataFrame, recorded: pd.DataFrame) -> pd.DataFrame:
    """Live and recorded values of the same measurement on the same run: columns ``live``, ``recorded`` and all that
    say which measurement it is, as text.

    Runs are the same if their keys are: same specification, same text, same recipe versions.
    """
    recorded = recorded[recorded["run"].isin(live["run"])]
    same = [column for column in live.columns if column not in MEASURED]
    # columns of no rows keep the type that they had, and texts do not merge with numbers
    live, recorded = (frame[same].map(_text).astype(str).assign(value=frame["value"]) for frame in (live, recorded))
    merged = live.merge(recorded, on=same, suffixes=("_live", "_recorded"))
    return merged.rename(columns={"value_live": "live", "value_recorded": "recorded"})


def _text(value: Any) -> str:
    """A cell as text: 8 and 8.0 alike, for a column of whole numbers is read as one of floats where some miss."""
    if pd.isna(value):
        return ""
    return f"{value:.12g}" if isinstance(value, Real) else str(value)


def hardware(chapter: str, scale: str) -> pd.DataFrame:
    """Where the committed runs were made: ``commit, processor, threads, torch, runs, tokens, hours, last``,
    the latter a day."""
    rows = provenance(chapter, scale)
    rows = rows.assign(commit=rows["commit"].astype(str).str[:10])
    groups = rows.groupby(["commit", "processor", "threads", "torch"], dropna=False)
    found = groups.agg(
        runs=("run", "count"), tokens=("tokens", "sum"), hours=("seconds", "sum"), last=("finished", "max")
    ).reset_index()
    return found.assign(hours=found["hours"] / 3600, last=found["last"].astype(str).str[:10])
