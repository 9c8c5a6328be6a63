"""Charts that need no network: one Altair renderer for notebooks, one myst-nb renderer for the book.

In a notebook, once::

    from xling_utils.charts import offline
    offline.enable()

and a chart is the last expression of its cell. Give it a ``description`` (screen readers read it). To number
it, declare the figure in the cell's metadata, in the percent format::

    # %% mystnb={"figure": {"name": "fig-retrieval", "caption": "Retrieval at two data sizes."}}

The book then shows "Figure 2.1" before the caption, and any page refers to it by ``{numref}`fig-retrieval```.
The caption is Markdown; a second paragraph is set in fine print. Only one output of such a cell may be a
display, since each would become a figure of that name.
"""

from __future__ import annotations

import base64
import html
import json
import math
from collections import Counter
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

from xling_utils.core import identity, kept_text
from xling_utils.core.project import project_root

if TYPE_CHECKING:
    from docutils import nodes
    from myst_nb.core.render import MimeData, NbElementRenderer

VEGALITE = "application/vnd.vegalite.v5+json"
"""JupyterLab draws this type, and no later one. Altair writes for version 6; what our charts use of it, 5 has too."""
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
"""What a specification calls itself, so that its viewer does not warn of another version. Nobody reads that address."""
BUNDLE = "vega-bundle.js"
"""Name in the book's static folder of Vega, Vega-Lite and Vega-Embed in one file (see `rendering.stage`)."""

_PNG_SCALE = 1.5
_shown: Counter[str] = Counter()
"""How many charts of a description this process has shown: that names the place of the next one's PNG."""


def enable() -> None:
    """Make Altair emit charts as Vega-Lite, with a PNG for viewers that cannot draw them."""
    import altair

    altair.renderers.register("xling", mime_bundle)
    altair.renderers.enable("xling")
    altair.utils.schemapi.disable_debug_mode()  # a chart is checked once, as it is shown, and not at every step as well
    altair.data_transformers.disable_max_rows()  # twenty seeds of any two conditions are 10,000; tests weigh the pages


def mime_bundle(spec: dict[str, Any], **_: Any) -> dict[str, Any]:
    """The notebook output of a chart: the specification, a PNG (base64) and its description as plain text.

    The PNG is drawn by vl-convert in this process, on white, so that it can be read on any page. Inside of a book it is
    kept in ``_build/stills``: a chart that has not changed is not drawn again.
    """
    spec = _as_json(spec) | {"$schema": SCHEMA}
    return {
        VEGALITE: spec,
        "image/png": _still(spec),
        "text/plain": describe(spec),
    }


def _still(spec: dict[str, Any]) -> str:
    still = {**spec, "background": "white"}

    def draw() -> str:
        import vl_convert

        return base64.b64encode(vl_convert.vegalite_to_png(still, scale=_PNG_SCALE)).decode("ascii")

    book = project_root()
    if book is None:
        return draw()
    said = describe(spec)
    _shown[said] += 1
    place = book / "_build/stills" / identity.of(said, str(_shown[said]))[:16]
    return kept_text.once(place, identity.of(version("vl-convert-python"), str(_PNG_SCALE), json.dumps(still)), draw)


def svg(chart: Any) -> str:
    """An Altair chart as a picture that stands in any page, drawn by vl-convert in this process; readers who cannot see
    it are told its description. Nothing in it moves."""
    import vl_convert

    spec = _as_json(chart.to_dict()) | {"$schema": SCHEMA}
    drawn = vl_convert.vegalite_to_svg(spec)
    label = html.escape(describe(spec))
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def _as_json(value: Any) -> Any:
    """Numbers at six digits, as rows of records have them, and whole ones with all of theirs. JSON has no word for what
    is no number: Altair leaves it in columns of objects."""
    if isinstance(value, dict):
        return {key: _as_json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_as_json(each) for each in value]
    if not isinstance(value, float) or value.is_integer():
        return value
    return None if math.isnan(value) else float(f"{value:.6g}")


def as_text(bundle: dict[str, Any]) -> None:
    """Makes text of the chart among the representations of an output, if it has one: what is a tree myst-nb copies, and
    writes, value by value, in a quarter of the time that it renders a book in."""
    if VEGALITE in bundle:
        bundle[VEGALITE] = _json(bundle[VEGALITE])


def describe(spec: dict[str, Any]) -> str:
    """What a chart shows, in words: its description, else its title, else ``"Chart"``."""
    title = spec.get("title")
    if isinstance(title, dict):
        title = title.get("text")
    if isinstance(title, list):
        title = " ".join(title)
    return str(spec.get("description") or title or "Chart")


def chart_html(spec: dict[str, Any], label: str) -> str:
    """The chart as HTML: a labelled element, and its specification as JSON without a character of markup, where
    ``charts.js`` finds it; in words where no script runs. Its tables are written by column, which takes a fifth of the
    room. The height of its plot, where that is given, is kept free: what follows hardly moves when it is drawn."""
    drawn = {name: part for name, part in spec.items() if name != "$schema"}  # the page's own version draws it
    if "datasets" in drawn:
        drawn["datasets"] = {name: _by_column(rows) for name, rows in drawn["datasets"].items()}
    data = _json(drawn)
    for character in "<>&\u2028\u2029":
        data = data.replace(character, f"\\u{ord(character):04x}")
    told, height = html.escape(label), spec.get("height")
    plot = f' style="--plot: {height}px"' if isinstance(height, int | float) else ""
    return (
        f'<div class="output vega-chart" role="figure" aria-label="{told}"><noscript><p>{told}</p></noscript>'
        f'<div class="vega-canvas" tabindex="0"{plot}></div><script type="application/json">{data}</script></div>'
    )


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""A value as JSON, without a space. Every value of a chart passes here: with an encoder each it takes twice as long."""


def _by_column(rows: list[dict[str, Any]]) -> Any:
    """``{"count": rows, "columns": {name: values}}``, where values are a list, or, if that is shorter,
    ``{"of": each different one, "at": its place there}``; the rows themselves if they differ in their columns."""
    names = list(rows[0]) if rows else []
    if not names or any(list(row) != names for row in rows):
        return rows
    return {"count": len(rows), "columns": {name: _column([row[name] for row in rows]) for name in names}}


def _column(values: list[Any]) -> Any:
    kinds = [(type(value), value) for value in values]  # 1 and 1.0 and true are one key, and are written differently
    try:
        places = {value: place for place, value in enumerate(dict.fromkeys(kinds))}
    except TypeError:  # of lists, which are no keys
        return values
    short = {"of": [value for _, value in places], "at": [places[value] for value in kinds]}
    return short if len(_json(short)) < len(_json(values)) else values


class VegaLiteRenderer:
    """myst-nb plug-in: draws a Vega-Lite output of a notebook as a chart, with its scripts on that page only.

    Protocol: `myst_nb.core.render.MimeRenderPlugin` (myst-nb 1.4).
    """

    mime_priority_overrides: ClassVar[list[tuple[str, str, int | None]]] = [("html", VEGALITE, 1)]

    @staticmethod
    def handle_mime(renderer: NbElementRenderer, data: MimeData, inline: bool) -> list[nodes.Element] | None:
        """The chart as one raw HTML node, or None for any other kind of output."""
        from docutils import nodes

        if inline or data.mime_type != VEGALITE:
            return None
        spec = json.loads(data.content)  # see `as_text`
        renderer.add_js_file("vega", BUNDLE, {"defer": "defer"})
        renderer.add_js_file("charts", "charts.js", {"defer": "defer"})
        return [nodes.raw(text=chart_html(spec, describe(spec)), format="html")]
