"""BLEU-1 of joined words (plan-review, 1; book/plan.md) anew, a block for each seed; then in the place of what it was.

    git apply campaign/bleu.patch
    python campaign/bleu.py train SCALE FIRST LAST [--data DIR]
    python campaign/bleu.py place      # writes nothing unless every block is there and has the rows of before

Blocks lie beside this file. It goes, with them and the patch, when they are in place. Only rows of BLEU-1 are replaced:
those of tokens stay with the encoders that gave them, which are trained again here.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd

from xling_utils import chapters
from xling_utils.chapters import records
from xling_utils.core.scales import scale
from xling_utils.core.specs import LANGUAGES, run_from_dict
from xling_utils.measures import ensure_rows, kept_rows
from xling_utils.measures.names import TOKEN_TRANSLATION
from xling_utils.runs import Compute, RunStore

HERE, CHAPTER = Path(__file__).parent, "06_mds"
SCALES = ("controlled", "natural")
OLD, OTHER = "bleu1", "bleu1_shuffled"


def train(name: str, first: int, last: int, data: Path | None) -> None:
    """Writes a block of rows, and one of runs, for each recorded seed that has none yet."""
    size, told = scale(name), records.provenance(CHAPTER, name)
    recorded = {run_from_dict(json.loads(spec)) for spec in told["spec"]}
    for seed in range(first, last + 1):
        block = HERE / f"{CHAPTER}.{name}.{seed}.csv"
        specs = {spec for spec in recorded if spec.seed == seed}
        if block.exists() or not specs:
            continue
        languages = [one for one in LANGUAGES[1:] if any(one in spec.corpus.languages for spec in specs)]
        grid = [p for p in chapters.planned(CHAPTER, size, languages, 1, "all", data, seed) if p.spec in specs]
        assert {planned.spec for planned in grid} == specs, (seed, len(grid), len(specs))
        kept = ensure_rows([(planned.specs, TOKEN_TRANSLATION) for planned in grid], size, Compute(data))
        table = pd.concat(
            [
                chapters.labelled(
                    CHAPTER, dict(p.condition), seed, kept_rows.load(kept[p.specs, TOKEN_TRANSLATION]), name
                )
                for p in grid
            ],
            ignore_index=True,
        )
        table = table[table["metric"].isin((OLD, OTHER))]
        told_here = records._provenance_rows(RunStore(), dict.fromkeys(table["run"]))
        told_here.to_csv(block.with_suffix(".runs.csv"), index=False)
        block.write_text(kept_rows.to_csv(table[list(chapters.columns(CHAPTER))]), encoding="utf-8")
        print(block.name, flush=True)


def place() -> None:
    """Puts all blocks into the committed records; nothing is written unless every one is there and fits."""
    whole, folder = {}, records.checkout("records") / "book/records"
    of = [column for column in chapters.columns(CHAPTER) if column not in records.MEASURED]
    for name in SCALES:
        table = records.load(CHAPTER, name)
        blocks = [HERE / f"{CHAPTER}.{name}.{seed}.csv" for seed in sorted(table["seed"].unique())]
        new = pd.concat([kept_rows.from_csv(block, chapters.columns(CHAPTER)) for block in blocks], ignore_index=True)
        new = new.astype({column: table[column].dtype for column in ("weight", "layer")})
        of_words, of_others = (new[new["metric"] == metric] for metric in (OLD, OTHER))
        before = table[table["metric"] == OLD]
        found = (
            before[of]
            .astype(str)
            .reset_index()
            .merge(
                of_words[of].astype(str).reset_index(), how="outer", on=of, suffixes=("", "_new"), validate="one_to_one"
            )
        )
        assert found[["index", "index_new"]].notna().all(axis=None), (name, "rows that do not fit")
        measured = list(records.MEASURED)
        table.loc[found["index"], measured] = of_words.loc[found["index_new"], measured].to_numpy()
        # What another sentence gets stands behind what the own one gets.
        beside = (
            of_others.assign(metric=OLD)[of]
            .astype(str)
            .reset_index()
            .merge(found[[*of, "index"]].rename(columns={"index": "place"}), on=of, validate="one_to_one")
        )
        assert len(beside) == len(of_others) == len(of_words)
        of_others = of_others.loc[beside["index"]].set_axis(beside["place"] + 0.5)
        whole[name] = pd.concat([table, of_others]).sort_index()
    for name, table in whole.items():
        (folder / f"{CHAPTER}.{name}.csv").write_text(kept_rows.to_csv(table), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "place"))
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--data", type=Path)
    args = parser.parse_args()
    if args.what == "place":
        place()
    else:
        name, first, last = args.rest
        train(name, int(first), int(last), args.data)


if __name__ == "__main__":
    main()
