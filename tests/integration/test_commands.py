"""What the README and the book tell readers to type does what they say, as it is written there."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.main import get_command

from tests import blocks, scratch
from tests.blocks import Block
from xling_utils.cli import app

BLOCKS = blocks.blocks()
RUN = ("sh", "python")
DATA = ("text", "bibtex")
"""Blocks that are nothing to run: layouts of folders and files, entries of a bibliography."""
ELSEWHERE = {
    "make test": "this run is part of it",
    "pip install --group measuring && pip install --no-deps -e .": "test_recording.py, with these packages alone",
}
"""Lines of blocks, and which other test executes them."""
UNTESTED: dict[str, int] = {}
"""Reasons why blocks say of themselves that no test runs them, and how many do."""
SERVICES = ("dask scheduler", "dask worker")
"""What runs until it is stopped, on machines of its own."""
USAGE = re.compile(r"\[[^\]]*\]|\.\.\.")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    place = tmp_path_factory.mktemp("documented")
    return place, scratch.make(place)


def runnable() -> list[Block]:
    return [block for block in BLOCKS if block.kind in RUN and not block.untested]


@pytest.mark.parametrize("block", runnable(), ids=str)
def test_a_block_of_commands_runs(block: Block, book: tuple[Path, dict[str, str]]) -> None:
    place, environment = book
    if block.kind == "python":
        command, text = [sys.executable, "-"], block.text
    else:
        command, text = ["bash", "-eu", "-o", "pipefail"], _here(block.text)
    done = subprocess.run(
        command, input=text, cwd=place, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"


def _here(text: str) -> str:
    """The commands of a block for this machine: without those that other tests execute, what stays up in the
    background, and at a free address."""
    port = _free_port()
    lines = ["trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
    for line in text.replace("HOST:8786", f"127.0.0.1:{port}").splitlines():
        command = line.partition(" #")[0].strip()
        if command in ELSEWHERE:
            continue
        if command.removeprefix(".venv/bin/").startswith(SERVICES):
            only = f"--host 127.0.0.1 --port {port} --no-dashboard" if "scheduler" in command else "--no-dashboard"
            line = f"{command} {only} &"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_every_block_is_run_or_says_why_not() -> None:
    assert not [str(block) for block in BLOCKS if block.kind not in RUN + DATA], "neither a command nor data"
    untested = [block.untested for block in BLOCKS if block.untested]
    assert {reason: untested.count(reason) for reason in untested} == UNTESTED


def test_what_other_tests_execute_is_still_written_somewhere() -> None:
    lines = {line.partition(" #")[0].strip() for block in BLOCKS for line in block.text.splitlines()}
    assert set(ELSEWHERE) <= lines


@pytest.mark.parametrize(("page", "command"), blocks.quoted(), ids=lambda value: value)
def test_a_command_in_a_sentence_is_one(page: str, command: str) -> None:
    words = shlex.split(USAGE.sub("", command))
