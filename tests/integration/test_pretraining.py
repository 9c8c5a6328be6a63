"""Training end to end on made text: what a run writes, and that no interruption changes a bit of it."""

from __future__ import annotations

import csv
import json
import math
import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from datasets import Dataset
from safetensors.numpy import load_file

from tests.faults import PATIENCE
from xling_utils import corpora
from xling_utils.core.errors import UserError
from xling_utils.core.scales import RECIPE, scale
from xling_utils.core.specs import CorpusSpec, EncoderSpec, Form, RunSpec, StaticSpec, TokenizerSpec
from xling_utils.models import encoder, parameters, precision, static_vectors, tokenization, transformers_format
from xling_utils.runs import checkpoints, pretraining, reading, store
from xling_utils.runs.batches import Batches
from xling_utils.runs.pretraining import train

SIZE = 120
RUN = replace(
    scale("smoke").bert(("en", "ru"), 60, seed=3),
    corpus=CorpusSpec("controlled", ("en", "ru"), 60, 3),
    tokenizer=TokenizerSpec("wordpiece", SIZE),
    training=replace(RECIPE, steps=20, batch=16),
)
EXACT = replace(RUN, training=replace(RUN.training, precision=""))
APART = replace(EXACT, model=EncoderSpec(2, 16, 2, 32, 32, separate_embeddings=True, separate_blocks=1))
LETTERS = {"en": "abcdefghijklm", "ru": "абвгдежзийклм"}


def made_text(spec: CorpusSpec, data: Path | None, *, form: Form = "lower", held_out: bool = False) -> Any:
    """Words whose probabilities fall off, so that there is something to learn."""
    texts = {}
    for number, language in enumerate(spec.languages):
        rng = np.random.default_rng([spec.seed, number, held_out])
        lexicon = ["".join(np.random.default_rng(i).choice(list(LETTERS[language]), 1 + i % 5)) for i in range(40)]
        lines = [" ".join(lexicon[min(i, 39)] for i in rng.geometric(0.15, 7)) for _ in range(100)]
        texts[language] = Dataset.from_dict({"text": lines, "document": list(range(100))})
    return texts


@pytest.fixture(autouse=True)
def made_world(monkeypatch, one_thread):
    monkeypatch.setattr(corpora, "load", made_text)


class Interrupted(Exception):
    pass


def trained(
    folder: Path, spec: RunSpec = RUN, stop: int | None = None, data: Path | None = None
) -> tuple[Path, dict[str, Any], list[dict[str, Any]]]:
    """The run's folder, its extras and its reports; raises Interrupted after step ``stop``."""
    reports = []

    def report(row: dict[str, Any]) -> None:
        reports.append(row)
        if row["done"] == stop:
            raise Interrupted

    work, out = folder / "work", folder / "out"
    for path in (work, out):
        path.mkdir(parents=True, exist_ok=True)
    extras = train(spec, data, work, out, report)
    return out, extras, reports


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[Path, dict[str, Any], list[dict[str, Any]]]:
    """The run, never interrupted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpora, "load", made_text)
        torch.set_num_threads(1)
        return trained(tmp_path_factory.mktemp("whole"))


def bits(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir() if path.name != store.TRACE_FILE}


def trace(out: Path) -> list[dict[str, float]]:
    with open(out / store.TRACE_FILE, encoding="utf-8", newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def losses(out: Path) -> list[tuple[float, float, float]]:
    return [(row["step"], row["loss"], row["held_out_loss"]) for row in trace(out)]


def test_files_reports_and_extras(whole):
    out, extras, reports = whole
    assert sorted(p.name for p in out.iterdir()) == [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "trace.csv",
    ]
    assert reports == [{"done": n, "total": 20, "tokens": n * 16 * 24} for n in range(21)]
    assert extras["tokens"] == 20 * 16 * 24 and extras["vocabulary"] == SIZE
    assert extras["parameters"] == parameters.parameter_count(RUN.model, SIZE)
    assert set(extras["corpus_tokens"]) == {"en", "ru"} and extras["seconds"] > 0
    json.dumps(extras)


def test_the_trace_tells_the_losses(whole):
    """The first row is the loss of the initial weights; the last held-out loss that of the stored model."""
    out = whole[0]
    rows = trace(out)
    assert [row["step"] for row in rows] == list(range(1, 21))
    assert [row["tokens"] for row in rows] == [n * 16 * 24 for n in range(1, 21)]
    tokenizer = tokenization.load(out / "tokenizer.json")

    def mean_loss(model: encoder.Encoders, held_out: bool, seed: int, count: int) -> float:
        texts = made_text(RUN.corpus, None, held_out=held_out)
        streams = {language: tokenization.Coder(tokenizer).stream(text) for language, text in texts.items()}
        batches = Batches(streams, RUN.training, seed)
        with torch.no_grad(), precision.casting(precision.of(RUN.training), torch.device("cpu")):
            found = [model(**{n: torch.from_numpy(a) for n, a in batches(i).arrays().items()}) for i in range(count)]
        return float(sum(found)) / count

    torch.manual_seed(RUN.seed)
    first = encoder.Encoders(RUN.model, SIZE, RUN.corpus.languages)
    assert rows[0]["loss"] == pytest.approx(mean_loss(first, False, RUN.seed, 1), abs=1e-5)
    assert rows[0]["loss"] == pytest.approx(math.log(SIZE), abs=0.7)
    last = mean_loss(
        transformers_format.load_all(out, RUN.model, RUN.corpus.languages), True, 0, pretraining.HELD_OUT_BATCHES
    )
    assert rows[-1]["held_out_loss"] == pytest.approx(last, abs=1e-5)
    assert rows[-1]["held_out_loss"] < rows[0]["held_out_loss"] - 0.5


def test_a_long_trace_has_few_rows_and_each_is_the_mean_since_the_last(tmp_path, whole, monkeypatch):
    monkeypatch.setattr(pretraining, "TRACE_ROWS", 6)
    rows = losses(trained(tmp_path)[0])
    single = [loss for _, loss, _ in losses(whole[0])]
    assert [row[0] for row in rows] == [4, 8, 12, 16, 20]
    for number, row in enumerate(rows):
        assert row[1] == pytest.approx(np.mean(single[4 * number : 4 * number + 4]), abs=1e-9)


@pytest.mark.parametrize("seed", [RUN.seed, 2**32 - 1])
def test_what_a_step_draws_is_drawn_again_after_a_stop_and_never_held_out(seed, tmp_path, monkeypatch):
    spec = replace(RUN, seed=seed)
    plain, shares = encoder.Encoder.embed, []

    def dropped(self, ids, segments=None):
        assert self.training == torch.is_grad_enabled()
        x = plain(self, ids, segments)
        kept = torch.nn.functional.dropout(x, 0.2, self.training)
        shares.append((kept == 0).float().mean().item())
        return kept

    monkeypatch.setattr(encoder.Encoder, "embed", dropped)
    out = trained(tmp_path / "whole", spec)[0]
    assert len(set(shares)) > RUN.training.steps and 0 in shares
    monkeypatch.setattr(pretraining, "CHECKPOINT_SECONDS", 0.0)
    with pytest.raises(Interrupted):
        trained(tmp_path / "stopped", spec, stop=9)
    again = trained(tmp_path / "stopped", spec)[0]
    assert bits(again) == bits(out) and losses(again) == losses(out)


def test_the_same_run_gives_the_same_bits_and_another_seed_others(tmp_path, whole):
    again = trained(tmp_path / "again")[0]
    assert bits(again) == bits(whole[0]) and losses(again) == losses(whole[0])
    other = trained(tmp_path / "other", replace(RUN, seed=4))[0]
    assert bits(other)["tokenizer.json"] == bits(again)["tokenizer.json"]
    assert bits(other)["model.safetensors"] != bits(again)["model.safetensors"]


def test_transformers_reads_the_run(whole):
    from transformers import BertForMaskedLM, PreTrainedTokenizerFast

    out = whole[0]
    theirs = BertForMaskedLM.from_pretrained(out, local_files_only=True).eval()
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(out / "tokenizer.json"))
    line = made_text(RUN.corpus, None)["ru"]["text"][0]
    ids = tokenizer(line, add_special_tokens=False)["input_ids"]
    assert ids == tokenization.load(out / "tokenizer.json").encode(line, add_special_tokens=False).ids
    ours = transformers_format.load(out)
    with torch.no_grad():
        batch = torch.tensor([[tokenization.CLS, *ids, tokenization.SEP]])
        logits = ours.logits(ours.hidden_states(batch)[-1])
        torch.testing.assert_close(logits, theirs(batch).logits, atol=1e-5, rtol=0)


@pytest.mark.parametrize("stops", [(1,), (19,), (7, 8, 9), (3, 10, 16)])
@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_a_run_stopped_at_any_step_ends_in_the_same_bits(stops, seconds, tmp_path, whole, monkeypatch):
    monkeypatch.setattr(pretraining, "CHECKPOINT_SECONDS", seconds)
    for stop in stops:
        with pytest.raises(Interrupted):
            trained(tmp_path, stop=stop)
    out, _, reports = trained(tmp_path)
    assert bits(out) == bits(whole[0]) and losses(out) == losses(whole[0])
    if not seconds:
        assert reports[0]["done"] == max(stops)


def test_without_time_for_a_checkpoint_the_run_starts_again(tmp_path, whole, monkeypatch):
    monkeypatch.setattr(pretraining, "CHECKPOINT_SECONDS", math.inf)
    with pytest.raises(Interrupted):
        trained(tmp_path, stop=15)
    assert not list((tmp_path / "work").glob("checkpoint-*"))
    out, _, reports = trained(tmp_path)
    assert reports[0]["done"] == 0 and bits(out) == bits(whole[0])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def change_step(path: Path) -> None:
    """Damage that still is valid JSON."""
    path.write_text(path.read_text().replace('"step": 12', '"step": 10'))


DAMAGE = {
    "bit of the state": (flip, checkpoints.STATE_FILE),
    "truncated state": (cut, checkpoints.STATE_FILE),
    "empty state": (lambda path: path.write_bytes(b""), checkpoints.STATE_FILE),
    "missing state": (Path.unlink, checkpoints.STATE_FILE),
    "truncated meta": (cut, checkpoints.META_FILE),
    "other step": (change_step, checkpoints.META_FILE),
    "missing meta": (Path.unlink, checkpoints.META_FILE),
}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory) -> Path:
    """The run stopped after step 12, with checkpoints of steps 11 and 12."""
    folder = tmp_path_factory.mktemp("stopped")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Interrupted):
        patch.setattr(corpora, "load", made_text)
        patch.setattr(pretraining, "CHECKPOINT_SECONDS", 0.0)
        torch.set_num_threads(1)
        trained(folder, stop=12)
    return folder


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(damage, stopped, tmp_path, whole):
    shutil.copytree(stopped, tmp_path, dirs_exist_ok=True)
    names = sorted(p.name for p in (tmp_path / "work").iterdir())
    assert names == ["checkpoint-00000011", "checkpoint-00000012"]
    harm, file = DAMAGE[damage]
    harm(tmp_path / "work" / "checkpoint-00000012" / file)
    with pytest.warns(UserWarning, match="checkpoint-00000012 cannot be used"):
        out, _, reports = trained(tmp_path)
    assert reports[0]["done"] == 11
    assert bits(out) == bits(whole[0]) and losses(out) == losses(whole[0])


def test_with_every_checkpoint_damaged_the_run_starts_again(stopped, tmp_path, whole):
    shutil.copytree(stopped, tmp_path, dirs_exist_ok=True)
    for path in (tmp_path / "work").glob(f"*/{checkpoints.STATE_FILE}"):
        flip(path)
    with pytest.warns(UserWarning, match="cannot be used") as caught:
        out, _, reports = trained(tmp_path)
    assert sum("cannot be used" in str(warning.message) for warning in caught) == 2
    assert reports[0]["done"] == 0 and bits(out) == bits(whole[0])


def test_a_checkpoint_of_other_tensors_is_passed_over(stopped, tmp_path, whole):
    """As an earlier version of the package may have left one, whole and under the same key."""
    shutil.copytree(stopped, tmp_path, dirs_exist_ok=True)
    for path in (tmp_path / "work").glob("checkpoint-*"):
        meta = json.loads((path / checkpoints.META_FILE).read_text())
        tensors = load_file(path / checkpoints.STATE_FILE)
        older = {name.replace("words", "embeddings"): torch.from_numpy(value) for name, value in tensors.items()}
        assert set(older) != set(tensors)
        del meta["sha256"]
        checkpoints.save(tmp_path / "work", meta.pop("step"), older, meta)
    with pytest.warns(UserWarning, match="another encoder"):
        out, _, reports = trained(tmp_path)
    assert reports[0]["done"] == 0 and bits(out) == bits(whole[0])


def with_meta(work: Path, **changed: Any) -> None:
    """Makes the newest checkpoint one with other ``changed`` values; ``None`` removes one."""
    path = sorted(work.glob("checkpoint-*"))[-1]
    meta = json.loads((path / checkpoints.META_FILE).read_text()) | changed
    del meta["sha256"]
    tensors = {name: torch.from_numpy(value) for name, value in load_file(path / checkpoints.STATE_FILE).items()}
    kept = {name: value for name, value in meta.items() if value is not None and name != "step"}
    checkpoints.save(work, meta["step"], tensors, kept)


def test_a_run_that_went_on_has_the_seconds_of_all_sessions(stopped, tmp_path, whole):
    work = tmp_path / "work"
    shutil.copytree(stopped, tmp_path, dirs_exist_ok=True)
    meta = json.loads((work / "checkpoint-00000012" / checkpoints.META_FILE).read_text())
    assert min(meta["seconds"], meta["cpu_seconds"], *meta["around"].values()) > 0
    with_meta(work, seconds=5e6, cpu_seconds=4e6, around={"seconds": 2e6, "cpu_seconds": 1e6})
    out, extras, reports = trained(tmp_path)
    assert reports[0]["done"] == 12 and bits(out) == bits(whole[0])
    assert 5e6 < extras["training_seconds"] < 5.1e6 and 4e6 < extras["training_cpu_seconds"] < 4.1e6
    assert 7e6 < extras["seconds"] < 7.1e6 and 5e6 < extras["cpu_seconds"] < 5.1e6


def test_a_checkpoint_without_the_seconds_around_training_is_used(stopped, tmp_path, whole):
    """As the first version of the package wrote them."""
    shutil.copytree(stopped, tmp_path, dirs_exist_ok=True)
    with_meta(tmp_path / "work", seconds=5e6, cpu_seconds=None, around=None)
    out, extras, reports = trained(tmp_path)
    assert reports[0]["done"] == 12 and bits(out) == bits(whole[0])
    assert extras["seconds"] >= extras["training_seconds"] > 5e6
    assert extras["cpu_seconds"] >= extras["training_cpu_seconds"] > 0


def test_a_checkpoint_half_written_is_never_seen(stopped, tmp_path, whole):
    shutil.copytree(stopped, tmp_path, dirs_exist_ok=True)
    draft = tmp_path / "work" / ".checkpoint"
    draft.mkdir()
    (draft / checkpoints.STATE_FILE).write_bytes(b"half")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        out, _, reports = trained(tmp_path)
    assert reports[0]["done"] == 12 and bits(out) == bits(whole[0])


def train_and_tell(folder: Path, steps: Any, last: int | None) -> None:
    """In a process of its own: a checkpoint after every step, and word of it; behind step ``last`` it waits."""

    def tell(row: dict[str, Any]) -> None:
        steps.send(row["done"])
        if row["done"] == last:
            threading.Event().wait()

    torch.set_num_threads(1)
    corpora.load = made_text  # type: ignore[assignment]
    pretraining.CHECKPOINT_SECONDS = 0.0
    copied = set(sys.modules)  # of a process that other tests in this one may have started
    train(RUN, None, folder / "work", folder / "out", tell)
    imported = set(sys.modules) - copied
    assert not {"torch._dynamo", "torch.distributed.tensor"} & imported, "more than a second, and for nothing"


def test_killed_at_random_moments_the_run_ends_in_the_same_bits(tmp_path, whole):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["xling_utils.runs.pretraining", "accelerate", "datasets", "pytest"])
    seed = int(np.random.default_rng().integers(2**32))
    print(f"seed {seed}")  # pytest shows it where this fails
    rng = np.random.default_rng(seed)
    for name in ("work", "out"):
        (tmp_path / name).mkdir()
    kills, reached, exit_code = 0, 0, None
    while exit_code != 0:
        here, there = context.Pipe(duplex=False)
        wanted = reached + int(rng.integers(1, 7))
        child = context.Process(target=train_and_tell, args=(tmp_path, there, wanted + 2 if wanted < 18 else None))
        child.start()
        there.close()
        try:
            while reached < wanted:
                reached = here.recv()
            time.sleep(rng.uniform(0, 0.04))  # anywhere in a step, or in its checkpoint
            if wanted < 18:
                child.kill()
                kills += 1
        except EOFError:
            pass  # the run has ended
        child.join(PATIENCE)
        exit_code = child.exitcode
        assert exit_code in (0, -9)
    assert kills >= 2
    assert bits(tmp_path / "out") == bits(whole[0]) and losses(tmp_path / "out") == losses(whole[0])


def rank(folders: list[str]) -> None:
    """One of the processes that ``torchrun`` starts."""
    from accelerate import PartialState

    assert PartialState(cpu=True).num_processes == 2
    corpora.load = made_text  # type: ignore[assignment]
    for spec, folder in zip((EXACT, APART, RUN, RUN), map(Path, folders), strict=True):
        train(spec, None, folder / "work", folder / "out", lambda row: None)


def test_two_processes_give_the_losses_of_one(stopped, tmp_path, whole):
    """From the start, and going on from what one process left: in single precision to its last digits but one, with
    separate parts too, in bfloat16, which has eight binary digits, to a thousandth."""
    exact, apart, fresh, resumed = (tmp_path / name for name in ("exact", "apart", "fresh", "resumed"))
    for folder in (exact, apart, fresh):
        for name in ("work", "out"):
            (folder / name).mkdir(parents=True)
    shutil.copytree(stopped, resumed)
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    variables = {**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
    variables["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
    child = subprocess.run(
        [*launch, __file__, *map(str, (exact, apart, fresh, resumed))],
        env=variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert child.returncode == 0, child.stderr[-2000:]
    one = losses(trained(tmp_path / "one", EXACT)[0])
    np.testing.assert_allclose(losses(exact / "out"), one, atol=1e-5, rtol=0)
    assert losses(exact / "out") != one  # sums in another order: two did take part
    one = losses(trained(tmp_path / "one apart", APART)[0])  # of two languages, each process reads one
    np.testing.assert_allclose(losses(apart / "out"), one, atol=1e-5, rtol=0)
    for folder in (fresh, resumed):
        np.testing.assert_allclose(losses(folder / "out"), losses(whole[0]), atol=2e-3, rtol=0)
        assert bits(folder / "out")["tokenizer.json"] == bits(whole[0])["tokenizer.json"]


def test_snapshots_are_models_of_their_steps(tmp_path, whole, monkeypatch):
    monkeypatch.setattr(pretraining, "CHECKPOINT_SECONDS", 0.0)
    spec = replace(RUN, training=replace(RUN.training, snapshots=3))
    with pytest.raises(Interrupted):
        trained(tmp_path, spec, stop=9)
    out = trained(tmp_path, spec)[0]
    names = sorted(p.name for p in (out / store.SNAPSHOTS).iterdir())
    assert names == [f"{step:08d}.safetensors" for step in (7, 13, 20)]
    first, last = (transformers_format.load(out, f"{store.SNAPSHOTS}/{name}") for name in (names[0], names[-1]))
    final = transformers_format.load(whole[0])
    same = [torch.equal(a, b) for a, b in zip(last.parameters(), final.parameters(), strict=True)]
    assert all(same) and not torch.equal(first.words.weight, final.words.weight)


def test_the_untrained_model_is_where_training_starts(tmp_path):
    out, extras, reports = trained(tmp_path / "untrained", replace(RUN, training=None))
    assert sorted(p.name for p in out.iterdir()) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert extras["tokens"] == 0 and not reports
    still = replace(RUN, training=replace(RUN.training, steps=2, learning_rate=0.0, hidden_rate=0.0))
    assert bits(trained(tmp_path / "still", still)[0]) == bits(out)


@pytest.mark.parametrize("method", ["word2vec", "glove"])
def test_static_vectors_share_the_tokenizer(method, tmp_path, whole):
    spec = replace(RUN, model=StaticSpec(method, width=8, window=3, epochs=2), training=None)
    out, extras, reports = trained(tmp_path, spec)
    vectors = load_file(out / store.VECTORS_FILE)["vectors"]
    assert vectors.shape == (SIZE, 8) and vectors.dtype == np.float32 and np.isfinite(vectors).all()
    assert bits(out)["tokenizer.json"] == bits(whole[0])["tokenizer.json"]
    assert extras["parameters"] == 8 * SIZE
    assert extras["tokens"] == 2 * sum(whole[1]["corpus_tokens"].values())
    assert reports[-1]["done"] == reports[-1]["total"]


@pytest.mark.parametrize("own", ["markers", "specials"])
@pytest.mark.parametrize("across", [False, True])
def test_static_vectors_know_every_separator(own, across, tmp_path, monkeypatch):
    model = StaticSpec("glove", width=8, window=3, epochs=1, across_sentences=across)
    spec = replace(RUN, model=model, training=None, tokenizer=replace(RUN.tokenizer, **{own: True}))
    read, glove = [], static_vectors.train_glove
    monkeypatch.setattr(static_vectors, "train_glove", lambda ids, *rest: read.append(ids) or glove(ids, *rest))
    vectors = load_file(trained(tmp_path, spec)[0] / store.VECTORS_FILE)["vectors"]
    streams = reading.Text(spec, None).streams.values()
    separators = [stream.separator for stream in streams]
    assert len({static_vectors.SEP, *separators}) > 1, "a language has its own"
    (ids,) = read
    assert ids.dtype == np.int32 and np.count_nonzero(ids == static_vectors.SEP) == 200, "a sentence is a document"
    assert not vectors[[static_vectors.SEP, *separators]].any()


def test_the_cased_vocabulary_gets_cased_text(tmp_path, monkeypatch):
    asked = []

    def load(spec: CorpusSpec, data: Path | None, *, form: Form = "lower", held_out: bool = False) -> Any:
        asked.append((form, held_out))
        return made_text(spec, data)

    monkeypatch.setattr(corpora, "load", load)
    path = tmp_path / "data" / "vocab" / "bert-base-multilingual-cased.vocab.txt"
    path.parent.mkdir(parents=True)
    letters = [*LETTERS["en"], *LETTERS["ru"]]
    path.write_text("\n".join([*letters, *(f"##{letter}" for letter in letters)]), encoding="utf-8")
    spec = replace(RUN, tokenizer=TokenizerSpec("mbert", 0), training=replace(RUN.training, steps=1))
    trained(tmp_path / "cased", spec, data=tmp_path / "data")
    trained(tmp_path / "lower", replace(RUN, training=spec.training))
    assert asked == [("cased", False), ("cased", True), ("lower", False), ("lower", True)]


def test_inputs_longer_than_the_positions_are_refused(tmp_path):
    with pytest.raises(UserError, match="40 tokens, 32 positions"):
        trained(tmp_path, replace(RUN, training=replace(RUN.training, length=40)))


if __name__ == "__main__":
    rank(sys.argv[1:])


@pytest.mark.parametrize(
    "model",
    [
        EncoderSpec(2, 16, 2, 32, 32, separate_embeddings=True, separate_blocks=1),
        EncoderSpec(2, 16, 2, 32, 32, next_sentence=True),
    ],
    ids=["separate", "next sentence"],
)
def test_other_encoders_stop_and_go_on_too(tmp_path, monkeypatch, model):
    spec = replace(RUN, model=model, training=replace(RUN.training, steps=6, snapshots=0))
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder in (whole, parts):
        (folder / "out").mkdir(parents=True)
    monkeypatch.setattr(pretraining, "CHECKPOINT_SECONDS", 0.0)
    pretraining.train(spec, None, whole, whole / "out", lambda event: None)

    class Stop(Exception):
        pass

    def stop(event: dict) -> None:
        if event["done"] == 3:
            raise Stop

    with pytest.raises(Stop):
        pretraining.train(spec, None, parts, parts / "out", stop)
    pretraining.train(spec, None, parts, parts / "out", lambda event: None)
    files = sorted(path.relative_to(whole) for path in whole.glob("out/**/*.safetensors"))
    assert len(files) == (2 if model.separate_embeddings else 1)
    for file in files:
        assert (whole / file).read_bytes() == (parts / file).read_bytes()


def test_snapshots_of_separate_encoders_are_refused(tmp_path):
    spec = replace(RUN, model=replace(RUN.model, separate_embeddings=True), training=replace(RUN.training, snapshots=2))
    with pytest.raises(UserError, match="snapshots are kept of encoders that all languages share"):
        pretraining.train(spec, None, tmp_path, tmp_path, lambda event: None)
