"""The content security policy of the pages in a real browser, and text of data that would like to be markup."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from tests.book.browser import Browser
from xling_utils.book.content_policy import CHARSET, PRINT

TITLE = "return document.title"


@pytest.fixture(scope="module")
def changed(sample_html: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample in which an attacker's markup stands in the chapter."""
    html = shutil.copytree(sample_html, tmp_path_factory.mktemp("changed") / "html")
    page = html / "notebooks" / "01_sample.html"
    text = page.read_text(encoding="utf-8")
    attack = (
        "<script>document.title = 'ran'</script><b id='handler' onclick=\"document.title = 'ran'\">b</b>"
        "<a id='link' href=\"javascript:document.title='ran'\">a</a><img src='http://192.0.2.1/a.png' alt=''>"
        "<script src='http://192.0.2.1/a.js'></script><iframe srcdoc='<script>top.document.title=1</script>'></iframe>"
        "</article></main></body><head><script>document.title = 'ran'</script>"
    )
    place = text.index("</h1>") + len("</h1>")
    page.write_text(text[:place] + attack + text[place:], encoding="utf-8")
    return page


@pytest.mark.parametrize("html", ["book", "sample_html"])
def test_every_page_carries_its_policy_before_anything_runs(html: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(html)
    pages = [path for path in folder.rglob("*.html") if "_static" not in path.parts]
    assert len(pages) > 3
    for page in pages:
        text = page.read_text(encoding="utf-8")
        if page == folder / "index.html":
            assert "<script" not in text and CHARSET.search(text) is None, "it only sends the reader on"
            continue
        assert text.count("Content-Security-Policy") == 1
        assert text.index("Content-Security-Policy") < text.index("<script")
        assert "unsafe-eval" not in text


def test_markup_that_got_into_a_page_does_nothing(changed: Path, browser: Browser) -> None:
    browser.driver.get(changed.as_uri())
    browser.wait(lambda: browser.run("return document.readyState === 'complete'"), "the page did not load")
    title = browser.run(TITLE)
    assert title.startswith("1. A sample chapter")
    browser.run("document.getElementById('handler').click(); document.getElementById('link').click();")
    # A script of the driver itself may evaluate text, what it leaves to a timer may not.
    browser.driver.execute_async_script("setTimeout(\"document.title='ran'\"); setTimeout(arguments[0], 50)")
    assert browser.run(TITLE) == title
    refused = [message for message in browser.errors() if "Content Security Policy" in message]
    assert len(refused) >= 6, "what breaks the policy is an error that test_pages.py would see"


def test_nothing_is_sent_from_a_page(sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html")
    asked = (
        "const done = arguments[arguments.length - 1];"
        "fetch('http://192.0.2.1/').then(() => done('sent'), (error) => done(error.name));"
    )
    assert browser.driver.execute_async_script(asked) == "TypeError"
    assert any("Content Security Policy" in message for message in browser.errors())


def test_the_button_that_prints_still_prints(sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html")
    browser.run("window.print = () => { document.title = 'printed' };")
    browser.run(f"document.querySelector('[onclick=\"{PRINT}\"]').click()")
    assert browser.run(TITLE) == "printed"
    assert browser.errors() == []


def test_words_that_look_like_markup_are_shown_as_words(sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html")
    assert browser.run("return document.querySelector('input[list]').value").startswith("</SCRIPT ><img src=x")
    title = "return document.querySelector('#fig-words svg .role-title-text').textContent"
    assert browser.run(title).startswith("</SC")
    assert "<img src=x" in browser.run("return document.querySelector('#fig-words .vega-chart').ariaLabel")
    assert browser.run("return [...document.querySelectorAll('td')].some((cell) => cell.textContent.includes('<img'))")

    bar = browser.driver.find_element(By.CSS_SELECTOR, "#fig-words svg .mark-rect.role-mark path")
    browser.run("arguments[0].scrollIntoView({block: 'center'})", bar)
    ActionChains(browser.driver).move_to_element(bar).perform()
    told = "return document.getElementById('vg-tooltip-element')?.textContent ?? ''"
    browser.wait(lambda: "<img src=x" in browser.run(told), "the tooltip does not show the word")
    assert browser.run("return document.querySelectorAll('img[src=x]').length") == 0
    assert browser.run(TITLE).startswith("1. A sample chapter")
    assert browser.errors() == []
