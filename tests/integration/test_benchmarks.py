"""The benchmark scripts run and print their tables; what they measure is not judged here. Those that take longest, and
that no page tells readers to run, are for `make soak`."""

import math
import os
import re
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import smoke
from tests.given import DATA, real

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def run(script: str, *arguments: str, folder: Path) -> str:
    """What ``script`` prints, started in ``folder``; all of it has to be markdown."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "TMPDIR": str(folder)}
    command = [sys.executable, str(BENCHMARKS / f"{script}.py"), *arguments]
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert ended.returncode == 0, ended.stderr
    assert not list(folder.glob("tmp*")), "a benchmark leaves its temporary files behind"
    return ended.stdout


@pytest.fixture
def run_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The same of a script that trains, in this process; the processes that it starts itself are real."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.setenv("XLING_STORE", str(tmp_path))  # one of them names another
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)

    def call(script: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", [script, *arguments])
        with smoke.in_this_process():
            runpy.run_path(str(BENCHMARKS / f"{script}.py"), run_name="__main__")
        assert not list(tmp_path.glob("tmp*")), "a benchmark leaves its temporary files behind"
        return capsys.readouterr().out

    return call


def table(text: str) -> list[dict[str, str]]:
    """The rows of the one table in ``text``, by column."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    head, rule, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    assert set(rule) == {"---"} and all(len(row) == len(head) == len(rule) for row in rows)
    return [dict(zip(head, row, strict=True)) for row in rows]


def number(cell: str) -> float:
    return float(cell.replace(",", "").rstrip("%"))


@pytest.mark.soak
def test_mlm(run_here: Callable[..., str]) -> None:
    text = run_here("mlm", "--quick")
    assert re.search(r"cores, .* torch \d.* transformers \d.* commit ", text)
    (row,) = table(text)
    assert row["processes x threads"] == "1 x 1"
    ours = number(row["here"])
    for theirs, ratio in (("Trainer as it comes, tokens/s", "here / as it comes"), ("tuned", "here / tuned")):
        assert number(row[ratio]) == pytest.approx(ours / number(row[theirs]), abs=0.01)
    assert 0 <= number(row["share of peak"]) <= 100


def test_base_run(run_here: Callable[..., str]) -> None:
    rows = table(run_here("base_run", "--quick"))
    assert [(row["scale"], row["recipe"]) for row in rows] == [("smoke", "earlier"), ("smoke", "today's")]
    for row in rows:
        assert number(row["of all steps"]) >= 0 and number(row["of preparation"]) >= 0  # a fast machine rounds to none
        for kind in ("plain", "centred"):
            assert number(row[f"{kind} at the end"]) > 0
            reached = row["CPU-seconds to plain" if kind == "plain" else "to centred"]
            assert reached == "not reached" or 0 <= number(reached) <= number(row["of all steps"])


def test_real_text(run_here: Callable[..., str]) -> None:
    (row,) = table(run_here("real_text", "--quick"))
    assert (row["English with"], len(row)) == ("fr", 10)
    assert 0 < int(row["spelt unlike"]) < int(row["words"])
    for name in ("layer 0", "layer 2", "spelt unlike, layer 1", "untrained, layer 1"):
        value, interval = map(float, row[name].split(" ± "))
        assert value > 0 and interval >= 0
    assert "skipped: name a directory" in run_here("real_text")


def test_without_words(run_here: Callable[..., str]) -> None:
    rows = {row["the rule sees"]: row for row in table(run_here("without_words", "--quick"))}
    told = {
        name: {key: number(cell) for key, cell in row.items() if len(key) == 2 and cell} for name, row in rows.items()
    }
    assert told["counts"].keys() == told["lengths"].keys() == {"en", "fr", "es", "de", "ru", "hi", "zh"}
    assert told["the words of the premise"].keys() == told["the words of the hypothesis"].keys() == {"en"}
    assert min(told["counts"].values()) > 0.5 > told["the words of the hypothesis"]["en"], "a guess is right in a third"


def test_without_real_text_nothing_is_reproduced(run_here: Callable[..., str]) -> None:
    assert "skipped: name a directory" in run_here("reproduced")


@real()
def test_reproduced(run_here: Callable[..., str]) -> None:
    (row,) = table(run_here("reproduced", "--quick", "--data", str(DATA), "01_data_size"))
    assert row["chapter"] == "01_data_size" and number(row["rows"]) > 10
    assert number(row["largest difference"]) < 0.01  # processors round differently


def test_chapters(run_here: Callable[..., str]) -> None:
    text = run_here("chapters", "--quick", "02_window_size")
    found = re.findall(r"^\| (\S+) " + 5 * r"\| (\d+) " + r"\|$", text, re.M)
    (chapter, *counts), (together, *sums) = found
    assert (chapter, together, counts) == ("02_window_size", "together", sums)
    new_runs, training, new_tables, measuring, _ = map(int, counts)
    assert new_runs == 2 and new_tables > 2 and training >= 0 and measuring >= 0  # whole seconds
    assert re.findall(r"^\| 02_window_size \| (en-fr .*) \| \d+ \| [\d,]+ \|$", text, re.M) == [
        "en-fr bert: BERT, 600, 24", "en-fr bert: BERT, 600, 12",
    ]  # fmt: skip
    assert re.search(r"learned and tested: [\d.]+ s \(accuracy: en 0\.\d+, fr 0\.\d+\)", text)


def test_token_translation(run_here: Callable[..., str]) -> None:
    (row,) = table(run_here("token_translation", "--quick"))
    assert number(row["predictions"]) == number(row["of them the same"]) > 0
    assert number(row["ratio"]) > 0 and number(row["here, s"]) > 0


def test_retrieval_memory(tmp_path: Path) -> None:
    text = run("retrieval_memory", "--quick", folder=tmp_path)
    rows = {row["retrieval"]: row for row in table(text)}
    assert list(rows) == ["cosine", "csls", "nearest"]
    for row in rows.values():
        assert 0 < number(row["peak above them"]) <= number(row["with 200,000 sources"]) < 2
        assert number(row["all of it, s"]) > 0 and number(row["products alone, s"]) > 0 and number(row["ratio"]) > 0
    block = 4096**2 * 4 / 1024**3
    assert number(rows["cosine"]["peak above them"]) > block, "the scores of a block were not counted"


@pytest.mark.soak
def test_growth(run_here: Callable[..., str]) -> None:
    text = run_here("growth", "--quick")
    times, memory = (table(part) for part in text.split("\n\n")[1:3])
    assert [len(row["sizes"].split(", ")) for row in (*times, *memory)] == [2] * 6
    for row in times:
        assert all(number(seconds) >= 0 for seconds in row["seconds"].split(", "))
        assert math.isfinite(number(row["exponent"]))
    assert number(memory[0]["MiB"].split(", ")[0]) > 50
    assert re.search(r"Memory grows by -?\d+ bytes for each token", text)


def test_gpu(tmp_path: Path) -> None:
    kept = tmp_path / "tables.md"
    text = run("gpu", "--quick", "--cpu", "--out", str(kept), folder=tmp_path)
    assert kept.read_text(encoding="utf-8") == text and text.startswith("cpu; ")
    compared, hourly, used = (table(part) for part in text.split("\n\n")[1:])
    assert len(compared) == 4 and all(number(row["last loss"]) < number(row["first loss"]) for row in compared)
    apart = [number(row["largest difference from the CPU"]) for row in compared]
    assert apart[:3] == [0, 0, 0] and 0 < apart[3] < 1e-4, "of all ways only the stack sums in another order"
    assert [row["seeds at once"] for row in hourly] == ["1", "5"]
    one, five = (number(row["seeds an hour"]) for row in hourly)
    assert one > 0 and number(hourly[1]["times one"]) == pytest.approx(five / one, abs=0.1)
    assert number(used[0]["tokens/s"]) > 0 and 0 <= number(used[0]["share of peak"]) <= 100


def test_gpu_says_that_there_is_none(tmp_path: Path) -> None:
    assert run("gpu", folder=tmp_path) == "skipped: PyTorch finds no GPU on this machine\n"
    assert not list(tmp_path.iterdir())


def test_glove_says_what_it_needs(tmp_path: Path) -> None:
    assert run("glove", folder=tmp_path).startswith("skipped: ")


def test_the_trainer_reads_the_inputs_of_this_side(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    from xling_utils.core.specs import TrainingSpec
    from xling_utils.models.tokenization import CLS, FIRST, SEP, TokenStream
    from xling_utils.runs.batches import Batches

    monkeypatch.syspath_prepend(BENCHMARKS)
    import mlm

    monkeypatch.setattr(mlm, "TRAINER_BATCHES", 2)
    sentences = [[*range(FIRST + i, FIRST + i + 5), SEP] for i in range(20)]
    ids = np.array(sentences, dtype=np.int32).ravel()
    starts = np.arange(0, len(ids), 6)
    stream = TokenStream(ids, starts, np.zeros(20, np.int64), np.zeros(len(ids), bool), (5, 60))
    training = TrainingSpec(steps=2, batch=4, length=12, mask_rate=0.5)
    inputs = mlm.uncorrupted(Batches({"en": stream}, training, 11))
    assert len(inputs) == 8
    text = ids.tolist()
    for tensor in inputs:
        first, *tokens = tensor.tolist()
        start = text.index(tokens[0])
        assert first == CLS and any(text[s : s + 11] == tokens for s in starts if s >= start - 5)
