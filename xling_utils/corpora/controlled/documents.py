"""Documents of the controlled world: several sentences on one topic, about the same few things."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import accumulate

import xling_utils.corpora.controlled.clauses  # noqa: F401  (registers all constructions)
from xling_utils.corpora.controlled.constructions import CONSTRUCTIONS
from xling_utils.corpora.controlled.grammar import Node
from xling_utils.corpora.controlled.world import Scene, domain_topics, world

LENGTHS = (3, 4, 5, 6, 7, 8)
"""Sentences in a document, equally likely."""


@cache
def _construction_weights(topic: int) -> list[float]:
    liking = world().construction_liking[topic]
    return list(accumulate(weight * liking[i] for i, (weight, _) in enumerate(CONSTRUCTIONS.values())))


def documents(seed: int, stream: str, domain: str | None = None) -> Iterator[list[Node]]:
    """Endless documents, each a list of trees; a pure function of ``seed``, the name of the ``stream`` and the
    ``domain``, which keeps them to its topics. Raises :class:`UserError` on an unknown domain."""
    rng = random.Random(f"{seed}/{stream}")
    topics = range(len(world().topics)) if domain is None else domain_topics(domain)
    topic_weights = [world().topic_weights[topic] for topic in topics]
    builders = [build for _, build in CONSTRUCTIONS.values()]
    while True:
        scene = Scene(rng, rng.choices(topics, topic_weights)[0])
        weights = _construction_weights(scene.topic)
        count = rng.choice(LENGTHS)
        yield [build(scene) for build in rng.choices(builders, cum_weights=weights, k=count)]
