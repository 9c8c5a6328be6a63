"""What the notebooks of chapters 5 and 7 show alive."""

from __future__ import annotations

from typing import Any

from xling_utils.chapters import probes
from xling_utils.chapters.language_means.widget import LayerWidget
from xling_utils.chapters.opening import Opened


def layer_widget(chapter: Opened, *languages: str) -> Any:
    """Widget: the tokens of two languages at a layer, with and without the languages' means; of the chapter's model, or
    of the encoder that comes with the book."""
    return LayerWidget(probes.tried(chapter.languages, chapter.data, chapter.model)).widget(*languages)
