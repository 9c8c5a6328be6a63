"""The pages of reference say what the program says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from xling_utils import chapters
from xling_utils.chapters import records
from xling_utils.cli import reference
from xling_utils.cli.main import app

ROOT = Path(__file__).parents[2]


def test_every_column_has_a_meaning_and_no_other() -> None:
    columns = {name for chapter in chapters.MODULES for name in chapters.columns(chapter)}
    assert set(reference.MEANINGS) == columns | {"spec", *records.PROVENANCE}


def test_every_column_is_in_a_table() -> None:
    assert set(re.findall(r"^\|(?: `\w+` \|)? `(\w+)` \|", reference.columns(), re.MULTILINE)) >= set(
        reference.MEANINGS
    )


def test_every_recorded_metric_is_explained() -> None:
    recorded = {
        metric
        for chapter, scale in product(chapters.MODULES, ("controlled", "natural"))
        for metric in records.load(chapter, scale)["metric"]
    }
    page = (ROOT / "book/metrics.md").read_text(encoding="utf-8").split("(metric-names)=")[1]
    first = re.findall(r"^\| (`[^|]*`) \|", page, re.MULTILINE)
    assert recorded == {name for cell in first for name in re.findall(r"`(\w+)`", cell)}


def commands_of(command: Any, path: str = "") -> Iterator[str]:
    """Those that a group has, at any depth."""
    if not isinstance(command, TyperGroup):
        yield path
        return
    for name, each in command.commands.items():
        yield from commands_of(each, f"{path} {name}".strip())


def test_every_command_and_option_of_the_help_is_on_the_page() -> None:
    page = reference.commands(app)
    commands = re.findall(r"^## xling (.+)$", page, re.MULTILINE)
    assert sorted(commands) == sorted(commands_of(get_command(app)))
    for command in commands:
        section = page.split(f"## xling {command}\n")[1].split("\n## ")[0]
        told = CliRunner().invoke(app, [*command.split(), "--help"])
        assert told.exit_code == 0, command
        options = set(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", told.stdout)) - {"--help"}
        assert options <= set(re.findall(r"`(--?[a-z][a-z-]*)", section)), command
