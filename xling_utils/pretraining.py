"""Masked language modelling from scratch, on whatever device accelerate manages; resumable at any step."""

from __future__ import annotations

import csv
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import save_file

from xling_utils import checkpoints, corpora, optimizers, static_vectors, tokenization, weights
from xling_utils.batches import Batch, Batches
from xling_utils.encoder import Encoders
from xling_utils.errors import UserError
from xling_utils.specs import EncoderSpec, RunSpec, StaticSpec, TrainingSpec

CHECKPOINT_SECONDS = 15.0
TRACE_ROWS = 50
"""Rows of the loss trace at most, however long the run."""
HELD_OUT_BATCHES = 4
VECTORS_FILE, TOKENIZER_FILE, TRACE_FILE = "vectors.safetensors", "tokenizer.json", "trace.csv"
SNAPSHOTS = "snapshots"

Report = Callable[[dict[str, Any]], None]


@dataclass
class Trace:
    """The loss curve: rows of ``step, loss, held_out_loss, tokens, seconds``; losses in nats a token."""

    rows: list[list[float]] = field(default_factory=list)
    total: float = 0.0
    count: int = 0

    def write(self, path: Path) -> None:
        """As CSV."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["step", "loss", "held_out_loss", "tokens", "seconds"])
            writer.writerows(self.rows)


def train(spec: RunSpec, data: Path | None, workdir: Path, out: Path, report: Report) -> dict[str, Any]:
    """Trains one run and writes it to ``out``: weights, ``tokenizer.json`` and, for encoders, ``trace.csv``.

    ``workdir`` keeps checkpoints: a call that finds some continues from them, on one CPU to the same weights
    bit for bit. ``report`` receives ``{"done", "total", "tokens"}``. Under a distributed launch every rank
    calls this and the first writes. Returns ``{"tokens", "seconds", "parameters", ...}`` for the provenance.
    """
    started, busy = time.monotonic(), time.process_time()
    texts = corpora.load(spec.corpus, data, form=spec.tokenizer.form)
    tokenizer = tokenization.build(spec.tokenizer, texts, data)
    coders = tokenization.coders(tokenizer, spec.tokenizer, spec.corpus.languages)
    streams = {lang: coders[lang].stream(text) for lang, text in texts.items()}
    size = tokenization.vocabulary_size(tokenizer, spec.tokenizer, spec.corpus.languages)
    counts = {lang: len(stream.ids) for lang, stream in streams.items()}
    extras: dict[str, Any] = {"vocabulary": size, "corpus_tokens": counts}
    if isinstance(spec.model, StaticSpec):
        text = tokenization.without_inner_separators if spec.model.across_sentences else attrgetter("ids")
        ids = np.concatenate([text(stream) for stream in streams.values()])
        if spec.model.method == "word2vec":
            vectors = static_vectors.train_word2vec(ids, size, spec.model, spec.seed, workdir, report)
        else:
            vectors = static_vectors.train_glove(ids, size, spec.model, spec.seed, report)
        save_arrays({"vectors": vectors}, out / VECTORS_FILE)
        extras |= {"tokens": int(sum(counts.values())) * spec.model.epochs, "parameters": int(vectors.size)}
    else:
        torch.manual_seed(spec.seed)
        model = Encoders(spec.model, size, spec.corpus.languages)
        extras["parameters"] = sum(p.numel() for p in model.parameters())
        extras["tokens"] = 0
        main = True
        if spec.training:
            texts = corpora.load(spec.corpus, data, form=spec.tokenizer.form, held_out=True)
            held_out = {lang: coders[lang].stream(text) for lang, text in texts.items()}
            extras |= _train_encoder(model, spec, spec.training, streams, held_out, workdir, report)
            main = extras.pop("main")
        if not main:
            return extras
        weights.save_all(model, out)
        if spec.training:
            shutil.copy(workdir / TRACE_FILE, out / TRACE_FILE)
            if spec.training.snapshots:
                shutil.copytree(workdir / SNAPSHOTS, out / SNAPSHOTS)
    tokenizer.save(str(out / TOKENIZER_FILE))
    spent = {"seconds": time.monotonic() - started, "cpu_seconds": time.process_time() - busy}
    return extras | {name: round(value, 2) for name, value in spent.items()}


def _train_encoder(
    model: Encoders,
    spec: RunSpec,
    training: TrainingSpec,
    streams: dict[str, tokenization.TokenStream],
    held_out: dict[str, tokenization.TokenStream],
    workdir: Path,
    report: Report,
) -> dict[str, Any]:
    from accelerate import Accelerator  # a second of imports that static vectors need not pay

    accelerator = Accelerator(mixed_precision="no")  # the specification says how precise, not this machine's settings
    if training.snapshots and len(model.members) > 1:
        raise UserError("training: snapshots are kept of encoders that all languages share")
    assert isinstance(spec.model, EncoderSpec)
    batches = Batches(streams, training, spec.seed, next_sentence=spec.model.next_sentence)
    tests = [Batches(held_out, training, 0)(i) for i in range(HELD_OUT_BATCHES)]
    mine = optimizers.build(model.parameters(), model.matrices(), training)
    wrapped, *prepared = accelerator.prepare(model, *mine)
    trace, first, before = Trace(), 0, 0.0
    if found := checkpoints.latest(workdir, _named(model)):
        tensors, meta = found
        model.load_state_dict({k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")})
        checkpoints.restore_optimizers(mine, tensors)
        trace = Trace(meta["rows"], meta["total"], meta["count"])
        first, before = meta["step"], meta["seconds"]
    marks = {round(training.steps * (i + 1) / training.snapshots) for i in range(training.snapshots)}
    interval = -(-training.steps // TRACE_ROWS)
    tokens_a_step = training.batch * training.length
    clock = saved = time.monotonic()
    busy = time.process_time()

    def seconds() -> float:
        return before + time.monotonic() - clock

    for step in range(first, training.steps):
        optimizers.set_rates(mine, optimizers.one_cycle(training.warmup, training.steps, step))
        batch = batches(step).part(accelerator.process_index, accelerator.num_processes)
        with in_precision(training, accelerator.device):
            loss = wrapped(**_tensors(batch, accelerator.device))
        accelerator.backward(loss)
        for optimizer in prepared:
            optimizer.step()
            optimizer.zero_grad()
        trace.total += float(accelerator.reduce(loss.detach(), "mean"))
        trace.count += 1
        done = step + 1
        if done % interval == 0 or done == training.steps:
            with in_precision(training, accelerator.device):
                loss_there = _held_out_loss(model, tests, accelerator.device)
            row = [done, trace.total / trace.count, loss_there, done * tokens_a_step, round(seconds(), 2)]
            trace.rows.append(row)
            trace.total, trace.count = 0.0, 0
        if accelerator.is_main_process:
            if done in marks:
                _snapshot(model, workdir, done)
            if time.monotonic() - saved > CHECKPOINT_SECONDS and done < training.steps:
                _checkpoint(model, mine, trace, workdir, done, seconds())
                saved = time.monotonic()
            report({"done": done, "total": training.steps, "tokens": done * tokens_a_step})
    if accelerator.is_main_process:
        trace.write(workdir / TRACE_FILE)
    spent = seconds()
    return {
        "main": accelerator.is_main_process,
        "tokens": training.steps * tokens_a_step,
        "training_seconds": round(spent, 2),
        "training_cpu_seconds": round(time.process_time() - busy, 2),
        "tokens_per_second": round(training.steps * tokens_a_step / max(spent, 1e-9)),
        "device": str(accelerator.device),
    }


def in_precision(training: TrainingSpec, device: torch.device) -> torch.autocast:
    """Within it products are computed as precisely as ``training`` says."""
    return torch.autocast(device.type, torch.bfloat16, enabled=training.precision == "bf16")


def _tensors(batch: Batch, device: torch.device) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array).to(device) for name, array in batch.arrays().items()}


@torch.no_grad()
def _held_out_loss(model: Encoders, tests: list[Batch], device: torch.device) -> float:
    """Mean loss over fixed batches of held-out text, in nats; the same on every process."""
    losses = [float(model(**_tensors(batch, device))) for batch in tests]
    return sum(losses) / len(losses)


def _snapshot(model: Encoders, workdir: Path, step: int) -> None:
    folder = workdir / SNAPSHOTS
    folder.mkdir(parents=True, exist_ok=True)
    shared = weights.to_transformers(model.of(model.languages[0]))
    save_file(shared, folder / f"{step:08d}.safetensors", metadata={"format": "pt"})


def _named(model: Encoders) -> dict[str, torch.Tensor]:
    """The model's tensors under the names they have in checkpoints."""
    return {f"model.{name}": value for name, value in model.state_dict().items()}


def _checkpoint(
    model: Encoders,
    mine: Sequence[torch.optim.Optimizer],
    trace: Trace,
    workdir: Path,
    step: int,
    seconds: float,
) -> None:
    # Shared weights stand under several names, and safetensors wants memory of its own for each.
    tensors = {name: value.detach().cpu().clone() for name, value in _named(model).items()}
    tensors |= checkpoints.optimizer_tensors(mine)
    meta = {"rows": trace.rows, "total": trace.total, "count": trace.count, "seconds": seconds}
    checkpoints.save(workdir, step, tensors, meta)
