"""Tokens of two languages at one layer, with and without the languages' means: the live widget of chapters 5 and 7."""

from __future__ import annotations

import html
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from xling_utils.chapters.shared.in_page import error_line
from xling_utils.charts import LANGUAGE_NAMES
from xling_utils.core.errors import UserError
from xling_utils.measures import variance_share, without_means

if TYPE_CHECKING:
    import altair as alt
    import ipywidgets

COLOURS, SHAPES = ("#1F83C4", "#D55E00"), ("circle", "triangle-up")
"""Of the first and of the second language."""
PICTURE = 280
"""Pixels of a picture's side: two stand beside each other on a page, one below the other on a phone."""
MARGIN = 10
"""Pixels at the ends of an axis, so that no mark stands on the frame."""
BEFORE, AFTER = "as the model has them", "without the languages\N{RIGHT SINGLE QUOTATION MARK} means"
DESCRIPTION = "Tokens of {names} at layer {layer}, {what}: {share} of their variance lies between the languages."
CAPTION = "{what}: {share} of the variance of tokens lies between the languages."
TWICE = "Both languages are {language}: choose two different ones."
STYLE = """<style>
.xling-layer { display: flex; flex-wrap: wrap; gap: 16px; color: var(--jp-ui-font-color1, inherit); }
.xling-layer .picture { max-width: 100%; }
.xling-layer p { font-size: 13px; line-height: 1.5; max-width: 300px; }
.xling-layer svg { max-width: 100%; height: auto; }
</style>"""


def language_name(language: str) -> str:
    """In English; a language of a reader's own data goes by its code."""
    return LANGUAGE_NAMES[language]


class Pictured(NamedTuple):
    """Two languages at one layer: ``points[language]`` float32 (tokens, 2), and the share of the variance of their
    tokens that lies between them (0 to 1, in all dimensions)."""

    points: dict[str, npt.NDArray[np.float32]]
    share: float


class Shown(NamedTuple):
    """What a reader chooses: the arguments of :meth:`LayerWidget.pictured`."""

    first: str
    second: str
    layer: int


class Apart(Protocol):
    """What the pictures are of: a :class:`xling_utils.measures.Subject`, or what was kept of one."""

    @property
    def key(self) -> str: ...
    @property
    def languages(self) -> tuple[str, ...]: ...
    @property
    def layers(self) -> int: ...
    def apart(
        self, language: str, sentences: int, count: int
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]: ...


class LayerWidget:
    """Pictures of the token states of two languages, from text that their means are not taken from.

    A language's mean is of its first ``sentences`` sentences, its ``tokens`` tokens are from as many after them (a
    shorter text is halved); both are computed when first needed. Raises :class:`UserError` if ``subject`` reads fewer
    than two languages.
    """

    def __init__(self, subject: Apart, sentences: int = 500, tokens: int = 200) -> None:
        if len(subject.languages) < 2:
            raise UserError(f"layer widget: {subject.key} reads {' '.join(subject.languages)}; it takes two languages")
        self.subject = subject
        self._read = cache(partial(subject.apart, sentences=sentences, count=tokens))

    def pictured(self, first: str, second: str, layer: int) -> tuple[Pictured, Pictured]:
        """The languages as the model has them, and each less its mean, in the same plane: across, from the mean of the
        first to that of the second, which is what removing the means takes away (seldom one of the directions of
        largest variance); up, the largest variance beside it.

        Raises :class:`UserError` on a language that the subject does not read, twice the same, and a layer there is
        not.
        """
        for language in (first, second):
            if language not in self.subject.languages:
                raise UserError(f"language {language!r}: this model reads {' '.join(self.subject.languages)}")
        if first == second:
            raise UserError(TWICE.format(language=language_name(first)))
        if not 0 <= layer <= self.subject.layers:
            raise UserError(f"layer {layer}: the model has layers 0 to {self.subject.layers}")
        states = {language: self._read(language)[0][layer : layer + 1] for language in (first, second)}
        means = {language: self._read(language)[1][layer : layer + 1] for language in (first, second)}
        everything = np.concatenate([x[0] for x in states.values()])
        centre, plane = everything.mean(axis=0), _plane(everything, (means[second] - means[first])[0])
        moved = without_means(states, means)
        return (
            Pictured({k: (x[0] - centre) @ plane for k, x in states.items()}, float(variance_share(states)[0])),
            Pictured({k: x[0] @ plane for k, x in moved.items()}, float(variance_share(moved)[0])),
        )

    def drawn(self, first: str, second: str, layer: int) -> list[tuple[dict[str, Any], str]]:
        """:meth:`pictured` as two charts (Vega-Lite) with the same axes, and what stands below each: the share of the
        variance. Raises what :meth:`pictured` raises."""
        before, after = self.pictured(first, second, layer)
        found = []
        for shown, other, what in ((before, after, BEFORE), (after, before, AFTER)):
            caption = CAPTION.format(what=what.capitalize(), share=_percent(shown.share))
            found.append((chart(shown, other, layer, what).to_dict(), caption))
        return found

    def to_html(self, first: str, second: str, layer: int) -> str:
        """:meth:`drawn` in SVG, in the colour of the page's text."""
        import vl_convert

        figures = (
            f'<div class="picture"><div role="img" aria-label="{html.escape(spec["description"])}">'
            f"{vl_convert.vegalite_to_svg(spec)}</div><p>{html.escape(caption)}</p></div>"
            for spec, caption in self.drawn(first, second, layer)
        )
        return f'{STYLE}<div class="xling-layer">{"".join(figures)}</div>'

    def start(self, *languages: str) -> Shown:
        """What is shown at first: two ``languages``, if the subject reads them, at its middle layer."""
        there = self.subject.languages
        first, second, *_ = languages if len(languages) == 2 and set(languages) <= set(there) else there
        return Shown(first, second, self.subject.layers // 2)

    def widget(self, *shown_first: str) -> ipywidgets.VBox:
        """Two languages and a layer to choose, beginning with :meth:`start`; needs a running kernel to change. A
        mistake is shown as one line."""
        import ipywidgets

        start = self.start(*shown_first)
        languages = [(language_name(language), language) for language in self.subject.languages]
        first = ipywidgets.Dropdown(options=languages, value=start.first, description="Language")
        second = ipywidgets.Dropdown(options=languages, value=start.second, description="and")
        layer = ipywidgets.IntSlider(value=start.layer, min=0, max=self.subject.layers, description="Layer")
        shown = ipywidgets.HTML(layout=ipywidgets.Layout(width="auto"))
        controls = (first, second, layer)

        def update(_: Any = None) -> None:
            try:
                shown.value = self.to_html(str(first.value), str(second.value), layer.value)
            except UserError as error:
                shown.value = error_line(error)

        update()
        for control in controls:
            control.observe(update, "value")
        choices = ipywidgets.HBox(controls, layout=ipywidgets.Layout(flex_flow="row wrap"))
        return ipywidgets.VBox([choices, shown])


def chart(shown: Pictured, other: Pictured, layer: int, what: str) -> alt.Chart:
    """One picture, with axes that ``other`` fits into too; ``what`` names it for readers who cannot see it."""
    import altair as alt
    import pandas as pd

    names = [language_name(language) for language in shown.points]
    rows = pd.concat(
        pd.DataFrame(found, columns=["x", "y"]).assign(language=name)
        for found, name in zip(shown.points.values(), names, strict=True)
    )
    everything = np.concatenate([*shown.points.values(), *other.points.values()])
    ends = [[float(low), float(high)] for low, high in zip(everything.min(0), everything.max(0), strict=True)]
    titles = ("from mean to mean", "largest variance beside it")
    axes = [alt.Axis(title=title, labels=False, ticks=False, grid=False) for title in titles]
    legend = alt.Legend(title=None, orient="top")
    points = alt.Chart(rows).mark_point(filled=True, size=26, opacity=0.8, aria=False)
    return (
        points.encode(
            x=alt.X("x:Q", scale=alt.Scale(domain=ends[0], zero=False, padding=MARGIN), axis=axes[0]),
            y=alt.Y("y:Q", scale=alt.Scale(domain=ends[1], zero=False, padding=MARGIN), axis=axes[1]),
            color=alt.Color("language:N", scale=alt.Scale(domain=names, range=list(COLOURS)), legend=legend),
            shape=alt.Shape("language:N", scale=alt.Scale(domain=names, range=list(SHAPES)), legend=legend),
        )
        .properties(
            width=PICTURE,
            height=PICTURE,
            background="transparent",
            description=DESCRIPTION.format(
                names=" and ".join(names), layer=layer, what=what, share=_percent(shown.share)
            ),
        )
        .configure_axis(titleColor="currentColor", domainColor="#888888")
        .configure_legend(labelColor="currentColor", labelFontSize=12)
        .configure_view(stroke="#888888")
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def _plane(states: npt.NDArray[np.float32], across: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Two unit vectors as columns (d, 2): ``across`` (d,), and the direction of largest variance of ``states``
    (tokens, d) orthogonal to it."""
    across = across / np.maximum(np.linalg.norm(across), np.finfo(np.float32).tiny)
    rest = states - states.mean(axis=0)
    rest = rest - np.outer(rest @ across, across)
    up = np.linalg.eigh(rest.T @ rest)[1][:, -1]  # the singular vector, in a fifth of the time
    # Its sign is arbitrary: its largest number is made positive, so that a picture does not flip.
    return np.stack([across, up * np.sign(up[np.abs(up).argmax()])], axis=1)
