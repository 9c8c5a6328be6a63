"""How cross-lingual is a model? A few numbers of every layer, from sentences that say the same in all its languages and
are read about once each: what D (sec. 4), A (sec. 4.1 and 4.2) and C (sec. 5) ask of a masked language model.

Half of the sentences give what has to be known beforehand: the languages' means, the probe, which layer is looked at.
The other half are measured on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xling_utils.core.errors import UserError
from xling_utils.core.scales import Scale
from xling_utils.corpora import parallel
from xling_utils.measures.encoders import language_identity
from xling_utils.measures.encoders.predictions import predicted
from xling_utils.measures.encoders.subject import Subject
from xling_utils.measures.metrics.cka import FEWEST, between_layers
from xling_utils.measures.metrics.intervals import Interval, over_seeds
from xling_utils.measures.metrics.retrieval import ranks, resampled_sums
from xling_utils.measures.metrics.translation import bleu1
from xling_utils.measures.names import ALL, METHODS, REPORT_CARD
from xling_utils.measures.rows import row
from xling_utils.measures.tasks.sentence_retrieval import placed, sentence_vectors
from xling_utils.measures.tasks.token_translation import words

Array = npt.NDArray[np.floating]
Said = Mapping[str, list[str]]

SENTENCES = {"smoke": 60, "controlled": 320, "natural": 320, "paper": 320}
"""By scale: sentences in all languages."""
LOOKED_THROUGH = {"smoke": 120, "controlled": 800, "natural": 12_000, "paper": 12_000}
"""Sentences among which those are looked for, from the end: there stand XNLI's hypotheses, which are shorter than its
premises, each of which is there thrice."""
PROBED, TOKENS = 40, 400
"""Sentences of either half whose tokens the linear probe is trained and tested on, and how many of their tokens."""
DRAWS = 500
"""Of these sentences, for the intervals of what is measured on their tokens."""
TRANSLATED = 20
WEIGHTS = (1.0, 2.0, 3.0)
"""Of the difference of means that is added (A, Table 2)."""
FEWEST_SENTENCES = 2 * FEWEST
ZERO_MEAN = METHODS[1]


@dataclass(frozen=True)
class Tokens:
    """``states`` of the tokens of ``sentences`` sentences, (layers + 1, tokens, d), and the number ``of`` that in which
    each stands, (tokens,)."""

    states: Array
    of: npt.NDArray[np.int64]
    sentences: int

    def drawn(self, found: Array) -> Array:
        """Sums over the tokens of what was ``found`` of each, (tokens, columns), in :data:`DRAWS` bootstrap samples of
        their sentences: (draws, columns)."""
        sums = np.zeros((self.sentences, found.shape[1]))
        np.add.at(sums, self.of, found)
        return resampled_sums(sums, draws=DRAWS)


def rows(
    subject: Subject, said: Mapping[str, list[str]], read: Callable[[], object] = lambda: None
) -> Iterator[dict[str, Any]]:
    """Tidy rows ``task, metric, source, target, layer, value, low, high, n, method, beside_layer, weight`` of one model
    on what is ``said`` (:func:`sentences`); ``read`` is called when another language has been read.

    At every layer: ``p_at_1`` of each language's sentences to English, by the methods of :mod:`sentence_retrieval`, and
    the mean over languages (source :data:`ALL`), with 95 % bootstrap intervals over sentences; ``chosen_on``, that mean
    of the other half, languages' means taken out: the layer where it is highest is the one to look at (``layer`` of
    ``chosen``); ``cka_debiased`` of English and each language, and its mean over languages with Student's interval;
    ``cka_between_layers`` of English at ``layer`` and the others at ``beside_layer``; ``variance_between`` of
    tokens (:mod:`language_identity`), with a bootstrap interval over sentences. ``chance`` and ``random`` say what
    guessing gives. At the chosen layer alone: ``probe_accuracy``, with such an interval, and of a model that predicts
    what is masked and whose sentences are means of tokens ``bleu1`` of English moved to each language by each of
    :data:`WEIGHTS`.
    """
    vectors, tokens = {}, {}
    for language, lines in said.items():
        vectors[language], tokens[language] = _read(subject, lines)
        read()
    means = {language: x[:, ::2].mean(axis=1) for language, x in vectors.items()}
    fitted, tested = ({language: x[:, half] for language, x in vectors.items()} for half in _HALVES)
    chosen_on = np.stack([_found(fitted, means, language, ZERO_MEAN) for language in subject.others]).mean(axis=0)
    for layer, values in enumerate(chosen_on):
        yield row(REPORT_CARD, "chosen_on", ALL, "en", layer, values)
    chosen = int(chosen_on.mean(axis=1).argmax())
    yield row(REPORT_CARD, "chosen", ALL, "en", chosen, chosen / subject.layers)
    for method in METHODS:
        found = {language: _found(tested, means, language, method) for language in subject.others}
        for language, of in (found | {ALL: np.stack(list(found.values())).mean(axis=0)}).items():
            for layer, values in enumerate(of):
                yield row(REPORT_CARD, "p_at_1", language, "en", layer, values, method=method)
    yield row(REPORT_CARD, "chance", ALL, "en", None, 1 / tested["en"].shape[1], n=tested["en"].shape[1])
    yield from _shape_rows(vectors)
    yield from _identity_rows(tokens, chosen)
    if subject.predicts and subject.pooling == "mean":
        yield from _translation_rows(subject, said, means, chosen)


_HALVES = (slice(None, None, 2), slice(1, None, 2))


def sentences(subject: Subject, scale: Scale) -> dict[str, list[str]]:
    """Sentences that say the same in all languages of ``subject``, none of which has another's words in any of them.
    Raises :class:`UserError` where there are fewer than eight, and what :attr:`Subject.others` raises."""
    return _said((subject,), scale)[0]


def _said(subjects: Sequence[Subject], scale: Scale) -> list[dict[str, list[str]]]:
    """:func:`sentences` of several models, the same of each, though each may read another form of them."""
    read = dict(enumerate(each.said(LOOKED_THROUGH[scale.name]) for each in subjects))
    said = {(of, language): lines[::-1] for of, every in read.items() for language, lines in every.items()}
    found = {key: lines[::-1] for key, lines in parallel.distinct(said, SENTENCES[scale.name]).items()}
    if (kept := len(found[0, subjects[0].others[0]])) < FEWEST_SENTENCES:
        raise UserError(
            f"report card: {kept} different sentences in {' '.join(read[0])}; at least {FEWEST_SENTENCES} are needed"
        )
    return [{language: found[of, language] for language in every} for of, every in read.items()]


def of_model(subject: Subject, scale: Scale) -> Iterator[dict[str, Any]]:
    """:func:`rows` of ``subject`` on its :func:`sentences`. Raises what these raise."""
    return rows(subject, sentences(subject, scale))


def against(subject: Subject, beside: Subject, scale: Scale) -> Iterator[dict[str, Any]]:
    """Tidy rows of ``subject`` with another model, which reads the same sentences: ``cka_against`` at every ``layer``
    of the one and ``beside_layer`` of the other, in each of their languages and in the mean over these."""
    said, other = _said((subject, beside), scale)
    found = {
        language: between_layers(sentence_vectors(subject, lines), sentence_vectors(beside, other[language]))
        for language, lines in said.items()
    }
    for language, of in (found | {ALL: np.mean(list(found.values()), axis=0)}).items():
        yield from _matrix("cka_against", language, language, of, len(said["en"]))


def _found(vectors: Mapping[str, Array], means: Mapping[str, Array], language: str, method: str) -> Array:
    """Whether each sentence's translation into English is the nearest, float64 (layers + 1, n)."""
    gold = [{number} for number in range(vectors["en"].shape[1])]
    layers = zip(vectors[language], vectors["en"], means[language], means["en"], strict=True)
    found = [ranks(*placed(x, y, (of_x, of_y), method), gold) == 1 for x, y, of_x, of_y in layers]
    return np.stack(found).astype(np.float64)


def _shape_rows(vectors: Mapping[str, Array]) -> Iterator[dict[str, Any]]:
    english, n = vectors["en"], vectors["en"].shape[1]
    found = {language: between_layers(english, x) for language, x in vectors.items() if language != "en"}
    for language, of in found.items():
        for layer, value in enumerate(np.diag(of).tolist()):
            yield row(REPORT_CARD, "cka_debiased", "en", language, layer, value, n=n)
    for layer in range(len(english)):
        values = [float(of[layer, layer]) for of in found.values()]
        yield row(REPORT_CARD, "cka_debiased", "en", ALL, layer, over_seeds(values))
    yield from _matrix("cka_between_layers", "en", ALL, np.mean(list(found.values()), axis=0), n)


def _matrix(metric: str, source: str, target: str, of: Array, n: int) -> Iterator[dict[str, Any]]:
    for (layer, beside), value in np.ndenumerate(of):
        yield row(REPORT_CARD, metric, source, target, layer, float(value), n=n, beside_layer=beside)


def _read(subject: Subject, lines: list[str]) -> tuple[Array, tuple[Tokens, ...]]:
    """What stands for each sentence, float32 (layers + 1, n, d), and the first :data:`TOKENS` tokens of
    :data:`PROBED` sentences of either half, special ones left out: from one reading."""
    probed = [list(range(len(lines)))[half][:PROBED] for half in _HALVES]
    wanted = {number for numbers in probed for number in numbers}
    vectors: dict[int, Array] = {}
    states: dict[int, Array] = {}
    for batch in subject.states(lines):
        pooled, inner = batch.pooled(subject.pooling).cpu().numpy(), batch.tokens & ~batch.special
        for place, number in enumerate(batch.rows):
            vectors[number] = pooled[:, place]
            if number in wanted:
                states[number] = batch.layers[:, place, inner[place]].cpu().numpy()
    return np.stack([vectors[number] for number in range(len(lines))], axis=1), tuple(
        Tokens(
            np.concatenate([states[number] for number in numbers], axis=1)[:, :TOKENS],
            np.repeat(np.arange(len(numbers)), [states[number].shape[1] for number in numbers])[:TOKENS],
            len(numbers),
        )
        for numbers in probed
    )


def _identity_rows(tokens: Mapping[str, tuple[Tokens, ...]], chosen: int) -> Iterator[dict[str, Any]]:
    train, test = ({language: halves[half] for language, halves in tokens.items()} for half in (0, 1))
    n = sum(len(x.of) for x in test.values())
    shares = language_identity.variance_share({language: x.states for language, x in test.items()})
    for layer, value in enumerate(shares.tolist()):
        found = _interval(value, _drawn_shares(test, layer), n)
        yield row(REPORT_CARD, "variance_between", ALL, ALL, layer, found)
    at = slice(chosen, chosen + 1)
    (told,) = language_identity.told(*({of: x.states[at] for of, x in part.items()} for part in (train, test)))
    sums = [x.drawn(np.column_stack([told[of].astype(float), np.ones(len(x.of))])) for of, x in test.items()]
    drawn = np.mean([each[:, 0] / np.maximum(each[:, 1], 1) for each in sums], axis=0)
    found = _interval(float(np.mean([right.mean() for right in told.values()])), drawn, n)
    yield row(REPORT_CARD, "probe_accuracy", ALL, ALL, chosen, found)
    yield row(REPORT_CARD, "random", ALL, ALL, None, 1 / len(test), n=n)


def _drawn_shares(tokens: Mapping[str, Tokens], layer: int) -> Array:
    """:func:`language_identity.variance_share` in every bootstrap sample, (draws,): of the tokens' number, squares and
    sums a sentence."""
    means, within = [], []
    for each in tokens.values():
        x = each.states[layer].astype(np.float64)
        sums = each.drawn(np.column_stack([np.ones(len(x)), (x**2).sum(axis=1), x]))
        squares, mean = np.split(sums[:, 1:] / np.maximum(sums[:, :1], 1), [1], axis=1)
        means.append(mean)
        within.append(squares[:, 0] - (mean**2).sum(axis=1))
    between = np.var(means, axis=0).sum(axis=1)
    return between / np.maximum(between + np.mean(within, axis=0), np.finfo(float).tiny)


def _interval(value: float, drawn: Array, n: int) -> Interval:
    """Of a share: normal, with the bootstrap's standard error. Percentiles of a share of variance lie too high, since
    samples of samples scatter more."""
    half = 1.96 * float(drawn.std())
    return Interval(value, max(0.0, value - half), min(1.0, value + half), n)


def _translation_rows(subject: Subject, said: Said, means: Mapping[str, Array], layer: int) -> Iterator[dict[str, Any]]:
    tested = {language: lines[1::2][:TRANSLATED] for language, lines in said.items()}
    decode = subject.tokenizer.batch_decode
    for language in subject.others:
        found = predicted(subject, tested["en"], means[language] - means["en"], [layer], WEIGHTS)[0]
        wanted = [words(line, subject.form) for line in tested[language]]
        for weight, ids in zip(WEIGHTS, found, strict=True):
            got = [words(line, subject.form) for line in decode([each.tolist() for each in ids])]
            value = bleu1(got, wanted)
            yield row(REPORT_CARD, "bleu1", "en", language, layer, value, n=len(wanted), weight=weight)
