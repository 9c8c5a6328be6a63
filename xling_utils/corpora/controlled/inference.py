"""Natural language inference in the controlled world: premise, hypothesis, and a label that follows from meaning.

The hypothesis is drawn first and the label after it, independently; then a premise is sought that stands in
that relation to it. So the hypothesis alone says nothing about the label, by construction, and what a
classifier learns it learns from the pair.

What the words mean, as natural logic does it (van Benthem; MacCartney and Manning, 2007). Both sentences speak
of one situation. A noun is narrower than its hypernym, a phrase with a modifier narrower than without. Opposite
verbs, predicates and manners exclude each other. "Not" denies the predicate with its objects and circumstances,
never the subject: there, and only there, it turns the direction around. *Lion* entails *animal*; "does not eat
fruit" entails "does not eat lemons".
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, islice, pairwise
from typing import TYPE_CHECKING

from xling_utils.corpora.controlled.constructions import (
    ADJECTIVES,
    COUNTABLE,
    DETERMINER_SLOT,
    VERB_CLASSES,
    end,
    leaf,
)
from xling_utils.corpora.controlled.grammar import CLAUSE, GRAMMARS, PREDICATE, Node, linearise
from xling_utils.corpora.controlled.lexicon import concepts, words
from xling_utils.corpora.controlled.world import Frame, Scene, frames, world

if TYPE_CHECKING:
    from datasets import Dataset

LABELS = ("entailment", "neutral", "contradiction")
OUTER = ("subject", "subject_adjective", "companion")
"""Parts that a negation does not reach."""
INNER = ("predicate", "degree", "object", "object_adjective", "number", "oblique", "time", "manner")
"""Parts that a negation denies."""
MODIFIERS = ("subject_adjective", "companion", "degree", "object_adjective", "number", "oblique", "time", "manner")
"""Parts that may be absent."""
HOW = ("quickly", "slowly", "well", "badly", "together", "alone", "again")
DETERMINERS = ("DEF", "THIS", "THAT_D", "MY", "YOUR", "HIS", "OUR")
BODILY = ("motion", "posture", "toil")
"""Classes of verbs that one and the same body does not do at once, whatever else it does."""
DO_NOT_SWAP = ({"cook_v", "make"}, {"bring", "carry"}, {"read", "learn"})
"""Verbs of different classes where one deed may be the other: neither related nor unrelated."""


@dataclass(frozen=True)
class Fact:
    """What a sentence claims; every part is a concept or ``""``. ``oblique`` holds an adposition and a noun."""

    subject: str
    predicate: str
    determiner: str
    negated: bool = False
    subject_adjective: str = ""
    companion: str = ""
    degree: str = ""
    object: str = ""
    object_adjective: str = ""
    number: str = ""
    oblique: tuple[str, str] | None = None
    time: str = ""
    manner: str = ""

    @property
    def verbal(self) -> bool:
        """Whether somebody does something, rather than being somehow."""
        return concepts()[self.predicate].upos == "VERB"


def triples(language: str, count: int, seed: int) -> Dataset:
    """``count`` triples of ``language``: string columns ``premise``, ``hypothesis``, ``label`` (one of ``LABELS``).

    Every three rows hold each label once, in random order. Languages draw independently. Raises
    :class:`UserError` on an unknown language.
    """
    return _dataset(pairs(count, seed, language), language)


def parallel_triples(languages: tuple[str, ...], count: int, seed: int) -> dict[str, Dataset]:
    """The same ``count`` triples in every language, row by row, drawn apart from those of :func:`triples`."""
    drawn = list(pairs(count, seed, "parallel"))
    return {language: _dataset(drawn, language) for language in languages}


def pairs(count: int, seed: int, stream: str) -> Iterator[tuple[Fact, Fact, str]]:
    """``count`` times premise, hypothesis and label, a pure function of ``seed`` and the ``stream``'s name."""
    rng = random.Random(f"{seed}/inference/{stream}")

    def draw() -> Iterator[tuple[Fact, Fact, str]]:
        while True:
            for label in rng.sample(LABELS, len(LABELS)):
                scene = Scene(rng, rng.choices(range(len(world().topics)), world().topic_weights)[0])
                hypothesis = _hypothesis(scene)
                yield _premise(scene, hypothesis, label), hypothesis, label

    return islice(draw(), count)


def judge(premise: Fact, hypothesis: Fact) -> str:
    """The label of a pair, or ``""`` where the world does not settle it."""
    outer = _combine([_compare(premise, hypothesis, part) for part in OUTER])
    inner = _combine([_compare(premise, hypothesis, part) for part in INNER])
    if "?" in (outer, inner):
        return ""
    if outer == "#":
        return "neutral"
    if premise.negated:
        inner = {"<": ">", ">": "<", "x": "#"}.get(inner, inner)
    if premise.negated == hypothesis.negated:
        if inner == "x":
            return "contradiction" if outer == "=" else ""
        return "entailment" if inner in "=<" and outer in "=<" else "neutral"
    if inner in "=<":
        return "contradiction" if outer in "=<" else ""
    return "entailment" if inner == "x" and outer in "=<" else "neutral"


def tree(fact: Fact) -> Node:
    """The sentence that claims ``fact``, for any grammar to order."""
    subject = _noun(fact.subject, "subj", fact.determiner, fact.subject_adjective)
    if fact.companion:
        subject.add(_noun(fact.companion, "conj", fact.determiner).add(leaf("AND", "cc")))
    node = Node(fact.predicate, concepts()[fact.predicate].upos, frame=CLAUSE if fact.verbal else PREDICATE)
    node.add(subject, None if fact.verbal else leaf("BE", "cop"), leaf("NOT", "neg") if fact.negated else None)
    if fact.object:
        countable = concepts()[fact.object].group in COUNTABLE[:-1] and not fact.number
        thing = _noun(fact.object, "obj", "INDEF" if countable else "", fact.object_adjective)
        if fact.number:
            thing.add(leaf(fact.number, "num"), leaf("CLF", "clf"))
        node.add(thing.add(leaf("ACC", "case")))
    if fact.oblique:
        adposition, noun = fact.oblique
        node.add(_noun(noun, "obl", "DEF").add(leaf(adposition, "case")))
    for key, slot in ((fact.degree, "deg"), (fact.time, "tadv"), (fact.manner, "adv")):
        node.add(leaf(key, slot) if key else None)
    return end(node)


def _noun(key: str, slot: str, determiner: str, adjective: str = "") -> Node:
    node = Node(key, concepts()[key].upos, slot)
    if determiner and node.upos == "NOUN":
        node.add(leaf(determiner, DETERMINER_SLOT[determiner]))
    return node.add(leaf(adjective, "adj") if adjective else None)


def _dataset(drawn: Iterator[tuple[Fact, Fact, str]] | list[tuple[Fact, Fact, str]], language: str) -> Dataset:
    from datasets import Dataset

    forms = words(language)

    def say(fact: Fact) -> str:
        return " ".join(token.form for token in linearise(tree(fact), GRAMMARS[language], forms))

    return Dataset.from_list([{"premise": say(p), "hypothesis": say(h), "label": label} for p, h, label in drawn])


def _compare(premise: Fact, hypothesis: Fact, part: str) -> str:
    """How the premise's part relates to the hypothesis's: ``=`` the same, ``<`` narrower, ``>`` wider, ``x``
    excluded by it, ``#`` independent of it, ``?`` not settled."""
    a, b = getattr(premise, part), getattr(hypothesis, part)
    if a == b:
        return "="
    if not a or not b:
        return ">" if b else "<"
    if part == "oblique":
        if a[0] != b[0]:
            return "#"
        a, b = a[1], b[1]
    if concepts()[a].hypernym == b:
        return "<"
    if concepts()[b].hypernym == a:
        return ">"
    if part in ("predicate", "manner") and concepts()[a].antonym == b:
        return "x"
    if part == "predicate" and not _unrelated(a, b):
        return "?"
    return "#"


def _combine(relations: list[str]) -> str:
    found = set(relations) - {"="}
    if len(found) < 2:
        return found.pop() if found else "="
    if "?" in found or "x" in found:
        return "?"
    return "#"


def _unrelated(a: str, b: str) -> bool:
    """Whether one predicate of the same subject and object says nothing about the other."""
    first, second = concepts()[a], concepts()[b]
    at_once = first.group in BODILY and second.group in BODILY
    return first.upos == second.upos and first.group != second.group and not at_once and {a, b} not in DO_NOT_SWAP


@cache
def _frame(predicate: str) -> Frame:
    """What a predicate takes. Opposite verbs share one frame, or the less usual of the two would tell."""
    entry = concepts()[predicate]
    if entry.upos == "ADJ":
        return Frame(predicate, tuple(name for name, fitting in ADJECTIVES.items() if entry.group in fitting), (), ())
    both = [frames()[key] for key in (predicate, entry.antonym) if key]
    subject, object_, obliques = (
        tuple(dict.fromkeys(item for frame in both for item in getattr(frame, side)))
        for side in ("subject", "object", "obliques")
    )
    return Frame(predicate, subject, object_, obliques)


def _pick(scene: Scene, governor: str, classes: tuple[str, ...], fits: Callable[[str], bool]) -> str:
    """A concept of ``classes`` that ``fits``, as likely as the world has it; ``""`` if there is none."""
    keys, cumulative = world().choices(governor, classes, scene.topic)
    weights = [b - a if fits(key) else 0.0 for key, (a, b) in zip(keys, pairwise([0.0, *cumulative]), strict=True)]
    total = list(accumulate(weights))
    return scene.rng.choices(keys, cum_weights=total)[0] if total and total[-1] > 0 else ""


def _adjective(scene: Scene, noun: str, avoid: str = "") -> str:
    # The word that is predicated is left out: "the big house is small" would be no sentence about one house.
    classes = tuple(name for name in ADJECTIVES.get(concepts()[noun].group, ()))
    return _pick(scene, noun, classes, lambda key: avoid not in (key, concepts()[key].antonym)) if classes else ""


def _hypothesis(scene: Scene) -> Fact:
    if scene.chance(0.7):
        predicate = scene.pick("PERIOD", *VERB_CLASSES)
    else:
        predicate = scene.pick("BE", *dict.fromkeys(name for names in ADJECTIVES.values() for name in names))
    frame = _frame(predicate)
    subject = scene.pick(predicate, *frame.subject)
    thing = scene.pick(predicate, *frame.object) if frame.object else ""
    fact = Fact(subject, predicate, scene.habit(subject, *DETERMINERS), scene.chance(0.5), object=thing)
    for part in MODIFIERS:
        if scene.chance(0.3):
            fact = _toggle(scene, fact, part) or fact
    for part in ("subject", "object", "oblique"):
        if scene.chance(0.3):
            fact = _widen(scene, fact, part) or fact
    return fact


def _premise(scene: Scene, hypothesis: Fact, label: str) -> Fact:
    """Random changes until one gives the ``label``; some always does, whatever the hypothesis is."""
    edits = list(EDITS)
    while True:
        fact: Fact | None = hypothesis
        if scene.chance(0.5):
            fact = replace(hypothesis, negated=not hypothesis.negated)
        for edit, part in scene.rng.sample(edits, scene.rng.choice((0, 1, 1, 2))):
            fact = fact and edit(scene, fact, part)
        if fact and fact != hypothesis and judge(fact, hypothesis) == label:
            return fact


def _toggle(scene: Scene, fact: Fact, part: str) -> Fact | None:
    """Drops a modifier or adds one."""
    if getattr(fact, part):
        return replace(fact, **{part: None if part == "oblique" else ""})
    return _fill(scene, fact, part)


def _fill(scene: Scene, fact: Fact, part: str) -> Fact | None:
    """Puts something that suits, other than what is there, into a part; ``None`` if nothing does."""
    frame, now, value = _frame(fact.predicate), getattr(fact, part), None
    taken = {now, fact.subject, fact.companion, fact.object}

    def related(key: str) -> bool:
        return key in taken or any(concepts()[key].hypernym == noun or concepts()[noun].hypernym == key
                                   for noun in taken if noun)  # fmt: skip

    if part in ("subject", "companion"):
        value = _pick(scene, fact.predicate, frame.subject, lambda key: not related(key))
    elif part == "object" and frame.object:
        value = _pick(scene, fact.predicate, frame.object, lambda key: not related(key))
    elif part == "subject_adjective" and concepts()[fact.subject].upos == "NOUN":
        value = _adjective(scene, fact.subject, fact.predicate)
    elif part == "object_adjective" and fact.object and concepts()[fact.object].upos == "NOUN":
        value = _adjective(scene, fact.object)
    elif part == "number" and fact.object and concepts()[fact.object].group in COUNTABLE[:-1]:
        value = scene.pick(fact.object, "number") if not now else None
    elif part == "degree" and not fact.verbal:
        value = "VERY"
    elif part == "oblique" and frame.obliques:
        adposition, classes = scene.rng.choice(frame.obliques)
        value = (adposition, scene.pick(fact.predicate, *classes))
    elif part == "time":
        value = scene.pick(fact.predicate, "when")
    elif part == "manner" and fact.verbal:
        value = scene.pick(fact.predicate, *HOW)
    return replace(fact, **{part: value}) if value and value != now else None
