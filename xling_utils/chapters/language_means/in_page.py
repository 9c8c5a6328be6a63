"""The widget of chapters 5 and 7 as a page of the book has it: ``layers.js`` draws pictures that were computed before,
of every two languages at every layer."""

from __future__ import annotations

import base64
import html
import json
from itertools import combinations
from typing import Any

import numpy as np

from xling_utils.chapters.language_means.widget import (
    AFTER,
    BEFORE,
    CAPTION,
    DESCRIPTION,
    TWICE,
    LayerWidget,
    Shown,
    language_name,
)
from xling_utils.chapters.shared.in_page import form, select, slider
from xling_utils.charts import offline

STEPS = 32_767
"""From the middle of a pair of pictures to its outermost point."""
WITHOUT_SCRIPTS = "Here you could choose languages and a layer, if this browser ran scripts."


def script(widget: LayerWidget) -> str:
    """The script of all pictures of ``widget``: for every two languages and layer the points of the picture as the
    model has them, from which those without the means lie a step apart that is the same for all points of a language.

    Points are int16 (pairs, layers + 1, 2 languages, tokens, 2) in base64, in parts of the cell's ``unit``."""
    languages, layers = widget.subject.languages, range(widget.subject.layers + 1)
    cells: list[dict[str, Any]] = []
    points = []
    for pair in combinations(languages, 2):
        for layer in layers:
            before, after = widget.pictured(*pair, layer)
            found = np.stack([before.points[language] for language in pair])
            moved = [(after.points[language] - before.points[language]).mean(axis=0) for language in pair]
            unit = float(np.abs(found).max()) or 1.0
            points.append(np.rint(found / unit * STEPS).astype("<i2"))
            steps = [[float(f"{x:.5g}") for x in step] for step in moved]
            shares = [float(f"{shown.share:.5g}") for shown in (before, after)]
            cells.append({"unit": unit / STEPS, "steps": steps, "shares": shares})
    every = np.stack(points)
    data = {
        "languages": languages,
        "layers": len(layers),
        "tokens": every.shape[2],
        "cells": cells,
        "points": base64.b64encode(every.tobytes()).decode("ascii"),
    }
    return f"window.layersData = {json.dumps(data, separators=(',', ':'))};\n"


def page(widget: LayerWidget, first: Shown) -> str:
    """The form with ``first`` chosen, and its two pictures. Everything that is data is escaped."""
    languages = {language: language_name(language) for language in widget.subject.languages}
    controls = (
        select("Language", "first", languages, first.first),
        select("and", "second", languages, first.second),
        slider("Layer", "layer", (0, widget.subject.layers, 1), first.layer),
    )
    pictures = "".join(
        f"<div>{offline.chart_html(spec, spec['description'])}<p>{html.escape(caption)}</p></div>"
        for spec, caption in widget.drawn(*first)
    )
    known = {"pictures": [BEFORE, AFTER], "description": DESCRIPTION, "caption": CAPTION, "twice": TWICE}
    answer = f'<div class="layers">{pictures}</div>'
    return form("layers", controls, answer, known, ("layers.js",), WITHOUT_SCRIPTS)
