"""A report card as files: a page that stands alone, JSON, and a line for a table."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd

from xling_utils.chapters import cards
from xling_utils.chapters.cards import Card
from xling_utils.charts import layer_shapes, offline, shapes
from xling_utils.core.templates import rendered
from xling_utils.core.writing import write_json
from xling_utils.measures import Interval, names

STANDS = {
    "mean": "the mean of its tokens, special ones left out",
    "weighted": "the mean of its tokens, weighted by their place (1, 2, 3, ...), since later ones have read more",
    "last": "its last token",
    "first": "its first token",
}
"""By pooling: what stands for a sentence."""
WHOLE = ("layer", "beside_layer", "step", "n")
"""Columns of whole numbers."""
BARS = "Bars are 95 % bootstrap intervals over sentences."
LIKENESS = "Likeness (debiased linear CKA) of layers that read English and layers that read the others, their mean."
BLANK = " Blank are layers that have the same for every sentence."


def write(card: Card, folder: Path) -> Path:
    """Writes ``card.html``, which it returns, ``card.json`` and ``card.md`` into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "card.json", as_data(card))
    (folder / "card.md").write_text(f"{as_line(card)}\n", encoding="utf-8")
    page = folder / "card.html"
    page.write_text(as_page(card), encoding="utf-8")
    return page


def as_data(card: Card) -> dict[str, Any]:
    """All of it as JSON has it: ``null`` for what is no number."""
    lines = {
        line.name: {
            "measured": line.measured,
            "guess": line.guess,
            "of": {model: _plain(vars(value)) for model, value in line.values.items()},
        }
        for line in card.lines()
    }
    about = {
        "model": card.name,
        "key": card.key,
        "parameters": card.parameters,
        "pooling": card.pooling,
        "predicts": card.predicts,
        "languages": list(card.languages),
        "text": card.text,
        "sentences": card.sentences,
        "layer": card.layers,
        "against": card.against,
    }
    rows = [_plain(row) for row in card.rows.astype(object).to_dict("records")]
    return about | {"measures": lines, "rows": rows}


def as_line(card: Card) -> str:
    """A Markdown table of the model alone, its head above its line: what several cards are put together by."""
    head = ["model", "pooling", "languages", "layer"]
    text = [card.name.replace("|", "\\|"), card.pooling, " ".join(card.languages), str(card.layers[cards.MODEL])]
    for line in card.lines():
        head.append(line.name)
        text.append(" ".join(parts(line.values[cards.MODEL])).rstrip())
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), text))


def as_page(card: Card) -> str:
    """The page: it needs no other file, and no network."""
    lines = [
        {
            "measured": line.measured,
            "values": [parts(line.values[model]) if model in line.values else ("", "") for model in card.models],
            "guess": "" if line.guess is None else f"{line.guess:.3f}",
        }
        for line in card.lines()
    ]
    names_of = shapes.LANGUAGE_NAMES
    languages = [
        (names_of[each["language"]], *(parts(each[name]) for name in ("original", "zero_mean", "cka")))
        for each in card.by_language()
    ]
    figures = [
        (_profile(card, names.METHODS[0]), f"Translations found by the nearest English sentence. {BARS}"),
        (_profile(card, names.METHODS[1]), f"The same after each language's mean was taken out. {BARS}"),
        (_likeness(card), LIKENESS + (BLANK if card.of("cka_between_layers")["value"].isna().any() else "")),
    ]
    if card.against is not None:
        figures.append((_beside(card), f"The same of its layers and those of {card.against}, on the same sentences."))
    depth = [f"{model}: layer {layer}" for model, layer in card.layers.items()]
    return rendered(
        "book", "card.html", card=card, title=Path(card.name).name, lines=lines, languages=languages,
        figures=[(offline.svg(chart), caption) for chart, caption in figures], stands=STANDS[card.pooling],
        layers="; ".join(depth), half=card.sentences // 2, books=cards.BOOKS in card.models,
    )  # fmt: skip


def parts(value: Interval) -> tuple[str, str]:
    """A value, or a dash without one, and its bounds, where it has any."""
    shown = "–" if math.isnan(value.value) else f"{value.value:.3f}"
    return shown, "" if math.isnan(value.low) else f"[{value.low:.3f}, {value.high:.3f}]"


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    known = {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in row.items()}
    return {key: int(value) if key in WHOLE and value is not None else value for key, value in known.items()}


def _profile(card: Card, method: str) -> Any:
    found = []
    for model in card.models:
        rows = card.of("p_at_1", model, method=method, source=names.ALL)
        found.append(rows.assign(kind=model, depth=rows["layer"] / rows["layer"].max(), seeds=1))
    title = "share of translations found"
    return layer_shapes.over_depth(pd.concat(found), card.models, title, f"P@1 over the layers, {method}.")


def _likeness(card: Card) -> Any:
    rows = card.of("cka_between_layers")
    return layer_shapes.between_layers(rows, "layer, other languages", "layer, English", "CKA between layers.")


def _beside(card: Card) -> Any:
    rows = card.of("cka_against", source=names.ALL)
    return layer_shapes.between_layers(
        rows, f"layer, {Path(str(card.against)).name}", "layer, this model", "CKA between the layers of two models."
    )
