"""How cost grows with the work: tokens, vocabulary, languages, runs; and how memory grows with the corpus.

    python benchmarks/growth.py

Each quantity is doubled a few times while everything else stays; the exponent is the slope of a line through the
logarithms, 1 where cost grows as the quantity does and 0 where it stays. Everything is trained by
``runs.ensure`` from an empty store in a temporary folder, as a chapter does it; but of the vocabulary, steps in single
precision with AdamW are measured. *Seconds of training* are those of the training loop alone, *of preparation* those of
drawing the text, building the tokenizer and encoding. Memory is the most that a run's own process holds for itself,
looked up fifty times a second: what is mapped from a file does not count, since the system takes it
back when it needs the room.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Event, Thread

SEED = 1
STEPS, SIZES, LANGUAGES_READ, RUNS = (250, 500, 1000), (1_600, 6_400, 25_600), (2, 4, 8, 15), (2, 4, 8)
SENTENCES = (10_000, 40_000, 160_000)
"""A language, in two languages."""
MIB = 2**20


def main() -> None:
    """Prints one markdown table of times and one of memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two small sizes of each")
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.memory:
        print(json.dumps(peak(args.memory)))
        return
    load, few = os.getloadavg()[0], 2 if args.quick else None
    sentences = (300, 600) if args.quick else SENTENCES
    peaks = {}
    for count in sentences:
        command = [sys.executable, __file__, "--memory", str(count)]
        peaks[count] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    from _machine import machine

    print(f"{machine()}; load average before: {load:.1f}.\n")
    print("| what grows | sizes | seconds | exponent |\n|---|---|---|---|")
    for name, (measure, sizes) in growing(args.quick).items():
        report(name, {size: measure(size) for size in sizes[:few]}, "{:.1f}")
    print("\n| what grows | sizes | MiB | exponent |\n|---|---|---|---|")
    report("sentences a language", {count: found["peak"] for count, found in peaks.items()}, "{:.0f}")
    per_token = slope(*zip(*((found["tokens"], found["peak"] * MIB) for found in peaks.values()), strict=True))
    print(f"\nMemory grows by {per_token:.0f} bytes for each token of the corpus.")


def growing(quick: bool) -> dict[str, tuple[Callable[[int], float], tuple[int, ...]]]:
    """Quantity -> the seconds that one size of it takes, and its sizes."""
    return {
        "tokens trained on (steps)": (lambda steps: trained(quick, steps=steps)["training_seconds"], STEPS),
        "vocabulary (pieces)": (lambda pieces: step_seconds(quick, pieces), SIZES),
        "languages, training": (lambda n: trained(quick, languages=n)["training_seconds"], LANGUAGES_READ),
        "languages, preparation": (lambda n: preparation(trained(quick, languages=n)), LANGUAGES_READ),
        "runs, as many at a time as there are cores": (lambda n: runs_seconds(quick, n), RUNS),
    }


def report(name: str, found: Mapping[int, float], form: str) -> None:
    """One row of a table."""
    exponent = slope([math.log(x) for x in found], [math.log(max(y, 1e-3)) for y in found.values()])
    sizes, values = ", ".join(f"{x:,}" for x in found), ", ".join(form.format(y) for y in found.values())
    print(f"| {name} | {sizes} | {values} | {exponent:.2f} |", flush=True)


def slope(x: tuple[float, ...] | list[float], y: tuple[float, ...] | list[float]) -> float:
    """Of the line through the points that is nearest to them."""
    import numpy as np

    return float(np.polyfit(x, y, 1)[0])


@cache
def trained(quick: bool, *, steps: int = 200, languages: int = 2, runs: int = 1) -> dict[str, float]:
    """Trains ``runs`` base runs from an empty store; the provenance of the first and the seconds of all."""
    from xling_utils.core.scales import scale
    from xling_utils.core.specs import LANGUAGES
    from xling_utils.runs.ensuring import ensure
    from xling_utils.runs.store import RunStore

    chosen = scale("smoke" if quick else "controlled")
    specs = []
    for seed in range(SEED, SEED + runs):
        spec = chosen.bert(LANGUAGES[:languages], 300 if quick else 5_000, seed)
        assert spec.training
        specs.append(replace(spec, training=replace(spec.training, steps=steps // 10 if quick else steps)))
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = ensure(specs, store=RunStore(Path(folder)), progress=False)
        return found[specs[0]].provenance | {"together": time.perf_counter() - began}


def preparation(provenance: Mapping[str, float]) -> float:
    """Seconds before the first step and after the last."""
    return provenance["seconds"] - provenance["training_seconds"]


def runs_seconds(quick: bool, runs: int) -> float:
    """Seconds from the first to the last of ``runs`` runs, processes started and all."""
    return trained(quick, runs=runs)["together"]


def step_seconds(quick: bool, pieces: int) -> float:
    """Seconds of 100 steps of the base encoder with a vocabulary of ``pieces``, on one thread."""
    import torch

    from xling_utils.core.scales import scale
    from xling_utils.models.encoder import Encoders

    torch.set_num_threads(1)
    sizes = scale("smoke" if quick else "controlled")
    training = sizes.training
    shape, rows = (training.batch, training.length), training.batch
    masked = round(training.mask_rate * training.length)
    model = Encoders(sizes.encoder, pieces, ("en", "fr"))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    batch = {
        "ids": torch.randint(5, pieces, shape),
        "positions": torch.arange(1, 1 + masked).repeat(rows, 1),
        "labels": torch.randint(5, pieces, (rows, masked)),
        "languages": torch.arange(rows) % 2,
    }
    for step in range(2 if quick else 110):
        if step == (0 if quick else 10):
            began = time.perf_counter()
        model(**batch).backward()
        optimizer.step()
        optimizer.zero_grad()
    return time.perf_counter() - began


def peak(sentences: int) -> dict[str, float]:
    """The most memory in MiB that the process of a short run on ``sentences`` a language holds for itself, and the
    corpus' tokens."""
    import psutil

    from xling_utils.core.scales import scale
    from xling_utils.runs.ensuring import ensure
    from xling_utils.runs.store import RunStore

    chosen = scale("smoke" if sentences < SENTENCES[0] else "controlled")
    spec = chosen.bert(("en", "fr"), sentences, SEED)
    assert spec.training
    spec = replace(spec, training=replace(spec.training, steps=20))
    found, done = [0], Event()

    def look() -> None:
        while not done.wait(1 / 50):
            for child in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    memory = child.memory_info()
                    found.append(memory.rss - getattr(memory, "shared", 0))  # macOS tells no more

    looking = Thread(target=look)
    looking.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            run = ensure([spec], store=RunStore(Path(folder)), progress=False)[spec]
    finally:
        done.set()
        looking.join()
    return {"peak": max(found) / MIB, "tokens": sum(run.provenance["corpus_tokens"].values())}


if __name__ == "__main__":
    main()
