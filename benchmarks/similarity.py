"""CKA of all layer pairs of two encoders, beside the matrix products alone that it needs; and a rotation.

    python benchmarks/similarity.py

Two sets of random states, float32, of 12 layers x 768 for 10,000 sentences each, as if the encoders had been read
already. One side is ``similarity.cka_of_layers``; the other forms the same products of features by numpy (every layer
of the one with every layer of the other, and each with itself) into one buffer and does nothing else. Both run in
turn in one process, and the median of each counts.

A rotation (``alignment.procrustes``) between one layer of each stands beside its product of features, in double
precision as it is, and the decomposition of that, by numpy and scipy.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from _machine import machine
from scipy.linalg import svd

from xling_utils.measures.metrics.cka import cka_of_layers
from xling_utils.measures.metrics.procrustes import procrustes
from xling_utils.runs.compute import usable_cores

Array = npt.NDArray[np.float32]


def main() -> None:
    """Prints one markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two layers x 64, once")
    parser.add_argument("--layers", type=int, default=12, help="fewer take less time; the ratio hardly depends on it")
    args = parser.parse_args()
    layers, width, sentences, repeats = (2, 64, 500, 1) if args.quick else (args.layers, 768, 10_000, 3)
    load, rng = os.getloadavg()[0], np.random.default_rng(0)
    x, y = (rng.standard_normal((layers, sentences, width), dtype=np.float32) for _ in "xy")
    sides: dict[str, Callable[[], object]] = {
        "products": lambda: products(x, y),
        "cka": lambda: cka_of_layers([(x, y)]),
        "debiased": lambda: cka_of_layers([(x, y)], debiased=True),
        "decomposed": lambda: svd(x[0].astype(np.float64).T @ y[0].astype(np.float64)),
        "rotation": lambda: procrustes(x[0], y[0]),
    }
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, side in sides.items():
            began = time.perf_counter()
            side()
            seconds[name].append(time.perf_counter() - began)
    bare, plain, debiased, decomposed, rotation = (statistics.median(found) for found in seconds.values())
    # Gram matrices are symmetric: half their operations are enough.
    operations = (layers * layers + layers) * 2 * sentences * width * width
    print(f"{machine()}; {usable_cores()} cores usable; load average before: {load:.1f}.\n")
    print(f"2 x {layers} layers x {width}, {sentences:,} sentences; median of {repeats}.\n")
    print("| CKA | products alone, s | GFLOP/s | all of it, s | ratio |\n|---|---|---|---|---|")
    for name, whole in (("plain", plain), ("debiased", debiased)):
        print(f"| {name} | {bare:.3g} | {operations / bare / 1e9:.0f} | {whole:.3g} | {whole / bare:.2f} |")
    print("\n| rotation of | product and decomposition, s | all of it, s | ratio |\n|---|---|---|---|")
    print(f"| {sentences:,} x {width} | {decomposed:.3g} | {rotation:.3g} | {rotation / decomposed:.2f} |")


def products(x: Array, y: Array) -> None:
    """Every layer of ``x`` (layers, n, d) with every one of ``y`` and each with itself, features by features."""
    found = np.empty((x.shape[2], y.shape[2]), dtype=np.float32)
    for one in x:
        for other in y:
            np.matmul(one.T, other, out=found)
    for layer in (*x, *y):
        np.matmul(layer.T, layer, out=found)


if __name__ == "__main__":
    main()
