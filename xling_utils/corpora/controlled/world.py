"""The world that all fifteen languages speak of: topics, preferences, documents.

What is said does not depend on the language that says it. A fixed seed gives every concept its frequency
(Zipf within its class), its liking for each topic, and every verb, adjective and preposition its preferred
companions inside the classes of ``frames.tsv``. So a word and its translation are used alike, and nothing else
ties two languages together.
"""

from __future__ import annotations

import random
from bisect import bisect
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate

import numpy as np

from xling_utils.core.errors import UserError
from xling_utils.corpora.controlled.lexicon import concepts, function_words, members, read_table

WORLD_SEED = 2020
TOPIC_SHARPNESS = 1.0
"""Standard deviation of a concept's log liking for a topic, beyond what ``topics.tsv`` says."""
TOPIC_BOOST = 6.0
"""How many times likelier a concept is in a topic that names it or its class."""
PREFERENCE_SHARPNESS = 2.0
"""Standard deviation of the log preference of a governor for a companion."""
HABIT_SHARPNESS = 2.0
"""Standard deviation of the log preference of a word for a function word (the wine, my mother, three eggs)."""
RECENCY = 0.2
"""Chance that a slot is filled by something the document has already mentioned, if it fits."""
DOMAINS = ("first", "second")
"""Two halves of the topics, so that two languages can be made to speak of different things."""


@dataclass(frozen=True)
class Frame:
    """What a verb takes: classes of its subject, object (empty: none) and alternative obliques."""

    verb: str
    subject: tuple[str, ...]
    object: tuple[str, ...]
    obliques: tuple[tuple[str, tuple[str, ...]], ...]


@cache
def frames() -> dict[str, Frame]:
    """The selectional frames of ``frames.tsv``, by verb."""
    found = {}
    for row in read_table("frames.tsv"):
        obliques = []
        for part in row["oblique"].split("|"):
            if part != "-":
                adposition, _, classes = part.partition(":")
                obliques.append((adposition, tuple(classes.split(","))))
        subject, thing = (() if row[side] == "-" else tuple(row[side].split(",")) for side in ("subject", "object"))
        found[row["verb"]] = Frame(row["verb"], subject, thing, tuple(obliques))
    return found


class World:
    """Weights of everything; built once from ``WORLD_SEED`` and the tables."""

    def __init__(self) -> None:
        rng = np.random.default_rng(WORLD_SEED)
        self.keys = list(concepts())
        self.index = {key: i for i, key in enumerate(self.keys)}
        table = read_table("topics.tsv")
        self.topics = [row["topic"] for row in table]
        self.topic_weights = [float(row["weight"]) for row in table]
        governors = [*self.keys, *function_words(), *self.topics]
        self.governors = {key: i for i, key in enumerate(governors)}
        frequency = np.ones(len(self.keys))
        for group in dict.fromkeys(entry.group for entry in concepts().values()):
            ranks = rng.permutation(len(members(group))) + 1
            for key, rank in zip(members(group), ranks, strict=True):
                frequency[self.index[key]] = 1.0 / rank**0.7
        self.frequency = frequency
        liking = np.exp(TOPIC_SHARPNESS * rng.standard_normal((len(table), len(self.keys))))
        for row, weights in zip(table, liking, strict=True):
            for name in row["favours"].split(","):
                for key in members(name):
                    weights[self.index[key]] *= TOPIC_BOOST
        self.liking = liking
        self.preference = np.exp(PREFERENCE_SHARPNESS * rng.standard_normal((len(governors), len(self.keys))))
        functions = list(function_words())
        self.functions = {key: i for i, key in enumerate(functions)}
        self.habit = np.exp(HABIT_SHARPNESS * rng.standard_normal((len(governors), len(functions))))
        self.construction_liking = np.exp(rng.standard_normal((len(table), 200)))
        self._choices: dict[tuple[str, tuple[str, ...], int], tuple[list[str], list[float]]] = {}

    def choices(self, governor: str, classes: tuple[str, ...], topic: int) -> tuple[list[str], list[float]]:
        """Candidates and cumulative weights for a slot of ``governor`` filled from ``classes`` in ``topic``."""
        found = self._choices.get((governor, classes, topic))
        if found is None:
            keys = list(dict.fromkeys(key for name in classes for key in members(name)))
            rows = np.array([self.index[key] for key in keys])
            weights = self.frequency[rows] * self.liking[topic, rows]
            if governor:
                weights = weights * self.preference[self.governors[governor], rows]
            found = keys, list(accumulate(weights.tolist()))
            self._choices[(governor, classes, topic)] = found
        return found


@cache
def world() -> World:
    """The one world."""
    return World()


@cache
def domain_topics(domain: str) -> tuple[int, ...]:
    """The topics of one of ``DOMAINS``: all topics, from the most frequent down, dealt to the first, the second,
    the second, the first and so on, so that both halves weigh alike. Raises :class:`UserError` on another name."""
    if domain not in DOMAINS:
        raise UserError(f"controlled corpus: no domain {domain!r}; known: {', '.join(DOMAINS)}")
    weights = world().topic_weights
    ranked = sorted(range(len(weights)), key=lambda topic: -weights[topic])
    turns = (0, 1, 1, 0)
    return tuple(topic for place, topic in enumerate(ranked) if DOMAINS[turns[place % 4]] == domain)


@dataclass
class Scene:
    """State of one document: its topic and what it has mentioned so far."""

    rng: random.Random
    topic: int
    mentioned: list[str] = field(default_factory=list)

    def pick(self, governor: str, *classes: str) -> str:
        """A concept of ``classes`` that suits ``governor`` and the topic; often one already mentioned."""
        keys, cumulative = world().choices(governor, classes, self.topic)
        if self.rng.random() < RECENCY:
            fitting = [key for key in self.mentioned[-8:] if key in keys]
            if fitting:
                return self.rng.choice(fitting)
        key = keys[bisect(cumulative, self.rng.random() * cumulative[-1], hi=len(keys) - 1)]
        self.mentioned.append(key)
        return key

    def habit(self, governor: str, *options: str) -> str:
        """One of the function words ``options``, as ``governor`` likes them."""
        row = world().habit[world().governors[governor]]
        return self.rng.choices(options, [row[world().functions[key]] for key in options])[0]

    def chance(self, probability: float) -> bool:
        """True with ``probability``."""
        return self.rng.random() < probability
