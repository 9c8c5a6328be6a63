"""Folders that are gone or no folders, and names that would write more than a line: one line, no traceback."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Call
from xling_utils.cli import output

XLING = Path(sys.executable).with_name("xling")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "_toc.yml").touch()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/01_first.py").write_text('# %% tags=["parameters"]\nseeds = 1\n')
    return tmp_path


@pytest.mark.parametrize("command", ["run", "runs list", "data unpack all.tar.xz new"])
def test_a_working_directory_that_is_gone(command: str, tmp_path: Path) -> None:
    line = f'mkdir gone && cd gone && rmdir ../gone && exec "{XLING}" {command}'
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    told = "the working directory: No such file or directory; change to one that exists"
    assert (done.returncode, done.stderr) == (2, f"xling: {told}\n")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("play", "_build/play: Not a directory"),
        ("book", "_build: File exists"),
        ("run", "_build/executing: Not a directory"),
    ],
)
def test_a_file_where_a_folder_is_made(command: str, told: str, book: Path, xling: Call) -> None:
    (book / "_build").touch()
    done = xling(book, command)
    assert done.returncode == 2
    assert done.stderr == f"xling: {book}/{told}; a file or folder is in the way: move it\n"


def test_a_folder_where_a_file_is_written(book: Path, xling: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xling_utils.book.render", lambda root, **_: (root / "notebooks").write_text(""))
    done = xling(book, "book")
    assert done.returncode == 2
    assert done.stderr == f"xling: {book}/notebooks: Is a directory; a file or folder is in the way: move it\n"


def test_an_error_that_nobody_knows_keeps_its_traceback() -> None:
    with pytest.raises(OSError, match="I/O"):
        output.show_system_error(OSError(errno.EIO, "I/O"))
    with pytest.raises(FileNotFoundError):  # of a socket, say, which has no name
        output.show_system_error(FileNotFoundError(errno.ENOENT, "No such file or directory"))


def test_what_is_broken_takes_one_line(tmp_path: Path, xling: Call) -> None:
    data = tmp_path / "da\x1b[31mta\nbroken  nothing"
    (data / "text/en").mkdir(parents=True)
    (data / "text/en/news.txt").write_text("One sentence .\n")
    (data / "vocab").mkdir()
    (data / "vocab/bert-base-multilingual-cased.vocab.txt").write_text("a\n")
    done = xling(tmp_path, "data", "check", data.name)
    assert done.returncode == 2
    assert r"da\x1b[31mta\nbroken  nothing" in done.stderr and "\x1b" not in done.stderr + done.stdout
    assert done.stderr.startswith("broken  ") and done.stderr.count("\n") == 1
