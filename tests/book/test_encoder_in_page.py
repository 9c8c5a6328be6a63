"""The encoder in the page beside Python's: the same pieces, the same scores, the same answer to a reader."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from transformers import BertConfig, BertForMaskedLM

from tests.book.browser import Browser
from tests.integration.test_benchmarks import number, run, table
from xling_utils import corpora
from xling_utils.book import encoder_script
from xling_utils.book.published_book import STATIC
from xling_utils.chapters.mds.widget import TranslationWidget
from xling_utils.chapters.shared import examples
from xling_utils.core.errors import UserError
from xling_utils.core.specs import CorpusSpec
from xling_utils.measures import bundled
from xling_utils.measures.encoders.bundled import Bundled
from xling_utils.measures.encoders.bundled_text import STATES, TOKENS

PAGE = "notebooks/06_mds.html"
SPOKEN = 11
"""Sentences of the controlled world a language: with those written for the book more than 200."""
STRIDE = 500
"""Of the vocabulary every so many scores are compared at a place, beginning elsewhere at the next place."""
HARD = (
    "STRASSE, İstanbul; ΟΔΥΣΣΕΥΣ!",
    "Cafe\u0301 na\u00efve \u200bsoft\u00adhyphen \ufeff x\u0085y\u001cz",
    "[MASK] [SEP] ##ing <b>&amp;</b> `~^|$+=",
    "กำลังน้ำตาล 漢字假名 क़िला किताब۔ \U0001f600 \u4e00\U00020000",
    "w" * 101,
    "क" + "\u093c" * 1_200 + " क",
    "a" + "\u0345\U0001e8d0\u0301" * 400 + " b" + "\u0301" * 31,
    "\u1e9b\u0323 \ud55c\uae00 \uff21\uff22 ǅ",
)
LOAD = """
const done = arguments[0];
bookEncoder.load().then((encoder) => { window.encoder = encoder; done(null); }, (error) => done(error.message));
"""
READ = "return arguments[0].map((text) => encoder.read(text));"
SCORES = """
const [ids, stride] = arguments;
let states = encoder.embedded(ids);
for (let number = 0; number < encoder.layers; number++) states = encoder.block(states, number);
const scores = encoder.logits(states), size = encoder.pieces.length, found = [];
for (let place = 0; place < ids.length + 2; place++)
  for (let id = place % stride; id < size; id += stride) found.push(scores[place * size + id]);
return found;
"""
LIKELIEST = """
let states = encoder.embedded(arguments[0]), worst = 0;
for (let layer = 0; layer <= encoder.layers; layer++) {
  if (layer) states = encoder.block(states, layer - 1);
  const scores = encoder.logits(states), size = encoder.pieces.length;
  encoder.likeliest(states).forEach((id, place) => {
    const own = scores.subarray(place * size, (place + 1) * size);
    worst = Math.max(worst, own.reduce((highest, score) => Math.max(highest, score), -Infinity) - own[id]);
  });
}
return worst;
"""
CHANGE = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', { bubbles: true }));"
SHOWN = "return document.querySelector('.translation .answer').lastElementChild"
SAME = f"""
const asPython = new DOMParser().parseFromString(arguments[0], "text/html").body.lastElementChild;
return (() => {{ {SHOWN} }})().isEqualNode(asPython);
"""


@pytest.fixture(scope="module")
def kept() -> Bundled:
    return bundled.load()


@pytest.fixture(scope="module")
def said(kept: Bundled) -> list[str]:
    spec = CorpusSpec("controlled", kept.languages, SPOKEN, 1)
    spoken = [line for language in corpora.load(spec).values() for line in language["text"]]
    found = [*spoken, *(line for lines in examples.WRITTEN.values() for line in lines), *HARD]
    assert len(found) > 200
    return found


def loaded(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.driver.execute_async_script(LOAD) is None


def the_same(browser: Browser, subject: Bundled, said: Sequence[str]) -> None:
    """Pieces of all sentences, and scores of all that ``subject`` takes whole."""
    texts = [corpora.normalise(line, form=subject.form) for line in said]
    ids = subject.tokenizer(texts, add_special_tokens=False)["input_ids"]
    assert browser.run(READ, said) == ids
    short = [row for row, found in enumerate(ids) if len(found) <= subject.model.config.max_position_embeddings - 2]
    for row in short[::20]:
        assert browser.run(LIKELIEST, ids[row]) < 1e-5, "no token has a higher score, at any layer"
    for row in short:
        found = browser.run(SCORES, ids[row], STRIDE)
        inputs = subject.encode([texts[row]])
        del inputs["special_tokens_mask"]
        with torch.inference_mode():
            logits = subject.model(**inputs).logits[0].numpy()
        expected = [of[place % STRIDE :: STRIDE] for place, of in enumerate(logits)]
        np.testing.assert_allclose(found, np.concatenate(expected), rtol=0, atol=1e-3, err_msg=said[row])


def test_pieces_and_scores_are_those_of_python(kept: Bundled, said: list[str], book: Path, browser: Browser) -> None:
    loaded(browser, book / PAGE)
    the_same(browser, kept, said)
    assert browser.outside() == []


def test_an_encoder_of_another_size_in_half_precision_is_read_as_well(
    kept: Bundled, said: list[str], tmp_path: Path, browser: Browser
) -> None:
    torch.manual_seed(0)
    size = len(kept.tokenizer)
    config = BertConfig(
        vocab_size=size, hidden_size=24, num_hidden_layers=3, num_attention_heads=3, intermediate_size=50,
        max_position_embeddings=40, initializer_range=0.5,
    )  # fmt: skip
    model = BertForMaskedLM(config).half().float().eval()
    weights = {name: values.half().numpy() for name, values in model.state_dict().items() if "decoder" not in name}
    (tmp_path / "small").mkdir()
    save_file(weights, tmp_path / "small" / "model.safetensors")
    (tmp_path / "small" / "config.json").write_text(json.dumps(config.to_dict()), encoding="utf-8")
    shutil.copy(kept.kept.run.path / "tokenizer.json", tmp_path / "small")
    means = np.random.default_rng(0).normal(size=(4, 24)).astype(np.float32)
    save_file({f"token.{language}": means for language in kept.languages}, tmp_path / STATES)
    shutil.copy(kept.kept.folder / TOKENS, tmp_path)
    text = replace(kept.kept, folder=tmp_path, run=replace(kept.kept.run, path=tmp_path / "small"))
    small = replace(kept, key="small", model=model, kept=text)
    (tmp_path / encoder_script.NAME).write_text(encoder_script.script(text), encoding="utf-8")
    for name in ("forms.js", "word_pieces.js", "encoder.js"):
        shutil.copy(STATIC / name, tmp_path)
    scripts = "".join(f'<script src="{name}"></script>' for name in ("forms.js", "word_pieces.js", "encoder.js"))
    (tmp_path / "page.html").write_text(f'<!doctype html><meta charset="utf-8"><title>t</title>{scripts}')
    loaded(browser, tmp_path / "page.html")
    the_same(browser, small, said[::20])


@pytest.mark.parametrize("width", [1280, 390])
def test_a_reader_is_answered_as_in_python(width: int, kept: Bundled, book: Path, browser: Browser) -> None:
    widget = TranslationWidget(kept, {language: lines[0] for language, lines in examples.WRITTEN.items()})
    browser.open(book / PAGE, width)
    with browser.offline():
        form = browser.driver.find_element(By.CSS_SELECTOR, ".translation form")
        browser.run("arguments[0].scrollIntoView({block: 'center'})", form)
        controls = {each.get_attribute("name"): each for each in form.find_elements(By.CSS_SELECTOR, "input, select")}

        def answers(sentence: str, source: str, target: str, layer: int, weight: float) -> None:
            try:
                expected = widget.to_html(sentence, source, target, layer, weight)
            except UserError as error:
                line = str(error)
                browser.wait(lambda: browser.run(f"{SHOWN}.textContent") == line, f"it does not say: {line}")
            else:
                browser.wait(lambda: browser.run(SAME, expected), f"another answer to {sentence!r}")

        first = examples.WRITTEN["en"][0]
        answers(first, "en", "ru", 2, 2)
        controls["layer"].send_keys(Keys.ARROW_RIGHT)
        answers(first, "en", "ru", 3, 2)
        browser.run(CHANGE, controls["source"], "ar")
        answers(examples.WRITTEN["ar"][0], "ar", "ru", 3, 2)
        own = "Zwei Mädchen <b>lesen</b> [MASK] & schlafen."
        controls["sentence"].send_keys(Keys.CONTROL, "a")
        controls["sentence"].send_keys(own)
        answers(own, "ar", "ru", 3, 2)
        browser.run(CHANGE, controls["source"], "de")
        browser.run(CHANGE, controls["target"], "zh")
        controls["weight"].send_keys(Keys.HOME)
        answers(own, "de", "zh", 3, -3)
        browser.run(CHANGE, controls["target"], "de")
        answers(own, "de", "de", 3, -3)
        browser.run(CHANGE, controls["target"], "fr")
        for mistaken in ("", "word " * 63, "☃ ☃"):
            browser.run(CHANGE, controls["sentence"], mistaken)
            answers(mistaken, "de", "fr", 3, -3)
        assert browser.run("return document.documentElement.scrollWidth") <= width


def test_the_answer_is_said_aloud_once_it_stands(book: Path, browser: Browser) -> None:
    browser.open(book / PAGE)
    told = "return document.querySelector('.translation [role=status]').textContent"
    assert browser.run(told) == "", "nothing was asked yet"
    browser.driver.find_element(By.CSS_SELECTOR, ".translation [name=weight]").send_keys(Keys.ARROW_LEFT)
    browser.wait(lambda: "Russian: " in browser.run(told), "nothing was said")


def test_weights_come_when_somebody_asks(book: Path, browser: Browser) -> None:
    browser.open(book / PAGE)
    there = f"return Boolean(document.querySelector('script[src$=\"{encoder_script.NAME}\"]'))"
    assert not browser.run(there)
    browser.click(".translation [name=sentence]")
    assert browser.run(there)
    size = (book / "_static" / encoder_script.NAME).stat().st_size
    assert f"{size / 1e6:.0f} MB, are read" in browser.run("return document.body.textContent")


def test_without_scripts_the_page_shows_an_example(kept: Bundled, book: Path, browser: Browser) -> None:
    browser._cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.driver.get((book / PAGE).as_uri())
        widget = browser.driver.find_element(By.CSS_SELECTOR, ".translation")
        assert not widget.find_element(By.TAG_NAME, "form").is_displayed()
        assert "if this browser ran scripts" in widget.text
        assert "Predicted tokens by language" in widget.text
    finally:
        browser._cdp("Emulation.setScriptExecutionDisabled", value=False)


def test_its_benchmark_compares_an_answer_with_one_of_all_scores(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLING_BOOK_HTML", str(book))
    rows = table(run("in_page", "--quick", folder=tmp_path))
    assert {(row["towards"], row["throttled"]) for row in rows} == {
        (target, rate) for target in ("fr", "ru", "zh") for rate in ("1 times", "4 times")
    }
    for row in rows:
        ratio = number(row["an answer"]) / number(row["with all scores"])
        assert ratio == pytest.approx(number(row["ratio"]), abs=0.02)
