"""What untrained encoders have in common (plan-review, 5; book/plan.md): a block for each seed, then in the records.

    git apply campaign/floors.patch
    python campaign/floors.py train SCALE FIRST LAST [--data DIR]
    python campaign/floors.py place SCALE      # writes nothing unless every block is there

Blocks lie beside this file. It goes, with them and the patch, when they are in place.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from xling_utils import chapters
from xling_utils.chapters import records
from xling_utils.chapters.cka.plan import BILINGUAL_UNTRAINED, CHAPTER, UNTRAINED
from xling_utils.core.scales import scale
from xling_utils.core.specs import LANGUAGES
from xling_utils.measures import kept_rows
from xling_utils.runs import Compute, RunStore

HERE, NEW = Path(__file__).parent, (UNTRAINED, BILINGUAL_UNTRAINED)


def train(name: str, first: int, last: int, data: Path | None) -> None:
    """Writes a block of rows, and one of runs, for each recorded seed that has none yet."""
    size, table = scale(name), records.load(CHAPTER, name)
    spoken = [language for language in LANGUAGES[1:] if language in {*table["target"]}]
    for seed in range(first, last + 1):
        block = HERE / f"{CHAPTER}.{name}.{seed}.csv"
        if block.exists() or seed not in {*table["seed"]}:
            continue
        grid = [
            planned
            for planned in chapters.planned(CHAPTER, size, spoken, 1, "all", data, seed)
            if dict(planned.condition)["encoders"] in NEW
        ]
        kept = chapters.prepare({CHAPTER: grid}, size, Compute(data))
        made = [
            chapters.labelled(CHAPTER, dict(planned.condition), seed, kept_rows.load(path), name)
            for (planned, _), path in kept.items()
        ]
        rows = pd.concat(made, ignore_index=True)[list(chapters.columns(CHAPTER))]
        told = records._provenance_rows(RunStore(), dict.fromkeys(rows["run"]))
        told.to_csv(block.with_suffix(".runs.csv"), index=False)
        block.write_text(kept_rows.to_csv(rows), encoding="utf-8")
        print(block.name, flush=True)


def place(name: str) -> None:
    """Puts the blocks of a world into the committed records, behind what is there."""
    folder, table, told = records.checkout("records") / "book/records", *_read(name)
    assert not {*table["encoders"]} & {*NEW}
    blocks = {seed: HERE / f"{CHAPTER}.{name}.{seed}.csv" for seed in dict.fromkeys(table["seed"])}
    new = {seed: kept_rows.from_csv(block, chapters.columns(CHAPTER)) for seed, block in blocks.items()}
    assert len({tuple(rows.groupby(["encoders", "target", "metric"]).size().items()) for rows in new.values()}) == 1
    whole = pd.concat([table, *new.values()], ignore_index=True).astype({"layer": table["layer"].dtype})
    assert not whole.duplicated([column for column in whole if column not in records.MEASURED]).any()
    runs = [pd.read_csv(block.with_suffix(".runs.csv"), dtype=str) for block in blocks.values()]
    (folder / f"{CHAPTER}.{name}.csv").write_text(kept_rows.to_csv(whole), encoding="utf-8")
    pd.concat([told, *runs], ignore_index=True).drop_duplicates("run").to_csv(
        folder / f"{CHAPTER}.{name}.runs.csv", index=False
    )


def _read(name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    path = records.checkout("records") / f"book/records/{CHAPTER}.{name}.runs.csv"
    return records.load(CHAPTER, name), pd.read_csv(path, dtype=str)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "place"))
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--data", type=Path)
    args = parser.parse_args()
    if args.what == "place":
        place(*args.rest)
    else:
        name, first, last = args.rest
        train(name, int(first), int(last), args.data)


if __name__ == "__main__":
    main()
