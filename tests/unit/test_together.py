"""What several chapters ask for is trained together; what fails there is left to its chapter."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from xling_utils import chapters
from xling_utils.book.recording import EVERY_RUN
from xling_utils.chapters.together import ahead
from xling_utils.core import startup
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale
from xling_utils.core.specs import LANGUAGES, RunSpec
from xling_utils.measures import names, pool
from xling_utils.runs import ensuring, keys
from xling_utils.runs.compute import Compute
from xling_utils.runs.processes import Task
from xling_utils.runs.store import RunStore

CHAPTERS = ("02_window_size", "03_overlap")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The kinds of training that ``ensure`` was asked for, a set a call."""
    calls: list[set[str]] = []

    def ensure(specs: Any, **_: Any) -> Any:
        calls.append({str(spec.corpus.changes) + str(spec.training) for spec in specs})
        raise UserError("one of them is a mistake")

    monkeypatch.setattr(pool, "ensure", ensure)
    return calls


def plans(**changes: Any) -> dict[str, dict[str, Any]]:
    return {chapter: EVERY_RUN | {"scale": "smoke", "languages": ["fr"], "seeds": 1} | changes for chapter in CHAPTERS}


def test_the_runs_of_all_chapters_are_asked_for_at_once(asked: list[set[str]]) -> None:
    said: list[str] = []
    ahead(plans(), said.append)
    (together,) = asked
    for chapter in CHAPTERS:
        with pytest.raises(UserError, match="mistake"):
            chapters.table(chapter, "smoke", ["fr"], 1, "all")
    assert asked[1] < together and asked[2] < together and asked[1] | asked[2] == together
    assert said == [
        "training and measuring what 2 chapters lack",
        "not all of it could be done; the chapters concerned will say why",
    ]


def test_one_chapter_another_scale_or_a_probe_does_it_by_itself(asked: list[set[str]]) -> None:
    first, second = CHAPTERS
    ahead({first: plans()[first]}, pytest.fail)
    ahead({first: plans()[first], second: plans(scale="controlled")[second]}, pytest.fail)
    ahead(plans(model="a folder"), pytest.fail)
    ahead(plans(live="none"), pytest.fail)
    assert asked == []


def test_runs_are_divided_over_as_many_processes_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    divided: list[int] = []

    def ensure(specs: Any, *, compute: Compute, **_: Any) -> Any:
        divided.append(compute.processes)
        raise UserError("enough")

    monkeypatch.setattr(pool, "ensure", ensure)
    notebooks = {chapter: {k: v for k, v in given.items() if k != "processes"} for chapter, given in plans().items()}
    for asked in (plans(processes=3), notebooks):
        ahead(asked, lambda line: None)
    with pytest.raises(UserError, match="enough"):
        chapters.table(CHAPTERS[0], "smoke", ["fr"], 1, "all", Compute(processes=2))
    assert divided == [3, 1, 2]


def test_longer_measures_begin_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    begun = []

    class Measuring(ThreadPoolExecutor):
        def __init__(self, *_: Any, **__: Any) -> None:
            super().__init__(1)

        def submit(self, measure: Any, keys: Any, task: Any, /, *_: Any, **__: Any) -> Any:
            begun.append(task)
            return super().submit(int)

    monkeypatch.setattr(pool, "ProcessPoolExecutor", Measuring)
    monkeypatch.setattr(pool, "_started", lambda _: multiprocessing)
    asked = {(("a",), task): tmp_path for task in (names.WORDS, names.LANGUAGE_MEANS, "NLI", names.CONTEXTUAL)}
    pool._measure_all(asked, scale("smoke"), tmp_path, Compute())
    assert begun == [names.LANGUAGE_MEANS, names.CONTEXTUAL, names.WORDS, "NLI"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes are not copied")
def test_processes_that_measure_keep_their_memory_and_the_caller_its_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: dict[str, str] = {}
    monkeypatch.setattr(pool.forkserver, "ensure_running", lambda: started.update(os.environ))
    monkeypatch.setenv("MALLOC_TOP_PAD_", "0")
    before = dict(os.environ)
    pool._started(())
    assert started == startup.KEEP_MEMORY | before and os.environ == before


def test_ensure_takes_longest_runs_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    taken: list[RunSpec] = []

    def train(groups: Sequence[Sequence[Task]], *_: Any) -> None:
        taken.extend(task.spec for group in groups for task in group)
        raise InterruptedError

    monkeypatch.setattr(ensuring, "_train_here", train)
    monkeypatch.setattr(keys, "_fingerprint", lambda *_: "text")
    sizes = scale("controlled")
    runs = [sizes.bert(("en", "fr"), 1_500, 1), sizes.joint(LANGUAGES, 1), sizes.untrained(("en", "fr"), 1_500, 1)]
    with pytest.raises(InterruptedError):
        ensuring.ensure(runs, store=RunStore(tmp_path), progress=False)
    assert taken == [runs[1], runs[0], runs[2]]


def test_what_is_told_of_some_runs_of_a_stack_is_not_told_of_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told: list[tuple[str, int]] = []

    class Bar:
        def event(self, key: str, event: dict[str, Any]) -> None:
            told.append((key, event["done"]))

        def finished(self, key: str) -> None:
            told.append((key, -1))

    def train(trainer: Any, group: Any, on_event: Any) -> None:
        on_event({"event": "progress", "done": 1, "keys": ["b"]})
        on_event({"event": "progress", "done": 2})

    monkeypatch.setattr(ensuring.Trainer, "train", train)
    spec = scale("smoke").bert(("en", "fr"), 60, 1)
    stack = [Task(spec, key, RunStore(tmp_path), None, 1, 1, "a") for key in "ab"]
    assert ensuring._train_here([stack], 1, [], None, Bar()) == {}  # type: ignore[arg-type]
    assert told == [("b", 1), ("a", 2), ("b", 2), ("a", -1), ("b", -1)]
