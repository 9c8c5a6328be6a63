"""What several chapters ask for is trained together; what fails there is left to its chapter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xling_utils import chapters
from xling_utils.book.recording import EVERY_RUN
from xling_utils.chapters.together import ahead
from xling_utils.core.errors import UserError
from xling_utils.measures import names, pool
from xling_utils.runs import ensuring
from xling_utils.runs.compute import Compute

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


def test_longer_measures_begin_first() -> None:
    asked = [((("a",), task), Path()) for task in (names.WORDS, names.LANGUAGE_MEANS, "NLI")]
    assert min(asked, key=pool._longest_first)[0][1] == names.LANGUAGE_MEANS


def test_ensure_takes_longest_runs_first() -> None:
    from xling_utils.core.scales import scale
    from xling_utils.core.specs import LANGUAGES

    sizes = scale("controlled")
    runs = [sizes.bert(("en", "fr"), 1_500, 1), sizes.joint(LANGUAGES, 1), sizes.untrained(("en", "fr"), 1_500, 1)]
    assert sorted(runs, key=ensuring._work, reverse=True) == [runs[1], runs[0], runs[2]]
