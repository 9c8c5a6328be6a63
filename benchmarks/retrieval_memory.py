"""Retrieval of 200,000 among 200,000 vectors at d = 768: how much memory it takes above the vectors themselves.

    python benchmarks/retrieval_memory.py

Rankings are computed in blocks of ``retrieval.BLOCK`` sources and as many targets, and what a block takes is given back
before the next one comes. All that outlives it are a number or a few for every source and every target. So the peak is
reached in the first full block, and a run with few sources has it too: here a block and one more source are looked for
among all 200,000 targets, and what every further source would add, its results, is put on top of the measured peak.

Each way of retrieval runs in a process of its own. Memory is the highest resident set of the process during retrieval,
less the highest before it, when the vectors were there and a small retrieval had made the matrix library take its
buffers. Afterwards the same process forms the matrix products alone that this retrieval needs (CSLS: those of the
scores, and the same again for the neighbours), block by block into one buffer; both are timed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time

WAYS = ("cosine", "csls", "nearest")
SOURCES = TARGETS = 200_000
WIDTH = 768
LIMIT = 2 * 1024**3
RESULTS = {"cosine": 8, "csls": 8, "nearest": 10 * (8 + 4)}
"""Bytes that a source's results take: a rank, or the numbers and similarities of ten neighbours."""
PRODUCTS = {"cosine": 1, "csls": 2, "nearest": 1}
"""How often a way needs every source with every target."""


def main() -> None:
    """Prints one markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="among 10,000 targets of 64 numbers")
    parser.add_argument("--child", choices=WAYS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    targets, width = (10_000, 64) if args.quick else (TARGETS, WIDTH)
    if args.child:
        print(json.dumps(measured(args.child, targets, width)))
        return
    load, found = os.getloadavg()[0], {}
    for way in WAYS:  # before this process has imported anything large: a child starts with its parent's peak
        command = [sys.executable, __file__, "--child", way, *(["--quick"] if args.quick else [])]
        found[way] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    from _machine import machine

    print(f"{machine()}; load average before: {load:.1f}.\n")
    rows = found["cosine"]["sources"]
    print(f"{rows:,} sources among {targets:,} targets, d = {width}. In GiB; the limit is {LIMIT / 1024**3:.0f}.\n")
    head = (
        f"vectors | peak above them | with {SOURCES:,} sources | share of the limit | all of it, s | products alone, s"
    )
    print(f"| retrieval | {head} | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for way, known in found.items():
        whole = known["peak"] + (SOURCES - rows) * RESULTS[way]
        sizes = " | ".join(f"{size / 1024**3:.3f}" for size in (known["vectors"], known["peak"], whole))
        times = f"{known['seconds']:.3g} | {known['bare']:.3g} | {known['seconds'] / known['bare']:.2f}"
        print(f"| {way} | {sizes} | {whole / LIMIT:.0%} | {times} |")


def measured(way: str, targets: int, width: int) -> dict[str, float]:
    """Bytes of the vectors and of the peak above them, with the seconds that retrieval took."""
    import numpy as np

    from xling_utils.measures.metrics import retrieval

    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((n, width), dtype=np.float32) for n in (retrieval.BLOCK + 1, targets))
    gold = [{row} for row in range(len(x))]

    def retrieve(rows: int, among: int) -> None:
        if way == "nearest":
            retrieval.nearest(x[:rows], y[:among], 10)
        else:
            retrieval.ranks(x[:rows], y[:among], gold[:rows], method=way)

    retrieve(100, 100)
    before, began = high_water(), time.perf_counter()
    retrieve(len(x), len(y))
    seconds, peak = time.perf_counter() - began, high_water() - before
    found, began = np.empty((retrieval.BLOCK, retrieval.BLOCK), dtype=np.float32), time.perf_counter()
    for _ in range(PRODUCTS[way]):
        for rows in range(0, len(x), retrieval.BLOCK):
            for columns in range(0, len(y), retrieval.BLOCK):
                one, other = x[rows : rows + retrieval.BLOCK], y[columns : columns + retrieval.BLOCK]
                np.matmul(one, other.T, out=found[: len(one), : len(other)])
    bare = time.perf_counter() - began
    return {"sources": len(x), "vectors": x.nbytes + y.nbytes, "peak": peak, "seconds": seconds, "bare": bare}


def high_water() -> int:
    """The highest resident set of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
