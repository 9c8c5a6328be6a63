"""Pages of the book in headless Chromium, opened from disk, with what they ask for and complain about."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.faults import PATIENCE

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
LOCAL = ("file:", "data:", "blob:", "about:")

READY = """
const math = [...document.querySelectorAll(".math")];
const charts = [...document.querySelectorAll(".vega-chart")].filter((chart) => chart.clientWidth > 0);
const views = [...document.querySelectorAll('script[type="application/vnd.jupyter.widget-view+json"]')];
const moving = document.getAnimations().some((animation) => animation.playState === "running");  // colours fading in
return document.readyState === "complete" && document.fonts.status === "loaded" && !moving
  && (!math.length || Boolean(window.MathJax && MathJax.startup && MathJax.startup.promise))
  && math.every((element) => element.querySelector("mjx-container"))
  && charts.every((chart) => chart.dataset.state === "drawn")
  && views.every((view) => view.parentElement.querySelector(".jupyter-widgets"));
"""


def executables() -> tuple[str, str]:
    """Chromium and its driver: ``$CHROMIUM`` and ``$CHROMEDRIVER``, or found on PATH."""
    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver")
    if not (browser and driver):
        raise FileNotFoundError(
            "the book's tests need Chromium and chromedriver: run `make setup`, which installs them "
            "where it may, or name them in CHROMIUM and CHROMEDRIVER"
        )
    return browser, driver


def started(profile: Path, *flags: str) -> webdriver.Chrome:
    """Chromium with what it notes in ``profile``, and further ``flags``; its console and its requests are kept."""
    browser, driver = executables()
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={profile}", *flags):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # A socket of Chromium's lies below TMPDIR, and the path of a socket has at most 107 characters.
    service = webdriver.ChromeService(driver, env=os.environ | {"TMPDIR": "/tmp"})
    chromium = webdriver.Chrome(options, service)
    chromium.set_page_load_timeout(PATIENCE)
    return chromium


class Browser:
    """One Chromium for many pages. `open` returns when formulas, charts and widgets are drawn and no colour changes."""

    def __init__(self, profile: Path) -> None:
        self.driver = started(profile)
        self.driver.set_script_timeout(PATIENCE)
        self.requests: list[str] = []

    def open(self, page: Path, width: int = 1280, scheme: str = "light", query: str = "") -> None:
        """Show ``page`` at ``width`` pixels for a reader who prefers ``scheme``; forget earlier requests."""
        self.widen(width)
        self._prefer(scheme)
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.requests = []
        self.driver.get(page.as_uri() + (f"?{query}" if query else ""))
        self.wait(lambda: self.run(READY), f"{page} was not drawn")

    def widen(self, width: int) -> None:
        """The window has ``width`` pixels from now on."""
        self._cdp(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )

    def turn(self, scheme: str) -> None:
        """The reader of the page that is open prefers ``scheme`` from now on."""
        self._prefer(scheme)
        theme = "return document.documentElement.dataset.theme"
        self.wait(lambda: self.run(theme) == scheme and self.run(READY), f"the page did not become {scheme}")

    def wait(self, condition: Callable[[], bool], failure: str) -> None:
        """Until ``condition`` holds, for as long as a busy machine may take."""
        WebDriverWait(self.driver, PATIENCE, 0.1).until(lambda _: condition(), failure)

    def click(self, selector: str) -> None:
        """A real click, by the mouse, in the middle of the first such element."""
        element = self.driver.find_element(By.CSS_SELECTOR, selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        ActionChains(self.driver).move_to_element(element).click().perform()

    def run(self, script: str, *arguments: Any) -> Any:
        """Value of a JavaScript function body on the page."""
        return self.driver.execute_script(script, *arguments)

    def errors(self) -> list[str]:
        """Messages that the page wrote to the console as errors since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def outside(self) -> list[str]:
        """Addresses other than files of this machine that the page has asked for since `open`."""
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
        return [url for url in self.requests if not url.startswith(LOCAL)]

    @contextmanager
    def offline(self) -> Iterator[None]:
        """No network meanwhile. What the page asked for of other machines, or wrote as an error, fails."""
        self.driver.set_network_conditions(offline=True, latency=0, throughput=0)
        try:
            yield
            assert self.errors() == []
            assert self.outside() == []
        finally:
            self.driver.delete_network_conditions()

    def picture(self, path: Path) -> None:
        """Save the whole page as PNG."""
        height = self.run("return document.documentElement.scrollHeight")
        width = self.run("return window.innerWidth")
        self._cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.driver.save_screenshot(str(path))

    def close(self) -> None:
        """End the browser."""
        self.driver.quit()

    def _prefer(self, scheme: str) -> None:
        self._cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def _cdp(self, command: str, **parameters: Any) -> None:
        self.driver.execute_cdp_cmd(command, parameters)
