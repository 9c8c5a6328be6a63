"""Nearest translations of a word, as a reader explores them: a table of neighbours and a live widget."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from xling_utils.chapters.shared.in_page import error_line, form, line, slider
from xling_utils.core.errors import UserError
from xling_utils.core.scales import Scale
from xling_utils.core.specs import EncoderSpec
from xling_utils.measures import nearest
from xling_utils.runs import Run

if TYPE_CHECKING:
    import ipywidgets

    from xling_utils.measures import Dictionary


SHOWN = 5
"""Neighbours of a word."""
WITHOUT_SCRIPTS = "Here you could choose a word and a layer, if this browser ran scripts."
UNKNOWN = "“{word}” is not among the {words} English words of the dictionary"
TOLD = "{translation}: number {place} of {words}"


class Choice(NamedTuple):
    """What a reader chooses: the arguments of :meth:`Explorer.neighbours`."""

    word: str
    layer: int


class Neighbours(NamedTuple):
    """The nearest words of the other language, each with its cosine and whether it is a translation; and ``told``, a
    sentence of where the first translation stands."""

    words: list[tuple[str, float, bool]]
    told: str


class Ranked(NamedTuple):
    """Of every English word at a layer: its nearest words of the other language, ``order`` and ``similarity`` (words,
    :data:`SHOWN`), and the place of its first translation among all."""

    order: npt.NDArray[np.int64]
    similarity: npt.NDArray[np.float32]
    places: list[int]


@dataclass(frozen=True)
class Explorer:
    """The dictionary words of one encoder with their mean vectors at every layer.

    ``sources`` and ``targets`` are float32 (layers + 1, words, d), centred by language.
    """

    dictionary: Dictionary
    sources: npt.NDArray[np.float32]
    targets: npt.NDArray[np.float32]

    @classmethod
    def of(cls, run: Run, scale: Scale, data: Path | None = None) -> Explorer:
        """Reads a stored run. Raises :class:`UserError` unless it is an encoder of English and one other language."""
        from xling_utils.measures import Reading, centred, dictionary

        languages = run.spec.corpus.languages
        if len(languages) != 2 or "en" not in languages or not isinstance(run.spec.model, EncoderSpec):
            raise UserError(
                f"explorer: run {run.key} is {run.spec.kind} of {'-'.join(languages)}; "
                "give one of an encoder of English and one other language"
            )
        reading = Reading(run, scale, data)
        (other,) = reading.others
        words = dictionary(reading, other)
        sources, targets = reading.vectors("en", words.sources), reading.vectors(other, words.targets)
        return cls(words, centred(sources), centred(targets))

    @cached_property
    def row(self) -> dict[str, int]:
        """English word -> its row."""
        return {word: i for i, word in enumerate(self.dictionary.sources)}

    @cached_property
    def ranked(self) -> list[Ranked]:
        """What is nearest to every English word, a layer after the other."""
        gold, every = self.dictionary.gold, len(self.dictionary.targets)
        found = []
        for sources, targets in zip(self.sources, self.targets, strict=True):
            order, similarity = nearest(sources, targets, every)
            places = [1 + next(i for i, j in enumerate(row) if j in of) for row, of in zip(order, gold, strict=True)]
            found.append(Ranked(order[:, :SHOWN], similarity[:, :SHOWN], places))
        return found

    def neighbours(self, word: str, layer: int) -> Neighbours:
        """What is nearest to an English word. Raises :class:`UserError` on one that the dictionary lacks or a layer
        there is not."""
        if word not in self.row:
            raise UserError(UNKNOWN.format(word=word[:80], words=f"{len(self.row):,}"))
        if not 0 <= layer < len(self.sources):
            raise UserError(f"layer {layer}; there are 0 to {len(self.sources) - 1}")
        i, targets, found = self.row[word], self.dictionary.targets, self.ranked[layer]
        gold = self.dictionary.gold[i]
        words = [
            (targets[j], float(similarity), j in gold)
            for j, similarity in zip(found.order[i], found.similarity[i], strict=True)
        ]
        translation = ", ".join(targets[j] for j in sorted(gold))
        told = TOLD.format(translation=translation, place=f"{found.places[i]:,}", words=f"{len(targets):,}")
        return Neighbours(words, told)

    def start(self) -> Choice:
        """What is shown at first: at the middle layer a word whose nearest is its translation, or the first of all
        where there is none."""
        layer = len(self.sources) // 2
        places = self.ranked[layer].places
        return Choice(self.dictionary.sources[places.index(1) if 1 in places else 0], layer)


def widget(explorer: Explorer) -> ipywidgets.VBox:
    """Choose a word and a layer, see its nearest translations and where the true one stands, or that the dictionary
    does not have the word; needs a running kernel to change."""
    import ipywidgets

    first = explorer.start()
    word = ipywidgets.Combobox(options=explorer.dictionary.sources, value=first.word, description="Word")
    layer = ipywidgets.IntSlider(value=first.layer, min=0, max=len(explorer.sources) - 1, description="Layer")
    shown = ipywidgets.HTML(value=to_html(explorer, *first))

    def update(_: Any) -> None:
        try:
            shown.value = to_html(explorer, word.value, layer.value)
        except UserError as error:
            shown.value = error_line(error)

    word.observe(update, "value")
    layer.observe(update, "value")
    return ipywidgets.VBox([word, layer, shown])


def to_html(explorer: Explorer, word: str, layer: int) -> str:
    """:meth:`Explorer.neighbours` as a table, and where the translation stands; words come from data and are
    escaped."""
    found = explorer.neighbours(word, layer)
    language = html.escape(explorer.dictionary.language)
    lines = [
        f'<tr><td>{rank}</td><td><span lang="{language}">{html.escape(neighbour)}</span></td>'
        f"<td>{cosine:.2f}</td><td>{'✓' if correct else ''}</td></tr>"
        for rank, (neighbour, cosine, correct) in enumerate(found.words, 1)
    ]
    head = "<tr><th></th><th>nearest</th><th>cosine</th><th>translation</th></tr>"
    return (
        f'<div class="neighbours"><table><tbody>{head}{"".join(lines)}</tbody></table>'
        f'<p>Translation: <span lang="{language}">{html.escape(found.told)}</span></p></div>'
    )


def page(explorer: Explorer) -> str:
    """The widget as a page of the book has it: ``neighbours.js`` answers it from what is nearest to every word at every
    layer."""
    first, known = explorer.start(), explorer.dictionary
    listed = "".join(f'<option value="{html.escape(word)}"></option>' for word in known.sources)
    controls = (
        line("Word", "word", first.word, 'list="neighbours-words" lang="en"'),
        f'<datalist id="neighbours-words">{listed}</datalist>',
        slider("Layer", "layer", (0, len(explorer.sources) - 1, 1), first.layer),
    )
    data = {
        "language": known.language,
        "sources": known.sources,
        "targets": known.targets,
        "gold": [sorted(gold) for gold in known.gold],
        "layers": [
            {
                "order": found.order.tolist(),
                "similarity": [[f"{value:.2f}" for value in row] for row in found.similarity.tolist()],
                "places": found.places,
            }
            for found in explorer.ranked
        ],
        "texts": {"unknown": UNKNOWN, "told": TOLD},
    }
    return form("neighbours", controls, to_html(explorer, *first), data, ("neighbours.js",), WITHOUT_SCRIPTS)
