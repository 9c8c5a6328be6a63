"""What axe finds wrong with a page for readers who hear it, use a keyboard, or see little contrast."""

from __future__ import annotations

from pathlib import Path

from tests.book.browser import Browser

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
OF_COLOUR = ("color-contrast", "link-in-text-block")
"""The rules whose answer may be another one in the dark."""
# Without `preload` axe asks for no file: from disk it would get none, and the console would say so.
RUN = """
const [rules, done] = arguments;
const options = { preload: false, resultTypes: ["violations"], ...(rules.length ? { runOnly: rules } : {}) };
axe.run(document, options).then(({ violations }) => done(violations
  .filter(({ impact }) => ["serious", "critical"].includes(impact))
  .flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(" ")}: ${html.slice(0, 150)}`))));
"""


def violations(browser: Browser, *rules: str) -> list[str]:
    """The serious and critical ones of the page that is open: rule, element, its beginning; by all rules, or by those
    named."""
    if not browser.run("return Boolean(window.axe)"):
        browser.run(AXE.read_text(encoding="utf-8"))
    return list(browser.driver.execute_async_script(RUN, rules))
