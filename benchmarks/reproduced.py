"""Does a committed record of real text come out again, digit for digit?

    python benchmarks/reproduced.py --data DIR [CHAPTER...]

For each chapter the encoder is trained again that was, of those that a processor like this machine's has trained for
its committed rows, the last to be finished (static vectors, where a GPU trained all encoders); on as many threads as
then, in a temporary store that is empty at the start (chapters 5 and 6 have their encoder in common). It is measured at
all that the chapter asks of it, and compared row by row with what is committed, in six digits. Where no processor of
this name and these instructions has trained any, it is one of this name alone, or else of another, and the table says
so: other processors round differently, and training makes much of little. Until 27 November 2026 names alone were
noted, and of *AMD EPYC* some have instructions for bfloat16.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import pandas as pd
from _machine import machine

from xling_utils import chapters
from xling_utils.chapters import records
from xling_utils.chapters.shared.contrasts import targets
from xling_utils.core.scales import scale
from xling_utils.core.specs import LANGUAGES, EncoderSpec, run_from_dict
from xling_utils.measures import kept_rows
from xling_utils.runs import Compute
from xling_utils.runs.provenance import environment

SCALE = "natural"


def main() -> None:
    """Prints a markdown table, a row for each chapter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chapter", nargs="*", help="01_data_size, ...; all that have records if none is named")
    parser.add_argument("--data", type=Path, help="directory of real text")
    parser.add_argument("--quick", action="store_true", help="the run of a chapter that took least")
    args = parser.parse_args()
    if not args.data:
        print("skipped: name a directory of real text: python benchmarks/reproduced.py --data DIR")
        return
    names = args.chapter or [name for name in chapters.MODULES if len(records.provenance(name, SCALE))]
    head = ("chapter", "run", "languages", "seed", "trained on", "threads", "rows", "the same", "largest difference")
    print(f"{machine()}.\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    with tempfile.TemporaryDirectory() as store:
        os.environ["XLING_STORE"] = store
        for name in names:
            if found := chosen(name, args.data, quick=args.quick):
                print(f"| {' | '.join(map(str, reproduced(name, *found, args.data)))} |", flush=True)
            else:
                print(f"{name}: a GPU trained all of its committed rows", file=sys.stderr)


def reproduced(chapter: str, planned: chapters.Planned, committed: pd.Series, data: Path) -> tuple[object, ...]:
    """A row of the table: the run ``planned`` of ``chapter`` trained and measured again."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[: int(committed["threads"])])  # a run by itself takes all that it may
    try:
        kept = chapters.prepare({chapter: [planned]}, scale(SCALE), Compute(data))
    finally:
        os.sched_setaffinity(0, cores)
    rows = pd.concat([kept_rows.load(path) for path in kept.values()], ignore_index=True)
    live = chapters.labelled(chapter, dict(planned.condition), planned.spec.seed, rows, SCALE)
    recorded = records.load(chapter, SCALE)
    alone = recorded["beside"].isna() if "beside" in recorded else True
    recorded = recorded[(recorded["run"] == committed["run"]) & alone]
    both = records.compare(live, recorded)
    if not len(live) == len(both) == len(recorded):
        counts = f"{len(live)} rows measured, {len(recorded)} committed, {len(both)} of a kind"
        raise SystemExit(f"{chapter}, run {committed['run']}: {counts}")
    apart = (both["live"] - both["recorded"]).abs()
    apart[both["live"].isna() & both["recorded"].isna()] = 0.0  # a share of no tokens, both times
    languages = ", ".join(planned.spec.corpus.languages)
    of = committed["run"], languages, planned.spec.seed, committed["processor"], committed["threads"]
    return chapter, *of, len(both), int((apart == 0).sum()), f"{apart.max():.2g}"


def chosen(chapter: str, data: Path, *, quick: bool) -> tuple[chapters.Planned, pd.Series] | None:
    """A run of the plan of ``chapter`` that was trained on a processor, and its line of provenance, if there is one."""
    runs = records.provenance(chapter, SCALE)
    runs = runs.assign(of=[run_from_dict(json.loads(spec)) for spec in runs["spec"]])
    runs = runs[~runs["processor"].str.contains("NVIDIA")]
    if not quick:  # an encoder, and static vectors where a GPU trained all encoders
        trained = runs["of"].map(lambda of: of.training is not None)
        static = runs["of"].map(lambda of: not isinstance(of.model, EncoderSpec))
        runs = runs[trained if trained.any() else static]
    here = environment(threads=1, processes=1)["processor"]
    like = runs["processor"].map({here: 2, here.partition(", ")[0]: 1}).fillna(0)
    by = "seconds" if quick else "finished"
    runs = runs.assign(like=like).sort_values(["like", by], ascending=[False, quick])
    rows = records.load(chapter, SCALE)
    for _, run in runs.iterrows():
        seed = run["of"].corpus.seed
        languages = [language for language in targets(rows[rows["seed"] == seed]) if language in LANGUAGES]
        for planned in chapters.planned(chapter, scale(SCALE), languages, 1, "all", data, seed):
            if planned.spec == run["of"] and planned.beside is None:
                return planned, run
    return None


if __name__ == "__main__":
    main()
