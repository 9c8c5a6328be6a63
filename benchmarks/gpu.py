"""A GPU: whether runs come out on it as on the CPU, how many seeds it trains in an hour, what share of it is used.

    python benchmarks/gpu.py               # under ten minutes; the table is kept beside this file
    python benchmarks/gpu.py --out FILE    # or there

1. Fifty steps of the controlled base run in single precision: on the CPU; on the GPU; on the GPU, stopped after half of
   them and continued from its checkpoint; on the GPU in a stack of three seeds. All losses are compared with the CPU's.
2. The controlled base run as the book trains it, alone and stacked. A seed takes its share of reading the text and
   of all its steps, which are reckoned from fewer.
3. BERT-base in bfloat16 on random tokens, beside the largest speed of a bfloat16 matrix product on the same GPU.

The CPU and the GPU are measured in a process each. Without a GPU there is nothing to measure, and one line says so.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import re
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _machine import machine

from xling_utils import chapters
from xling_utils.core.scales import FIRST_REPORTED_SEED, scale
from xling_utils.core.specs import EncoderSpec, RunSpec, TrainingSpec

if TYPE_CHECKING:
    from torch import Tensor

COMPARED_STEPS = 50
STACKS = (1, 5, 20)
STEPS, QUICK_STEPS = 300, 20
"""Of the second part; the third has a tenth of them."""
BERT_BASE = EncoderSpec(layers=12, width=768, heads=12, intermediate=3072, positions=512)
BERT_BATCH, BERT_VOCABULARY = 32, 30_000
PEAK_SIZE, PEAK_REPEATS = 8192, 20


def main() -> None:
    """Prints three markdown tables and writes them to a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="where the tables go; else beside this file, by the GPU's name")
    parser.add_argument("--quick", action="store_true", help="tiny models, few steps")
    parser.add_argument("--cpu", action="store_true", help=argparse.SUPPRESS)  # in the GPU's place, for the tests
    args = parser.parse_args()
    name = in_process(device_name, cpu=args.cpu)
    if name == "cpu" and not args.cpu:
        print("skipped: PyTorch finds no GPU on this machine")
        return
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        parts = (compared(args.quick, args.cpu, Path(folder)), hourly(args.quick, args.cpu), used(args.quick, args.cpu))
    text = "\n\n".join((f"{name}; {machine()}; load average before: {load:.1f}.", *parts))
    print(text)
    out = args.out or Path(__file__).with_name(f"gpu-{re.sub('[^a-z0-9]+', '-', name.lower())}.md")
    out.write_text(f"{text}\n", encoding="utf-8")


def in_process(function: Callable[..., Any], *arguments: Any, cpu: bool) -> Any:
    """What ``function`` returns in another process, which accelerate keeps on the CPU if ``cpu``."""
    return _process(cpu).submit(function, *arguments).result()


@cache
def _process(cpu: bool) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("spawn"), initializer=begin, initargs=(cpu,))


def compared(quick: bool, cpu: bool, folder: Path) -> str:
    """The first part: losses on the CPU and here."""
    size, half = "smoke" if quick else "controlled", COMPARED_STEPS // 2
    for stop in (half, None):
        found = in_process(whole, size, folder / "stopped", stop, cpu=cpu)
    ways = {
        "on the CPU": in_process(whole, size, folder / "cpu", None, cpu=True),
        "here": in_process(whole, size, folder / "here", None, cpu=cpu),
        f"here, stopped after {half} steps and continued": found,
        "here, with two other seeds": in_process(in_stack, size, folder / "stack", cpu=cpu),
    }
    lines = ["| run | first loss | last loss | held out | largest difference from the CPU |", "|---|---|---|---|---|"]
    for way, rows in ways.items():
        pairs = zip(rows, ways["on the CPU"], strict=True)
        apart = max(abs(a - b) for row, other in pairs for a, b in zip(row, other, strict=True))
        (first, _), (last, held_out) = rows[0], rows[-1]
        lines.append(f"| {way} | {first:.4f} | {last:.4f} | {held_out:.4f} | {apart:.1e} |")
    return "\n".join(lines)


def hourly(quick: bool, cpu: bool) -> str:
    """The second part: seeds an hour."""
    size = "smoke" if quick else "controlled"
    lines = ["| seeds at once | reading, s a seed | steps/s | seeds an hour | times one |", "|---|---|---|---|---|"]
    one = 0.0
    for seeds in STACKS[:2] if quick else STACKS:
        reading, step = in_process(pace, size, seeds, QUICK_STEPS if quick else STEPS, cpu=cpu)
        training = run_of(size, FIRST_REPORTED_SEED).training
        assert training
        hour = 3600 * seeds / (reading + training.steps * step)
        one = one or hour
        lines.append(f"| {seeds} | {reading / seeds:.1f} | {1 / step:.1f} | {hour:,.0f} | {hour / one:.1f} |")
    return "\n".join(lines)


def used(quick: bool, cpu: bool) -> str:
    """The third part: operations a second, and what share they are of those of a large matrix product."""
    model = replace(BERT_BASE, layers=2, width=48, intermediate=96) if quick else BERT_BASE
    peak = in_process(matrix_peak, 256 if quick else PEAK_SIZE, cpu=cpu)
    steps, batch = (QUICK_STEPS // 10, 2) if quick else (STEPS // 10, BERT_BATCH)
    speed, operations = in_process(deep, model, steps, batch, cpu=cpu)
    done = speed * operations
    return (
        "| encoder | M operations a token | tokens/s | TFLOP/s | matrix peak, TFLOP/s | share of peak |\n"
        "|---|---|---|---|---|---|\n"
        f"| {model.layers} layers x {model.width} | {operations / 1e6:,.1f} | {speed:,.0f} | {done / 1e12:.3g} "
        f"| {peak / 1e12:.3g} | {done / peak:.0%} |"
    )


# In another process.


def begin(cpu: bool) -> None:
    """Tells accelerate where to stay."""
    os.environ["ACCELERATE_USE_CPU"] = str(cpu).lower()


def device_name() -> str:
    """Of the device that accelerate trains on: ``"cpu"``, or the name of a GPU."""
    import torch
    from accelerate import Accelerator

    device = Accelerator().device
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def run_of(size: str, seed: int) -> RunSpec:
    """The base run of a scale."""
    chosen = scale(size)
    return chosen.bert(("en", "fr"), chosen.sentences[-1], seed)


def short(size: str, seed: int, **training: Any) -> RunSpec:
    """The base run with other ``training``."""
    spec = run_of(size, seed)
    assert spec.training
    return replace(spec, training=replace(spec.training, snapshots=0, **training))


class Stopped(Exception):
    """In the middle of a run."""


def whole(size: str, folder: Path, stop: int | None) -> list[tuple[float, float]]:
    """The losses, in training and held out, after each step; none if it is to ``stop`` after one of them."""
    from xling_utils.runs import pretraining

    def report(row: dict[str, Any]) -> None:
        if row["done"] == stop:
            raise Stopped

    pretraining.CHECKPOINT_SECONDS = 0.0
    work, out = folder / "work", folder / "out"
    for path in (work, out):
        path.mkdir(parents=True, exist_ok=True)
    spec = short(size, FIRST_REPORTED_SEED, steps=COMPARED_STEPS, precision="fp32")
    try:
        pretraining.train(spec, None, work, out, report)
    except Stopped:
        return []
    return losses(out)


def in_stack(size: str, folder: Path) -> list[tuple[float, float]]:
    """The same losses of a run that is trained with two others."""
    from xling_utils.runs import stacked

    seeds = range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + 3)
    runs = {
        short(size, seed, steps=COMPARED_STEPS, precision="fp32"): (str(seed), folder / str(seed)) for seed in seeds
    }
    first, *_ = stacked.train(runs, None, lambda row: None)
    folder.mkdir(exist_ok=True)
    first.write(folder)
    return losses(folder)


def losses(out: Path) -> list[tuple[float, float]]:
    """The two losses of every row of a trace."""
    with open(out / "trace.csv", encoding="utf-8", newline="") as file:
        return [(float(row["loss"]), float(row["held_out_loss"])) for row in csv.DictReader(file)]


def pace(size: str, seeds: int, steps: int) -> tuple[float, float]:
    """The seconds that it takes to read the text of all ``seeds``, and those of a step, with its share of the trace."""
    from xling_utils.runs import pretraining, reading, stacked

    pretraining.CHECKPOINT_SECONDS = math.inf
    specs = [short(size, seed, steps=steps) for seed in range(FIRST_REPORTED_SEED, FIRST_REPORTED_SEED + seeds)]
    full = run_of(size, FIRST_REPORTED_SEED).training
    assert full
    pretraining.TRACE_ROWS = max(1, round(rows_of_a_trace() * steps / full.steps))
    began = time.perf_counter()
    texts = {spec: reading.Text(spec, None) for spec in specs}
    read = time.perf_counter() - began
    for _ in range(2):  # the first time warms up
        trainees = [pretraining.Trainee(spec, text, Path(os.devnull)) for spec, text in texts.items()]
        training = specs[0].training
        assert training
        began = time.perf_counter()
        learner = pretraining.Alone(trainees[0]) if seeds == 1 else stacked.Stack(trainees, training)
        pretraining.learn(trainees, learner, training, lambda row: None)
        seconds = time.perf_counter() - began
    return read, seconds / steps


@cache
def rows_of_a_trace() -> int:
    """Before any measurement changed it."""
    from xling_utils.runs import pretraining

    return pretraining.TRACE_ROWS


def matrix_peak(size: int) -> float:
    """Operations a second: the best of several products of bfloat16 matrices, as training computes them here."""
    import torch
    from accelerate import Accelerator

    from xling_utils.models import precision

    x = torch.randn(size, size, dtype=torch.bfloat16, device=Accelerator().device)

    def seconds() -> float:
        began = time.perf_counter()
        with precision.casting(x.dtype, x.device):
            arrived(precision.linear(x, x))
        return time.perf_counter() - began

    return 2 * size**3 / min(seconds() for _ in range(PEAK_REPEATS))


def arrived(tensor: Tensor) -> None:
    """Waits until it has been computed."""
    tensor[:1].tolist()


def deep(model: EncoderSpec, steps: int, batch: int) -> tuple[float, int]:
    """Tokens a second of ``model`` in bfloat16, and the operations of one as ``chapters`` counts them."""
    import numpy as np
    from tokenizers import Tokenizer, models

    from xling_utils.models.tokenization import FIRST, SEP, TokenStream
    from xling_utils.runs import pretraining, reading

    class Drawn(reading.Text):
        """Random tokens in sentences of thirty."""

        def __init__(self) -> None:
            ids = np.random.default_rng(0).integers(FIRST, BERT_VOCABULARY, 300_000).astype(np.int32)
            starts = np.arange(0, len(ids), 30)
            ids[starts[1:] - 1] = SEP
            inside, documents = np.zeros(len(ids), bool), np.zeros(len(starts), np.int64)
            self.streams = {"en": TokenStream(ids, starts, documents, inside, (FIRST, BERT_VOCABULARY))}
            self.size, self.extras, self.tokenizer = BERT_VOCABULARY, {}, Tokenizer(models.WordPiece())

        def held_out(self) -> dict[str, TokenStream]:
            return self.streams

        def check(self) -> None:
            """Nothing was read."""

    pretraining.CHECKPOINT_SECONDS, pretraining.TRACE_ROWS, pretraining.HELD_OUT_BATCHES = math.inf, 1, 1
    training = TrainingSpec(steps, batch, model.positions, learning_rate=1e-4, precision="bf16")
    spec = replace(run_of("controlled", FIRST_REPORTED_SEED), model=model, training=training)
    spec = replace(spec, corpus=replace(spec.corpus, languages=("en",)))
    seconds = []
    for _ in range(2):  # the first time warms up
        trainee = pretraining.Trainee(spec, Drawn(), Path(os.devnull))
        pretraining.learn([trainee], pretraining.Alone(trainee), training, lambda row: None)
        seconds.append(trainee.seconds)
    return steps * batch * model.positions / seconds[-1], chapters.operations(model, spec, BERT_VOCABULARY)


if __name__ == "__main__":
    main()
