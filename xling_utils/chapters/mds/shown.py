"""What chapter 6's notebook shows alive, of the chapter as it was opened."""

from __future__ import annotations

from typing import Any

from IPython.display import HTML

from xling_utils.chapters import probes
from xling_utils.chapters.mds import figures, in_page
from xling_utils.chapters.mds.widget import TranslationWidget
from xling_utils.chapters.opening import Opened
from xling_utils.chapters.shared import examples
from xling_utils.chapters.shared.in_page import Everywhere
from xling_utils.measures import Subject, bundled


class Translator:
    """A model that answers in another language, and the sentences that it is asked."""

    def __init__(self, subject: Subject) -> None:
        self.said = examples.sentences(subject.corpus.source, subject.languages)
        self._widget = TranslationWidget(subject, {language: lines[0] for language, lines in self.said.items()})

    def samples(self, source: str, target: str) -> HTML:
        """Sentences of ``source``, moved to ``target`` by several weights."""
        return HTML(figures.samples(self._widget, self.said, source, target))

    def widget(self, target: str, weight: float) -> Any:
        """Widget: a sentence of the reader's own. The page answers it, too, where its encoder comes with the book."""
        live = self._widget.widget(target=target, weight=weight)
        if not isinstance(self._widget.subject, bundled.Bundled):
            return live
        return Everywhere(live, in_page.page(self._widget, self._widget.start(target, weight)))


def of_this_machine(chapter: Opened) -> Translator | None:
    """Of the chapter's model, or of the encoder that this machine trained, if there is one."""
    found = probes.explored(chapter.sizes, chapter.languages, chapter.live, chapter.data, chapter.model)
    return Translator(found) if found else None


def tried(chapter: Opened) -> Translator:
    """Of the chapter's model, or of the encoder of real text that comes with the book."""
    return Translator(probes.tried(chapter.languages, chapter.data, chapter.model))
