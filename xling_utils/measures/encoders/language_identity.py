"""How much language a layer holds: the share of variance that lies between languages, and what a linear probe can
read off a single token (R21)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from xling_utils.core.errors import UserError

if TYPE_CHECKING:
    from xling_utils.measures.encoders.hidden_states import LanguageModel

Array = npt.NDArray[np.floating]
SENTENCES = 256
"""Sentences that are read at a time until there are tokens enough."""


def token_states(lm: LanguageModel, sentences: Sequence[str], count: int) -> npt.NDArray[np.float32]:
    """States of the first ``count`` tokens of ``sentences`` at every layer, float32 (layers + 1, count or fewer, d),
    special tokens left out. Raises :class:`UserError` if there is none."""
    found: list[Array] = []
    for start in range(0, len(sentences), SENTENCES):
        some: dict[int, Array] = {}
        for batch in lm.states(sentences[start : start + SENTENCES]):
            inner = (batch.tokens & ~batch.special).cpu().numpy()
            layers = batch.layers.cpu().numpy()
            some |= {row: layers[:, place, inner[place]] for place, row in enumerate(batch.rows)}
        found += [some[row] for row in sorted(some)]
        if sum(x.shape[1] for x in found) >= count:
            break
    if not any(x.shape[1] for x in found):
        raise UserError("the text holds no token; give at least one sentence")
    return np.concatenate(found, axis=1)[:, :count]


def variance_share(of: Mapping[str, Array]) -> npt.NDArray[np.float64]:
    """Share of the variance of token states that lies between the languages' means, float64 (layers + 1,): 0 where
    all languages have the same mean, 1 where a language has one state for all its tokens.

    ``of[language]`` (layers + 1, tokens, d); languages count alike, whatever their number of tokens. Raises
    :class:`UserError` on fewer than two languages, on one of no tokens, and on different layers or widths.
    """
    if len(of) < 2:
        raise UserError("variance between languages: takes at least two languages")
    if len({(len(x), x.shape[-1]) for x in of.values()}) > 1 or not all(x.shape[1] for x in of.values()):
        shapes = ", ".join(f"{language} {x.shape}" for language, x in of.items())
        raise UserError(f"variance between languages: takes (layers, tokens, d), alike but for tokens, not {shapes}")
    means = np.stack([x.mean(axis=1, dtype=np.float64) for x in of.values()])
    within = np.mean([x.var(axis=1, dtype=np.float64).sum(axis=1) for x in of.values()], axis=0)
    between = means.var(axis=0).sum(axis=1)
    return between / np.maximum(between + within, np.finfo(float).tiny)


def probe_accuracy(train: Mapping[str, Array], test: Mapping[str, Array]) -> npt.NDArray[np.float64]:
    """Share of tokens whose language a logistic regression on their state tells (:func:`told`), float64 (layers + 1,),
    languages counting alike."""
    return np.array([np.mean([right.mean() for right in layer.values()]) for layer in told(train, test)])


def told(train: Mapping[str, Array], test: Mapping[str, Array]) -> list[dict[str, npt.NDArray[np.bool_]]]:
    """Of every layer, by language: whether a logistic regression on a token's state tells its language, (tokens,).

    ``train[language]`` and ``test[language]`` (layers + 1, tokens, d) of different text. A linear probe cannot use what
    lies in more than the means of the languages and the directions they share.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    languages = list(train)
    found = []
    for layer in range(len(next(iter(train.values())))):
        x = np.concatenate([train[language][layer] for language in languages])
        labels = np.repeat(np.arange(len(languages)), [train[language].shape[1] for language in languages])
        probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
        with warnings.catch_warnings():  # of states as wide as a large model's, all of which it tells apart by then
            warnings.simplefilter("ignore", ConvergenceWarning)
            probe.fit(x, labels)
        found.append({x: np.equal(probe.predict(test[x][layer]), i) for i, x in enumerate(languages)})
    return found


def without_means(of: Mapping[str, Array], means: Mapping[str, Array]) -> dict[str, Array]:
    """Token states less their language's mean, (layers + 1, d)."""
    return {language: x - means[language][:, None] for language, x in of.items()}


def token_sets(tokenizer: Any, texts: Mapping[str, Iterable[str]]) -> dict[str, set[str]]:
    """The tokens that occur in each language's text, special ones left out (A, Table 3)."""
    special = set(tokenizer.all_special_ids)
    found = {}
    for language, lines in texts.items():
        encoded = tokenizer(list(lines), add_special_tokens=False, verbose=False)["input_ids"]
        ids = {number for line in encoded for number in line} - special
        found[language] = set(tokenizer.convert_ids_to_tokens(sorted(ids)))
    return found
