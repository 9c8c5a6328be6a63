"""The translation widget as a reader uses it: JupyterLab on this machine, a notebook, a browser, a keyboard."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests import lab

NOTEBOOK = "reader.ipynb"
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
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of the notebook in a JupyterLab."""
    home = tmp_path_factory.mktemp("jupyter")
    notebooks = home / "notebooks"
    notebooks.mkdir()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL.strip())])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, notebooks / NOTEBOOK)
    with lab.serving([sys.executable, "-m", "jupyterlab"], notebooks, home) as server:
        yield lab.document(server, NOTEBOOK)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with lab.reading(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def test_a_sentence_typed_and_a_weight_moved_change_the_tokens(address: str, browser: webdriver.Chrome) -> None:
    def shows(sentence: str, said: list[str], when: str) -> list[str]:
        """Waits until it reads ``sentence`` and says words of these languages; they are returned."""

        def shown() -> bool:
            rows = browser.execute_script(SHOWN)
            return [row[0] for row in rows] == sentence.split() and [row[3] for row in rows] == said

        lab.until(browser, shown, f"{when}, the tokens did not become {said}")
        rows = browser.execute_script(SHOWN)
        assert [row[1] for row in rows] == [*[OURS] * (len(rows) - 1), BOTH]
        return [row[2] for row in rows]

    lab.opened(browser, address)
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
