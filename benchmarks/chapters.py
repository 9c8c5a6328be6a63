"""The chapters: how long their runs take, trained and measured, from an empty store.

    python benchmarks/chapters.py          # what `make book` trains
    python benchmarks/chapters.py --all    # every run of every chapter
    python benchmarks/chapters.py 02_window_size

One seed at the controlled scale, chapter after chapter, as the notebooks do it (``chapters.table``): a run that an
earlier chapter has trained or measured is not trained or measured again. Executing notebooks and rendering pages
comes on top. Seconds of a chapter are those of the processor, of all processes together, apart for training and for
measuring.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from _machine import machine

from xling_utils import chapters
from xling_utils.core.scales import FIRST_REPORTED_SEED, SNAPSHOTS, scale
from xling_utils.core.specs import LANGUAGES
from xling_utils.measures.transfer import zero_shot
from xling_utils.runs.compute import usable_cores
from xling_utils.runs.ensuring import ensure
from xling_utils.runs.keys import key_of
from xling_utils.runs.store import RunStore

Cost = dict[str, float]
SHOWN = ("runs", "training", "tables", "measuring", "wall")


def main() -> None:
    """Prints two markdown tables: one row a chapter, and one row a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every run, not the headlines only")
    parser.add_argument("--quick", action="store_true", help="a tiny scale")
    parser.add_argument("chapter", nargs="*", choices=[*chapters.MODULES, []], help="all if none is named")
    args = parser.parse_args()
    name, live, load = "smoke" if args.quick else "controlled", "all" if args.all else "headline", os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XLING_STORE"] = folder
        costs: dict[str, Cost] = {}
        runs = {}
        for chapter in args.chapter or chapters.MODULES:
            store, began, cost = RunStore(), time.perf_counter(), Cost()
            before, kept = set(store.keys()), tables(store)
            planned = chapters.planned(chapter, scale(name), LANGUAGES[1:], 1, live, None)
            with counted(cost, "training"):
                ensure([spec for p in planned for spec in p.specs], store=store)
            with counted(cost, "measuring"):
                chapters.table(chapter, name, LANGUAGES[1:], 1, live)
            cost |= {"tables": tables(store) - kept, "wall": time.perf_counter() - began}
            costs[chapter] = cost
            keys = {key_of(spec): p for p in planned for spec in p.specs}
            runs[chapter] = {key: p for key, p in keys.items() if key not in before}
        print(f"{machine()}; load average before: {load:.1f}; {usable_cores()} at a time.\n")
        report(costs, runs)
        fine_tuning(name)


def tables(store: RunStore) -> int:
    """How many tables of rows are kept."""
    return len([*store.folder(".measures").glob("*.csv")])


@contextmanager
def counted(cost: Cost, name: str) -> Iterator[None]:
    """Adds what is spent within it, seconds of the processor in this process and in those that it waits for."""
    began = spent()
    yield
    cost[name] = spent() - began


def spent() -> float:
    """Seconds of the processor so far."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, whose))


def report(costs: dict[str, Cost], runs: dict[str, dict[str, chapters.Planned]]) -> None:
    """What each chapter costs, then the seconds of each run in its own process."""
    print("| chapter | new runs | CPU seconds of training | new tables | CPU seconds of measuring | wall seconds |")
    print("|---|---|---|---|---|---|")
    counts = {chapter: {"runs": len(runs[chapter])} | cost for chapter, cost in costs.items()}
    counts["together"] = {name: sum(of[name] for of in counts.values()) for name in SHOWN}
    for chapter, of in counts.items():
        print(f"| {chapter} | " + " | ".join(f"{of[name]:.0f}" for name in SHOWN) + " |")
    print()
    print("| chapter | run | seconds | tokens/s in training |\n|---|---|---|---|")
    for chapter, found in runs.items():
        for key, planned in found.items():
            run = RunStore().get(key)
            assert run is not None
            speed = run.provenance.get("tokens_per_second")
            condition = ", ".join(str(value) for _, value in planned.condition)
            read = f"{'-'.join(run.spec.corpus.languages)} {run.spec.kind}: {condition}"
            print(f"| {chapter} | {read} | {run.provenance['seconds']:.0f} | {f'{speed:,}' if speed else ''} |")


def fine_tuning(name: str) -> None:
    """How long the base run takes to learn inference and to be tested, with what comes of it."""
    chosen = scale(name)
    base = chosen.bert(("en", LANGUAGES[1]), chosen.sentences[-1], FIRST_REPORTED_SEED, SNAPSHOTS)
    run = RunStore().get(key_of(base))
    if run is None:
        return  # no chapter that was named trains it
    began = time.perf_counter()
    rows = [row for row in zero_shot.rows(run, chosen, None, "NLI") if row["metric"] == "accuracy"]
    accuracy = ", ".join(f"{row['target']} {row['value']:.3f}" for row in rows)
    print(f"\nInference, learned and tested: {time.perf_counter() - began:.1f} s (accuracy: {accuracy}).")


if __name__ == "__main__":
    main()
