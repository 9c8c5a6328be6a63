"""Every page of the book, and the sample's, from disk: nothing fails, nothing is fetched, all shows."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from tests.book import axe
from tests.book.browser import Browser
from tests.book.conftest import REPOSITORY
from tests.book.sample import HERE
from xling_utils.book.rendering import pages

PAGES = [("book", page) for page in [*pages(REPOSITORY), "search", "genindex"]]
PAGES += [("sample_html", page) for page in pages(HERE / "sample")]
PHONE, TABLET, DESKTOP = 390, 768, 1280
VIEWS = ((PHONE, "light"), (PHONE, "dark"), (TABLET, "dark"), (DESKTOP, "dark"), (DESKTOP, "light"))
"""Pixels, and what a reader prefers, in the order in which a page is seen. It is opened once: a chart is drawn anew for
another width, and follows from light to dark by itself."""
UNWEIGHTY = ["color-contrast", "link-in-text-block", "region"]
"""Rules that axe leaves out: contrast, and links that colour alone tells from the text around them, two thirds of its
time, are looked for in all views (FAINT, which one test holds against axe, and UNMARKED, which is stricter: for axe a
contrast of three will do), and what it finds of the last is never serious."""
AXED = {(PHONE, "light"): [*UNWEIGHTY, "avoid-inline-spacing"], (DESKTOP, "dark"): UNWEIGHTY}
"""Views that axe is shown, both widths and both schemes; what one rule looks at is the same in both."""
FITTING = """return [...document.querySelectorAll(".vega-chart:not(:has(.cell))")]  // one in panels keeps its width
  .filter((chart) => chart.clientWidth > 0).every((chart) =>
    Math.abs((chart.querySelector("svg")?.getBoundingClientRect().width ?? 0) - chart.clientWidth) <= 1)"""

# Text against the nearest painted background, as WCAG measures contrast; large or hidden text is left out.
FAINT = """
const channel = (value) => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const parse = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
const under = (text) => {  // the field of a heat map that the text stands on
  const box = text.getBoundingClientRect(), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  return [...text.ownerSVGElement.querySelectorAll(".mark-rect.role-mark path")].filter((field) => {
    const at = field.getBoundingClientRect();
    return at.left <= x && x <= at.right && at.top <= y && y <= at.bottom;
  }).pop();
};
const turned = (colour, share) => {  // by half a circle of hues, after an inversion of so much
  const [r, g, b] = colour.map((value) => share * (255 - value) + (1 - share) * value);
  const middle = 0.213 * r + 0.715 * g + 0.072 * b;
  return [r, g, b].map((value) => Math.min(255, Math.max(0, 2 * middle - value)));
};
const behind = (element) => {
  const field = element instanceof SVGElement ? under(element) : undefined;
  if (field) {
    const { fill, filter } = getComputedStyle(field);
    const inverted = filter.match(/^invert\\(([\\d.]+)\\) hue-rotate/);
    return inverted ? turned(parse(fill), Number(inverted[1])) : parse(fill);
  }
  return painted(element);
};
const fields = new Map([[null, [255, 255, 255]]]);
const painted = (element) => {
  if (!fields.has(element)) {
    const [r, g, b, a = 1] = parse(getComputedStyle(element).backgroundColor);
    fields.set(element, a > 0.9 ? [r, g, b] : painted(element.parentElement));
  }
  return fields.get(element);
};
const faint = [];
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!own || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
  const style = getComputedStyle(element);
  const ink = parse(element instanceof SVGElement ? style.fill : style.color);
  const [dark, bright] = [light(ink), light(behind(element))].sort((a, b) => a - b);
  const ratio = (bright + 0.05) / (dark + 0.05);
  if (ratio < 4.4) faint.push(`${ratio.toFixed(1)}: ${element.textContent.trim().slice(0, 40)}`);
}
return faint;
"""

# Links within text that nothing but their colour tells from it.
UNMARKED = """
const styles = new Map();
const style = (element) => styles.get(element) ?? styles.set(element, getComputedStyle(element)).get(element);
const block = (element) => style(element).display.startsWith("inline") ? block(element.parentElement) : element;
const letters = (element) => element.textContent.replace(/\\s/g, "").length;
const marked = (element) => style(element).textDecorationLine !== "none" || style(element).backgroundImage !== "none"
  || parseFloat(style(element).borderBottomWidth) > 0 || style(element).display.startsWith("inline-");
return [...document.querySelectorAll("a[href]")].filter((link) => {
  const seen = link.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  if (!seen || !letters(link) || style(link).display !== "inline") return false;
  const around = block(link.parentElement);
  const links = [...around.querySelectorAll("a[href], button")].reduce((sum, each) => sum + letters(each), 0);
  return letters(around) > links && ![link, ...link.querySelectorAll("*")].some(marked);
}).map((link) => link.textContent.trim().slice(0, 40));
"""

CHARTS = """
return [...document.querySelectorAll(".vega-chart")].filter((chart) => chart.clientWidth > 0).map((chart) => {
  const box = chart.querySelector("svg, canvas")?.getBoundingClientRect();
  return { label: chart.getAttribute("aria-label"), width: box?.width ?? 0, height: box?.height ?? 0,
           marks: chart.querySelectorAll("svg .role-mark :is(path, text, line, image)").length };
});
"""

# What is wider than its place: verdicts, formulas and, on a wide page, commands.
CUT = """
const wide = innerWidth > 1000 ? ", .highlight-sh pre" : "";
const boxes = ":is(.text_html:has(> .claims), .claims td, .ledger summary, mjx-container[display=true]" + wide + ")";
return [...document.querySelectorAll(boxes)]
  .filter((box) => box.scrollWidth > box.clientWidth + 1 && box.clientWidth > 0)
  .map((box) => `${box.tagName} ${box.textContent.trim().slice(0, 60)}`);
"""

# Names of a chart that cover each other.
COVERED = """
const found = [];
for (const chart of document.querySelectorAll(".vega-chart svg")) {
  const names = [...chart.querySelectorAll(".role-axis-label text, .role-legend-label text")]
    .filter((name) => getComputedStyle(name).opacity > 0 && name.textContent.trim());
  const boxes = names.map((name) => name.getBoundingClientRect());
  boxes.forEach((one, i) => boxes.slice(0, i).forEach((other, j) => {
    const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    const upright = [names[i], names[j]].every((name) => !/rotate\\((?!0)/.test(name.getAttribute("transform")));
    if (upright && across > 1 && down > 3) found.push(`${names[i].textContent} | ${names[j].textContent}`);
  }));
}
return found;
"""


@pytest.fixture(params=PAGES, ids=lambda pair: f"{pair[0].removesuffix('_html')}-{pair[1]}")
def page(request: pytest.FixtureRequest) -> Path:
    source, name = request.param
    html: Path = request.getfixturevalue(source)
    return html / f"{name}.html"


def test_page_shows_everything_offline(page: Path, sample_html: Path, browser: Browser) -> None:
    sample = page.is_relative_to(sample_html)
    seen = VIEWS[0]
    browser.open(page, *seen)
    figures_are_numbered_and_captioned(browser)
    links_lead_somewhere(browser, page)
    for view in VIEWS:
        if view[0] != seen[0]:
            browser.widen(view[0])
            browser.wait(lambda: browser.run(FITTING), "a chart has not the width of its column")
        elif view != seen:
            browser.turn(view[1])
        seen = view
        shows_everything(browser, *view, sample=sample)
    if page.parent.name == "notebooks" and not sample:
        no_bar_of_code_follows_another_and_figures_say_where_they_come_from(browser, page.stem)


def shows_everything(browser: Browser, width: int, scheme: str, *, sample: bool) -> None:
    assert browser.run("return document.documentElement.dataset.theme") == scheme
    assert browser.errors() == []
    assert browser.outside() == []
    assert browser.run("return document.documentElement.scrollWidth") <= width
    for chart in browser.run(CHARTS):
        assert chart["width"] > 100 and chart["height"] > 50 and chart["marks"] > 0, chart
        assert chart["label"] and chart["label"] != "Chart", "a chart has no description"
    for formula in browser.run(
        "return [...document.querySelectorAll('mjx-container svg')].map((svg) => svg.getBoundingClientRect().width)"
    ):
        assert formula > 0
    assert browser.run(COVERED) == []
    if not sample:  # a formula of the sample is too wide on purpose: it scrolls in its place
        assert browser.run(CUT) == []
    assert browser.run("return document.querySelectorAll('mjx-merror, [data-mjx-error]').length") == 0
    assert browser.run(FAINT) == []
    assert browser.run(UNMARKED) == []
    if (width, scheme) in AXED:
        assert axe.violations(browser, *AXED[width, scheme]) == []


@pytest.mark.parametrize(("scheme", "ink"), [("light", "#8c8c8c"), ("dark", "#5a5a5a")])
def test_what_is_faint_to_axe_is_faint_here(scheme: str, ink: str, sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html", scheme=scheme)
    assert browser.run(FAINT) == [] and axe.violations(browser) == []
    faded = browser.run(
        "const text = document.querySelector('.bd-article p'); text.style.color = arguments[0];return text.textContent",
        ink,
    )
    assert faded.startswith(browser.run(FAINT)[0].partition(": ")[2])
    assert [found.partition(":")[0] for found in axe.violations(browser)] == ["color-contrast"]


def test_a_link_that_only_its_colour_tells_from_the_text_is_noticed(sample_html: Path, browser: Browser) -> None:
    """By axe it is not always: of one that something lies over it says that it cannot tell."""
    browser.open(sample_html / "book" / "intro.html")
    assert browser.run(UNMARKED) == []
    plain = browser.run(
        "const link = document.querySelector('.bd-article p a[href]'); link.style.textDecoration = 'none';"
        "return link.textContent.trim()"
    )
    assert browser.run(UNMARKED) == [plain]


BARS = """return [...document.querySelectorAll(".cell")]
  .filter((cell) => cell.querySelector("details.hide"))
  .filter((cell) => !(cell.querySelector(".cell_output")?.getBoundingClientRect().height > 0))
  .filter((cell) => cell.nextElementSibling?.matches(".cell"))
  .map((cell) => cell.textContent.trim().slice(0, 80))"""


def no_bar_of_code_follows_another_and_figures_say_where_they_come_from(browser: Browser, chapter: str) -> None:
    assert browser.run(BARS) == []
    captions = browser.run(
        "return [...document.querySelectorAll('figure figcaption')].map((caption) =>"
        " [...caption.querySelectorAll('[class^=badge-]')].map((badge) => badge.textContent))"
    )
    assert captions and all(captions)
    assert {badge for badges in captions for badge in badges} <= {"live", "recorded", "paper"}
    code = browser.run("return document.querySelector('.bd-article').textContent")
    assert f'opened("{chapter}"' not in code, "a cell that only prepares"


def figures_are_numbered_and_captioned(browser: Browser) -> None:
    captions = browser.run(
        "return [...document.querySelectorAll('.bd-article figure')].map((figure) =>"
        " figure.querySelector('figcaption .caption-number')?.textContent.trim() ?? '')"
    )
    assert all(caption.startswith("Figure ") for caption in captions)
    assert len(set(captions)) == len(captions)
    loose = browser.run(
        "return [...document.querySelectorAll('.vega-chart')].filter((it) => !it.closest('figure, .in-page')).length"
    )
    assert loose == 0, "a chart stands outside a numbered figure, and answers no form"


def links_lead_somewhere(browser: Browser, page: Path) -> None:
    for address in browser.run("return [...document.querySelectorAll('a[href]')].map((link) => link.href)"):
        path, _, anchor = address.partition("#")
        if not path.startswith("file://"):
            continue
        target = Path(path.removeprefix("file://"))
        assert target.is_file(), f"{page.name} links to {address}"
        if anchor and target.suffix == ".html":
            assert anchor in identifiers(target), f"{page.name} links to {address}"


@cache
def identifiers(page: Path) -> frozenset[str]:
    return frozenset(re.findall(r'\bid="([^"]*)"', page.read_text(encoding="utf-8")))


SLIDE = """
const slider = document.querySelector("#fig-sample input[type=range]");
slider.value = arguments[0];
slider.dispatchEvent(new Event("input", { bubbles: true }));
"""


def test_slider_of_a_chart_changes_it(sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html")
    marks = "return document.querySelector('#fig-sample svg .role-mark').closest('svg').innerHTML"
    before = browser.run(marks)
    browser.run(SLIDE, 5)
    browser.wait(lambda: browser.run(marks) != before, "the slider changed nothing")


def test_legend_of_a_chart_selects(sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html")
    marks = "return document.querySelector('#fig-sample svg').innerHTML"
    before = browser.run(marks)
    browser.click("#fig-sample svg .role-legend-symbol path")
    browser.wait(lambda: browser.run(marks) != before, "a click in the legend changed nothing")


PRESSED = "return [...document.querySelectorAll('#fig-sample [aria-pressed]')].map((entry) => entry.ariaPressed)"


def test_a_second_click_in_a_legend_takes_the_first_back(sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html")
    for pressed in ("true", "false"):
        browser.click("#fig-sample [aria-pressed]")
        browser.wait(lambda pressed=pressed: browser.run(PRESSED) == [pressed, "false"], "the legend does not say it")


def test_legend_of_a_chart_selects_by_the_keyboard(sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html")
    shown = "return document.querySelector('#fig-sample svg .role-mark').closest('svg').innerHTML.match(/opacity=.../g)"
    before = browser.run(shown)
    assert browser.run(PRESSED) == ["false", "false"]
    browser.run("document.querySelector('#fig-sample [aria-pressed]').focus()")
    entry = browser.driver.switch_to.active_element
    for key, pressed in ((Keys.ENTER, "true"), (Keys.SPACE, "false")):
        entry.send_keys(key)
        browser.wait(lambda pressed=pressed: browser.run(PRESSED) == [pressed, "false"], "the legend does not say it")
        browser.wait(
            lambda pressed=pressed: (browser.run(shown) == before) == (pressed == "false"), "the chart shows another"
        )
        assert axe.violations(browser) == []


PLACE = """
const mark = [...document.querySelectorAll("#fig-sample svg .mark-symbol.role-mark path")].pop();
mark.scrollIntoView({ block: "center" });
const { x, y, width, height } = mark.getBoundingClientRect();
return { x: x + width / 2, y: y + height / 2 };
"""


def test_a_tap_on_a_mark_tells_of_it_and_one_beside_it_hides_that(sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html", PHONE)
    told = "return document.querySelector('.vg-tooltip.visible')?.textContent ?? ''"

    def tap(**point: float) -> None:
        for kind, points in (("touchStart", [point]), ("touchEnd", [])):
            browser.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        at = browser.run(PLACE)
        tap(**at)
        browser.wait(lambda: "value" in browser.run(told), "nothing is told of the mark")
        tap(x=at["x"], y=at["y"] + 40)
        browser.wait(lambda: browser.run(told) == "", "it is still told of")
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


@pytest.mark.parametrize(
    ("page", "control", "shown"),
    [
        ("book/ledger", "[data-filter=scale]", ".ledger-filters output"),
        ("notebooks/02_window_size", "#fig-window select", "#fig-window svg"),
    ],
)
def test_who_comes_back_finds_the_controls_as_what_they_show(
    page: str, control: str, shown: str, book: Path, browser: Browser
) -> None:
    browser.open(book / f"{page}.html")
    state = f"""return [document.querySelector("{control}")?.selectedIndex,
      document.querySelector("{shown}")?.textContent]"""
    before = browser.run(state)
    browser.run(
        f"""const control = document.querySelector("{control}"); control.selectedIndex = 1;
        control.dispatchEvent(new Event("change", {{ bubbles: true }}))"""
    )
    browser.wait(lambda: browser.run(state)[0] == 1, "nothing was chosen")
    browser.driver.get((book / "book" / "glossary.html").as_uri())
    browser.driver.back()
    browser.wait(lambda: browser.run(state) == before, "a control says what is not shown")


LEGEND = """
const [chart, legend] = [".vega-chart", ".role-legend"]
  .map((part) => document.querySelector(`#fig-sample ${part}`).getBoundingClientRect());
return Math.round(legend.y - chart.y);
"""
CHOSEN = """
const chart = document.querySelector("#fig-sample .vega-chart");
const points = [...chart.querySelectorAll(".mark-symbol.role-mark path")].map((point) => point.getAttribute("opacity"));
const slider = chart.querySelector("input[type=range]").value;
return [slider, ...["1", "0.15"].map((opacity) => points.filter((own) => own === opacity).length), points.length];
"""
CHOICES = ["5", 5, 5, 10]
"""The last step that is shown, and so many points of the model that was clicked, of the other, of both."""


def choose(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width)
    browser.run(SLIDE, 5)
    browser.click("#fig-sample svg .role-legend-symbol path")
    browser.wait(lambda: browser.run(CHOSEN) == CHOICES, "the slider and the legend chose nothing")


@pytest.mark.parametrize(("before", "after"), [(820, 1280), (1280, 390), (390, 1280)])
def test_a_chart_fits_its_column_when_the_window_changes(
    before: int, after: int, sample_html: Path, browser: Browser
) -> None:
    page = sample_html / "notebooks" / "01_sample.html"
    choose(browser, page, after)
    fresh = browser.run(LEGEND)
    choose(browser, page, before)
    widths = """
    const chart = document.querySelector("#fig-sample .vega-chart");
    return [chart.clientWidth, Math.round(chart.querySelector("svg").getBoundingClientRect().width)];
    """
    first = browser.run(widths)
    browser.widen(after)
    browser.wait(
        lambda: len({*browser.run(widths)}) == 1 and browser.run(widths) != first, "the chart has another width"
    )
    browser.wait(lambda: browser.run(LEGEND) == fresh, "the legend stands elsewhere than in a window of that width")
    browser.wait(lambda: browser.run(CHOSEN) == CHOICES, "what was chosen is lost")


def test_marks_that_lose_their_name_when_a_chart_is_drawn_anew_get_it_back(book: Path, browser: Browser) -> None:
    browser.open(book / "notebooks/02_window_size.html")
    lose = """const marks = [...document.querySelectorAll(".vega-chart [role='graphics-symbol']")];
      marks.forEach((mark) => mark.removeAttribute("aria-label")); return marks.length"""
    unnamed = """return document.querySelectorAll(".vega-chart [role='graphics-symbol']:not([aria-label])").length"""
    assert browser.run(lose) > 0
    browser.wait(lambda: browser.run(unnamed) == 0, "marks without a name")


def test_chart_keeps_its_state_from_light_to_dark_and_is_printed_as_in_the_light(
    sample_html: Path, browser: Browser
) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html")
    ink = "return getComputedStyle(document.querySelector('#fig-sample svg .role-axis-label text')).fill"
    light = browser.run(ink)
    browser.run("document.documentElement.dataset.theme = 'dark'")
    dark = browser.run(ink)
    assert dark != light
    browser.run(f"addEventListener('beforeprint', () => {{ window.printed = (() => {{ {ink} }})(); }})")
    browser.driver.execute_cdp_cmd("Page.printToPDF", {})
    assert browser.run("return window.printed") == light, "paper is light"
    assert browser.run(ink) == dark


PRINTED = """matchMedia("print").addEventListener("change", ({ matches }) => {
  if (matches) window.printed = [...document.querySelectorAll("#fig-sample .vega-canvas")]
    .map((canvas) => canvas.querySelector("svg").getBoundingClientRect().width - canvas.clientWidth);
})"""


def test_a_chart_is_not_wider_than_the_paper(sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html", width=1900)
    browser.run(PRINTED)
    browser.driver.execute_cdp_cmd("Page.printToPDF", {})
    beyond = browser.run("return window.printed")
    assert len(beyond) == 1 and beyond[0] <= 1


OUTSIDE = """const figure = document.querySelector("#fig-overlap"), list = figure.querySelector(".vega-bind select");
if (arguments[0]) {
  list.value = [...list.options].find((option) => option.textContent.includes(arguments[0])).value;
  list.dispatchEvent(new Event("change", {bubbles: true}));
}
const svg = figure.querySelector("svg"), { left, right } = svg.getBoundingClientRect();
const legend = [...svg.querySelectorAll(".role-legend-label text")].map((text) => text.textContent);
return [legend, [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim()).map((text) =>
  [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.left < left - 1 || box.right > right + 1)
  .map(([text]) => text)]"""


def test_a_chart_is_laid_out_again_when_something_is_chosen(book: Path, browser: Browser) -> None:
    browser.open(book / "notebooks" / "03_overlap.html", PHONE)
    before, outside = browser.run(OUTSIDE, "")
    assert outside == []
    browser.run(OUTSIDE, "inference")
    browser.wait(lambda: browser.run(OUTSIDE, "")[0] != before, "the legend does not name the papers")
    browser.wait(lambda: browser.run(OUTSIDE, "")[1] == [], "a name is cut")


BEYOND = """return [...document.querySelectorAll(".bd-article :is(table, pre, svg.marks)")]
  .filter((box) => box.getClientRects().length && box.getBoundingClientRect().right > innerWidth + 1)
  .map((box) => box.textContent.trim().slice(0, 60))"""


@pytest.mark.parametrize("page", ["book/controlled_world", "book/sizes", "book/run/model", "notebooks/06_mds"])
def test_paper_cuts_nothing_that_a_screen_scrolls(page: str, book: Path, browser: Browser) -> None:
    browser.open(book / f"{page}.html", 720)  # about A4
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    beyond = browser.run(BEYOND)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert beyond == []


def test_chart_offers_its_data(sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html")
    names, text = browser.run(
        "const saved = [], blobs = []; HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };"
        "URL.createObjectURL = (blob) => { blobs.push(blob); return 'blob:'; };"
        "for (const id of ['fig-sample', 'fig-words'])"
        "  [...document.querySelector(`#${id} .chart-tools`).children].at(-1).click();"
        "return blobs[0].text().then((text) => [saved, text]);"
    )
    assert names == ["fig-sample.csv", "fig-words.csv"], "a line that is drawn beside the words is no data"
    header, *lines = text.splitlines()
    assert header == "model,step,value" and len(lines) == 60
    assert lines[:2] == ["encoder,0,0", "static vectors,0,0.4"] and lines[-1] == "static vectors,29,0.496667"


def test_a_saved_or_printed_chart_says_what_was_chosen(book: Path, browser: Browser) -> None:
    browser.open(book / "notebooks/03_overlap.html")
    browser.run(OUTSIDE, "inference")
    saved = browser.driver.execute_async_script(
        "const done = arguments[0]; HTMLAnchorElement.prototype.click = function () { done(this.download); };"
        "document.querySelector('#fig-overlap .chart-tools button').click();"
    )
    assert saved.startswith("fig-overlap-") and "-inference" in saved and saved.endswith(".png")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    written = browser.run("return document.querySelector('#fig-overlap .vega-bindings').innerText")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert "inference" in written


def test_widget_shows_its_saved_state(sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html")
    assert browser.run("return document.querySelector('.widget-readout').textContent.trim()") == "3"
    browser.wait(
        lambda: browser.run("return Boolean(document.querySelector('.widget-label mjx-container svg'))"),
        "the formula in the widget's label was not typeset",
    )


def test_widgets_that_need_a_kernel_are_switched_off_and_say_so(sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html")
    host = "document.querySelector('script[type=\"application/vnd.jupyter.widget-view+json\"]').parentElement"
    browser.wait(lambda: "running notebook" in browser.run(f"return {host}.textContent"), "nothing says so")
    alive = f"return {host}.querySelectorAll(':is(input, select, button, .noUi-target):not([disabled])').length"
    assert browser.run(alive) == 0 and browser.run(f"return {host}.querySelectorAll('[disabled]').length") > 0
    assert browser.run("return document.querySelectorAll('.vega-bindings [disabled]').length") == 0


def test_injected_parameters_are_not_shown(sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "notebooks" / "01_sample.html")
    code = browser.run("return [...document.querySelectorAll('.cell_input')].map((cell) => cell.textContent)")
    assert any("rows = 40" in cell for cell in code)
    assert not any("rows = 30" in cell for cell in code)


def test_search_works_from_disk(sample_html: Path, browser: Browser) -> None:
    browser.open(sample_html / "search.html", query="q=encoder")
    browser.wait(
        lambda: browser.run("return document.querySelectorAll('#search-results ul.search li').length") >= 1,
        "the search found nothing",
    )
    assert browser.errors() == []
    assert browser.outside() == []


def test_a_moved_sentence_stands_on_the_page_itself_in_the_dark(book: Path, browser: Browser) -> None:
    browser.open(book / "notebooks" / "06_mds.html", 1100, "dark")
    behind = "return getComputedStyle(document.querySelector('.text_html:has(.xling-tokens)')).backgroundColor"
    assert browser.run(behind) == "rgba(0, 0, 0, 0)", "its text has the page's colour, so it needs the page's ground"


UNFOLDED = "document.querySelectorAll('.claims details, .ledger details').forEach((fold) => { fold.open = true; });"


def test_values_of_verdicts_name_their_language_where_columns_wrap(book: Path, browser: Browser) -> None:
    named = """return [...document.querySelectorAll(".claims td:not(:first-child)")]
      .map((cell) => [cell.dataset.of, getComputedStyle(cell, "::before")])
      .map(([name, style]) => style.display !== "none" && style.content === JSON.stringify(name))"""
    browser.open(book / "notebooks/01_data_size.html", width=390)
    browser.run(UNFOLDED)
    assert any(browser.run(named)), "the table of real text has a column for every language"
    assert browser.run(CUT) == []
    shown = """const cell = document.querySelector(".claims td[data-of=French]"), before = cell.checkVisibility();
      cell.classList.add("nothing"); return [before, cell.checkVisibility()]"""
    assert browser.run(shown) == [True, False], "a language without a value takes no line"
    browser.open(book / "notebooks/05_language_means.html", width=1280)
    browser.run(UNFOLDED)
    assert not any(browser.run(named)), "in a table the head names them"
    assert browser.run(CUT) == [] and axe.violations(browser) == []


@pytest.mark.parametrize("page", ["notebooks/06_mds", "book/ledger"])
def test_what_a_verdict_rests_on_is_folded_and_opens_by_the_keyboard_and_in_print(
    page: str, book: Path, browser: Browser
) -> None:
    browser.open(book / f"{page}.html", width=1280)
    height = "return document.documentElement.scrollHeight"
    folded = browser.run(height)
    browser.run(UNFOLDED)
    assert folded < 0.8 * browser.run(height)
    browser.open(book / f"{page}.html", width=1280)
    inside = """return [...document.querySelectorAll("details:is(.claim, .ledger *) > :not(summary)")]
      .map((part) => part.checkVisibility({contentVisibilityAuto: true}) && part.getClientRects().length > 0)"""
    assert (hidden := browser.run(inside)) and not any(hidden)
    browser.run("document.querySelector(':is(.claims, .ledger) summary').focus()")
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert any(browser.run(inside)) and not all(browser.run(inside))
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert all(browser.run(inside)), "paper cannot be opened"
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_the_ledger_is_filtered_and_leads_to_figures_data_and_commands(book: Path, browser: Browser) -> None:
    browser.open(book / "book" / "ledger.html")
    shown = "return [...document.querySelectorAll('.ledger > article')].filter((a) => a.clientHeight).length"
    choose = (
        "const select = document.querySelector(`[data-filter=${arguments[0]}]`); select.value = arguments[1];"
        "select.dispatchEvent(new Event('change', { bubbles: true }));"
    )
    everything = browser.run(shown)
    assert everything >= 60
    browser.run(choose, "paper", "E")
    of_one = browser.run(shown)
    assert 10 < of_one < everything
    browser.run(choose, "verdict", "verdict-holds")
    assert 0 < browser.run(shown) < of_one
    parts = (
        "return [...document.querySelectorAll('.ledger-part')].filter((p) => p.clientHeight).map((p) => p.textContent)"
    )
    named = browser.run(parts)
    assert named and {*named} <= {"Chapter 3", "Chapter 4", "Chapter 10"}, "chapters without a claim that is shown"
    told = browser.run("return document.querySelector('.ledger-filters output').textContent")
    assert told == f"{browser.run(shown)} of {everything} claims"
    hidden = browser.run("return [...document.querySelectorAll('.ledger > article')].findLast((a) => a.hidden).id")
    browser.run("location.hash = arguments[0]", hidden)
    there = "const found = document.getElementById(arguments[0]), { top } = found.getBoundingClientRect();"
    there += "return found.querySelector('details').open && top >= 0 && top < innerHeight"
    browser.wait(lambda: browser.run(there, hidden), "a link to a claim that was filtered out leads nowhere")
    assert browser.run(shown) == everything
    browser.run(choose, "paper", "E")
    address = browser.run("return document.querySelector('.ledger section:not([hidden]) li a').href")
    path, _, anchor = address.removeprefix("file://").partition("#")
    browser.open(Path(path))
    caption = "return document.getElementById(arguments[0]).querySelector('figcaption')"
    assert ".csv" in browser.run(f"{caption}.innerHTML", anchor)
    assert "xling run " in browser.run(f"{caption}.textContent", anchor)


COVERED_NOTES = """return [...document.querySelectorAll("aside.term-note")].filter((note) => {
  const box = note.getBoundingClientRect(), bar = 70;
  for (let y = Math.max(box.top, bar) + 2; y < Math.min(box.bottom, innerHeight) - 2; y += 8)
    if (document.elementFromPoint(box.left + 60, y)?.closest(".bd-sidebar-secondary")) return true;
}).map((note) => note.textContent.trim())"""


def test_a_reader_compares_any_two_conditions_layer_by_layer(book: Path, browser: Browser) -> None:
    browser.open(book / "notebooks" / "03_overlap.html")
    marks = "return document.querySelector('#fig-overlap-layers svg').innerHTML"
    shown = "return document.querySelector('#fig-overlap-layers svg').textContent"
    for label, chosen in (("with ", "code-switched"), ("Values of ", ", seed"), ("Measure ", "plain cosine")):
        before = browser.run(marks)
        browser.run(
            "const [label, wanted] = arguments, figure = document.querySelector('#fig-overlap-layers');"
            "const list = [...figure.querySelectorAll('.vega-bind')].find((bind) =>"
            "  bind.textContent.startsWith(label)).querySelector('select');"
            "list.value = [...list.options].find((option) => option.textContent.includes(wanted)).value;"
            "list.dispatchEvent(new Event('change', {bubbles: true}));",
            label,
            chosen,
        )
        browser.wait(lambda before=before: browser.run(marks) != before, f"choosing {chosen} changed nothing")
    assert "code-switched" in browser.run(shown)


@pytest.mark.parametrize("chapter", ["01_data_size", "05_language_means"])
def test_notes_in_the_margin_are_not_covered_by_the_contents(chapter: str, book: Path, browser: Browser) -> None:
    browser.open(book / "notebooks" / f"{chapter}.html", width=1440)
    assert browser.run("return document.querySelectorAll('aside.term-note').length") > 3
    tops = "return [...document.querySelectorAll('aside.term-note')].map((note) => note.getBoundingClientRect().top)"
    for top in browser.run(tops):
        for above in (100, 400, 650, 800):
            browser.run("scrollTo(0, arguments[0])", top - above)
            # The theme looks at what is in sight after a scroll, and folds slowly.
            browser.wait(lambda: browser.run(COVERED_NOTES) == [], "the contents stay over a note")


@pytest.mark.parametrize(("name", "box"), [("controlled_world", "table.table"), ("cluster", "pre")])
def test_what_goes_on_beyond_the_edge_fades_until_it_is_scrolled_to(
    name: str, box: str, book: Path, browser: Browser
) -> None:
    browser.open(book / "book" / f"{name}.html", width=390)
    wide = f"[...document.querySelectorAll('.goes-on')].filter((box) => box.matches(':has(> {box}), {box}'))"
    browser.wait(lambda: browser.run(f"return {wide}.length > 0"), f"no {box} goes on")
    first = browser.run(f"return {wide}[0]")
    assert "gradient" in browser.run("return getComputedStyle(arguments[0]).maskImage", first)
    browser.run("arguments[0].scrollLeft = arguments[0].scrollWidth", first)
    gone = "return !arguments[0].classList.contains('goes-on')"
    browser.wait(lambda: browser.run(gone, first), "it fades at its end, too")
    sizes = "return [...document.querySelectorAll('.goes-on')].every((box) => box.scrollWidth > box.clientWidth)"
    assert browser.run(sizes)
