"""Forms that pages answer without a kernel: as Python answers them, from disk, with the network off."""

from __future__ import annotations

import shutil
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from tests.book.browser import Browser
from xling_utils.book.published_book import STATIC
from xling_utils.chapters.data_size import explorer
from xling_utils.chapters.language_means.widget import LayerWidget
from xling_utils.core.errors import UserError
from xling_utils.measures import Dictionary, bundled_text

CHANGE = """
const [name, value] = arguments, control = document.querySelector(".in-page form").elements[name];
control.value = value;
control.dispatchEvent(new Event("input", { bubbles: true }));
"""
ANSWER = "return document.querySelector('.in-page .answer').lastElementChild"
TOLD = "return document.querySelector('.in-page [role=status]').textContent"
CHOSEN = "return [...document.querySelectorAll('.in-page select')].map((list) => list.value)"
SAME = f"""
const asPython = new DOMParser().parseFromString(arguments[0], "text/html").body.lastElementChild;
return (() => {{ {ANSWER} }})().isEqualNode(asPython);
"""
PICTURED = """
const [pairs, layers] = arguments, done = arguments[2];
bookLayers.load().then((data) => done(pairs.map(([a, b], at) => bookLayers.pictured(data, a, b, at % layers))));
"""
PICTURES = """return [...document.querySelectorAll(".in-page .layers > div")].map((picture) => ({
  marks: picture.querySelectorAll(".mark-symbol.role-mark path").length,
  label: picture.querySelector(".vega-chart").getAttribute("aria-label"),
  caption: picture.querySelector("p").textContent,
  tools: picture.querySelectorAll(".chart-tools").length,
}))"""


def test_neighbours_of_every_word_at_every_layer_are_those_of_python(tmp_path: Path, browser: Browser) -> None:
    words = [f"word{i}" for i in range(12)] + ["<b>&amp;", "été", "“quoted”"]
    targets = [f"mot{i}" for i in range(1_200)] + ["<img src=x>"]
    draw = np.random.default_rng(0)
    gold = [{*draw.choice(len(targets), size=1 + i % 2, replace=False).tolist()} for i in range(len(words))]
    vectors = [draw.normal(size=(3, len(of), 4)).astype(np.float32) for of in (words, targets)]
    explored = explorer.Explorer(Dictionary("fr", words, targets, len(words), gold), *vectors)
    page = tmp_path / "notebooks" / "page.html"
    page.parent.mkdir()
    page.write_text(f'<!doctype html><meta charset="utf-8"><title>t</title>{explorer.page(explored)}', "utf-8")
    (tmp_path / "_static").mkdir()
    for name in ("forms.js", "neighbours.js"):
        shutil.copy(STATIC / name, tmp_path / "_static")
    browser.open(page)
    with browser.offline():
        for layer in range(3):
            browser.run(CHANGE, "layer", layer)
            for word in [*words, "word", "w" * 79 + "\U0001f600" * 9]:
                browser.run(CHANGE, "word", word)
                try:
                    expected = explorer.to_html(explored, word, layer)
                except UserError as error:
                    line = str(error)
                    browser.wait(lambda line=line: browser.run(f"{ANSWER}.textContent") == line, f"not shown: {line}")
                    assert not browser.run(f"{ANSWER}.role"), "an alert would be said at every key"
                    browser.wait(lambda line=line: browser.run(TOLD) == line, f"not said: {line}")
                else:
                    browser.wait(lambda expected=expected: browser.run(SAME, expected), f"{word} at {layer}")


def test_pictures_of_every_pair_are_those_of_python(book: Path, browser: Browser) -> None:
    widget = LayerWidget(bundled_text.load())
    layers = widget.subject.layers + 1
    pairs = list(permutations(widget.subject.languages, 2))
    browser.open(book / "notebooks/05_language_means.html")
    for at, (pair, found) in enumerate(
        zip(pairs, browser.driver.execute_async_script(PICTURED, pairs, layers), strict=True)
    ):
        for ours, drawn in zip(widget.pictured(*pair, at % layers), found, strict=True):
            assert drawn["share"] == pytest.approx(ours.share, rel=1e-4)
            expected = np.stack([ours.points[language] for language in pair])
            np.testing.assert_allclose(drawn["points"], expected, atol=1e-3 * np.abs(expected).max(), err_msg=str(pair))


@pytest.mark.parametrize(("page", "width"), [("05_language_means", 1280), ("07_cka", 390)])
def test_a_reader_chooses_languages_and_a_layer(page: str, width: int, book: Path, browser: Browser) -> None:
    widget = LayerWidget(bundled_text.load())
    browser.open(book / "notebooks" / f"{page}.html", width)
    browser.run("document.querySelector('.in-page').scrollIntoView({block: 'center'})")

    def shows(first: str, second: str, layer: int) -> None:
        expected = [(spec["description"], caption) for spec, caption in widget.drawn(first, second, layer)]
        tokens = len(widget.pictured(first, second, layer)[0].points[first])

        def there() -> bool:
            found = browser.run(PICTURES)
            said = [(picture["label"], picture["caption"]) for picture in found]
            return said == expected and all(p["marks"] == 2 * tokens and p["tools"] == 1 for p in found)

        browser.wait(there, f"it does not show {first}, {second} and layer {layer}: {browser.run(PICTURES)}")

    with browser.offline():
        shows(*browser.run(CHOSEN), widget.subject.layers // 2)
        for name, value in (("first", "sw"), ("second", "de"), ("layer", 0)):
            browser.run(CHANGE, name, value)
        shows("sw", "de", 0)
        browser.run(CHANGE, "first", "de")
        line = "Both languages are German: choose two different ones."
        browser.wait(lambda: browser.run(f"{ANSWER}.textContent") == line, "it does not say that they are the same")
        for name, value in (("layer", 3), ("first", "zh")):
            browser.run(CHANGE, name, value)
        shows("zh", "de", 3)
        assert browser.run("return document.documentElement.scrollWidth") <= width
