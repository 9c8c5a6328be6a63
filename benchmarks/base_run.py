"""Time to alignment: CPU-seconds until English and French are aligned, by today's recipe and by the earlier one.

    python benchmarks/base_run.py                    # the controlled world
    python benchmarks/base_run.py --data DIR         # real text

Trains the base run (English and French, the large corpus) by both recipes for the five development seeds from an
empty store, as many at a time as there are cores, through ``runs.ensure`` as a chapter does. Snapshots are asked
for word retrieval among the dictionary's targets at the headline layer: plain cosine, and with each language's mean
taken out. What counts is the first snapshot at which the *mean over the seeds* reaches a multiple of chance, that of
a random order of the same candidates, and the CPU-seconds that training had taken by then, preparation (drawing the
text, word pieces, encoding) beside them. On real text both recipes read ``SENTENCES`` sentences a language, and the
earlier one takes ``LONGER`` times the steps that it used to: with fewer it does not get there.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from _earlier import earlier
from _machine import machine

from xling_utils.chapters.data_size.plan import headline_layer
from xling_utils.core.scales import DEVELOPMENT_SEEDS, Scale, scale
from xling_utils.core.specs import RunSpec
from xling_utils.measures.encoders.representations import centred
from xling_utils.measures.encoders.stored_run import Reading
from xling_utils.measures.metrics.retrieval import chance_reciprocal_rank, mean_reciprocal_rank
from xling_utils.measures.tasks import word_retrieval
from xling_utils.runs.compute import Compute
from xling_utils.runs.ensuring import ensure
from xling_utils.runs.store import Run, RunStore

PAIR = ("en", "fr")
TARGETS = {"smoke": (0.1, 0.1), "controlled": (10.0, 12.0), "natural": (10.0, 10.0)}
"""Multiples of chance to reach, plain and centred."""
SENTENCES, LONGER, SNAPSHOTS = 100_000, 5, 20
CONTEXT_TOKENS = 100_000
"""Of each language, that words are read in, at most: twenty snapshots of ten runs read them."""
HEAD = ("scale", "recipe", "steps", "plain", "centred", "plain at the end", "centred at the end",
        "CPU-seconds to plain", "to centred", "of all steps", "of preparation")  # fmt: skip


def main() -> None:
    """Prints a markdown table, a row for each recipe."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="directory of real text")
    parser.add_argument("--quick", action="store_true", help="a tiny model, two seeds")
    args = parser.parse_args()
    name = "smoke" if args.quick else "natural" if args.data else "controlled"
    seeds = DEVELOPMENT_SEEDS[: 2 if args.quick else None]
    print(f"{machine()}; load average before: {os.getloadavg()[0]:.1f}.\n")
    print(f"{PAIR[0]}-{PAIR[1]}, seeds {seeds[0]} to {seeds[-1]}, {SNAPSHOTS} snapshots a run.\n")
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for recipe, sizes in (("earlier", earlier(scale(name))), ("today's", scale(name))):
        print(row(recipe, sizes, seeds, args.data), flush=True)


def row(recipe: str, sizes: Scale, seeds: Sequence[int], data: Path | None) -> str:
    """One line of the table."""
    specs = [base(sizes, seed, longer=recipe == "earlier") for seed in seeds]
    with tempfile.TemporaryDirectory() as folder:
        runs = ensure(specs, store=RunStore(folder), compute=Compute(data))
        today = scale(sizes.name)  # both are asked for the same words
        asked = replace(today, context_tokens=min(CONTEXT_TOKENS, today.context_tokens))
        curves = [dict(curve(run, asked, data)) for run in runs.values()]
        known = [run.provenance for run in runs.values()]
    steps = sorted(curves[0])
    means = {step: [statistics.mean(each[step][kind] for each in curves) for kind in (0, 1)] for step in steps}
    training = statistics.mean(each["training_cpu_seconds"] for each in known)
    preparation = statistics.mean(each["cpu_seconds"] for each in known) - training
    wanted = TARGETS[sizes.name]
    reached = [next((step for step in steps if means[step][kind] >= wanted[kind]), None) for kind in (0, 1)]
    times = ["not reached" if step is None else f"{training * step / steps[-1]:.1f}" for step in reached]
    goals, ends = (f"{x:g} x" for x in wanted), (f"{x:.1f}" for x in means[steps[-1]])
    cells = [sizes.name, recipe, f"{steps[-1]:,}", *goals, *ends, *times, f"{training:.1f}", f"{preparation:.1f}"]
    return f"| {' | '.join(cells)} |"


def base(sizes: Scale, seed: int, *, longer: bool) -> RunSpec:
    """The base run with snapshots."""
    real = sizes.source == "directory"
    spec = sizes.bert(PAIR, SENTENCES if real else sizes.sentences[-1], seed, min(SNAPSHOTS, sizes.training.steps))
    assert spec.training
    steps = spec.training.steps * (LONGER if real and longer else 1)
    return replace(spec, training=replace(spec.training, steps=steps))


def curve(run: Run, sizes: Scale, data: Path | None) -> Iterator[tuple[int, tuple[float, float]]]:
    """The retrieval of every snapshot, in multiples of chance: (step, (plain, centred))."""
    reading, layer = Reading(run, sizes, data), headline_layer(sizes)
    asked = word_retrieval.dictionary(reading, PAIR[1])
    own = asked.without_others()
    chance = chance_reciprocal_rank(len(own.targets), own.gold)
    for step, encoder in reading.snapshots():
        x = reading.vectors(PAIR[0], own.sources, encoder)[layer]
        y = reading.vectors(PAIR[1], own.targets, encoder)[layer]
        plain = mean_reciprocal_rank(x, y, own.gold) / chance
        without_means = mean_reciprocal_rank(centred(x), centred(y), own.gold) / chance
        yield step, (plain, without_means)


if __name__ == "__main__":
    main()
