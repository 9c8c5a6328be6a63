"""A thousand bad inputs: whatever stands where a command expects something, it ends soon and says so in one line.

Every place of every command gets every kind of text and file that was found to break some program. What reads files is
tried on mutated ones in `test_mutated_*.py`, which the last test counts with these.
"""

from __future__ import annotations

import io
import lzma
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.mutations import COUNTS, MARKUP, within
from tests.unit import test_mutated_book, test_mutated_data, test_mutated_runs
from tests.unit.test_cli import FIRST, MISTAKES, SECOND
from tests.unit.test_mutated_runs import BOMB
from xling_utils.book import notebooks, probing, recording
from xling_utils.cli.main import main
from xling_utils.measures.encoders import examined

TEXTS = {
    "nothing": "", "blank": " ", "a line end": "a\nb", "an escape": "\x1b[31m", "markup": MARKUP, 
    "to the left": "\u202ede",
    "no encoding": os.fsdecode(b"\xff\xfe"), "long": "x" * 5_000, "very long": "x" * 100_000, "negative": "-1",
    "zero": "0", "a fraction": "1.5", "too large": "9" * 30, "infinity": "1e999", "no number": "NaN", "true": "true",
    "null": "null", "an empty list": "[]", "a list": "[1]", "a mapping": "{a: b}", "a bomb": BOMB, "an alias": "*a",
    "an object": "!!python/object/apply:os.system [id]", "a day": "2001-99-99", "a time": "1:30:00",
    "brackets": "[" * 2_000, "a pattern": "**", "half a pattern": "[a", "a command": "$(id)", "a format": "%s%n",
    "up": "../../../../etc/passwd", "deep": "a/" * 3_000, "home": "~", "a comma": ",", "twice": "de,de", "code": "EN",
    "no scheme": "file:///etc", "half an address": "http://[::1", "a port too high": "tcp://x:99999",
    "in process": "inproc://a", "nonsense": "nonsense", "an equals sign": "=", "an option": "-q", "options": "--",
}  # fmt: skip
"""Kind -> what is typed."""
FILES: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a file": lambda path: path.write_text("x"),
    "an empty file": Path.touch,
    "no UTF-8": lambda path: path.write_bytes(b"\xff\xfe"),
    "line ends for ever": lambda path: path.write_bytes(lzma.compress(b"\n" * 30_000_000, preset=0)),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "nothing to read": lambda path: path.symlink_to("/dev/null"),
    "an empty folder": Path.mkdir,
    "a folder of pipes": lambda path: [(path / "text/en").mkdir(parents=True), os.mkfifo(path / "text/en/a.txt")],
}
"""Kind -> what lies where a path is typed."""
YAML_NULLS = ("null", "nothing", "blank", "home")
NO_LANGUAGES = ("nothing", "blank", "a comma")
FOLDERS = ("an empty folder", "a folder of pipes", "nothing")
PATHS: dict[str, tuple[str, ...]] = {
    "run 01_first --data {}": (),
    "run 01_first --scale natural --data {}": FOLDERS,
    "run 01_first -p data {}": YAML_NULLS,
    "run 01_data_size --records-only --scale paper --data {}": FOLDERS,
    "plan 02_window_size --scale natural --data {}": (),
    "plan 02_window_size --data {}": (),
    "data check {}": (),
    "data check {} --chapter 2": (),
    "data pack {} --languages fr --out out": (),
    "data unpack {} new": (),
    "data unpack some.tar.xz {}": (),
    "probe {} --data data --languages fr": (),
    "probe nowhere --data {} --languages fr": (),
}
PLACES: dict[str, tuple[str, ...]] = {
    "{}": (),
    "run {}": ("options",),
    "run 01_first --scale {}": (),
    "run 01_first --seeds {}": (),
    "run 01_first --jobs {}": (),
    "run 01_first --engine {}": (),
    "run 01_first --scheduler {}": (),
    "run 01_first -p {} 1": (),
    "run 01_first -p scale {}": (),
    "run 01_first -p languages {}": (),
    "run 01_first -p seeds {}": (),
    "run 01_first -p live {}": (),
    "run 01_first -p jobs {}": YAML_NULLS,
    "run 01_first -p engine {}": (),
    "run 01_first -p scheduler {}": YAML_NULLS,
    "run 01_first -p sentences {}": YAML_NULLS,
    "run --records-only {}": ("options",),
    "run --records-only -p first_seed {}": (),
    "run --records-only -p processes {}": (),
    "run --records-only -p {} 1": (),
    "plan {}": (),
    "plan 02_window_size --scale {}": (),
    "claims --scale {}": (),
    "claims --check-seed {}": (),
    "claims --jobs {}": (),
    "bench {}": ("options",),
    "runs {}": (),
    "runs show {}": (),
    "runs prune --keep {}": (),
    "data {}": (),
    "data check data --chapter {}": (),
    "data check data --languages {}": NO_LANGUAGES,
    "data pack data --out out --languages {}": (),
    "probe nowhere --data data --languages {}": (),
    "probe nowhere --data data --languages fr --pooling {}": (),
    "probe nowhere --data data --languages fr --aligned {}": (),
    "probe nowhere@{} --data data --languages fr": (),
    "run --{}": ("nothing",),
    "data check data --{}": ("nothing",),
}
"""Places in commands, and the kinds that are no mistake there."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A book, a directory of text and an archive, none of which is reached: nothing is executed or measured."""
    for name in [name for name in os.environ if name.startswith("XLING_")]:
        monkeypatch.delenv(name)
    (tmp_path / "_toc.yml").write_text("")
    (tmp_path / "_config.yml").write_text("title: x")
    (tmp_path / "notebooks").mkdir()
    first = FIRST.replace("rate = 0.1", "rate = 0.1\nsentences = None")
    for name, text in {"01_first": first, "02_second": SECOND, "02_window_size": first}.items():
        (tmp_path / f"notebooks/{name}.py").write_text(text)
    for language in ("en", "fr"):
        (tmp_path / "data/text" / language).mkdir(parents=True)
        (tmp_path / "data/text" / language / "a.txt").write_text("One line .\n\n" * 20)
    (tmp_path / "some.tar.xz").write_bytes(lzma.compress(b"x"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for module in (notebooks, recording):
        monkeypatch.setattr(module, "ahead", lambda *_: None)
    monkeypatch.setattr(notebooks, "_one", lambda *_: None)
    monkeypatch.setattr(recording, "_record", lambda *_, **__: None)
    monkeypatch.setattr(probing, "examine", examined.examine_here)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    return tmp_path


def answer(arguments: list[str]) -> str:
    """Nothing where ``xling`` refuses the ``arguments`` in one line, else what is wrong with that."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    ended: object = None
    try:
        with patch.object(sys, "argv", ["xling", *arguments]), redirect_stdout(out), redirect_stderr(err), within():
            main()
    except SystemExit as error:
        ended = error.code or 0
    except BaseException as error:
        ended = f"{type(error).__name__}: {error}"
    said = err.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]
    if ended == 2 and said.startswith(("xling", "broken")) and said.count("\n") == 1 and said[:-1].isprintable():
        return ""
    return f"{ended!r:.200} {said!r:.300}"


def refused(command: str, kinds: dict[str, str], taken: tuple[str, ...]) -> None:
    wrong = {}
    for kind, typed in kinds.items():
        found = answer([typed if word == "{}" else word.replace("{}", typed) for word in command.split()])
        if bool(found) != (kind in taken) or (kind in taken and not found.startswith("0 ")):
            wrong[kind] = found or "it was refused"
    assert not wrong, "\n".join(f"{kind}: {found}" for kind, found in wrong.items())


@pytest.mark.parametrize("command", PLACES)
def test_any_text_in_any_place_is_refused_in_one_line(command: str, place: Path) -> None:
    refused(command, TEXTS, PLACES[command])


@pytest.mark.parametrize("command", PATHS)
def test_any_file_in_any_place_is_refused_in_one_line(command: str, place: Path) -> None:
    (place / "given").mkdir()
    kinds = {}
    for number, (kind, make) in enumerate(FILES.items()):
        kinds[kind] = f"given/{number}"
        make(place / kinds[kind])
    refused(command, kinds | TEXTS, PATHS[command])


def test_there_are_a_thousand() -> None:
    """As they are collected: what is typed in the places of commands, and what readers meet in the short form."""
    commands = len(PLACES) * len(TEXTS) + len(PATHS) * len(TEXTS | FILES) + len(MISTAKES)
    (short, *_) = COUNTS
    modules = (test_mutated_book, test_mutated_data, test_mutated_runs)
    readers = [mark.args[1] for module in modules for mark in mutated(module)]
    mutations = sum(len(names) for names in readers) * int(short.values[0])
    assert commands > 1_000 and mutations > 1_000, f"{commands} in commands, {mutations} in files"


def mutated(module: object) -> Iterator[pytest.Mark]:
    """Of the tests that mutate files, the mark that says which."""
    for test in vars(module).values():
        marks = {mark.args[0]: mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"}
        if "count" in marks and "name" in marks:
            yield marks["name"]
