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
        """The ``count`` nearest words of the other language: ``rank, neighbour, similarity, correct``.

        Raises :class:`UserError` on a word that the dictionary lacks or a layer there is not.
        """
        if word not in self.row:
            raise UserError(f"explorer: {word!r} is not among the {len(self.row)} English dictionary words")
        if not 0 <= layer < len(self.sources):
            raise UserError(f"explorer: layer {layer}; there are 0 to {len(self.sources) - 1}")
        i = self.row[word]
        found, similarity = nearest(self.sources[layer][i : i + 1], self.targets[layer], count)
        return pd.DataFrame(
            {
                "rank": range(1, len(found[0]) + 1),
                "neighbour": [self.dictionary.targets[j] for j in found[0]],
                "similarity": similarity[0].astype(float),
                "correct": ["translation" if j in self.dictionary.gold[i] else "other word" for j in found[0]],
            }
        )

    def sample(self, words: int, layer: int, count: int = 5) -> pd.DataFrame:
        """Neighbours of ``words`` dictionary words spread over the alphabet, with a column ``word``."""
        step = max(1, len(self.dictionary.sources) // words)
        chosen = self.dictionary.sources[::step][:words]
        return pd.concat([self.neighbours(w, layer, count).assign(word=w) for w in chosen], ignore_index=True)


def widget(explorer: Explorer) -> ipywidgets.VBox:
    """Choose a word and a layer, see its nearest translations; needs a running kernel to change."""
    import ipywidgets

    layers = len(explorer.sources) - 1
    word = ipywidgets.Combobox(
        options=explorer.dictionary.sources, value=explorer.dictionary.sources[0], description="Word",
        ensure_option=True,
    )  # fmt: skip
    layer = ipywidgets.IntSlider(value=layers // 2, min=0, max=layers, description="Layer")
    shown = ipywidgets.HTML(value=_table(explorer.neighbours(word.value, layer.value), explorer))

    def update(_: Any) -> None:
        if word.value in explorer.row:
            shown.value = _table(explorer.neighbours(word.value, layer.value), explorer)

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
    return f"<table>{head}{''.join(lines)}</table>"
