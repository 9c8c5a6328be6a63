"""How much language the layers of an encoder hold, and what becomes of it without the languages' means (R21 to R23).

Means are of running text; everything is measured on other text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from xling_utils.core.scales import Scale
from xling_utils.corpora import parallel
from xling_utils.measures.encoders import language_identity
from xling_utils.measures.encoders.representations import UNITS
from xling_utils.measures.encoders.subject import Subject
from xling_utils.measures.names import ALL, LANGUAGE_MEANS, METHODS
from xling_utils.measures.rows import row
from xling_utils.measures.tasks import sentence_retrieval
from xling_utils.measures.tasks.sentence_retrieval import mined, placed, sentence_vectors
from xling_utils.measures.transfer.scores import f1

Array = npt.NDArray[np.floating]
English = Callable[[tuple[str, ...]], Array]
"""English sentences -> their vectors."""


@dataclass(frozen=True)
class Sizes:
    """Of what is measured: sentences ``said`` in all languages for the linear probe to be trained on, and as many to be
    tested on, at most ``tokens`` a language; ``pairs`` of translations; and sentences a language to be ``mined``, at
    most."""

    said: int
    tokens: int
    pairs: int
    mined: int


SIZES = {
    "smoke": Sizes(40, 60, 40, 60),
    "controlled": Sizes(100, 400, 300, 600),
    "natural": Sizes(200, 1_000, 1_000, 20_000),
    "paper": Sizes(1_000, 5_000, 1_000, 200_000),
}

REPEATED = 3
"""Lines that are looked through for each different sentence."""


def rows(subject: Subject, scale: Scale) -> Iterator[dict[str, Any]]:
    """Tidy rows ``task, metric, source, target, layer, value, low, high, n, method, unit`` of one model.

    Over all its languages, at every layer: ``variance_between``, the share of the variance of tokens that lies between
    languages, and ``probe_accuracy``, for how many tokens a linear probe tells the language (``random``: by chance),
    each for ``method`` "original" and "zero-mean". For every language with English: ``p_at_1`` of sentences to English
    by the methods of :mod:`sentence_retrieval`, with means by ``unit`` "token" and "sentence"; ``mined_f1`` where
    there are two texts to mine; and, without a layer, ``tokens`` and ``shared_tokens``, the sizes of a language's set
    of tokens and of what it shares with English (A, Table 3).
    """
    sizes = SIZES[scale.name]
    means = {
        unit: {language: subject.means(language, scale.mean_sentences, unit) for language in subject.languages}
        for unit in UNITS
    }
    yield from _identity_rows(subject, means["token"], sizes)
    yield from _token_rows(subject, scale.mean_sentences)
    # The controlled world says the same in English to every language, in pairs and in texts to mine.
    english = lru_cache(maxsize=2)(partial(sentence_vectors, subject))
    for language in subject.others:
        yield from _retrieval_rows(subject, english, means, language, sizes)
        yield from _mining_rows(subject, english, means["token"], language, sizes)


def _said(subject: Subject, count: int) -> dict[str, list[str]]:
    """``count`` sentences in all languages; of files different ones, since XNLI's premises stand there three times, and
    no half may hold what the other holds. (In the controlled world one in a hundred recurs.)"""
    if subject.corpus.source == "controlled":
        return subject.said(count)
    return parallel.distinct(subject.said(REPEATED * count), count)


def _identity_rows(subject: Subject, means: Mapping[str, Array], sizes: Sizes) -> Iterator[dict[str, Any]]:
    """On sentences that say the same in all languages, so that nothing but the language tells them apart."""
    said = _said(subject, 2 * sizes.said)
    train, test = (
        {
            language: language_identity.token_states(subject, lines[half], sizes.tokens)
            for language, lines in said.items()
        }
        for half in (slice(None, None, 2), slice(1, None, 2))
    )
    tokens = sum(x.shape[1] for x in test.values())
    for method in METHODS[:2]:
        if method == "zero-mean":
            train, test = (language_identity.without_means(part, means) for part in (train, test))
        found = {
            "variance_between": language_identity.variance_share(test),
            "probe_accuracy": language_identity.probe_accuracy(train, test),
        }
        for metric, values in found.items():
            for layer, value in enumerate(values.tolist()):
                yield row(LANGUAGE_MEANS, metric, ALL, ALL, layer, value, n=tokens, method=method)
    yield row(LANGUAGE_MEANS, "random", ALL, ALL, None, 1 / len(said), n=tokens)


def _token_rows(subject: Subject, sentences: int) -> Iterator[dict[str, Any]]:
    sets = {language: subject.tokens(language, sentences) for language in subject.languages}
    for language, own in sets.items():
        count = len(subject.text(language, sentences))
        yield row(LANGUAGE_MEANS, "tokens", "en", language, None, len(own), n=count)
        yield row(LANGUAGE_MEANS, "shared_tokens", "en", language, None, len(own & sets["en"]), n=count)


def _retrieval_rows(
    subject: Subject, english: English, means: Mapping[str, Mapping[str, Array]], language: str, sizes: Sizes
) -> Iterator[dict[str, Any]]:
    said, other = subject.pairs(language, sizes.pairs)
    vectors = {"en": english(tuple(said)), language: sentence_vectors(subject, other)}
    for unit, of in means.items():
        for found in sentence_retrieval.rows(vectors, of, language, "en", LANGUAGE_MEANS):
            if found["method"] != "original":
                yield found | {"unit": unit}
            elif unit == UNITS[0]:
                yield found


def _mining_rows(
    subject: Subject, english: English, means: Mapping[str, Array], language: str, sizes: Sizes
) -> Iterator[dict[str, Any]]:
    """BUCC has pairs of a few languages; the controlled world has them of all."""
    found = parallel.unaligned(subject.corpus.source, language, sizes.mined, data=subject.data, form=subject.form)
    if found is None:
        return
    vectors = sentence_vectors(subject, found.other), english(tuple(found.english))
    for layer, (x, y) in enumerate(zip(*vectors, strict=True)):
        for method in METHODS:
            counts, _ = mined(*placed(x, y, (means[language][layer], means["en"][layer]), method), found.gold)
            unit = None if method == "original" else "token"
            yield row(LANGUAGE_MEANS, "mined_f1", language, "en", layer, f1(counts), method=method, unit=unit)
