"""The base run of the book: how long it takes to train here, and what comes out for each reported seed.

    python benchmarks/base_run.py

Trains the controlled base run (English and French, the large corpus) for the five reported seeds from an empty
store, as many at a time as there are cores, through ``execution.ensure`` as a chapter does; then the untrained
encoder of each seed, which is not timed. Measures are word retrieval among the dictionary's targets at the
headline layer: plain cosine, and with each language's mean taken out, for which there is the shuffled dictionary
too. Chance is that of a random order of the same candidates.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Sequence

from _machine import machine

from xling_utils import word_retrieval
from xling_utils.chapters import ALL_SEEDS
from xling_utils.chapters.data_size import headline_layer
from xling_utils.execution import ensure, usable_cores
from xling_utils.scales import FIRST_REPORTED_SEED, Scale, scale
from xling_utils.store import Run, RunStore

PAIR = ("en", "fr")
METRICS = ("mrr", "mrr_centred", "mrr_shuffled", "chance")


def main() -> None:
    """Prints a markdown table with one row a seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tiny model, two seeds")
    args = parser.parse_args()
    chosen = scale("smoke" if args.quick else "controlled")
    seeds = range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + (2 if args.quick else ALL_SEEDS))
    jobs, load = min(usable_cores(), len(seeds)), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        store = RunStore(folder)
        specs = [chosen.bert(PAIR, chosen.sentences[-1], seed) for seed in seeds]
        began = time.perf_counter()
        runs = list(ensure(specs, store=store, jobs=jobs).values())
        wall = time.perf_counter() - began
        controls = [chosen.untrained(PAIR, chosen.sentences[-1], seed) for seed in seeds]
        untrained = list(ensure(controls, store=store, jobs=jobs).values())
        print(f"{machine()}; load average before: {load:.1f}.\n")
        report(chosen, seeds, runs, untrained)
    tokens = sum(run.provenance["tokens"] for run in runs)
    seconds = statistics.mean(run.provenance["seconds"] for run in runs)
    print(
        f"\nAll {len(runs)} runs, {jobs} at a time: {wall:.0f} s of wall clock, start-up included, so "
        f"{tokens / wall:,.0f} tokens/s; a run takes {seconds:.0f} s on average, and {wall / len(runs):.0f} s of "
        "this machine."
    )


def report(chosen: Scale, seeds: Sequence[int], runs: Sequence[Run], untrained: Sequence[Run]) -> None:
    """The table, with the mean over seeds as its last row."""
    layer = headline_layer(chosen)
    print(
        f"{PAIR[0]}-{PAIR[1]}, {chosen.sentences[-1]:,} sentences a language, {chosen.training.steps:,} steps, "
        f"{runs[0].provenance['tokens']:,} tokens a run; layer {layer}.\n"
    )
    names = ("seed", "seconds", "of it training", "tokens/s in training", "MRR", "MRR / chance", "MRR centred",
             "centred / chance", "shuffled, centred", "untrained", "untrained, centred", "chance")  # fmt: skip
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
    columns = []
    for seed, run, control in zip(seeds, runs, untrained, strict=True):
        known = run.provenance
        found, floor = measures(run, chosen, layer), measures(control, chosen, layer)
        mrr, centred, shuffled, chance = (found[metric] for metric in METRICS)
        values = [known["seconds"], known["training_seconds"], known["tokens_per_second"], mrr, mrr / chance, centred,
                  centred / chance, shuffled, floor["mrr"], floor["mrr_centred"], chance]  # fmt: skip
        columns.append(values)
        print(row(str(seed), values), flush=True)
    print(row("mean", [statistics.mean(column) for column in zip(*columns, strict=True)]))


def row(name: str, values: Sequence[float]) -> str:
    """One line of the table."""
    formats = (".0f", ".0f", ",.0f", ".3f", ".1f", ".3f", ".1f", ".3f", ".3f", ".3f", ".4f")
    cells = (format(value, how) for value, how in zip(values, formats, strict=True))
    return f"| {name} | {' | '.join(cells)} |"


def measures(run: Run, chosen: Scale, layer: int) -> dict[str, float]:
    """``METRICS`` of one run at ``layer``."""
    return {
        found["metric"]: found["value"]
        for found in word_retrieval.rows(run, chosen, None)
        if found["layer"] == layer and found["metric"] in METRICS and "part_of_speech" not in found
    }


if __name__ == "__main__":
    main()
