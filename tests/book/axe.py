"""What axe finds wrong with a page for readers who hear it, use a keyboard, or see little contrast."""

from __future__ import annotations

from pathlib import Path

from tests.book.browser import Browser

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
OF_COLOUR = ("color-contrast", "link-in-text-block")
"""The rules whose answer may be another one in the dark; they take as long as all others."""
# Without `preload` axe asks for no file: from disk it would get none, and the console would say so.
RUN = """
const [rules, only, beside, done] = arguments;
const none = Object.fromEntries(rules.map((rule) => [rule, { enabled: false }]));
const chosen = only ? { runOnly: rules } : { rules: none };
const context = beside && document.querySelector(beside) ? { exclude: [beside] } : document;
axe.run(context, { preload: false, resultTypes: ["violations"], ...chosen }).then(({ violations }) => done(violations
  .filter(({ impact }) => ["serious", "critical"].includes(impact))
  .flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(" ")}: ${html.slice(0, 150)}`))));
"""


def violations(browser: Browser) -> list[str]:
    """The serious and critical ones of the open page, but for those of colours: rule, element, its beginning."""
    return _found(browser, only=False)


def of_colour(browser: Browser, beside: str = "") -> list[str]:
    """Those of colours; none that lie in the element ``beside``, if one is named."""
    return _found(browser, only=True, beside=beside)


def _found(browser: Browser, *, only: bool, beside: str = "") -> list[str]:
    if not browser.run("return Boolean(window.axe)"):
        browser.run(AXE.read_text(encoding="utf-8"))
    return list(browser.driver.execute_async_script(RUN, OF_COLOUR, only, beside))
