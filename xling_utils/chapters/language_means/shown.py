"""What the notebooks of chapters 5 and 7 show alive."""

from __future__ import annotations

from typing import Any

from xling_utils.chapters.language_means import in_page
from xling_utils.chapters.language_means.widget import LayerWidget
from xling_utils.chapters.opening import Opened
from xling_utils.chapters.shared.in_page import Everywhere
from xling_utils.measures import bundled_text


def layer_widget(chapter: Opened, *languages: str) -> Any:
    """Widget: the tokens of two languages at a layer, with and without the languages' means; of the chapter's model, or
    of the encoder that comes with the book, which pages answer, too."""
    if chapter.model:
        from xling_utils.chapters import probes  # and what opens a model, seconds of imports

        return LayerWidget(probes.tried(chapter.languages, chapter.data, chapter.model)).widget(*languages)
    found = LayerWidget(bundled_text.load())
    return Everywhere(found.widget(*languages), in_page.page(found, found.start(*languages)))
