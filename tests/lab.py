"""JupyterLab on this machine, alone, and a browser that reads it as a reader does."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from tests.book.browser import started
from tests.faults import PATIENCE

REPOSITORY = Path(__file__).parents[1]
TOKEN = "reader"
HOST = "127.0.0.1"
SERVER = {
    "ServerApp": {"ip": HOST, "port_retries": 0, "open_browser": False, "allow_root": True},
    "IdentityProvider": {"token": TOKEN},
    "LabApp": {
        "extension_manager": "readonly",
        "check_for_updates_class": "jupyterlab.handlers.announcements.NeverCheckForUpdate",
    },
}
PAGE = {
    "disabledExtensions": {
        "@jupyterlab/apputils-extension:announcements": True,
        "@jupyterlab/extensionmanager-extension": True,
    }
}


@contextmanager
def serving(command: Sequence[str], folder: Path, home: Path, **environment: str) -> Iterator[str]:
    """JupyterLab, as ``command`` starts it in ``folder``, with its own files under ``home``; it asks nothing of the
    network. Yields the address that documents are opened at, by :func:`document`."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    configured = SERVER | {"ServerApp": SERVER["ServerApp"] | {"port": port}}
    for file, content in (("jupyter_server_config.json", configured), ("labconfig/page_config.json", PAGE)):
        (home / "config" / file).parent.mkdir(parents=True, exist_ok=True)
        (home / "config" / file).write_text(json.dumps(content), encoding="utf-8")
    own = {f"JUPYTER_{name.upper()}_DIR": str(home / name) for name in ("config", "data", "runtime")}
    own |= {"IPYTHONDIR": str(home / "ipython"), "PYTHONPATH": str(REPOSITORY), "HF_HUB_OFFLINE": "1"}
    log = home / "server.log"
    with log.open("wb") as written:
        server = subprocess.Popen(
            command, cwd=folder, env=os.environ | own | environment, stdout=written, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
    try:
        WebDriverWait(None, PATIENCE, 0.2).until(lambda _: _answers(server, port, log), "JupyterLab did not start")
        yield f"http://{HOST}:{port}"
    finally:
        _end(server)


def document(address: str, name: str) -> str:
    """Where the notebook ``name`` is shown alone."""
    return f"{address}/doc/tree/{name}?token={TOKEN}"


def _answers(server: subprocess.Popen[bytes], port: int, log: Path) -> bool:
    assert server.poll() is None, f"JupyterLab ended:\n{log.read_text(encoding='utf-8')[-4_000:]}"
    with socket.socket() as asked:
        return asked.connect_ex((HOST, port)) == 0


def _end(server: subprocess.Popen[bytes]) -> None:
    """The server with its kernels, which it starts in sessions of their own: asked first, then killed."""
    if server.poll() is not None:
        return  # and a kernel ends by itself without its server
    started = [*psutil.Process(server.pid).children(recursive=True), psutil.Process(server.pid)]
    server.terminate()
    _, left = psutil.wait_procs(started, timeout=10)
    for process in left:
        process.kill()
    server.wait()


@contextmanager
def reading(profile: Path) -> Iterator[webdriver.Chrome]:
    """Chromium that can reach nothing but this machine."""
    alone = f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {HOST}"
    browser = started(profile, alone, "--window-size=1000,900")
    try:
        yield browser
    finally:
        browser.quit()


def opened(browser: webdriver.Chrome, address: str) -> None:
    """Waits until the document is there and its kernel waits for work."""
    browser.get(address)
    idle = ".jp-Notebook-ExecutionIndicator[data-status=idle]"
    until(browser, lambda: bool(browser.find_elements(By.CSS_SELECTOR, idle)), "the kernel did not start")


def run_cell(browser: webdriver.Chrome) -> None:
    """The cell that is selected, at first the first, as a reader runs it: Shift+Enter; the next one is selected then.

    JupyterLab draws a cell again while it opens a notebook: what was clicked may be gone a moment later; and while a
    kernel connects, a cell may be passed without being run. So it is pressed again where nothing has come of it."""

    def place() -> str:
        return browser.execute_script(
            "return document.querySelector('.jp-Cell.jp-mod-active').dataset.windowedListIndex"
        )

    before = place()
    chosen = f".jp-Cell[data-windowed-list-index='{before}']"

    def passed() -> bool:
        cell = browser.find_element(By.CSS_SELECTOR, chosen)
        prompts = browser.find_elements(By.CSS_SELECTOR, f"{chosen}.jp-CodeCell .jp-InputPrompt")
        if place() != before and all(prompt.text not in ("", "[ ]:") for prompt in prompts):
            return True
        if before == "0" or place() != before:
            cell.click()
        ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()
        return False

    WebDriverWait(browser, PATIENCE, 1, [WebDriverException]).until(lambda _: passed(), f"cell {before} did not run")


def displayed(browser: webdriver.Chrome, selector: str) -> Any:
    """Waits for an output, and returns it. A cell that fails fails the test."""

    def there() -> bool:
        failed = browser.find_elements(By.CSS_SELECTOR, "[data-mime-type='application/vnd.jupyter.error']")
        assert not failed, failed[0].text
        return bool(browser.find_elements(By.CSS_SELECTOR, selector))

    until(browser, there, f"{selector} was not displayed")
    return browser.find_element(By.CSS_SELECTOR, selector)


def until(browser: webdriver.Chrome, condition: Callable[[], object], failure: str) -> None:
    """For as long as a busy machine may take."""
    WebDriverWait(browser, PATIENCE, 0.1).until(lambda _: condition(), failure)


def asked(browser: webdriver.Chrome) -> set[str]:
    """Hosts that pages have asked for something; the browser's own pages ask the browser."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    return {str(urlsplit(url).hostname) for url in sent if url.startswith(("http", "ws"))}
