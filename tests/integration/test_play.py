"""Notebooks as a reader has them in the JupyterLab that `xling play` opens, with a browser, a mouse and a keyboard: a
chapter, and the translation widget."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests import lab, scratch
from tests.given import ROOT
from xling_utils.book.notebooks import KERNEL
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

WIDGET = "widget.ipynb"
CELL = """
import torch
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast
from xling_utils import corpora
from xling_utils.models import tokenization
from xling_utils.measures.encoders.language_identity import token_sets
from xling_utils.core.specs import CorpusSpec, TokenizerSpec
from xling_utils.measures.encoders.subject import Subject
from xling_utils.chapters.mds.widget import TranslationWidget

torch.set_num_threads(1)
torch.manual_seed(0)
corpus = CorpusSpec("controlled", ("en", "fr"), 300, 1)
text = corpora.load(corpus)
pieces = tokenization.build(TokenizerSpec("wordpiece", 1_500), text)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=pieces, pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]")
shape = BertConfig(vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                   intermediate_size=64, max_position_embeddings=32)
model = BertForMaskedLM(shape).eval()
# Not trained but made: it says what it reads, in the language that the first number of a state stands for.
tokens = token_sets(tokenizer, {language: lines["text"] for language, lines in text.items()})
french = tokenizer.convert_tokens_to_ids(sorted(tokens["fr"] - tokens["en"]))
with torch.no_grad():
    words = model.get_input_embeddings().weight.normal_()
    words[:, 0] = -1.0
    words[french, 0] = 1.0
    model.cls.predictions.transform.dense.weight.copy_(torch.eye(32))
subject = Subject(model, tokenizer, "made", corpus, None, "lower", 1)
TranslationWidget(subject, {"en": "my student sleep ."}, sentences=300).widget()
"""
SHOWN = """
return [...document.querySelectorAll(".xling-tokens .pair")].map((pair) => {
  const [read, said] = pair.querySelectorAll("b");
  return [read.textContent, read.className, said.textContent, said.className];
});
"""
OURS, OTHER, BOTH = "source", "target", "both"


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


@pytest.fixture(scope="module")
def server(book: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    command = [sys.executable, "-c", PLAY, "play", CHAPTER]
    with lab.serving(command, book, tmp_path_factory.mktemp("jupyter")) as address:
        yield address


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with lab.reading(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def test_a_chapter_is_played_with_and_no_tracked_file_changes(
    book: Path, server: str, browser: webdriver.Chrome
) -> None:
    copy = book / "_build/play" / f"{CHAPTER}.ipynb"
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


def test_a_sentence_typed_and_a_weight_moved_change_the_tokens(
    book: Path, server: str, browser: webdriver.Chrome
) -> None:
    def shows(sentence: str, said: list[str], when: str) -> list[str]:
        """Waits until it reads ``sentence`` and says words of these languages; they are returned."""

        def shown() -> bool:
            rows = browser.execute_script(SHOWN)
            return [row[0] for row in rows] == sentence.split() and [row[3] for row in rows] == said

        lab.until(browser, shown, f"{when}, the tokens did not become {said}")
        rows = browser.execute_script(SHOWN)
        assert [row[1] for row in rows] == [*[OURS] * (len(rows) - 1), BOTH]
        return [row[2] for row in rows]

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL.strip())])
    notebook.metadata["kernelspec"] = KERNEL
    nbformat.write(notebook, book / "_build/play" / WIDGET)
    browser.get_log("browser")  # of the chapter, whose links lead to other pages
    lab.opened(browser, lab.document(server, WIDGET))
    lab.run_cell(browser)
    lab.displayed(browser, ".widget-html .xling-tokens")
    start, typed = "my student sleep .", "this student hate my onion ."
    unmoved, flipped = [*[OURS] * 5, BOTH], [OTHER] * 6
    assert shows(start, [*[OURS] * 3, BOTH], "at the start") == start.split()

    sentence = browser.find_element(By.CSS_SELECTOR, ".widget-text input")
    write(sentence, typed)
    assert shows(typed, unmoved, "a sentence typed") == typed.split()

    _, weight = browser.find_elements(By.CSS_SELECTOR, ".widget-slider [role=slider]")
    browser.execute_script("arguments[0].focus()", weight)
    keys(browser, Keys.ARROW_RIGHT * 8)
    assert not set(shows(typed, flipped, "the weight moved up")) & set(typed.split())
    keys(browser, Keys.HOME)
    assert shows(typed, unmoved, "the lowest weight") == typed.split()

    def reads_student_last() -> bool:
        rows = browser.execute_script(SHOWN)
        return bool(rows) and rows[-1][0] == "student"

    write(sentence, "<script>student")
    lab.until(browser, reads_student_last, "markup is not read as text")
    assert not browser.find_elements(By.CSS_SELECTOR, ".xling-tokens script")

    write(sentence, Keys.BACKSPACE)
    line = ".widget-html p[role=alert]"
    lab.until(browser, lambda: bool(browser.find_elements(By.CSS_SELECTOR, line)), "an empty sentence is no mistake")
    assert "there is no word in it" in browser.find_element(By.CSS_SELECTOR, line).text

    assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    assert lab.asked(browser) == {lab.HOST}


def write(field: Any, text: str) -> None:
    """Over what stands in it."""
    field.send_keys(Keys.CONTROL + "a")
    field.send_keys(text)


def keys(browser: webdriver.Chrome, pressed: str) -> None:
    """On whatever has the focus."""
    ActionChains(browser).send_keys(pressed).perform()


def first_figure() -> int:
    """Which cell of the chapter draws it."""
    cells = jupytext.read(ROOT / "notebooks" / f"{CHAPTER}.py").cells
    return next(number for number, cell in enumerate(cells) if "figure" in cell.metadata.get("mystnb", {}))
