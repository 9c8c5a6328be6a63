"""Staging and rendering: incremental, strict, and never half published."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.book import axe
from tests.book.browser import Browser
from xling_utils.book import published_book
from xling_utils.book.rendering import pages, render, stage
from xling_utils.core import identity, kept_text
from xling_utils.core.errors import UserError

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def root(sample_root: Path, sample_html: Path, tmp_path: Path) -> Path:
    """A copy of the rendered sample that a test may change."""
    assert sample_html.is_dir()
    return shutil.copytree(sample_root, tmp_path / "root")


def test_a_book_that_changes_is_rendered_as_far_as_it_has_to_be(root: Path) -> None:
    """Only a changed page is parsed again, a changed title stands on pages that have not changed, and a clock that was
    set back hides nothing."""
    (root / "book/more.md").write_text("# More\n", encoding="utf-8")
    with (root / "_toc.yml").open("a", encoding="utf-8") as file:
        file.write("      - file: book/more\n")
    render(root)
    page, staged, html = root / "book" / "intro.md", root / "_build" / "stage", root / "_build" / "html" / "book"
    page.write_text(page.read_text(encoding="utf-8") + "\nOne more sentence.\n", encoding="utf-8")
    render(root)
    assert "0 added, 1 changed, 0 removed" in (root / "_build" / "render.log").read_text(encoding="utf-8")
    assert "One more sentence." in (html / "intro.html").read_text(encoding="utf-8")

    chapter = root / "_build/executed/01_sample.ipynb"
    text = chapter.read_text(encoding="utf-8").replace("# A sample chapter", "# A question?")
    chapter.write_text(text, encoding="utf-8")
    render(root)
    shown = (html / "more.html").read_text(encoding="utf-8")
    assert "A question?" in shown and "A sample chapter" not in shown

    # Seen from a clock set back by two days, it was rendered tomorrow and changed yesterday.
    page.write_text(page.read_text(encoding="utf-8") + "\nWritten after that.\n", encoding="utf-8")
    stage(root, root / "_build" / "executed", staged)
    for path, days in ((staged / "book" / "intro.md", -1), (staged / "_build" / ".doctrees" / "environment.pickle", 1)):
        then = time.time() + days * 86_400
        os.utime(path, (then, then))
    render(root)
    assert "Written after that." in (html / "intro.html").read_text(encoding="utf-8")


def rendered(root: Path, **asked: Any) -> bool:
    """Whether the book was rendered, not only looked at."""
    log = root / "_build" / "render.log"
    log.unlink(missing_ok=True)
    render(root, **asked)
    return log.exists()


def test_what_has_not_changed_is_not_rendered_again(root: Path) -> None:
    assert rendered(root) and not rendered(root)
    html, note = root / "_build" / "html", root / "_build" / "html.made_of"
    made_of = (kept_text.load(note) or "").split()[0]
    assert published_book.is_there(html, made_of)
    pages = {page: page.read_bytes() for page in (html / "book" / "intro.html", html / "index.html")}
    for page, sound in pages.items():
        page.write_bytes(sound + b" ")
        assert not published_book.is_there(html, made_of)
        page.unlink()
        assert not published_book.is_there(html, made_of)
        page.write_bytes(sound)
    (html / "more.html").touch()
    assert not published_book.is_there(html, made_of)
    for page in pages:
        page.unlink()
    assert rendered(root) and all(page.read_bytes() == sound for page, sound in pages.items())
    assert rendered(root, repository="https://github.com/someone/book")
    made_of = (kept_text.load(note) or "").split()[0]
    assert published_book.is_there(html, made_of)
    note.write_text("of nothing")
    assert not published_book.is_there(html, made_of)


def test_whatever_a_book_is_made_of_has_it_rendered_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page, the configuration, a record, a chapter that was executed, a file for browsers, this package, another
    version of what renders."""
    asked = [root / "_build/executed/01_sample.ipynb"], (True,)
    static = shutil.copytree(published_book.STATIC, root / "static")
    monkeypatch.setattr(published_book, "STATIC", static)
    seen = {published_book.made_of(root, *asked)}
    parts = ("book/intro.md", "_config.yml", "_toc.yml", "_build/executed/01_sample.ipynb", "static/book.css")
    for count, name in enumerate((*parts, "book/records/01_sample.controlled.csv"), 2):
        (root / name).parent.mkdir(exist_ok=True)
        with (root / name).open("a") as file:
            file.write("\n")
        seen.add(published_book.made_of(root, *asked))
        assert len(seen) == count, name
    for what in ("package", "installed"):
        monkeypatch.setattr(identity, what, lambda: "another")
        seen.add(published_book.made_of(root, *asked))
    assert len(seen) == len(parts) + 4
    assert identity.PACKAGE / "charts/shapes.py" in identity._sources()


def test_a_warning_fails_and_leaves_the_published_pages(root: Path) -> None:
    html = root / "_build" / "html"
    before = (html / "book" / "intro.html").read_bytes()
    page = root / "book" / "intro.md"
    page.write_text(page.read_text(encoding="utf-8") + "\n{cite}`nobody1900`\n", encoding="utf-8")
    for _ in range(2):  # the second time, too: what was parsed must not hide its warnings
        with pytest.raises(UserError, match=r"book/intro\.md.*nobody1900"):
            render(root)
        assert (html / "book" / "intro.html").read_bytes() == before


def test_a_chapter_that_was_not_executed_is_named(root: Path) -> None:
    (root / "_build" / "executed" / "01_sample.ipynb").unlink()
    with pytest.raises(UserError, match=r"chapter 01_sample has not been executed.*xling run 01_sample"):
        render(root)


def test_a_damaged_notebook_is_named(root: Path) -> None:
    (root / "_build" / "executed" / "01_sample.ipynb").write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match=r"01_sample\.ipynb is not a notebook"):
        render(root)


def test_stage_follows_its_sources(root: Path, tmp_path: Path) -> None:
    executed = root / "_build" / "executed"
    out = stage(root, executed, tmp_path / "stage")

    def times() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}

    def lists_sources(path: Path) -> bool:
        return path.suffix == ".md" and "{bibliography}" in path.read_text(encoding="utf-8")

    before = times()
    bibliography = {path for path in before if lists_sources(path)}
    (root / "book" / "extra.md").write_text("More.\n", encoding="utf-8")
    stage(root, executed, out)
    assert (out / "book" / "extra.md").is_file()
    (root / "book" / "extra.md").unlink()
    between = times()
    assert {path for path in before if between[path] != before[path]} == bibliography  # read again with any page
    stage(root, executed, out)
    assert times().keys() == before.keys()
    unchanged = times()
    stage(root, executed, out)
    assert times() == unchanged


def test_staged_notebook_says_nothing_of_the_machine(root: Path, tmp_path: Path) -> None:
    staged = stage(root, root / "_build" / "executed", tmp_path / "stage") / "notebooks" / "01_sample.ipynb"
    text = staged.read_text(encoding="utf-8")
    assert str(root) not in text
    assert "papermill" not in json.loads(text)["metadata"]


def test_the_notebook_that_a_page_offers_is_there_to_be_run(sample_root: Path, sample_html: Path) -> None:
    offered = nbformat.read(sample_html / "_sources/notebooks/01_sample.ipynb", as_version=4)
    executed = nbformat.read(sample_root / "_build/executed/01_sample.ipynb", as_version=4)
    code = [cell for cell in offered.cells if cell.cell_type == "code"]
    assert code and not any(cell.outputs for cell in code)
    assert any(cell.outputs for cell in executed.cells if cell.cell_type == "code"), "its page shows them"


def test_buttons_open_the_notebook_of_a_chapter_in_binder_and_colab(root: Path, browser: Browser) -> None:
    render(root, repository="https://github.com/someone/book", branch="v1.0")
    page = (root / "_build/html/notebooks/01_sample.html").read_text(encoding="utf-8")
    binder = "https://mybinder.org/v2/gh/someone/book/v1.0?urlpath=lab/tree/notebooks/01_sample.ipynb"
    colab = "https://colab.research.google.com/github/someone/book/blob/v1.0/notebooks/01_sample.ipynb"
    assert [page.count(f'href="{url}"') for url in (binder, colab)] == [1, 1]
    browser.open(root / "_build/html/notebooks/01_sample.html")
    assert axe.violations(browser) == []
    assert "mybinder" not in (root / "_build/html/book/intro.html").read_text(encoding="utf-8")
    with pytest.raises(
        UserError, match=r"repository 'git@github.com:someone/book.git': write https://github.com/OWNER"
    ):
        render(root, repository="git@github.com:someone/book.git")


def test_what_the_buttons_open_is_in_the_repository() -> None:
    """Binder builds ``environment.yml`` at the root, and both open the notebooks of _toc.yml where these stand."""
    assert (REPOSITORY / "environment.yml").is_file()
    named = [page for page in pages(REPOSITORY) if page.startswith("notebooks/")]
    tracked = subprocess.run(
        ["git", "ls-files", "notebooks"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert named and {f"{page}.ipynb" for page in named} <= set(tracked.stdout.split())
