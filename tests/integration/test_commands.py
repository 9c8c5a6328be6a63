"""What the README and the book tell readers to type does what they say, as it is written there; each command once."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from pybtex.database import Entry, parse_file, parse_string
from typer.main import get_command

from tests import blocks, scratch, smoke
from tests.blocks import Block
from xling_utils.cli.main import app
from xling_utils.runs.store import RunStore

BLOCKS = blocks.blocks()
RUN = ("sh", "python")
DATA = ("text", "bibtex")
"""Blocks that are nothing to run: layouts of folders and files, entries of a bibliography."""
ELSEWHERE = {
    "make test": "this run is part of it",
    "make soak": "the weekly workflow",
    "pip install --group measuring && pip install --no-deps -e .": "test_recording.py, with these packages alone",
    ".venv/bin/xling bench gpu": "test_benchmarks.py, as the script",
    ".venv/bin/xling probe MODEL --data DIR --languages fr,zh": "test_report_card.py",
    ".venv/bin/xling probe MODEL --data DIR --languages fr,zh --chapters": "test_probe.py",
    ".venv/bin/xling probe MODEL --data DIR --languages fr,zh --aligned NAME": "test_probe.py",
    "xling run 02_window_size 03_overlap 04_architecture --records-only"
    " -p languages '[de, ru, hi, zh, fr]' -p first_seed 35 --seeds 4": "test_recording.py, with one chapter",
    "xling run 02_window_size 03_overlap 04_architecture --records-only --scale natural --data DIR"
    " -p languages '[hi]' -p first_seed 43 --seeds 1": "test_recording.py, with one chapter",
    ".venv/bin/xling run 05_language_means --scale natural --data DIR"
    " -p languages '[fr, zh]' -p aligned NAME": "test_probe.py",
}
"""Lines of blocks, and which other test executes them."""
EXERCISES = {path.relative_to(blocks.ROOT).as_posix() for path in blocks.NOTEBOOKS}
"""Their solutions have a test of their own: test_exercises.py."""
UNTESTED = {"it installs gigabytes of CUDA libraries": 1}
"""Reasons why blocks say of themselves that no test runs them, and how many do."""
MADE = ("TEXT", "FILE", "text.tar.xz")
"""What commands of one page make, and those of the next make again."""
USAGE = re.compile(r"\[[^\]]*\]|\.\.\.")
NUMBERS = {"N": "11", "S": "controlled"}
"""For placeholders of commands in sentences."""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Its runs of the controlled world are there; the commands train those of real text."""
    place = tmp_path_factory.mktemp("documented")
    environment = scratch.make(place)
    for language, seeds in (("fr", 3), ("de", 1)):
        smoke.table(RunStore(place / "runs"), "02_window_size", (language,), seeds, "headline")
    return place, environment


def runnable() -> list[tuple[Block, list[str]]]:
    """Blocks to run here, and their commands but for those that another test, or a block before, executes."""
    seen = {_plain(command) for block in BLOCKS if block.page in blocks.OWN_TESTS for command in block.commands}
    seen |= {_plain(command) for command in ELSEWHERE}
    chosen = []
    for block in BLOCKS:
        if block.kind in RUN and not block.untested and block.page not in EXERCISES:
            if commands := [command for command in block.commands if _plain(command) not in seen]:
                chosen.append((block, commands))
            seen |= {_plain(command) for command in commands if block.kind == "sh"}
    return chosen


def _plain(command: str) -> str:
    return command.removeprefix(".venv/bin/")


@pytest.mark.parametrize(("block", "commands"), runnable(), ids=[str(block) for block, _ in runnable()])
def test_a_block_of_commands_runs(block: Block, commands: list[str], book: tuple[Path, dict[str, str]]) -> None:
    place, environment = book
    if "data pack" in block.text:
        for name in MADE:
            subprocess.run(["rm", "-rf", place / name], check=True)
    if block.kind == "python":
        command, text = [sys.executable, "-"], block.text
    else:
        command = ["bash", "-eu", "-o", "pipefail"]
        text = "\n".join(commands)
    done = subprocess.run(
        command, input=text, cwd=place, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"


def test_every_block_is_run_or_says_why_not() -> None:
    assert not [str(block) for block in BLOCKS if block.kind not in RUN + DATA], "neither a command nor data"
    untested = [block.untested for block in BLOCKS if block.untested]
    assert {reason: untested.count(reason) for reason in untested} == UNTESTED


def test_pages_with_tests_of_their_own_have_them() -> None:
    for page, tests in blocks.OWN_TESTS.items():
        assert (blocks.ROOT / page).exists() == (blocks.ROOT / tests).exists(), f"{page} and {tests}"


def test_what_other_tests_execute_is_still_written_somewhere() -> None:
    assert set(ELSEWHERE) <= {command for block in BLOCKS for command in block.commands}


@pytest.mark.parametrize("command", sorted({command for _, command in blocks.quoted()}))
def test_a_command_in_a_sentence_is_one(command: str) -> None:
    arguments = shlex.split(USAGE.sub("", command).replace("-p NAME VALUE", "-p name value"))[1:]
    known, parsed = get_command(app), []
    while hasattr(known, "commands"):
        assert arguments and arguments[0] in known.commands, f"{command}: no such command"
        parsed.append(arguments[0])
        known = known.commands[arguments.pop(0)]
    arguments = [NUMBERS.get(word, word) for word in arguments]
    if "--help" not in arguments:
        known.make_context(" ".join(parsed), arguments, resilient_parsing=not arguments)


def test_entries_for_a_bibliography_are_those_of_the_book() -> None:
    ours = parse_file(str(blocks.ROOT / "book/references.bib")).entries
    shown = {key: entry for block in BLOCKS if block.kind == "bibtex" for key, entry in parse(block.text).items()}
    assert set(shown) - set(ours) == {"xling2026"}, "the book itself"
    for key in set(shown) & set(ours):
        for field in ("title", "eprint", "doi", "pages", "booktitle"):
            assert shown[key].fields.get(field) == ours[key].fields.get(field), f"{key}: {field}"
        assert shown[key].persons == ours[key].persons, key


def parse(text: str) -> dict[str, Entry]:
    return dict(parse_string(text, "bibtex").entries)
