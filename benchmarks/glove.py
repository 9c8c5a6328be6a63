"""GloVe: this package beside the C program of the method's authors, on the same counts.

    git clone https://github.com/stanfordnlp/GloVe
    python benchmarks/glove.py GloVe

The C program is built in its checkout (``make``) unless it is there already. Both sides read the same token
stream, by default 2 M tokens drawn here: Zipfian words, half of them bound to the topic of their sentence.
Both run at the same width, window, weighting, learning rate, number of passes and threads; runs alternate and
the best of each side counts. Seconds are wall clock: the whole ``glove`` process, and all of ``fit_glove``,
with the cutting into batches. The loss is that of the final parameters, in double precision for both.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from xling_utils.models.static_vectors import LEARNING_RATE, SEP, X_MAX, Glove, cooccurrences, fit_glove, glove_loss

SENTENCE = 20
TOPICS = 50


def main() -> None:
    """Prints two markdown tables: counting, and training."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, nargs="?", help="a checkout of github.com/stanfordnlp/GloVe")
    parser.add_argument("--ids", type=Path, help="a token stream as .npy (int32), instead of the drawn one")
    parser.add_argument("--tokens", type=int, default=2_000_000)
    parser.add_argument("--vocabulary", type=int, default=8_000)
    parser.add_argument("--window", type=int, default=5)
    parser.add_argument("--widths", type=int, nargs="+", default=[64, 300])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    if args.checkout is None:
        print("skipped: name a checkout of github.com/stanfordnlp/GloVe: python benchmarks/glove.py GloVe")
        return

    programs = build(args.checkout)
    ids = np.load(args.ids) if args.ids else draw_text(args.tokens, args.vocabulary)
    size = max(args.vocabulary, int(ids.max()) + 1)
    print(f"`python {' '.join(sys.argv)}`\n\n{machine()}; {len(ids):,} tokens, window {args.window}.\n")
    with tempfile.TemporaryDirectory() as folder:
        peer = Peer(programs, Path(folder), ids, size)
        seconds = []
        for _ in range(args.repeats):
            theirs = peer.count(args.window)
            start = time.perf_counter()
            counts = cooccurrences(ids, size, args.window)
            seconds.append((theirs, time.perf_counter() - start))
        if peer.pairs() != counts.nnz:
            raise SystemExit(f"the C program counts {peer.pairs()} pairs, this package {counts.nnz}")
        theirs, ours = (min(side) for side in zip(*seconds, strict=True))
        print("| counting | C `cooccur` + `shuffle` | here | ratio |\n|---|---|---|---|")
        print(f"| {counts.nnz:,} pairs | {theirs:.1f} s | {ours:.1f} s | {theirs / ours:.1f} |\n")
        print("| width | threads | C pairs/s | here pairs/s | ratio | C s | here s | C loss | here loss |")
        print("|---|---|---|---|---|---|---|---|---|")
        for width in args.widths:
            for threads in args.threads:
                print(compare(peer, counts, width, threads, args.passes, args.repeats), flush=True)
    print(f"\n{args.passes} passes, best of {args.repeats}, load average afterwards {os.getloadavg()[0]:.1f}.")


def compare(peer: Peer, counts: csr_matrix, width: int, threads: int, passes: int, repeats: int) -> str:
    """One row of the table."""
    theirs, ours = [], []
    for seed in range(1, repeats + 1):
        theirs.append(peer.train(width, passes, threads, seed))
        start = time.perf_counter()
        model = fit_glove(counts, width, passes, seed, threads=threads)
        ours.append((time.perf_counter() - start, model))
    (c_seconds, c_loss), (seconds, loss) = (
        (min(s for s, _ in runs), np.mean([glove_loss(counts, model) for _, model in runs])) for runs in (theirs, ours)
    )
    c_speed, speed = (counts.nnz * passes / s / 1e6 for s in (c_seconds, seconds))
    return (
        f"| {width} | {threads} | {c_speed:.2f} M | {speed:.2f} M | {speed / c_speed:.1f} | {c_seconds:.1f} "
        f"| {seconds:.1f} | {c_loss:.5f} | {loss:.5f} |"
    )


class Peer:
    """The C program, fed through files in ``folder``."""

    def __init__(self, programs: Path, folder: Path, ids: np.ndarray, size: int) -> None:
        self.programs, self.folder, self.size = programs, folder, size
        words = ["\n" if i == SEP else f"{i} " for i in range(size)]
        (folder / "text").write_text("".join(words[i] for i in ids.tolist()), encoding="ascii")
        counts = np.bincount(ids, minlength=size)
        counts[SEP] = 0
        self.order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        lines = (f"{i} {counts[i]}\n" for i in self.order)
        (folder / "vocabulary").write_text("".join(lines), encoding="ascii")

    def count(self, window: int) -> float:
        """Writes the shuffled co-occurrences; returns the seconds."""
        start = time.perf_counter()
        options = ["-memory", "2", "-window-size", str(window), "-vocab-file", "vocabulary"]
        self._run("cooccur", options, "text", "counts")
        self._run("shuffle", ["-memory", "2", "-seed", "1"], "counts", "shuffled")
        return time.perf_counter() - start

    def pairs(self) -> int:
        """The co-occurrences written: records of two ints and a double."""
        return (self.folder / "shuffled").stat().st_size // 16

    def train(self, width: int, passes: int, threads: int, seed: int) -> tuple[float, Glove]:
        """The seconds of the whole process, and the parameters it wrote."""
        options = {
            "input-file": "shuffled",
            "vocab-file": "vocabulary",
            "save-file": "vectors",
            "vector-size": width,
            "iter": passes,
            "threads": threads,
            "seed": seed,
            "x-max": X_MAX,
            "eta": LEARNING_RATE,
            "binary": 1,
        }
        start = time.perf_counter()
        self._run("glove", [text for name, value in options.items() for text in (f"-{name}", str(value))])
        seconds = time.perf_counter() - start
        written = np.fromfile(self.folder / "vectors.bin").reshape(2, len(self.order), width + 1)
        parameters = np.zeros((2, self.size, width + 1))
        parameters[:, self.order] = written
        words, contexts = parameters
        return seconds, Glove(words[:, :-1], contexts[:, :-1], words[:, -1], contexts[:, -1])

    def _run(self, program: str, options: list[str], source: str = os.devnull, target: str = os.devnull) -> None:
        with open(self.folder / source, "rb") as stdin, open(self.folder / target, "wb") as stdout:
            command = [str(self.programs / program), "-verbose", "0", *options]
            subprocess.run(command, cwd=self.folder, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, check=True)


def build(checkout: Path) -> Path:
    """The folder of the C programs, built where they are missing."""
    if not (checkout / "src" / "glove.c").is_file():
        raise SystemExit(f"{checkout}: no checkout of github.com/stanfordnlp/GloVe (no src/glove.c); clone it")
    programs = (checkout / "build").resolve()
    if not (programs / "glove").is_file():
        subprocess.run(["make"], cwd=checkout, check=True, stdout=subprocess.DEVNULL)
    return programs


def draw_text(tokens: int, vocabulary: int) -> np.ndarray:
    """Sentences of 20 words, Zipfian; every other rare word is moved to the sentence's topic."""
    rng = np.random.default_rng(0)
    shape = (tokens // (SENTENCE + 1), SENTENCE)
    first, words = SEP + 2, vocabulary - SEP - 2
    share = np.cumsum(1 / (np.arange(words) + 2.7))
    drawn = np.searchsorted(share / share[-1], rng.random(shape))
    topical = np.minimum(drawn // TOPICS * TOPICS + rng.integers(TOPICS, size=(len(drawn), 1)), words - 1)
    drawn = np.where((rng.random(shape) < 0.5) & (drawn > 2 * TOPICS), topical, drawn) + first
    return np.pad(drawn, ((0, 0), (0, 1)), constant_values=SEP).ravel().astype(np.int32)


def machine() -> str:
    """The processor's name, where the system tells it, and the number of cores."""
    names = Path("/proc/cpuinfo")
    lines = names.read_text(encoding="utf-8").splitlines() if names.is_file() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")
    return f"{model or platform.processor() or platform.machine()}, {os.cpu_count()} cores"


if __name__ == "__main__":
    main()
