"""Masked language modelling from scratch, on whatever device accelerate manages; resumable at any step."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import save_file

from xling_utils.core.errors import UserError
from xling_utils.core.specs import EncoderSpec, RunSpec, StaticSpec, TrainingSpec
from xling_utils.models import optimizers, precision, static_vectors, tokenization, transformers_format
from xling_utils.models.encoder import Encoders
from xling_utils.runs import checkpoints
from xling_utils.runs.batches import Batches, sent
from xling_utils.runs.reading import Text
from xling_utils.runs.replayed import Replayed
from xling_utils.runs.spent import Spent, Stopwatch
from xling_utils.runs.store import SNAPSHOTS, TOKENIZER_FILE, TRACE_FILE, VECTORS_FILE
from xling_utils.runs.trace import Trace

if TYPE_CHECKING:
    from accelerate import Accelerator

CHECKPOINT_SECONDS = 15.0
TRACE_ROWS: int = 25
"""Rows of the loss trace at most, however long the run: for each, what is held out takes as long as a step and more."""
HELD_OUT_BATCHES: int = 4

Report = Callable[[dict[str, Any]], None]


def train(
    spec: RunSpec, data: Path | None, workdir: Path, out: Path, report: Report, key: str | None = None
) -> dict[str, Any]:
    """Trains one run and writes it to ``out``: weights, ``tokenizer.json`` and, for encoders, ``trace.csv``.

    ``workdir`` keeps checkpoints: a call that finds some continues from them, on one CPU to the same weights
    bit for bit. ``report`` receives ``{"done", "total", "tokens"}``. Under a distributed launch every rank
    calls this and the first writes. Returns ``{"tokens", "seconds", "parameters", ...}`` for the provenance, seconds
    with those of earlier calls up to the checkpoint. Raises :class:`UserError` where text changed since it had ``key``.
    """
    watch, text = Stopwatch(), Text(spec, data, key)
    if isinstance(spec.model, StaticSpec):
        extras, spent = _train_vectors(spec, spec.model, text, workdir, out, report), Spent()
        watch.lap([spent])
        return extras | spent.told()
    trainee = Trainee(spec, text, workdir)
    if spec.training and not learn([trainee], Alone(trainee), spec.training, report, watch):
        return trainee.extras
    extras = trainee.write(out)
    watch.lap([trainee.around])
    return extras | trainee.spent()


def _train_vectors(
    spec: RunSpec, model: StaticSpec, text: Text, workdir: Path, out: Path, report: Report
) -> dict[str, Any]:
    text.check()
    report({"done": 0, "total": model.epochs, "tokens": 0})
    kept = tokenization.without_inner_separators if model.across_sentences else attrgetter("ids")
    ids = np.concatenate([_closed_by_sep(kept(stream), stream.separator) for stream in text.streams.values()])
    if model.method == "word2vec":
        vectors = static_vectors.train_word2vec(ids, text.size, model, spec.seed, workdir, report)
    else:
        vectors = static_vectors.train_glove(ids, text.size, model, spec.seed, report)
    save_arrays({"vectors": vectors}, out / VECTORS_FILE)
    text.tokenizer.save(str(out / TOKENIZER_FILE))
    tokens = sum(text.extras["corpus_tokens"].values()) * model.epochs
    return text.extras | {"tokens": int(tokens), "parameters": int(vectors.size)}


def _closed_by_sep(ids: np.ndarray, separator: int) -> np.ndarray:
    return ids if separator == static_vectors.SEP else np.where(ids == separator, static_vectors.SEP, ids)


class Trainee:
    """The encoder of a run and all that its training needs: batches, optimizers, the trace so far, how many ``steps``
    were done, what is spent in ``learning`` and ``around`` it, in all sessions."""

    def __init__(self, spec: RunSpec, text: Text, workdir: Path) -> None:
        assert isinstance(spec.model, EncoderSpec)
        self.spec, self.workdir, self.tokenizer = spec, workdir, text.tokenizer
        torch.manual_seed(spec.seed)
        self.model = Encoders(spec.model, text.size, spec.corpus.languages)
        self.extras = text.extras | {"parameters": sum(p.numel() for p in self.model.parameters()), "tokens": 0}
        self.trace, self.steps, self.learning, self.around = Trace(), 0, Spent(), Spent()
        self.optimizers: list[torch.optim.Optimizer] = []
        if training := spec.training:
            if training.snapshots and len(self.model.members) > 1:
                raise UserError("training: snapshots are kept of encoders that all languages share")
            order = training.order_seed or spec.seed
            self.batches = Batches(text.streams, training, order, next_sentence=spec.model.next_sentence)
            self.tests = Batches(text.held_out(), training, 0, held_out=True)
            self.optimizers = optimizers.build(self.model.parameters(), self.model.matrices(), training)
        text.check()

    def resume(self) -> None:
        """Takes up the latest checkpoint, if there is one."""
        if found := checkpoints.latest(self.workdir, self._named()):
            tensors, meta = found
            named = {k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")}
            self.model.load_state_dict(named)
            checkpoints.restore_optimizers(self.optimizers, tensors)
            self.trace = Trace(meta["rows"], meta["total"], meta["count"])
            self.steps = meta["step"]
            # Checkpoints of earlier versions have ``seconds`` alone.
            self.learning = Spent(meta["seconds"], meta.get("cpu_seconds", 0.0))
            self.around = Spent(**meta.get("around", {}))

    def checkpoint(self) -> None:
        """Writes one."""
        # Shared weights stand under several names, and safetensors wants memory of its own for each.
        tensors = {name: value.detach().cpu().clone() for name, value in self._named().items()}
        tensors |= checkpoints.optimizer_tensors(self.optimizers)
        meta = {**vars(self.trace), **vars(self.learning), "around": vars(self.around)}
        checkpoints.save(self.workdir, self.steps, tensors, meta)

    def snapshot(self) -> None:
        """Keeps the weights as they are now."""
        folder = self.workdir / SNAPSHOTS
        folder.mkdir(parents=True, exist_ok=True)
        shared = transformers_format.to_transformers(self.model.of(self.model.languages[0]))
        save_file(shared, folder / f"{self.steps:08d}.safetensors", metadata={"format": "pt"})

    def write(self, out: Path) -> dict[str, Any]:
        """Writes the run to ``out``. Returns what is known for the provenance."""
        self.tokenizer.save(str(out / TOKENIZER_FILE))
        transformers_format.save_all(self.model, out)
        if self.spec.training:
            self.trace.write(out / TRACE_FILE)
            if self.spec.training.snapshots:
                shutil.copytree(self.workdir / SNAPSHOTS, out / SNAPSHOTS)
        return self.extras

    @property
    def seconds(self) -> float:
        """Of the clock, that its steps took."""
        return self.learning.seconds

    def spent(self) -> dict[str, float]:
        """All ``seconds`` and ``cpu_seconds`` so far, for the provenance."""
        return (self.learning + self.around).told()

    def _named(self) -> dict[str, torch.Tensor]:
        """The model's tensors under the names they have in checkpoints."""
        return {f"model.{name}": value for name, value in self.model.state_dict().items()}


class Learner(Protocol):
    """What trains one or several encoders, a step at a time."""

    accelerator: Accelerator
    optimizers: list[torch.optim.Optimizer]
    """As accelerate wraps them, where it does."""
    replays: bool
    """Whether every step does the same on a GPU, whatever the batch, and waits for nothing."""

    @property
    def model(self) -> torch.nn.Module:
        """What is switched between training and evaluation."""

    def losses(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """(encoders, rows, ...) of each tensor -> (encoders,)."""

    def hand_over(self) -> None:
        """Brings the encoders and optimizers of all trainees up to date."""


class Alone:
    """Trains one encoder, on as many processes as there are."""

    def __init__(self, trainee: Trainee) -> None:
        # A second of imports that static vectors need not pay.
        from accelerate import Accelerator, DistributedDataParallelKwargs

        one = len(trainee.model.members) == 1
        parts = DistributedDataParallelKwargs(find_unused_parameters=not one)  # a rank may lack rows of a language
        # The specification says how precise, not this machine.
        self.accelerator = Accelerator(mixed_precision="no", kwargs_handlers=[parts])
        learning = trainee.model, *trainee.optimizers
        placed = [True] * len(learning)  # else it imports, for most of a second, what tells sharded models from others
        self.model, *self.optimizers = self.accelerator.prepare(*learning, device_placement=placed)
        self.replays = one and self.accelerator.num_processes == 1 and self.accelerator.device.type == "cuda"
        trainee.resume()

    def losses(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """See :class:`Learner`."""
        return self.model(**{name: values[0] for name, values in batch.items()})[None]

    def hand_over(self) -> None:
        """The trainee's own encoder and optimizers are those that learn."""


def learn(
    trainees: Sequence[Trainee],
    learner: Learner,
    training: TrainingSpec,
    report: Report,
    watch: Stopwatch | None = None,
) -> bool:
    """Trains ``trainees``, which have all done as many steps, to their end. Returns whether it is this process that
    writes them. The seconds of each are its share of those that pass; ``watch`` runs since they were begun."""
    watch = watch or Stopwatch()
    accelerator, main = learner.accelerator, learner.accelerator.is_main_process
    device, products = accelerator.device, precision.of(training)
    shares = (accelerator.process_index, accelerator.num_processes)
    marks = {round(training.steps * (i + 1) / training.snapshots) for i in range(training.snapshots)}
    interval = -(-training.steps // TRACE_ROWS)
    tokens_a_step = training.batch * training.length
    tests = list(sent([trainee.tests for trainee in trainees], range(HELD_OUT_BATCHES), device))
    steps = range(trainees[0].steps, training.steps)
    watch.lap([trainee.around for trainee in trainees])

    def tell(done: int) -> None:
        report({"done": done, "total": training.steps, "tokens": done * tokens_a_step})

    if main:
        tell(trainees[0].steps)
    saved = time.monotonic()
    recent: list[torch.Tensor] = []  # losses stay on the device: to wait for each would leave it idle

    def backward(batch: dict[str, torch.Tensor]) -> torch.Tensor:
        with precision.casting(products, device):
            losses = learner.losses(batch)
        accelerator.backward(losses.sum())
        return losses.detach()

    if learner.replays:
        backward = Replayed(backward, learner.optimizers)

    def settle(done: int) -> None:
        watch.lap([trainee.learning for trainee in trainees])
        for trainee, losses in zip(trainees, torch.stack(recent, 1).tolist(), strict=True):
            trainee.steps = done
            for loss in losses:
                trainee.trace.total += loss
            trainee.trace.count += len(losses)
        recent.clear()

    for step, batch in zip(steps, sent([trainee.batches for trainee in trainees], steps, device, *shares), strict=True):
        # What is drawn in a step is a function of seed and step, as batches are: nothing of it has to be kept.
        torch.manual_seed((trainees[0].spec.seed << 32) + (step << 8) + accelerator.process_index)
        optimizers.set_rates(learner.optimizers, optimizers.one_cycle(training.warmup, training.steps, step))
        losses = backward(batch)
        for optimizer in learner.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        recent.append(accelerator.reduce(losses, "mean"))
        done = step + 1
        last, kept = done == training.steps, done in marks
        late = not last and time.monotonic() - saved > CHECKPOINT_SECONDS
        if done % interval == 0 or last:
            learner.model.eval()
            with precision.casting(products, device), torch.no_grad():
                held_out = torch.stack([learner.losses(test) for test in tests], 1).tolist()
            learner.model.train()
            settle(done)
            for trainee, found in zip(trainees, held_out, strict=True):
                trainee.trace.close(done, sum(found) / len(found), done * tokens_a_step, trainee.seconds)
        if main:
            if last or kept or late:
                learner.hand_over()
                if recent:
                    settle(done)
            for trainee in trainees:
                if kept:
                    trainee.snapshot()
                if late:
                    trainee.checkpoint()
            saved = time.monotonic() if late else saved
            tell(done)
    for trainee in trainees:
        trainee.extras |= {
            "tokens": training.steps * tokens_a_step,
            **trainee.learning.told("training_"),
            "tokens_per_second": round(training.steps * tokens_a_step / max(trainee.seconds, 1e-9)),
            "device": str(device),
        }
        if device.type == "cuda":
            trainee.extras["processor"] = torch.cuda.get_device_name(device)
    return main
