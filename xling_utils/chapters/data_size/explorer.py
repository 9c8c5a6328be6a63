"""Nearest translations of a word, as a reader explores them: a table of neighbours and a live widget."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from xling_utils.chapters.language_means.widget import error_line
from xling_utils.core.errors import UserError
from xling_utils.core.scales import Scale
from xling_utils.core.specs import EncoderSpec
from xling_utils.measures import nearest
from xling_utils.runs import Run

if TYPE_CHECKING:
    import ipywidgets

    from xling_utils.measures import Dictionary


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

    def neighbours(self, word: str, layer: int, count: int = 5) -> pd.DataFrame:
        """The ``count`` nearest words of the other language: ``rank, neighbour, similarity, correct``; and ``told``, a
        sentence of where the translation stands.

        Raises :class:`UserError` on a word that the dictionary lacks or a layer there is not.
        """
        if word not in self.row:
            raise UserError(f"{word!r:.80} is not among the {len(self.row):,} English words of the dictionary")
        if not 0 <= layer < len(self.sources):
            raise UserError(f"layer {layer}; there are 0 to {len(self.sources) - 1}")
        i, gold = self.row[word], self.dictionary.gold[self.row[word]]
        every = len(self.dictionary.targets)
        order, similarity = (each[0] for each in nearest(self.sources[layer][i : i + 1], self.targets[layer], every))
        rank = 1 + next(place for place, j in enumerate(order) if j in gold)
        translation = ", ".join(self.dictionary.targets[j] for j in sorted(gold))
        found = order[:count]
        return pd.DataFrame(
            {
                "rank": range(1, len(found) + 1),
                "neighbour": [self.dictionary.targets[j] for j in found],
                "similarity": similarity[:count].astype(float),
                "correct": ["translation" if j in gold else "other word" for j in found],
                "told": f"{translation}: number {rank:,} of {every:,}",
            }
        )

    def found_first(self, layer: int) -> str:
        """A word to begin with: the first whose nearest is its translation, or the first of all where none is."""
        nearest_of, _ = nearest(self.sources[layer], self.targets[layer], 1)
        found = (j in gold for (j,), gold in zip(nearest_of.tolist(), self.dictionary.gold, strict=True))
        return next(
            (word for word, is_it in zip(self.dictionary.sources, found, strict=True) if is_it),
            self.dictionary.sources[0],
        )

    def sample(self, words: int, layer: int, count: int = 5) -> pd.DataFrame:
        """Neighbours of a word that is found and of up to ``words`` others spread over the alphabet, with a column
        ``word``."""
        step = max(1, len(self.dictionary.sources) // words)
        chosen = dict.fromkeys([self.found_first(layer), *self.dictionary.sources[::step][:words]])
        return pd.concat([self.neighbours(w, layer, count).assign(word=w) for w in chosen], ignore_index=True)


def widget(explorer: Explorer) -> ipywidgets.VBox:
    """Choose a word and a layer, see its nearest translations and where the true one stands, or that the dictionary
    does not have the word; needs a running kernel to change."""
    import ipywidgets

    layers = len(explorer.sources) - 1
    first = explorer.found_first(layers // 2)
    word = ipywidgets.Combobox(options=explorer.dictionary.sources, value=first, description="Word")
    layer = ipywidgets.IntSlider(value=layers // 2, min=0, max=layers, description="Layer")
    shown = ipywidgets.HTML(value=_table(explorer.neighbours(word.value, layer.value), explorer))

    def update(_: Any) -> None:
        try:
            shown.value = _table(explorer.neighbours(word.value, layer.value), explorer)
        except UserError as error:
            shown.value = error_line(error)

    word.observe(update, "value")
    layer.observe(update, "value")
    return ipywidgets.VBox([word, layer, shown])


def _table(rows: pd.DataFrame, explorer: Explorer) -> str:
    """The neighbours as HTML; words come from data and are escaped."""
    language = html.escape(explorer.dictionary.language)
    lines = [
        f"<tr><td>{row.rank}</td><td><span lang='{language}'>{html.escape(row.neighbour)}</span></td>"
        f"<td>{row.similarity:.2f}</td><td>{'✓' if row.correct == 'translation' else ''}</td></tr>"
        for row in rows.itertuples()
    ]
    head = "<tr><th></th><th>nearest</th><th>cosine</th><th>translation</th></tr>"
    told = html.escape(rows["told"].iloc[0])
    return f"<table>{head}{''.join(lines)}</table><p>Translation: <span lang='{language}'>{told}</span></p>"
