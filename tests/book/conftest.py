"""The rendered book, a small sample of one, and the browser that reads them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.book import sample
from tests.book.browser import Browser
from xling_utils.book import rendering

REPOSITORY = Path(__file__).parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("book")


@pytest.fixture(scope="session")
def book() -> Path:
    """The real book's pages: ``$XLING_BOOK_HTML``, or what `make book` made."""
    html = Path(os.environ.get("XLING_BOOK_HTML") or REPOSITORY / "_build/html")
    assert (html / "index.html").is_file(), f"{html} holds no book: run `make book`"
    return html


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
