"""Widgets as a page of the book has them: a form that a script of the book answers, without a kernel and from disk.

``static/forms.js`` knows these forms. Where no script runs, a page shows the answer to what is chosen at first.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xling_utils.core.errors import UserError

SCRIPT = "forms.js"
"""What all forms need, in the book's static folder."""


@dataclass(frozen=True)
class Everywhere:
    """An output of a notebook: ``live`` with a kernel, ``page`` (HTML) without one."""

    live: Any
    page: str

    def _repr_mimebundle_(self, **options: Any) -> Mapping[str, Any]:
        return {**self.live._repr_mimebundle_(**options), "text/html": self.page}


def form(
    kind: str, controls: Iterable[str], answer: str, data: Mapping[str, Any], scripts: Sequence[str], without: str
) -> str:
    """A form of ``controls`` (HTML) with its first ``answer`` (HTML) below it; ``data`` is for ``scripts``, which lie
    in the book's static folder. ``without`` says what a reader without scripts misses."""
    told = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    loaded = "".join(f'<script defer src="../_static/{name}"></script>' for name in (SCRIPT, *scripts))
    return (
        f'<div class="in-page {kind}"><form hidden>{"".join(controls)}</form><noscript><p>{without}</p></noscript>'
        f'<div class="answer">{answer}</div><p class="told" role="status"></p>'
        f'<template>{error_line(UserError(""))}</template><script type="application/json">{told}</script></div>{loaded}'
    )


def select(label: str, name: str, options: Mapping[str, str], chosen: str) -> str:
    """A list: value -> what is shown."""
    listed = "".join(
        f'<option value="{html.escape(value)}"{" selected" * (value == chosen)}>{html.escape(shown)}</option>'
        for value, shown in options.items()
    )
    return f'<label><span>{label}</span><select name="{name}" autocomplete="off">{listed}</select></label>'


def slider(label: str, name: str, bounds: tuple[float, float, float], value: float) -> str:
    """``bounds`` are the lowest value, the highest, and a step."""
    low, high, step = bounds
    return (
        f'<label><span>{label}</span><input type="range" name="{name}" min="{low:g}" max="{high:g}" step="{step:g}" '
        f'value="{value:g}" autocomplete="off"><b aria-hidden="true">{value:g}</b></label>'
    )


def line(label: str, name: str, value: str, attributes: str = "") -> str:
    """A line of text, as wide as there is room; ``attributes`` are HTML."""
    return (
        f'<label class="wide"><span>{label}</span><input name="{name}" value="{html.escape(value)}" {attributes} '
        f'autocomplete="off" spellcheck="false"></label>'
    )


def error_line(error: UserError) -> str:
    """A mistake as a widget shows it, escaped; on a light field of its own, so that any page may be around it."""
    style = (
        "margin: 8px 0; padding: 4px 10px; border-left: 4px solid #d55e00; background: #fff4ec; color: #1b1b1b; "
        "line-height: 1.5; overflow-wrap: anywhere"
    )
    return f'<p role="alert" class="mistake" style="{style}">{html.escape(str(error))}</p>'
