"""The translation widget as a page of the book has it: a form that ``translation.js`` answers with the encoder in the
page. Where no script runs, it is the example that it begins with."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xling_utils.chapters.language_means.widget import error_line, language_name
from xling_utils.chapters.mds.widget import MISTAKES, RIGHT_TO_LEFT, WEIGHTS, Choice, TranslationWidget
from xling_utils.core.errors import UserError

SCRIPTS = ("word_pieces.js", "encoder.js", "translation.js")
"""In the book's static folder, in their order."""
LONGEST = 1_000
"""Characters of a sentence: those of longer ones Python counts with more care (``corpora/text.py``)."""
WITHOUT_SCRIPTS = "Here you could write a sentence of your own, if this browser ran scripts. This is an example."


@dataclass(frozen=True)
class Everywhere:
    """An output of a notebook: ``live`` with a kernel, ``page`` (HTML) without one."""

    live: Any
    page: str

    def _repr_mimebundle_(self, **options: Any) -> Mapping[str, Any]:
        return {**self.live._repr_mimebundle_(**options), "text/html": self.page}


def page(widget: TranslationWidget, first: Choice) -> str:
    """The form with ``first`` chosen, and the answer to it. Everything that is data is escaped."""
    low, high, step = WEIGHTS
    known = {"examples": widget.examples, "mistakes": MISTAKES, "rightToLeft": RIGHT_TO_LEFT}
    data = json.dumps(known, ensure_ascii=False).replace("<", "\\u003c")
    scripts = "".join(f'<script defer src="../_static/{name}"></script>' for name in SCRIPTS)
    return (
        f'<div class="translation"><form hidden>'
        f'<label class="wide"><span>Sentence</span><input name="sentence" value="{html.escape(first.sentence)}" '
        f'maxlength="{LONGEST}" dir="auto" lang="{first.source}" autocomplete="off" spellcheck="false"></label>'
        f"{_languages('From', 'source', widget, first.source)}{_languages('To', 'target', widget, first.target)}"
        f"{_slider('Layer', 'layer', (0, widget.subject.layers, 1), first.layer)}"
        f"{_slider('Weight', 'weight', (low, high, step), first.weight)}</form>"
        f"<noscript><p>{WITHOUT_SCRIPTS}</p></noscript>"
        f'<div class="answer">{widget.to_html(*first)}</div><p class="told" role="status"></p>'
        f"<template>{error_line(UserError(''))}</template>"
        f'<script type="application/json">{data}</script></div>{scripts}'
    )


def _languages(label: str, name: str, widget: TranslationWidget, chosen: str) -> str:
    options = "".join(
        f'<option value="{html.escape(language)}"{" selected" * (language == chosen)}>'
        f"{html.escape(language_name(language))}</option>"
        for language in widget.subject.languages
    )
    return f'<label><span>{label}</span><select name="{name}" autocomplete="off">{options}</select></label>'


def _slider(label: str, name: str, bounds: tuple[float, float, float], value: float) -> str:
    low, high, step = bounds
    return (
        f'<label><span>{label}</span><input type="range" name="{name}" min="{low:g}" max="{high:g}" step="{step:g}" '
        f'value="{value:g}" autocomplete="off"><b aria-hidden="true">{value:g}</b></label>'
    )
