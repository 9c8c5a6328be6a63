"""The phenomenon on real text: is a translation found, in every pair, and by more than its spelling?

    python benchmarks/real_text.py --data DIR

Trains the base run of the natural scale (English with each of six languages, the large corpus) for five seeds,
as many at a time as there are cores, in the store that `XLING_STORE` names (`runs/` without it), so that it goes on
where it stopped. Every run and its untrained twin are asked for word retrieval among the dictionary's targets with each
language's mean taken out: of all words, and of those with no translation that is spelt alike. Printed are multiples of
chance, means over seeds with half of Student's 95 % interval.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
from _machine import machine

from xling_utils.chapters.data_size.plan import headline_layer
from xling_utils.chapters.shared.contrasts import NATURAL_LANGUAGES, base_run
from xling_utils.core.scales import Scale, scale
from xling_utils.core.specs import RunSpec
from xling_utils.measures import ensure_rows, kept_rows, over_seeds
from xling_utils.measures.names import WORDS
from xling_utils.runs.compute import Compute

SEEDS = range(11, 16)
"""Neither those that sizes were chosen on nor those that the ledger will be decided on."""


def main() -> None:
    """Prints a markdown table, a row for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="directory of real text")
    parser.add_argument(
        "--quick", action="store_true", help="the controlled world, a tiny model, one language, two seeds"
    )
    args = parser.parse_args()
    if not args.data and not args.quick:
        print("skipped: name a directory of real text: python benchmarks/real_text.py --data DIR")
        return
    name, seeds = ("smoke", SEEDS[:2]) if args.quick else ("natural", SEEDS)
    sizes, languages = scale(name), NATURAL_LANGUAGES[:1] if args.quick else NATURAL_LANGUAGES
    specs = {
        (language, trained, seed): base_run(sizes, language, seed, first=language == languages[0])
        if trained
        else sizes.untrained(("en", language), sizes.sentences[-1], seed)
        for language in languages
        for trained in (True, False)
        for seed in seeds
    }
    rows = measured(list(specs.values()), sizes, args.data)
    layers = range(sizes.encoder.layers + 1)
    middle = headline_layer(sizes)
    head = ["English with", "words", "spelt unlike", "chance", *(f"layer {layer}" for layer in layers)]
    head += [f"spelt unlike, layer {middle}", f"untrained, layer {middle}", f"untrained, spelt unlike, layer {middle}"]
    print(f"{machine()}.\n\nSeeds {seeds[0]} to {seeds[-1]}.\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for language in languages:
        trained, untrained = (
            [rows[specs[language, kind, seed]].set_index(["metric", "layer"]) for seed in seeds]
            for kind in (True, False)
        )
        counts = (f"{mean(trained, metric, middle, 'n'):.0f}" for metric in ("mrr_centred", "mrr_unlike"))
        chance = f"{mean(trained, 'chance', middle, 'value'):.4f}"
        found = [times(trained, "mrr_centred", layer) for layer in layers]
        found += [times(trained, "mrr_unlike", middle), times(untrained, "mrr_centred", middle)]
        cells = [language, *counts, chance, *found, times(untrained, "mrr_unlike", middle)]
        print(f"| {' | '.join(cells)} |", flush=True)


def measured(specs: list[RunSpec], sizes: Scale, data: Path | None) -> dict[RunSpec, pd.DataFrame]:
    """The rows of word retrieval of every run, without those by part of speech and those of snapshots."""
    found = {}
    for (of, _), path in ensure_rows([((spec,), WORDS) for spec in specs], sizes, Compute(data)).items():
        rows = kept_rows.load(path)
        found[of[0]] = rows[rows["part_of_speech"].isna() & rows["step"].isna()]
    return found


def mean(tables: list[pd.DataFrame], metric: str, layer: int, column: str) -> float:
    """Of a row's ``column`` over seeds."""
    return sum(float(table.loc[(metric, layer), column]) for table in tables) / len(tables)


def times(tables: list[pd.DataFrame], metric: str, layer: int) -> str:
    """A metric in multiples of chance: mean over seeds, and half of its interval."""
    at = [float(t.loc[(metric, layer), "value"] / t.loc[("chance", layer), "value"]) for t in tables]
    interval = over_seeds(at)
    return f"{interval.value:.1f} ± {interval.high - interval.value:.1f}"


if __name__ == "__main__":
    main()
