"""A sentence moved into another language, token by token, as a reader tries it: the live widget of chapter 6."""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from xling_utils.chapters.language_means.widget import TWICE, language_name
from xling_utils.chapters.shared.in_page import error_line
from xling_utils.core.errors import UserError
from xling_utils.corpora import normalise
from xling_utils.measures import Subject, predicted

if TYPE_CHECKING:
    import ipywidgets

SIDES = ("source", "target", "both", "neither")
RIGHT_TO_LEFT = ("ar", "ur")
CONTINUES = "##"
WORD_MARKS = ("▁", "Ġ")
"""What vocabularies put before a piece that begins a word: SentencePiece's, and that of pieces of bytes."""
MEAN_SENTENCES = 500
"""That a language's mean is taken of here, so that a language chosen for the first time shows in half a second."""
WEIGHTS = (-3.0, 3.0, 0.25)
"""Lowest, highest and step of the slider: the papers look from -3 to 3 (A, Fig. 7)."""
MISTAKES = {
    "twice": TWICE,
    "empty": "Write a sentence: there is no word in it yet.",
    "long": "The sentence is too long: this model takes {tokens} tokens. Leave some words out.",
    "unknown": "The model knows no word of this sentence: use words of the languages it has read.",
}

# Chips carry their own light field and dark text, so they read the same on a light and on a dark page. Colours are
# those of the charts (Okabe and Ito); weight, underline, slant and border say the same without colour.
STYLE = """<style>
.xling-tokens { line-height: 1.5; font-size: 14px; max-width: 100%; color: var(--jp-ui-font-color1, inherit); }
.xling-tokens .pairs { display: flex; flex-wrap: wrap; gap: 12px 6px; margin: 10px 0; }
.xling-tokens .pair { display: inline-flex; flex-direction: column; align-items: stretch; text-align: center; }
.xling-tokens .pair i { font-style: normal; line-height: 1.3; opacity: .8; }
.xling-tokens b { font-weight: 400; display: inline-block; padding: 1px 7px; border: 2px solid; border-radius: 6px;
  color: #1b1b1b; overflow-wrap: anywhere; unicode-bidi: isolate; }
.xling-tokens .source { background: #d3e7f6; border-color: #1f83c4; }
.xling-tokens .target { background: #ffdcc2; border-color: #d55e00; font-weight: 700; text-decoration: underline;
  text-underline-offset: 3px; }
.xling-tokens .both { background: #e4e4e4; border-color: #6f6f6f; border-style: dotted; }
.xling-tokens .neither { background: #fff; border-color: #6f6f6f; border-style: dashed; font-style: italic; }
.xling-tokens .key { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin-bottom: 14px; }
</style>"""


class Translated(NamedTuple):
    """A token of the sentence, the one that the model predicts in its place, and whose that is: one of ``SIDES``."""

    token: str
    predicted: str
    side: str


class Choice(NamedTuple):
    """What a reader chooses: the arguments of :meth:`TranslationWidget.translated`."""

    sentence: str
    source: str
    target: str
    layer: int
    weight: float


class TranslationWidget:
    """Mean difference shift of single sentences (A, sec. 4.2; D, sec. 3).

    ``examples`` gives a language its starting sentence: the first is shown first, and choosing a source language shows
    that language's. The set of tokens of a language is of its first ``sentences`` sentences and its mean of
    ``MEAN_SENTENCES`` of them, computed when they are first needed. Raises :class:`UserError` if ``subject`` reads
    fewer than two languages, or there is no example in one of them.
    """

    def __init__(self, subject: Subject, examples: Mapping[str, str], sentences: int = 2_000) -> None:
        self.subject = subject
        self.examples = {language: text for language, text in examples.items() if language in subject.languages}
        self.sentences = sentences
        if len(subject.languages) < 2 or not self.examples:
            raise UserError(
                f"translation widget: {subject.key} reads {' '.join(subject.languages)}, and there are examples in "
                f"{' '.join(examples) or 'no language'}; give a model of two languages and an example in one of them"
            )
        self._tokens = cache(partial(subject.tokens, sentences=sentences))

    def translated(self, sentence: str, source: str, target: str, layer: int, weight: float) -> list[Translated]:
        """What the model predicts for each token of ``sentence``, nothing masked, when ``weight`` times the mean of
        ``target`` less that of ``source`` is added at ``layer``.

        The sentence is normalised as the model's text is. Raises :class:`UserError` on a language that the subject
        does not read, twice the same language, a layer there is not, and a sentence that is empty, longer than the
        model takes, or without a known token.
        """
        for language in (source, target):
            if language not in self.subject.languages:
                raise UserError(f"language {language!r}: this model reads {' '.join(self.subject.languages)}")
        if source == target:
            raise UserError(MISTAKES["twice"].format(language=language_name(source)))
        tokenizer = self.subject.tokenizer
        text = self._normalised(sentence)
        tokens = self._read(text)
        means = [self.subject.means(of, min(MEAN_SENTENCES, self.sentences)) for of in (source, target)]
        difference = means[1] - means[0]
        found = predicted(self.subject, [text], difference, [layer], [weight])[0, 0, 0]
        said = tokenizer.convert_ids_to_tokens(found.tolist())
        return [Translated(t, p, self._side(p, source, target)) for t, p in zip(tokens, said, strict=True)]

    def to_html(self, sentence: str, source: str, target: str, layer: int, weight: float) -> str:
        """:meth:`translated` as chips: each token above what is predicted for it, coloured by language; a line counts
        the languages of the predictions. Everything that comes from the sentence or a vocabulary is escaped."""
        rows = self.translated(sentence, source, target, layer, weight)
        tokenizer = self.subject.tokenizer
        languages = {"source": source, "target": target}
        names = {side: html.escape(language_name(languages.get(side, side))) for side in SIDES}

        def chip(token: str, side: str) -> str:
            language = f' lang="{html.escape(languages[side])}"' if side in languages else ""
            shown = html.escape(readable(token, tokenizer))
            return f'<b class="{side}" dir="auto"{language} title="{html.escape(token)}: {names[side]}">{shown}</b>'

        pairs = "".join(
            f'<span class="pair" role="listitem">{chip(row.token, self._side(row.token, source, target))}'
            f'<i aria-label="becomes">↓</i>{chip(row.predicted, row.side)}</span>'
            for row in rows
        )
        counts = {side: sum(row.side == side for row in rows) for side in SIDES}
        key = "".join(f'<b class="{side}">{names[side]}: {count}</b>' for side, count in counts.items())
        direction = "rtl" if source in RIGHT_TO_LEFT else "ltr"
        return (
            f'{STYLE}<div class="xling-tokens"><div class="pairs" role="list" dir="{direction}">{pairs}</div>'
            f'<div class="key">Predicted tokens by language: {key}</div></div>'
        )

    def start(self, target: str | None = None, weight: float = 1.0) -> Choice:
        """What is chosen at first: the first example, halfway into ``target``, if the subject reads it."""
        source, sentence = next(iter(self.examples.items()))
        others = [language for language in self.subject.languages if language != source]
        return Choice(sentence, source, target if target in others else others[0], self.subject.layers // 2, weight)

    def widget(self, target: str | None = None, weight: float = 1.0) -> ipywidgets.VBox:
        """A sentence, two languages, a layer and a weight to choose, beginning with :meth:`start`; needs a running
        kernel to change. A mistake is shown as one line where the tokens would be."""
        import ipywidgets

        wide = ipywidgets.Layout(width="auto", max_width="640px")
        languages = [(language_name(language), language) for language in self.subject.languages]
        first = self.start(target, weight)
        sentence = ipywidgets.Text(value=first.sentence, description="Sentence", layout=wide)
        source = ipywidgets.Dropdown(options=languages, value=first.source, description="From")
        into = ipywidgets.Dropdown(options=languages, value=first.target, description="To")
        layer = ipywidgets.IntSlider(value=first.layer, min=0, max=self.subject.layers, description="Layer")
        low, high, step = WEIGHTS
        moved = ipywidgets.FloatSlider(value=first.weight, min=low, max=high, step=step, description="Weight")
        shown = ipywidgets.HTML(layout=ipywidgets.Layout(width="auto"))
        controls = (sentence, source, into, layer, moved)

        def update(_: Any = None) -> None:
            try:
                shown.value = self.to_html(sentence.value, str(source.value), str(into.value), layer.value, moved.value)
            except UserError as error:
                shown.value = error_line(error)

        def change_example(change: Any) -> None:
            """Unless the reader has written a sentence of their own."""
            if sentence.value == self.examples.get(change["old"]) and change["new"] in self.examples:
                sentence.value = self.examples[change["new"]]

        update()
        source.observe(change_example, "value")
        for control in controls:
            control.observe(update, "value")
        rows = [ipywidgets.HBox(pair, layout=ipywidgets.Layout(flex_flow="row wrap"))
                for pair in ((source, into), (layer, moved))]  # fmt: skip
        return ipywidgets.VBox([sentence, *rows, shown])

    def _normalised(self, sentence: str) -> str:
        """As the text that the model is measured on: the controlled world keeps its case."""
        return normalise(sentence, form="cased" if self.subject.corpus.source == "controlled" else self.subject.form)

    def _read(self, text: str) -> list[str]:
        """Its tokens, special ones left out."""
        tokenizer = self.subject.tokenizer
        if not text:
            raise UserError(MISTAKES["empty"])
        inputs = self.subject.encode([text])
        inner = inputs["attention_mask"].bool() & ~inputs["special_tokens_mask"].bool()
        tokens: list[str] = tokenizer.convert_ids_to_tokens(inputs["input_ids"][inner].tolist())
        if len(tokenizer.tokenize(text)) > len(tokens):
            raise UserError(MISTAKES["long"].format(tokens=len(tokens)))
        if all(token == tokenizer.unk_token for token in tokens):
            raise UserError(MISTAKES["unknown"])
        return tokens

    def _side(self, token: str, source: str, target: str) -> str:
        if token in self._tokens(source):
            return "both" if token in self._tokens(target) else "source"
        return "target" if token in self._tokens(target) else "neither"


def readable(token: str, tokenizer: Any) -> str:
    """A word piece as a reader writes it: ``-ing`` for one that continues a word, ``␣`` for a space alone."""
    if token in tokenizer.all_special_tokens:
        return token
    if token.startswith(CONTINUES):
        return f"-{token.removeprefix(CONTINUES)}"
    # Asked of the tokenizer, not of the vocabulary: a mark may stand in it as a character like any other.
    marked = "".join(tokenizer.tokenize("a a")[1:])
    if not any(mark in marked for mark in WORD_MARKS):
        return token
    shown = tokenizer.convert_tokens_to_string([token]).strip() or "␣"
    inside = WORD_MARKS[0] in marked and not token.startswith(WORD_MARKS[0])
    return f"-{shown}" if inside and shown[0].isalpha() else shown
