"""The runs of plan-positions (book/plan.md) anew, a block for each seed; then in the place of those that they replace.

    git apply campaign/positions.patch      # the plan of chapters 4 and 10 asks for them
    python campaign/positions.py train CHAPTER SCALE FIRST LAST [--data DIR]
    python campaign/positions.py place      # writes nothing unless every block is there and has the rows of before

Blocks lie beside this file. It goes, with them and the patch, when they are in place.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd

from xling_utils import chapters
from xling_utils.chapters import records
from xling_utils.core.scales import scale
from xling_utils.core.specs import LANGUAGES, EncoderSpec, RunSpec, run_from_dict
from xling_utils.measures import kept_rows
from xling_utils.runs import Compute, RunStore

HERE = Path(__file__).parent
WHERE = [(chapter, name) for chapter in ("04_architecture", "10_distance") for name in ("controlled", "natural")]


def replaced(chapter: str, name: str) -> dict[str, RunSpec]:
    """Key of a committed run with embeddings apart -> what takes its place."""
    told = records.provenance(chapter, name)
    specs = {run: run_from_dict(json.loads(spec)) for run, spec in zip(told["run"], told["spec"], strict=True)}
    return {
        run: replace(spec, model=replace(spec.model, separate_positions=True))
        for run, spec in specs.items()
        if isinstance(spec.model, EncoderSpec) and spec.model.separate_embeddings
    }


def train(chapter: str, name: str, first: int, last: int, data: Path | None) -> None:
    """Writes a block of rows, and one of runs, for each seed that has none yet."""
    size, wanted = scale(name), replaced(chapter, name)
    for seed in range(first, last + 1):
        block = HERE / f"{chapter}.{name}.{seed}.csv"
        specs = {spec for spec in wanted.values() if spec.seed == seed}
        if block.exists() or not specs:
            continue
        read = {spec.corpus.languages[1] for spec in specs}
        partners = [language for language in LANGUAGES[1:] if language in read]
        grid = [
            planned
            for planned in chapters.planned(chapter, size, partners, 1, "all", data, seed)
            if planned.spec in specs
        ]
        assert {planned.spec for planned in grid} == specs and len(grid) == len(specs), (seed, len(grid), len(specs))
        kept = chapters.prepare({chapter: grid}, size, Compute(data))
        frames = [
            chapters.labelled(chapter, dict(planned.condition), seed, kept_rows.load(path), name)
            for (planned, _), path in kept.items()
        ]
        table = pd.concat(frames, ignore_index=True)
        told = records._provenance_rows(RunStore(), dict.fromkeys(table["run"]))
        told.to_csv(block.with_suffix(".runs.csv"), index=False)
        block.write_text(kept_rows.to_csv(table[list(chapters.columns(chapter))]), encoding="utf-8")
        print(block.name, flush=True)


def place() -> None:
    """Puts all blocks into the committed records; nothing is written unless every one is there and fits."""
    whole = {}
    for chapter, name in WHERE:
        recorded, told, wanted = records.load(chapter, name), records.provenance(chapter, name), replaced(chapter, name)
        folder = records.checkout("records") / "book/records"
        lines = pd.read_csv(folder / f"{chapter}.{name}.runs.csv", dtype=str, keep_default_na=False).set_index("run")
        key, rows = {}, {}
        for seed in sorted({spec.seed for spec in wanted.values()}):
            block = HERE / f"{chapter}.{name}.{seed}.csv"
            for _, line in pd.read_csv(block.with_suffix(".runs.csv"), dtype=str, keep_default_na=False).iterrows():
                key[run_from_dict(json.loads(line["spec"]))] = line
            rows |= dict(list(kept_rows.from_csv(block, chapters.columns(chapter)).groupby("run")))
        same = [c for c in recorded.columns if c not in ("run", *records.MEASURED)]
        parts, done = [], set()
        for run, part in recorded.groupby("run", sort=False):
            assert run in wanted or "beside" not in part or not part["beside"].isin(wanted).any()
            if run in wanted:
                new = rows[key[wanted[run]]["run"]]
                new.index = part.index
                assert part[same].astype(str).equals(new[same].astype(str)), (chapter, name, run)
                part = new
                done.add(run)
            parts.append(part)
        assert done == set(wanted)
        table = pd.concat(parts).sort_index()
        runs = pd.DataFrame(
            [dict(key[wanted[run]]) if run in wanted else {"run": run} | dict(lines.loc[run]) for run in told["run"]]
        )
        whole[chapter, name] = folder, table, runs[list(told.columns)]
    for (chapter, name), (folder, table, runs) in whole.items():
        (folder / f"{chapter}.{name}.csv").write_text(kept_rows.to_csv(table), encoding="utf-8")
        runs.to_csv(folder / f"{chapter}.{name}.runs.csv", index=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "place"))
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--data", type=Path)
    args = parser.parse_args()
    if args.what == "place":
        place()
    else:
        chapter, name, first, last = args.rest
        train(chapter, name, int(first), int(last), args.data)


if __name__ == "__main__":
    main()
