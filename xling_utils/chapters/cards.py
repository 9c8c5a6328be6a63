"""The report card of a language model: few numbers, beside those of its untrained twin and of the book's encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from xling_utils.core import identity
from xling_utils.core.errors import UserError
from xling_utils.core.progress import bar
from xling_utils.core.scales import Scale
from xling_utils.core.scales import scale as scale_of
from xling_utils.measures import (
    Interval,
    Subject,
    bundled,
    kept_rows,
    names,
    over_seeds,
    pool,
    registry,
    report_card,
)
from xling_utils.runs import RunStore

MODEL, TWIN, BOOKS = "this model", "untrained twin", "the book's encoder"
SCALES = {"directory": "natural", "controlled": "controlled"}
"""Where text comes from -> the scale whose sizes a card is measured with."""
ORIGINAL, ZERO_MEAN, _ = names.METHODS
SENTENCES = 0
"""Of running text, which a card reads none of."""


@dataclass(frozen=True)
class Line:
    """A line of the card: what is ``measured``, the values of each model that has one, and what guessing gives."""

    name: str
    measured: str
    values: dict[str, Interval]
    guess: float | None = None


@dataclass(frozen=True)
class Card:
    """``rows`` of :func:`report_card.rows`, with the column ``model`` (:data:`MODEL`, :data:`TWIN`, :data:`BOOKS`), and
    of :func:`report_card.against`, where a model was compared with :attr:`against`."""

    name: str
    key: str
    pooling: str
    predicts: bool
    parameters: int
    languages: tuple[str, ...]
    text: str
    against: str | None
    rows: pd.DataFrame

    @property
    def models(self) -> list[str]:
        """Those that have rows."""
        return list(dict.fromkeys(self.rows["model"]))

    def of(self, metric: str, model: str = MODEL, **labels: Any) -> pd.DataFrame:
        """Rows of one metric and model, with ``labels`` in the columns of that name."""
        found = self.rows[(self.rows["metric"] == metric) & (self.rows["model"] == model)]
        for column, value in labels.items():
            found = found[found[column] == value]
        return found

    @cached_property
    def layers(self) -> dict[str, int]:
        """The layer that is looked at, by model: where most translations were found in the half that is not measured
        on."""
        return {model: int(self.of("chosen", model)["layer"].iloc[0]) for model in self.models}

    @property
    def sentences(self) -> int:
        """In every language, of which half are measured on."""
        return int(self.of("cka_between_layers")["n"].iloc[0])

    def at_the_layer(self, metric: str, **labels: Any) -> dict[str, Interval]:
        """The value of each model at the layer that is looked at."""
        found = {model: self.of(metric, model, layer=layer, **labels) for model, layer in self.layers.items()}
        return {model: _interval(rows.iloc[0]) for model, rows in found.items() if len(rows)}

    def lines(self) -> list[Line]:
        """What the card says at first sight."""
        chance = float(self.of("chance")["value"].iloc[0])
        every = {"source": names.ALL}
        found = [
            Line("P@1", "translations found", self.at_the_layer("p_at_1", method=ORIGINAL, **every), chance),
            Line(
                "P@1, zero-mean",
                "translations found, languages' means taken out",
                self.at_the_layer("p_at_1", method=ZERO_MEAN, **every),
                chance,
            ),
            Line("CKA", "likeness of English and the others", self.at_the_layer("cka_debiased", target=names.ALL), 0.0),
            Line("variance", "share of tokens' variance between languages", self.at_the_layer("variance_between")),
            Line(
                "language",
                "tokens whose language a linear probe tells",
                self.at_the_layer("probe_accuracy"),
                float(self.of("random")["value"].iloc[0]),
            ),
        ]
        if len(self.of("bleu1")):
            found.append(Line("BLEU-1", "English moved to the others, BLEU-1", self._translated()))
        return found

    def by_language(self) -> list[dict[str, Any]]:
        """This model's lines, a language each: ``language``, ``original``, ``zero_mean`` and ``cka``."""
        layer = self.layers[MODEL]
        return [
            {
                "language": language,
                "original": _interval(self.of("p_at_1", source=language, layer=layer, method=ORIGINAL).iloc[0]),
                "zero_mean": _interval(self.of("p_at_1", source=language, layer=layer, method=ZERO_MEAN).iloc[0]),
                "cka": _interval(self.of("cka_debiased", target=language, layer=layer).iloc[0]),
            }
            for language in self.languages
        ]

    def _translated(self) -> dict[str, Interval]:
        """By the weight that is best for this mean: its highest over languages."""
        found = {}
        for model in self.models:
            rows = self.of("bleu1", model)
            if len(rows):
                moved = rows.groupby("weight")["value"].agg(list)
                found[model] = max((over_seeds(values).drawn() for values in moved), key=lambda each: each.value)
        return found


def _interval(row: pd.Series) -> Interval:
    value, low, high = (float(row[column]) for column in ("value", "low", "high"))
    return Interval(value, low, high, int(row["n"])).drawn()


def card(
    model: str,
    languages: Sequence[str],
    data: Path | None,
    aligned: str | None = None,
    pooling: str | None = None,
    against: str | None = None,
) -> Card:
    """The card of ``model``, which :func:`hub.load` opens with ``pooling``, or of the folder of a stored run: on XNLI's
    sentences in ``languages`` beside English, or on translations ``aligned`` of one's own, perhaps ``against`` another
    model, as that is read by itself. What was measured is kept beside the store of runs.

    Raises :class:`UserError` on a model that cannot be measured, and on mistakes in the data.
    """
    subject = Subject.of_model(model, ("en", *languages), data, SENTENCES, aligned, pooling)
    beside = {MODEL: subject, TWIN: subject.untrained()}
    if (books := _books(subject)) is not None:
        beside[BOOKS] = books
    with bar(sum(len(each.languages) for each in beside.values()), f"{model}: languages") as progress:
        frames = [_measured(each, progress.update).assign(model=name) for name, each in beside.items()]
    if against is not None:
        other = Subject.of_model(against, ("en", *languages), data, SENTENCES, aligned)
        if other.key == subject.key:
            raise UserError(f"{against}: the same weights as {model}; compare it with another model")
        frames.append(pd.DataFrame(list(report_card.against(subject, other, _scale(subject)))).assign(model=MODEL))
    return Card(
        model,
        subject.key,
        subject.pooling,
        subject.predicts,
        sum(weights.numel() for weights in subject.model.parameters()),
        subject.others,
        f"translations {aligned!r}" if aligned else _TEXTS[subject.corpus.source],
        against,
        pd.concat(frames, ignore_index=True),
    )


_TEXTS = {"directory": "hypotheses of XNLI's test files", "controlled": "the controlled world"}


def _scale(subject: Subject) -> Scale:
    return scale_of(SCALES[subject.corpus.source])


def _books(subject: Subject) -> Subject | None:
    """The encoder that comes with the book, on the same real sentences; ``None`` where it reads less than two of the
    languages, and of the controlled world."""
    if subject.corpus.source != "directory":
        return None
    own = bundled.load()
    known = tuple(language for language in subject.languages if language in own.languages)
    corpus = replace(own.corpus, languages=known)
    return replace(own, data=subject.data, aligned=subject.aligned, corpus=corpus) if len(known) > 1 else None


def _measured(subject: Subject, read: Any) -> pd.DataFrame:
    """The rows of a model; kept as long as its weights, its sentences and what measures them are the same."""
    scale = _scale(subject)
    said = report_card.sentences(subject, scale)
    asked = (subject.key, subject.pooling, str(subject.predicts), repr(said))
    name = pool.file_name((identity.of(*asked)[:20],), names.REPORT_CARD, scale, "")
    path = RunStore().folder(".measures") / name
    if kept_rows.is_kept(path):
        read(len(said))
    else:
        rows = pd.DataFrame(list(report_card.rows(subject, said, lambda: read(1))))
        kept_rows.keep(path, registry.arranged(rows.assign(run=subject.key)))
    return kept_rows.load(path)
