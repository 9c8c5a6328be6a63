"""The encoder in the page: how long an answer takes a reader, and how much of that the products of all tokens would.

    python benchmarks/in_page.py            # the book in _build/html, or in $XLING_BOOK_HTML; a minute

A sentence of fourteen tokens is moved as the page of chapter 6 moves it, towards three languages, in headless
Chromium, at full speed and with the processor throttled four times, about what a phone has. Beside it the same with the
scores of all tokens of the vocabulary at every place, where the page computes only those that may be the highest.
Medians.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from _machine import machine

ROOT = Path(__file__).resolve().parents[1]
PAGE = "notebooks/06_mds.html"
SENTENCE = "the book is on the table and the children read it every day ."
LAYER, TIMES, QUICK_TIMES = 2, 15, 2
MOVES = (("fr", 1), ("ru", 2), ("zh", 2), ("zh", -3))
RATES = (1, 4)
LOAD = """
const done = arguments[0], from = performance.now();
bookEncoder.load().then((encoder) => { window.encoder = encoder; done(performance.now() - from); });
"""
ANSWER = """
const [sentence, target, layer, weight, times] = arguments, ids = encoder.read(sentence);
const median = (own) => {
  encoder.likeliest = own;
  const found = Array.from({ length: times }, () => {
    const from = performance.now();
    encoder.moved(ids, "en", target, layer, weight);
    return performance.now() - from;
  });
  return found.sort((a, b) => a - b)[times >> 1];
};
const pruned = encoder.likeliest;
const whole = (states) => {
  const scores = encoder.logits(states), size = encoder.pieces.length;
  return Array.from({ length: scores.length / size }, (_, place) => {
    let best = place * size;
    for (let at = best; at < (place + 1) * size; at++) if (scores[at] > scores[best]) best = at;
    return best - place * size;
  });
};
const found = [median(pruned), median(whole)];
delete encoder.likeliest;
return found;
"""


def main() -> None:
    """Prints one markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="each answer twice")
    times = QUICK_TIMES if parser.parse_args().quick else TIMES
    page = Path(os.environ.get("XLING_BOOK_HTML") or ROOT / "_build/html") / PAGE
    if not page.is_file():
        print(f"skipped: {page} is not there; `make book` makes it")
        return
    sys.path.insert(0, str(ROOT))
    from tests.book.browser import Browser

    print(f"{machine()}; load average before: {os.getloadavg()[0]:.1f}.\n")
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(Path(profile))
        try:
            browser.open(page)
            print(f"The encoder is there after {browser.driver.execute_async_script(LOAD):.0f} ms. Milliseconds:\n")
            print("| towards | weight | throttled | an answer | with all scores | ratio |\n|---|---|---|---|---|---|")
            for rate in RATES:
                browser.driver.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": rate})
                for target, weight in MOVES:
                    own, whole = browser.run(ANSWER, SENTENCE, target, LAYER, weight, times)
                    cells = f"{weight} | {rate} times | {own:.1f} | {whole:.1f} | {own / whole:.2f}"
                    print(f"| {target} | {cells} |")
        finally:
            browser.close()


if __name__ == "__main__":
    main()
