"""The report card of any language model: its numbers, computed again by ``transformers`` and a few lines of numpy."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests import blocks, families, smoke
from tests.conftest import Call
from tests.scratch import as_real_data, write_lines
from xling_utils.book import card_page
from xling_utils.chapters import cards
from xling_utils.chapters.cards import BOOKS, MODEL, TWIN
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale
from xling_utils.corpora import controlled, parallel
from xling_utils.measures.encoders import hub
from xling_utils.measures.tasks import report_card
from xling_utils.runs.store import RunStore

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("en", "fr", "zh")
DOCUMENTED = ".venv/bin/xling probe MODEL --data DIR --languages fr,zh"
SENTENCES = 24
TIE = 1e-4


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in the layout of real data, with translations of its own; the controlled world speaks in it."""
    folder = as_real_data(tmp_path_factory.mktemp("data"), LANGUAGES, 300)
    said = parallel.multiway("controlled", LANGUAGES, 2 * SENTENCES)
    for language in LANGUAGES:
        lines = said[language][:SENTENCES]
        write_lines(folder / "parallel" / "mine" / f"{language}.txt", [*lines, *lines[:3]])
    return folder


@pytest.fixture(scope="module", autouse=True)
def store(tmp_path_factory: pytest.TempPathFactory) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLING_STORE", str(tmp_path_factory.mktemp("store")))
        yield


def text() -> list[str]:
    return [line for language in LANGUAGES for line in controlled.text(language, 200, 0)["text"][:]]


def said(data: Path) -> dict[str, list[str]]:
    """What the cards are measured on: of copies the last."""
    lines = {language: (data / f"parallel/mine/{language}.txt").read_text().splitlines() for language in LANGUAGES}
    return {language: list(dict.fromkeys(reversed(of)))[::-1] for language, of in lines.items()}


def nearest(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Whether row i of ``y`` is the nearest to row i of ``x``, first for sure, then possibly: cosines that differ by
    less than ``TIE`` are a matter of rounding. Pieces are not trained to the same ones twice, so such pairs come up."""
    x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x, y))
    cosines = x @ y.T
    others = np.where(np.eye(len(x), dtype=bool), -1, cosines).max(axis=1)
    return np.array([np.diag(cosines) - others > tie for tie in (TIE, -TIE)])


def agrees(value: float, hits: np.ndarray) -> bool:
    """Whether a share is that of ``hits``, of which :func:`nearest` tells the least and the most."""
    low, high = hits.mean(axis=1)
    return bool(low - 1e-5 <= value <= high + 1e-5)


def criterion(x: np.ndarray, y: np.ndarray) -> float:
    """The Hilbert-Schmidt criterion without bias: Song et al. 2012, eq. 5, word by word."""
    k, el = (side @ side.T for side in (x, y))
    np.fill_diagonal(k, 0)
    np.fill_diagonal(el, 0)
    n, one = len(x), np.ones(len(x))
    whole = np.trace(k @ el) + (one @ k @ one) * (one @ el @ one) / ((n - 1) * (n - 2))
    return float(whole - 2 / (n - 2) * (one @ k @ el @ one))


def likeness(x: np.ndarray, y: np.ndarray) -> float:
    return criterion(x, y) / math.sqrt(criterion(x, x) * criterion(y, y))


def test_models_that_read_other_forms_are_compared_on_the_same_sentences() -> None:
    raw = {"en": ["Yes .", "yes .", *(f"Sentence {n}" for n in range(30))]}
    raw["fr"] = ["Oui .", "Si .", *(f"Phrase {n}" for n in range(30))]
    lower = {language: [line.lower() for line in lines] for language, lines in raw.items()}
    of = [SimpleNamespace(said=lambda count, every=every: every, others=("fr",)) for every in (raw, lower)]
    for first, second in (of, of[::-1]):
        one, other = report_card._said((first, second), scale("smoke"))
        for language in ("en", "fr"):
            assert [line.lower() for line in one[language]] == [line.lower() for line in other[language]]
            assert len(set(map(str.lower, one[language]))) == len(one[language]) >= 31


@pytest.mark.parametrize("family", families.FAMILIES + families.OTHERS)
def test_a_card_says_what_transformers_alone_says(family: str, data: Path, tmp_path: Path) -> None:
    model = families.saved(tmp_path / "model", family, text())
    card = cards.card(str(model), LANGUAGES[1:], data, "mine")
    assert card.models == [MODEL, TWIN, BOOKS] and card.sentences == SENTENCES
    lm, lines = hub.load(str(model)), said(data)
    found = {language: families.states(lm.model, lm.tokenizer, lines[language]) for language in LANGUAGES}

    def pooled(states: object) -> np.ndarray:
        of = np.asarray(states, dtype=np.float64)
        weights = np.arange(1.0, len(of) + 1) if card.pooling == "weighted" else np.ones(len(of))
        return weights @ of / weights.sum()

    vectors = {
        language: np.array([[pooled(states[layer]) for states in of] for layer in range(families.LAYERS + 1)])
        for language, of in found.items()
    }
    half = {language: x[:, 1::2] for language, x in vectors.items()}
    means = {language: x[:, ::2].mean(axis=1) for language, x in vectors.items()}
    for layer in range(families.LAYERS + 1):
        hits = []
        for language in LANGUAGES[1:]:
            x, y = half[language][layer], half["en"][layer]
            at = {"source": language, "layer": layer}
            (original,) = card.of("p_at_1", method="original", **at)["value"]
            (zero_mean,) = card.of("p_at_1", method="zero-mean", **at)["value"]
            assert agrees(original, nearest(x, y))
            hits.append(nearest(x - means[language][layer], y - means["en"][layer]))
            assert agrees(zero_mean, hits[-1])
            (cka,) = card.of("cka_debiased", target=language, layer=layer)["value"]
            assert cka == pytest.approx(likeness(vectors["en"][layer], vectors[language][layer]), abs=1e-3)
        (mean,) = card.of("p_at_1", method="zero-mean", source="all", layer=layer)["value"]
        assert agrees(mean, np.concatenate(hits, axis=1))
        tokens = {
            language: np.concatenate([states[layer] for states in of[1::2]]).astype(np.float64)
            for language, of in found.items()
        }
        centres = np.array([x.mean(axis=0) for x in tokens.values()])
        between = centres.var(axis=0).sum()
        within = np.mean([x.var(axis=0).sum() for x in tokens.values()])
        (share,) = card.of("variance_between", layer=layer).to_dict("records")
        assert share["value"] == pytest.approx(between / (between + within), abs=1e-4)
        assert 0 <= share["low"] < share["value"] < share["high"] < 1
    assert [line.name for line in card.lines()][5:] == ["BLEU-1"] * card.predicts
    assert card.predicts == (family in families.FAMILIES)


def test_the_layer_is_chosen_on_the_other_half(data: Path, tmp_path: Path) -> None:
    model = families.saved(tmp_path / "model", "BERT", text())
    card = cards.card(str(model), LANGUAGES[1:], data, "mine")
    for name in card.models:
        chosen_on = card.of("chosen_on", name).set_index("layer")["value"]
        assert card.layers[name] == chosen_on.idxmax()


def test_what_is_the_same_for_every_sentence_has_no_likeness(data: Path, tmp_path: Path) -> None:
    model = families.saved(tmp_path / "model", "BERT", text())  # its first embedding is always that of [CLS]
    card = cards.card(str(model), LANGUAGES[1:], data, "mine", pooling="first")
    likeness = card.of("cka_debiased")
    assert (likeness["value"].isna() == (likeness["layer"] == 0)).all()
    assert card_page.BLANK.strip() in card_page.as_page(card) and "nan" not in card_page.as_page(card)


def test_a_card_is_a_page_and_json_and_a_line(data: Path, tmp_path: Path, xling: Call) -> None:
    assert all(blocks.stands_in(page, DOCUMENTED) for page in ("README.md", "book/run/model.md"))
    place = tmp_path / "project"
    place.mkdir()
    for name in ("_config.yml", "_toc.yml", "book", "notebooks"):
        (place / name).symlink_to(ROOT / name)
    model = families.saved(tmp_path / "my <model>", "GPT-2", text())
    other = families.saved(tmp_path / "another", "T5", text())
    documented = [{"MODEL": str(model), "DIR": str(data)}.get(word, word) for word in DOCUMENTED.split()[1:]]
    done = xling(place, *documented, "--aligned", "mine", "--against", str(other), "--pooling", "last")
    assert done.returncode == 0, done.stderr
    assert "languages: 100%" in done.stderr, "with the time left"
    *_, head, _, line, page = done.stdout.splitlines()
    assert head.startswith("| model | pooling |") and "| last | fr zh |" in line
    folder = place / "_build" / "probe" / "my-model"
    assert page == str(folder / "card.html")
    assert (folder / "card.md").read_text() == "\n".join(done.stdout.splitlines()[-4:-1]) + "\n"
    found = json.loads((folder / "card.json").read_text())
    assert found["pooling"] == "last" and found["languages"] == ["fr", "zh"] and found["against"] == str(other)
    assert set(found["measures"]["P@1"]["of"]) == {MODEL, TWIN, BOOKS}
    html = (folder / "card.html").read_text()
    assert "my &lt;model&gt;: report card" in html and "<model>" not in html
    assert html.count("<svg ") == 4 and "http" not in html.replace("http://www.w3.org", "")
    assert "it is not asked to translate" in " ".join(html.split())
    against = [row for row in found["rows"] if row["metric"] == "cka_against" and row["source"] == "en"]
    lms, lines = [hub.load(str(each)) for each in (model, other)], said(data)["en"]
    first, second = (families.states(lm.model, lm.tokenizer, lines) for lm in lms)
    for row in against:
        x = np.array([states[row["layer"]][-1].double().numpy() for states in first])
        y = np.array([states[row["beside_layer"]].double().mean(dim=0).numpy() for states in second])
        wanted = likeness(x, y)
        assert row["value"] == pytest.approx(wanted, abs=1e-3)


def test_what_was_measured_is_kept(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = families.saved(tmp_path / "model", "DistilBERT", text())
    first = cards.card(str(model), LANGUAGES[1:], data, "mine")

    def never(*_: object) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr(report_card, "rows", never)
    again = cards.card(str(model), LANGUAGES[1:], data, "mine")
    assert card_page.as_line(again) == card_page.as_line(first)
    with pytest.raises(AssertionError, match="measured again"):
        cards.card(str(model), LANGUAGES[1:2], data, "mine")


def test_a_stored_run_of_the_controlled_world_has_a_card_without_the_books_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLING_STORE", str(tmp_path))
    spec = scale("smoke").joint(("en", "fr"), 1)
    run = smoke.trained(RunStore(tmp_path), spec)[spec]
    card = cards.card(str(run.path), ("fr",), None)
    assert card.models == [MODEL, TWIN] and card.text == "the controlled world"
    assert "book's encoder" not in card_page.as_page(card)


def test_mistakes_are_told(data: Path, tmp_path: Path, xling: Call) -> None:
    model = families.saved(tmp_path / "model", "BERT", text())
    with pytest.raises(UserError, match="the same weights as"):
        cards.card(str(model), ("fr",), data, "mine", against=str(model))
    few = tmp_path / "data"
    shutil.copytree(data, few)
    for language in LANGUAGES:
        write_lines(few / "parallel" / "mine" / f"{language}.txt", said(data)[language][:7] * 9)
    with pytest.raises(UserError, match="7 different sentences in en fr; at least 8 are needed"):
        cards.card(str(model), ("fr",), few, "mine")
    for wrong, told in (
        (("--pooling", "middle"), "known are mean, weighted, last, first"),
        (("--pooling", "last", "--chapters"), "--pooling is for the card"),
        (("--aligned", "yours"), "aligned text in"),
    ):
        done = xling(ROOT, "probe", str(model), "--data", str(data), "--languages", "fr", *wrong)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and told in done.stderr
