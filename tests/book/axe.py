"""What axe finds wrong with a page for readers who hear it, use a keyboard, or see little contrast."""

from __future__ import annotations

from pathlib import Path

from tests.book.browser import Browser

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
# Without `preload` axe asks for no file: from disk it would get none, and the console would say so.
RUN = """
const [without, done] = arguments, described = ({ id, nodes }) =>
  nodes.map(({ target, html }) => `${id}: ${target.join(" ")}: ${html.slice(0, 150)}`);
const rules = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
axe.run(document, { preload: false, resultTypes: ["violations"], rules }).then(
  ({ violations }) =>
    done(violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).flatMap(described)),
  (error) => done([`axe: ${error}`]),
);
"""


def violations(browser: Browser, *without: str) -> list[str]:
    """The serious and critical ones of the open page, but for those of the rules ``without``: rule, element, its
    beginning."""
    if not browser.run("return Boolean(window.axe)"):
        browser.run(AXE.read_text(encoding="utf-8"))
    return list(browser.driver.execute_async_script(RUN, without))
