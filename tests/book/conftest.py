"""The rendered book, a small sample of one, and the browser that reads them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

from tests.book import sample
from tests.book.browser import Browser
from xling_utils.book import rendering
from xling_utils.core import kept_text

REPOSITORY = Path(__file__).parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("book")


@pytest.fixture(scope="session")
def book(testrun_uid: str) -> Path:
    """The real book's pages: those in ``$XLING_BOOK_HTML``, or what `make tested` draws.

    Of the processes of a session the first that asks draws it, and the others wait.
    """
    if given := os.environ.get("XLING_BOOK_HTML"):
        assert (Path(given) / "index.html").is_file(), f"{given} holds no book"
        return Path(given).absolute()
    status, _, output = kept_text.once(REPOSITORY / "_build/tested.log", testrun_uid, _drawn).partition("\n")
    assert status == "0", output
    return REPOSITORY / "_build/tested/_build/html"


def _drawn() -> str:
    own = ("XLING_", "MAKE", "MFLAGS")
    given = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    command = ["make", "tested"]
    made = subprocess.run(command, cwd=REPOSITORY, env=given, stdout=PIPE, stderr=STDOUT, text=True, check=False)
    return f"{made.returncode}\n{made.stdout}"


@pytest.fixture(scope="session")
def sample_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample book's sources, with its notebook executed."""
    return sample.make(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="session")
def sample_html(sample_root: Path) -> Path:
    """The sample book, rendered."""
    return rendering.render(sample_root)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    chromium = Browser(tmp_path_factory.mktemp("profile"))
    yield chromium
    chromium.close()
