"""A chapter to play with, as a reader opens it: `xling play`, JupyterLab, a browser, a mouse."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests import lab, scratch
from tests.given import ROOT
from xling_utils.charts import offline

PLAY = "from xling_utils.cli.main import main; main()"
CHAPTER = "02_window_size"
CHART = ".jp-RenderedVegaLite"
TOOLTIP = "#vg-tooltip-element.visible"
ROLES = r"return document.querySelector('.jp-Notebook').innerText.match(/\{(cite|term|doc|ref)\S*\}`/)"
COLOURED = """
const canvas = document.querySelector(arguments[0] + " canvas");
const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
const found = [];
for (let at = 0; at < data.length; at += 4) {
  const [red, green, blue] = data.subarray(at, at + 3);
  if (Math.max(red, green, blue) - Math.min(red, green, blue) > 60)
    found.push([(at / 4) % canvas.width - canvas.width / 2, Math.floor(at / 4 / canvas.width) - canvas.height / 2]);
}
return found.filter((_, number) => number % 20 === 0).reverse();
"""
"""Places on a chart, from its middle, that are in colour: marks, bars and, above them, the legend; from below."""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with one chapter that trains nothing; all of it is tracked."""
    place = tmp_path_factory.mktemp("checkout")
    for name in ("_toc.yml", ".gitignore"):
        shutil.copyfile(ROOT / name, place / name)
    shutil.copytree(ROOT / "book", place / "book")
    scratch.share_ledger(place)
    (place / "notebooks").mkdir()
    for suffix in (".py", ".ipynb"):
        source = (ROOT / "notebooks" / CHAPTER).with_suffix(suffix)
        text = source.read_text(encoding="utf-8").replace("headline", "none", 1)
        (place / "notebooks" / source.name).write_text(text, encoding="utf-8")
    for command in (["init"], ["add", "."], ["-c", "user.name=r", "-c", "user.email=r@x.org", "commit", "-qm", "all"]):
        subprocess.run(["git", *command], cwd=place, check=True, capture_output=True)
    return place


def test_a_chapter_is_played_with_and_no_tracked_file_changes(book: Path, tmp_path: Path) -> None:
    copy = book / "_build/play" / f"{CHAPTER}.ipynb"
    with (
        lab.serving([sys.executable, "-c", PLAY, "play", CHAPTER], book, tmp_path) as server,
        lab.reading(tmp_path / "profile") as browser,
    ):
        lab.opened(browser, lab.document(server, copy.name))
        lab.until(browser, lambda: not browser.execute_script(ROLES), "roles are shown raw")
        for _ in range(first_figure() + 1):
            lab.run_cell(browser)
        chart = lab.displayed(browser, f"{CHART} canvas")
        assert not browser.find_elements(By.CSS_SELECTOR, ".jp-OutputArea img"), "a picture stands for it"

        places = iter(browser.execute_script(COLOURED, CHART))

        def told() -> bool:
            ActionChains(browser).move_to_element_with_offset(chart, *next(places)).perform()
            return bool(browser.find_elements(By.CSS_SELECTOR, TOOLTIP))

        lab.until(browser, told, "no mark says what it is")
        assert "value" in browser.find_element(By.CSS_SELECTOR, TOOLTIP).text

        def menu() -> bool:  # a click beside it, while the page is still moving, opens none
            if not browser.find_elements(By.LINK_TEXT, "Save as SVG"):
                browser.find_element(By.CSS_SELECTOR, f"{CHART} summary").click()
            return bool(browser.find_elements(By.LINK_TEXT, "Save as SVG"))

        lab.until(browser, menu, "the chart has no menu")
        save = browser.find_element(By.LINK_TEXT, "Save as SVG")
        ActionChains(browser).click_and_hold(save).perform()
        lab.until(browser, lambda: str(save.get_attribute("href")).startswith("blob:"), "the menu saves nothing")

        ActionChains(browser).move_to_element(chart).release().key_down(Keys.CONTROL).send_keys("s").perform()
        ActionChains(browser).key_up(Keys.CONTROL).perform()
        lab.until(browser, lambda: offline.VEGALITE in copy.read_text(encoding="utf-8"), "it was not saved")
        assert lab.asked(browser) == {lab.HOST}
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=book, capture_output=True, text=True, check=True)
    assert changed.stdout == ""


def first_figure() -> int:
    """Which cell of the chapter draws it."""
    cells = jupytext.read(ROOT / "notebooks" / f"{CHAPTER}.py").cells
    return next(number for number, cell in enumerate(cells) if "figure" in cell.metadata.get("mystnb", {}))
