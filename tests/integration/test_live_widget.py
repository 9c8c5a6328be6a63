"""The translation widget as a reader uses it: JupyterLab on this machine, a notebook, a browser, a keyboard."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat
import psutil
import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from tests.book.browser import FLAGS, executables
from tests.faults import PATIENCE

REPOSITORY = Path(__file__).parents[2]
TOKEN = "reader"
HOST = "127.0.0.1"
NOTEBOOK = "reader.ipynb"
CELL = """
import torch
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast
from xling_utils import corpora
from xling_utils.models import tokenization
from xling_utils.measures.encoders.language_identity import token_sets
from xling_utils.core.specs import CorpusSpec, TokenizerSpec
from xling_utils.measures.encoders.masked_lm import Subject
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
    """Of the notebook in a JupyterLab whose kernel is this interpreter, and that asks nothing of the network."""
    home = tmp_path_factory.mktemp("jupyter")
    kernel = home / "data" / "kernels" / "here" / "kernel.json"
    page = home / "config" / "labconfig" / "page_config.json"
    for file, content in (
        (kernel, {"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                  "display_name": "Here", "language": "python"}),
        (page, {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True,
                                       "@jupyterlab/extensionmanager-extension": True,
                                       "jupyterlab-jupytext": True}}),
    ):  # fmt: skip
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(content), encoding="utf-8")
    (home / "notebooks").mkdir()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL.strip())])
    notebook.metadata["kernelspec"] = {"name": "here", "display_name": "Here", "language": "python"}
    nbformat.write(notebook, home / "notebooks" / NOTEBOOK)

    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
        "PYTHONPATH": str(REPOSITORY),
        "HF_HUB_OFFLINE": "1",
    }
    log = home / "server.log"
    with log.open("wb") as written:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.ip={HOST}",
             f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}",
             f"--ServerApp.root_dir={home / 'notebooks'}", "--LabApp.extension_manager=readonly",
             "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
             "--ServerApp.jpserver_extensions={'jupyterlab_jupytext': False}"],
            env=environment, stdout=written, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        WebDriverWait(None, PATIENCE, 0.2).until(lambda _: answers(server, port, log), "JupyterLab did not start")
        yield f"http://{HOST}:{port}/doc/tree/{NOTEBOOK}?token={TOKEN}"
    finally:
        end(server)


def answers(server: subprocess.Popen[bytes], port: int, log: Path) -> bool:
    assert server.poll() is None, f"JupyterLab ended:\n{log.read_text(encoding='utf-8')[-4_000:]}"
    with socket.socket() as asked:
        return asked.connect_ex((HOST, port)) == 0


def end(server: subprocess.Popen[bytes]) -> None:
    """The server with its kernels, which it starts in sessions of their own: asked first, then killed."""
    if server.poll() is not None:
        return  # and a kernel ends by itself without its server
    started = [*psutil.Process(server.pid).children(recursive=True), psutil.Process(server.pid)]
    server.terminate()
    _, left = psutil.wait_procs(started, timeout=10)
    for process in left:
        process.kill()
    server.wait()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Chromium that can reach nothing but this machine."""
    chromium, driver = executables()
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    profile = f"--user-data-dir={tmp_path_factory.mktemp('profile')}"
    alone = f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {HOST}"
    for flag in (*FLAGS, profile, alone, "--window-size=1000,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options, webdriver.ChromeService(driver))
    opened.set_page_load_timeout(PATIENCE)
    yield opened
    opened.quit()


def test_a_sentence_typed_and_a_weight_moved_change_the_tokens(address: str, browser: webdriver.Chrome) -> None:
    def shows(sentence: str, said: list[str], when: str) -> list[str]:
        """Waits until it reads ``sentence`` and says words of these languages; they are returned."""

        def shown() -> bool:
            rows = browser.execute_script(SHOWN)
            return [row[0] for row in rows] == sentence.split() and [row[3] for row in rows] == said

        until(browser, shown, f"{when}, the tokens did not become {said}")
        rows = browser.execute_script(SHOWN)
        assert [row[1] for row in rows] == [*[OURS] * (len(rows) - 1), BOTH]
        return [row[2] for row in rows]

    run_first_cell(address, browser)
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
    until(browser, reads_student_last, "markup is not read as text")
    assert not browser.find_elements(By.CSS_SELECTOR, ".xling-tokens script")

    write(sentence, Keys.BACKSPACE)
    line = ".widget-html p[role=alert]"
    until(browser, lambda: bool(browser.find_elements(By.CSS_SELECTOR, line)), "an empty sentence is no mistake")
    assert "there is no word in it" in browser.find_element(By.CSS_SELECTOR, line).text

    assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    assert asked(browser) == {HOST}


def run_first_cell(address: str, browser: webdriver.Chrome) -> None:
    """As a reader does: wait for the kernel, click into the cell, Shift+Enter."""
    browser.get(address)
    idle = ".jp-Notebook-ExecutionIndicator[data-status=idle]"
    until(browser, lambda: bool(browser.find_elements(By.CSS_SELECTOR, idle)), "the kernel did not start")

    def begun() -> bool:
        if browser.find_element(By.CSS_SELECTOR, ".jp-CodeCell .jp-InputPrompt").text not in ("", "[ ]:"):
            return True
        browser.find_element(By.CSS_SELECTOR, ".jp-CodeCell .cm-content").click()
        ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()
        return False

    # JupyterLab draws a cell again while it opens a notebook: what was clicked may be gone a moment later.
    WebDriverWait(browser, PATIENCE, 3, [WebDriverException]).until(lambda _: begun(), "the cell did not run")

    def displayed() -> bool:
        failed = browser.find_elements(By.CSS_SELECTOR, "[data-mime-type='application/vnd.jupyter.error']")
        assert not failed, failed[0].text
        return bool(browser.find_elements(By.CSS_SELECTOR, ".widget-html .xling-tokens"))

    until(browser, displayed, "the widget was not displayed")


def write(field: Any, text: str) -> None:
    """Over what stands in it."""
    field.send_keys(Keys.CONTROL + "a")
    field.send_keys(text)


def keys(browser: webdriver.Chrome, pressed: str) -> None:
    """On whatever has the focus."""
    ActionChains(browser).send_keys(pressed).perform()


def until(browser: webdriver.Chrome, condition: Any, failure: str) -> None:
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda _: condition(), failure)


def asked(browser: webdriver.Chrome) -> set[str]:
    """Hosts that pages have asked for something; the browser's own pages ask the browser."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    return {urlsplit(url).hostname for url in sent if url.startswith(("http", "ws"))}
