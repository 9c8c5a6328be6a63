"""What an encoder says when the states of one language are moved to another's place (R24; A, sec. 4.2; D, sec. 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from xling_utils.core.scales import Scale
from xling_utils.core.specs import Form
from xling_utils.corpora import normalise
from xling_utils.measures.encoders.predictions import predicted
from xling_utils.measures.encoders.subject import Subject
from xling_utils.measures.metrics.translation import bleu1, convert_rate, third_rate
from xling_utils.measures.names import TOKEN_TRANSLATION
from xling_utils.measures.rows import row

WEIGHTS = (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0)
"""A, Tables 1 and 2, has 1 to 3; 0 leaves the sentence alone, and less moves it away from the other language."""
Array = npt.NDArray[np.floating]


SENTENCES = {"smoke": 10, "controlled": 60, "natural": 200, "paper": 5_000}
"""By scale: sentences to be translated a direction."""


def rows(subject: Subject, scale: Scale) -> Iterator[dict[str, Any]]:
    """Tidy rows ``task, metric, source, target, layer, value, n, weight`` of one model, from English and to English.

    For every layer and weight ``convert_rate`` and ``bleu1`` (0 to 100) of the tokens that the model predicts, both
    against what the text's language and the other one hold of tokens; with three languages or more also
    ``third_rate``, the share of tokens that only some third language holds. ``n`` counts sentences. Sentences are those
    of :meth:`Subject.said`, as in the papers.
    """
    means = {language: subject.means(language, scale.mean_sentences) for language in subject.languages}
    sets = {language: subject.tokens(language, scale.mean_sentences) for language in subject.languages}
    said = subject.said(SENTENCES[scale.name])
    for language in subject.others:
        for source, target in (("en", language), (language, "en")):
            yield from _direction(subject, said, means, sets, source, target)


def _direction(
    subject: Subject,
    said: Mapping[str, list[str]],
    means: Mapping[str, Array],
    sets: Mapping[str, set[str]],
    source: str,
    target: str,
) -> Iterator[dict[str, Any]]:
    layers = range(subject.layers + 1)
    difference = means[target] - means[source]
    others = [tokens for language, tokens in sets.items() if language not in (source, target)]
    references = [words(line, subject.form) for line in said[target]]
    read = partial(predicted, subject, said[source], difference)

    def values(found: Iterable[npt.NDArray[np.int64]]) -> dict[str, float]:
        tokens = [subject.tokenizer.convert_ids_to_tokens(ids.tolist()) for ids in found]
        lines = [words(subject.tokenizer.convert_tokens_to_string(line), subject.form) for line in tokens]
        flat = [token for line in tokens for token in line]
        rates = {"convert_rate": convert_rate(flat, sets[source], sets[target]), "bleu1": bleu1(lines, references)}
        return rates | ({"third_rate": third_rate(flat, sets[source], sets[target], others)} if others else {})

    moving = [weight for weight in WEIGHTS if weight]
    moved, still = read(layers, moving), values(read(layers[-1:], [0.0])[0, 0])  # which is the same at every layer
    for layer in layers:
        for weight in WEIGHTS:
            of_weight = values(moved[layer, moving.index(weight)]) if weight else still
            for metric, value in of_weight.items():
                yield row(TOKEN_TRANSLATION, metric, source, target, layer, value, n=len(said[source]), weight=weight)


def words(text: str, form: Form) -> str:
    """What BLEU counts as words, whether or not the model reads units: those of the book's own text."""
    return normalise(text, form="cased" if form == "raw" else form)
