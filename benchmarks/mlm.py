"""Masked language modelling: this package's training beside the ``transformers`` Trainer, tokens a second.

    python benchmarks/mlm.py           # the controlled base model
    python benchmarks/mlm.py --deep    # 12 layers x 256

Both sides train one model (English and French) on one token stream, cut to the same inputs in
the same order, from the same weights, with fused AdamW at the same settings; no dropout, evaluation, log or file.
This side is ``pretraining.train`` as the book calls it. The Trainer's is ``BertForMaskedLM`` with
``DataCollatorForLanguageModeling``, once as it comes (fed dictionaries of lists, clipping gradients, looking for
infinite losses) and once tuned: spared all of that, which this side does not do either, and given this side's
settings of the memory allocator.

Every trainer is a child process that warms up and then waits; this process lets one side at a time train for a
window of seconds, both sides in turn. A configuration of two processes trains two runs at once, as the book
does. The best window of each side counts.
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
from collections.abc import Mapping
from contextlib import ExitStack, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _machine import machine

from xling_utils import chapters
from xling_utils.core.scales import FIRST_REPORTED_SEED, scale
from xling_utils.core.specs import EncoderSpec, RunSpec
from xling_utils.core.startup import KEEP_MEMORY
from xling_utils.runs.compute import usable_cores
from xling_utils.runs.worker import THREAD_VARIABLES

if TYPE_CHECKING:
    from torch import Tensor

    from xling_utils.runs.batches import Batches

SIDES = ("defaults", "trainer", "here", "trainer in bf16", "here in bf16")
"""The Trainer as it comes, the Trainer with all that costs time and has no counterpart here switched off, and us, in
single precision; then the latter two in bfloat16."""
CONFIGURATIONS = ((1, 1), (1, 2), (2, 1))
"""Processes at once, threads of each."""
DEEP = EncoderSpec(layers=12, width=256, heads=4, intermediate=1024, positions=32)
STEPS = 1_000_000
"""Nobody gets there: windows end, not runs. The first evaluation would come after a fiftieth of it."""
TRAINER_BATCHES = 1000
"""Batches that the Trainer's data set holds; it starts over behind the last."""
WARM_UP_SECONDS = 1.0
PEAK_SIZE, PEAK_REPEATS = 2048, 20


def main() -> None:
    """Prints one markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tiny model, one process, half a second")
    parser.add_argument("--deep", action="store_true", help="12 layers x 256")
    parser.add_argument("--child", choices=(*SIDES, "peak"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child == "peak":
        print(json.dumps(peak()))
    elif args.child:
        child(args.child, run_of(args.quick, args.deep))
    else:
        compare(args.quick, args.deep)


def compare(quick: bool, deep: bool) -> None:
    """Measures all configurations that this machine has the cores for, and prints the table."""
    spec, repeats, seconds = run_of(quick, deep), 1 if quick else 3, 0.5 if quick else 8.0
    sizes = [flag for flag, on in (("--quick", quick), ("--deep", deep)) if on]
    assert spec.training and isinstance(spec.model, EncoderSpec)
    length, batch = spec.training.length, spec.training.batch
    wanted = CONFIGURATIONS[:1] if quick else CONFIGURATIONS
    configurations = [(p, t) for p, t in wanted if p * t <= usable_cores()]
    load = os.getloadavg()[0]
    peaks = {cores: measured_peak(cores) for cores in {p * t for p, t in configurations}}
    speeds: dict[tuple[str, int, int], list[float]] = {}
    with ExitStack() as stack:
        trainers: dict[tuple[str, int], list[subprocess.Popen[str]]] = {}
        for side in SIDES:
            for threads in {t for _, t in configurations}:
                number = max(p for p, t in configurations if t == threads)
                trainers[side, threads] = [start(side, threads, sizes, stack) for _ in range(number)]
        everyone = [trainer for group in trainers.values() for trainer in group]
        vocabulary = {answer(trainer)["vocabulary"] for trainer in everyone}.pop()
        for _ in range(repeats):
            for processes, threads in configurations:
                for side in SIDES:
                    group = trainers[side, threads][:processes]
                    steps = window(group, seconds)
                    speeds.setdefault((side, processes, threads), []).append(steps * batch * length)
    operations = chapters.operations(spec.model, spec, vocabulary)
    print(f"{machine()}; load average before: {load:.1f}.\n")
    print(
        f"{spec.model.layers} layers x {spec.model.width}, {vocabulary:,} pieces, inputs of {length} tokens, "
        f"batch {batch}: {operations / 1e6:.2f} M operations a token. Windows of {seconds:g} s, best of {repeats}.\n"
    )
    print(
        "| processes x threads | Trainer as it comes, tokens/s | tuned | here | here / as it comes | here / tuned "
        "| tuned in bf16 | here in bf16 | here / tuned, both bf16 | here in bf16 / as it comes in fp32 "
        "| matrix peak, GFLOP/s | here, GFLOP/s | share of peak |"
    )
    print("|---" * 13 + "|")
    best = {key: max(values) for key, values in speeds.items()}
    for processes, threads in configurations:
        plain, tuned, ours, tuned16, ours16 = (best[side, processes, threads] for side in SIDES)
        done, possible = ours * operations / 1e9, peaks[processes * threads] / 1e9
        print(
            f"| {processes} x {threads} | {plain:,.0f} | {tuned:,.0f} | {ours:,.0f} | {ours / plain:.2f} "
            f"| {ours / tuned:.2f} | {tuned16:,.0f} | {ours16:,.0f} | {ours16 / tuned16:.2f} | {ours16 / plain:.2f} "
            f"| {possible:.0f} | {done:.1f} | {done / possible:.0%} |"
        )
    spread = max(1 - min(values) / max(values) for values in speeds.values())
    print(f"\nThe slowest window of a configuration was at most {spread:.0%} below its best.")


def run_of(quick: bool, deep: bool) -> RunSpec:
    """The base run of the controlled scale, or its encoder grown ``deep``, without an end; in single precision and with
    AdamW for all weights, which is what the Trainer has too."""
    chosen = scale("smoke" if quick else "controlled")
    spec = chosen.bert(("en", "fr"), chosen.sentences[-1], FIRST_REPORTED_SEED)
    assert spec.training
    model = DEEP if deep else spec.model
    return replace(spec, model=model, training=replace(spec.training, steps=STEPS, hidden_rate=0.0, precision=""))


def environment(threads: int, memory: Mapping[str, str]) -> dict[str, str]:
    """For a child on the CPU with that many threads and those settings of the memory allocator."""
    own = {"ACCELERATE_USE_CPU": "true", "HF_HUB_OFFLINE": "1"}
    return {**memory, **os.environ} | own | dict.fromkeys(THREAD_VARIABLES, str(threads))


def measured_peak(threads: int) -> float:
    """Floating point operations a second of a large float32 matrix product on that many threads."""
    command = [sys.executable, __file__, "--child", "peak"]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment(threads, {}))
    return json.loads(run.stdout)


def start(side: str, threads: int, sizes: list[str], stack: ExitStack) -> subprocess.Popen[str]:
    """A trainer that answers once it is warm; it ends when its standard input closes, with ``stack``."""
    command = [sys.executable, __file__, "--child", side, *sizes]
    return stack.enter_context(
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(threads, {} if side == "defaults" else KEEP_MEMORY),
        )
    )


def window(group: list[subprocess.Popen[str]], seconds: float) -> float:
    """Lets the trainers run at once; their steps a second, summed."""
    for trainer in group:
        assert trainer.stdin
        trainer.stdin.write(f"{seconds}\n")
        trainer.stdin.flush()
    return sum(found["steps"] / found["seconds"] for found in map(answer, group))


def answer(trainer: subprocess.Popen[str]) -> dict[str, Any]:
    """The trainer's next line."""
    assert trainer.stdout
    line = trainer.stdout.readline()
    if not line:
        raise SystemExit(f"mlm: a trainer ended with {trainer.wait()} before it answered; its error is above")
    return json.loads(line)


# In the child processes.


def peak() -> float:
    """The best of several products."""
    import torch

    x = torch.randn(PEAK_SIZE, PEAK_SIZE)
    best = math.inf
    for _ in range(PEAK_REPEATS):
        began = time.perf_counter()
        x @ x
        best = min(best, time.perf_counter() - began)
    return 2 * PEAK_SIZE**3 / best


def child(side: str, spec: RunSpec) -> None:
    """Trains in windows that standard input asks for, one line of seconds each, until it closes."""
    windows = Windows()
    with redirect_stdout(sys.stderr), tempfile.TemporaryDirectory() as folder:
        if side.endswith("bf16"):
            assert spec.training
            spec = replace(spec, training=replace(spec.training, precision="bf16"))
        if side.startswith("here"):
            train_here(spec, Path(folder), windows)
        else:
            train_with_trainer(spec, Path(folder), windows, tuned=side != "defaults")


class Windows:
    """Counts steps and answers on standard output at the end of each window, the warm-up first."""

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}
        self.steps, self.began, self.seconds = 0, math.nan, WARM_UP_SECONDS

    def step(self) -> None:
        """Called behind every step; blocks between windows."""
        now = time.perf_counter()
        if math.isnan(self.began):
            self.began = now
            return
        self.steps += 1
        if now - self.began < self.seconds:
            return
        found = self.facts | {"steps": self.steps, "seconds": now - self.began}
        print(json.dumps(found), file=sys.__stdout__, flush=True)
        line = sys.stdin.readline()
        if not line:
            sys.exit()
        self.steps, self.began, self.seconds = 0, time.perf_counter(), float(line)


def train_here(spec: RunSpec, folder: Path, windows: Windows) -> None:
    """The book's training, up to its end by ``windows``."""
    from xling_utils.runs import pretraining

    pretraining.CHECKPOINT_SECONDS = math.inf
    windows.facts["vocabulary"] = spec.tokenizer.size
    pretraining.train(spec, None, folder, folder, lambda row: windows.step())


def train_with_trainer(spec: RunSpec, folder: Path, windows: Windows, *, tuned: bool) -> None:
    """The same run by the Trainer: ``tuned``, or with its default clipping, checks and inputs."""
    import torch
    from transformers import (
        BertForMaskedLM,
        DataCollatorForLanguageModeling,
        PreTrainedTokenizerFast,
        Trainer,
        TrainerCallback,
        TrainingArguments,
    )

    from xling_utils import corpora
    from xling_utils.models import encoder, tokenization, transformers_format
    from xling_utils.models.optimizers import ADAM_BETAS
    from xling_utils.runs.batches import Batches

    training = spec.training
    assert training and isinstance(spec.model, EncoderSpec)
    texts = corpora.load(spec.corpus, None)
    tokenizer = tokenization.build(spec.tokenizer, texts)
    streams = {language: tokenization.Coder(tokenizer).stream(text) for language, text in texts.items()}
    size = tokenizer.get_vocab_size()
    windows.facts["vocabulary"] = size
    torch.manual_seed(spec.seed)  # the first weights of the other side
    transformers_format.save(encoder.Encoder(spec.model, size), folder)
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    special = dict(zip(names, tokenization.SPECIAL, strict=True))
    collator = DataCollatorForLanguageModeling(
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special), mlm_probability=training.mask_rate
    )

    class Steps(TrainerCallback):
        def on_step_end(self, *args: Any, **kwargs: Any) -> None:
            windows.step()

    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=training.steps,
        per_device_train_batch_size=training.batch,
        train_sampling_strategy="sequential",
        learning_rate=training.learning_rate,
        warmup_steps=round(training.warmup * training.steps),
        optim="adamw_torch_fused",
        adam_beta1=ADAM_BETAS[0],
        adam_beta2=ADAM_BETAS[1],
        weight_decay=training.weight_decay,
        max_grad_norm=0.0 if tuned else 1.0,
        logging_strategy="no",
        logging_nan_inf_filter=not tuned,
        save_strategy="no",
        eval_strategy="no",
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
        use_cpu=True,
        bf16=training.precision == "bf16",
        seed=spec.seed,
    )
    tensors = uncorrupted(Batches(streams, training, spec.seed))
    inputs = tensors if tuned else [{"input_ids": tensor.tolist()} for tensor in tensors]
    model = BertForMaskedLM.from_pretrained(folder)
    Trainer(model, arguments, collator, inputs, callbacks=[Steps()]).train()


def uncorrupted(batches: Batches) -> list[Tensor]:
    """The inputs that this side trains on, in order, before their masking: single tensors without a mask of
    special tokens, which the collator handles in half the time that it takes for the dictionaries it asks for."""
    import numpy as np
    import torch

    rows: list[Tensor] = []
    for step in range(TRAINER_BATCHES):
        batch = batches(step)
        np.put_along_axis(batch.ids, batch.positions, batch.labels, axis=1)
        rows += torch.from_numpy(batch.ids).unbind()
    return rows


if __name__ == "__main__":
    main()
