"""The translation widget as a page of the book has it: ``translation.js`` answers it with the encoder in the page."""

from __future__ import annotations

from xling_utils.chapters.language_means.widget import language_name
from xling_utils.chapters.mds.widget import MISTAKES, RIGHT_TO_LEFT, WEIGHTS, Choice, TranslationWidget
from xling_utils.chapters.shared.in_page import form, line, select, slider

SCRIPTS = ("word_pieces.js", "encoder.js", "translation.js")
"""In their order."""
LONGEST = 1_000
"""Characters of a sentence: those of longer ones Python counts with more care (``corpora/text.py``)."""
WITHOUT_SCRIPTS = "Here you could write a sentence of your own, if this browser ran scripts. This is an example."


def page(widget: TranslationWidget, first: Choice) -> str:
    """The form with ``first`` chosen, and the answer to it. Everything that is data is escaped."""
    languages = {language: language_name(language) for language in widget.subject.languages}
    controls = (
        line("Sentence", "sentence", first.sentence, f'maxlength="{LONGEST}" dir="auto" lang="{first.source}"'),
        select("From", "source", languages, first.source),
        select("To", "target", languages, first.target),
        slider("Layer", "layer", (0, widget.subject.layers, 1), first.layer),
        slider("Weight", "weight", WEIGHTS, first.weight),
    )
    known = {"examples": widget.examples, "mistakes": MISTAKES, "rightToLeft": RIGHT_TO_LEFT}
    return form("translation", controls, widget.to_html(*first), known, SCRIPTS, WITHOUT_SCRIPTS)
