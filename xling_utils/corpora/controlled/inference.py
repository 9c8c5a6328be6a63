"""Natural language inference in the controlled world: premise, hypothesis, and the label their meaning gives.

The hypothesis is drawn first, the label independently of it, and then a premise is sought that stands in that
relation to it. So the hypothesis alone cannot give the label away. What the labels mean is in ``facts``.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from xling_utils.corpora.controlled.constructions import ADJECTIVES, COUNTABLE, VERB_CLASSES
from xling_utils.corpora.controlled.facts import Fact, judge, tree, unrelated
from xling_utils.corpora.controlled.grammar import GRAMMARS, linearise
from xling_utils.corpora.controlled.lexicon import concepts, members, words
from xling_utils.corpora.controlled.world import Frame, Scene, frames, world

if TYPE_CHECKING:
    from datasets import Dataset

LABELS = ("entailment", "neutral", "contradiction")
NOUNS = ("subject", "object", "oblique")
ADJUNCTS = (
    "subject_adjective",
    "object_adjective",
    "companion",
    "number",
    "degree",
    "oblique",
    "time",
    "manner",
)
HOW = ("quickly", "slowly", "well", "badly", "together", "alone", "again")
DETERMINERS = ("DEF", "THIS", "THAT_D", "MY", "YOUR", "HIS", "OUR")
"""Determiners that point at one thing, in premise and hypothesis the same."""


def triples(language: str, count: int, seed: int) -> Dataset:
    """``count`` triples of ``language``: string columns ``premise``, ``hypothesis`` and ``label``.

    Every three rows hold each of ``LABELS`` once, in random order. Languages draw independently. Raises
    :class:`UserError` on an unknown language.
    """
    return _dataset(pairs(count, seed, language), language)


def parallel_triples(languages: tuple[str, ...], count: int, seed: int) -> dict[str, Dataset]:
    """The same ``count`` triples in each language, row by row: another draw than any of :func:`triples`."""
    drawn = list(pairs(count, seed, "parallel"))
    return {language: _dataset(drawn, language) for language in languages}


def pairs(count: int, seed: int, stream: str) -> Iterator[tuple[Fact, Fact, str]]:
    """``count`` premises, hypotheses and labels, a pure function of ``seed`` and ``stream``."""
    rng = random.Random(f"{seed}/inference/{stream}")

    def draw() -> Iterator[tuple[Fact, Fact, str]]:
        while True:
            for label in rng.sample(LABELS, len(LABELS)):
                scene = Scene(rng, rng.choices(range(len(world().topics)), world().topic_weights)[0])
                hypothesis = _hypothesis(scene)
                yield _premise(scene, hypothesis, label), hypothesis, label

    return islice(draw(), count)


def _dataset(drawn: Iterable[tuple[Fact, Fact, str]], language: str) -> Dataset:
    from datasets import Dataset

    forms = words(language)

    def say(fact: Fact) -> str:
        return " ".join(token.form for token in linearise(tree(fact), GRAMMARS[language], forms))

    rows = [{"premise": say(p), "hypothesis": say(h), "label": label} for p, h, label in drawn]
    return Dataset.from_list(rows)


def _hypothesis(scene: Scene) -> Fact:
    if scene.chance(0.7):
        predicate = scene.pick("PERIOD", *VERB_CLASSES)
    else:
        predicate = scene.pick("BE", *dict.fromkeys(name for names in ADJECTIVES.values() for name in names))
    frame = _frame(predicate)
    subject = scene.pick(predicate, *frame.subject)
    thing = scene.pick(predicate, *frame.object) if frame.object else ""
    fact = Fact(subject, predicate, scene.habit(subject, *DETERMINERS), scene.chance(0.5), object=thing)
    for part in ADJUNCTS:
        if scene.chance(0.35) and (part != "companion" or _may_have_company(fact)):
            fact = _fill(scene, fact, part) or fact
    for part in NOUNS:
        if scene.chance(0.4):
            fact = _widen(scene, fact, part) or fact
    return fact


def _may_have_company(fact: Fact) -> bool:
    """Whether a subject with a companion can still be made narrower: then every label stays possible."""
    return concepts()[fact.subject].upos == "NOUN" and not fact.subject_adjective


def _premise(scene: Scene, hypothesis: Fact, label: str) -> Fact:
    """Random edits until some give the ``label``.

    Every hypothesis has such edits for every label: its subject can be made narrower, its polarity turned
    around, a circumstance added or exchanged.
    """
    while True:
        fact: Fact | None = hypothesis
        opposed, turned = scene.rng.choices(TURNS, TURN_WEIGHTS[label, hypothesis.negated])[0]
        if opposed:
            fact = _oppose(hypothesis, scene.rng.choice(("predicate", "predicate", "manner")))
        if turned and fact:
            fact = fact._replace(negated=not fact.negated)
        for edit, part in scene.rng.sample(EDITS, scene.rng.choice(EDIT_COUNTS[label])):
            fact = fact and edit(scene, fact, part)
        if fact and fact != hypothesis and judge(fact, hypothesis) == label:
            return fact


@cache
def _frame(predicate: str) -> Frame:
    """What a predicate takes. Opposite verbs share one frame, or the less usual of the two would tell."""
    entry = concepts()[predicate]
    if entry.upos == "ADJ":
        return Frame(predicate, tuple(key for key, names in ADJECTIVES.items() if entry.group in names), (), ())
    both = [frames()[key] for key in (predicate, entry.antonym) if key]
    subject, thing, obliques = (
        tuple(dict.fromkeys(item for frame in both for item in getattr(frame, side)))
        for side in ("subject", "object", "obliques")
    )
    return Frame(predicate, subject, thing, obliques)


@cache
def _takes(classes: tuple[str, ...], noun: str) -> bool:
    """Whether a slot for ``classes`` takes ``noun`` or something that is one."""
    return any(noun in (key, concepts()[key].hypernym) for name in classes for key in members(name))


def _pick(scene: Scene, governor: str, classes: tuple[str, ...], fits: Callable[[str], bool]) -> str:
    """A concept of ``classes`` that ``fits``, as likely as the world has it; ``""`` if there is none."""
    if not classes:
        return ""
    keys, cumulative = world().choices(governor, classes, scene.topic)
    for _ in range(8):  # most words fit: only where few do, all are weighed
        key = keys[bisect(cumulative, scene.rng.random() * cumulative[-1], hi=len(keys) - 1)]
        if fits(key):
            return key
    steps = zip(keys, pairwise([0.0, *cumulative]), strict=True)
    weights = {key: high - low for key, (low, high) in steps if fits(key)}
    return scene.rng.choices(list(weights), list(weights.values()))[0] if weights else ""


def _toggle(scene: Scene, fact: Fact, part: str) -> Fact | None:
    """Drops an adjunct or adds one."""
    if getattr(fact, part):
        return _put(fact, part, None if part == "oblique" else "")
    return _fill(scene, fact, part)


def _exchange(scene: Scene, fact: Fact, part: str) -> Fact | None:
    """Something else that suits takes the place of what is there."""
    return _fill(scene, fact, part) if getattr(fact, part) else None


def _oppose(fact: Fact, part: str) -> Fact | None:
    """A predicate or manner becomes its opposite."""
    opposite = concepts()[getattr(fact, part)].antonym if getattr(fact, part) else ""
    return _put(fact, part, opposite) if opposite else None


def _widen(scene: Scene, fact: Fact, part: str) -> Fact | None:
    """A noun becomes its hypernym."""
    noun = _noun(fact, part)
    return _with_noun(fact, part, concepts()[noun].hypernym if noun else "")


def _narrow(scene: Scene, fact: Fact, part: str) -> Fact | None:
    """A noun becomes one of those that it is the hypernym of."""
    noun, frame = _noun(fact, part), _frame(fact.predicate)
    if not noun:
        return None
    if part == "oblique":
        options = [names for link, names in frame.obliques if link == _adposition(fact) and _takes(names, noun)]
        classes = options[0] if options else ()
    else:
        classes = getattr(frame, part)
    taken = (fact.subject, fact.companion, fact.object, _noun(fact, "oblique"))
    fits = [key for name in classes for key in members(name) if concepts()[key].hypernym == noun]
    return _with_noun(fact, part, _pick(scene, fact.predicate, classes, set(fits).difference(taken).__contains__))


def _put(fact: Fact, part: str, value: Any) -> Fact:
    return fact._replace(**{part: value})


def _adposition(fact: Fact) -> str:
    return fact.oblique[0] if fact.oblique else ""


def _noun(fact: Fact, part: str) -> str:
    value = getattr(fact, part)
    return value[1] if part == "oblique" and value else value or ""


def _with_noun(fact: Fact, part: str, noun: str) -> Fact | None:
    if not noun:
        return None
    return _put(fact, part, (_adposition(fact), noun) if part == "oblique" else noun)


def _fill(scene: Scene, fact: Fact, part: str) -> Fact | None:
    """Puts something that suits, other than what is there, into a part; ``None`` if nothing does."""
    frame, now = _frame(fact.predicate), getattr(fact, part)
    value: str | tuple[str, str] = ""
    if part in ("subject", "object", "companion"):
        classes = frame.object if part == "object" else frame.subject
        value = _pick(scene, fact.predicate, classes, _unlike(fact))
    elif part == "predicate":
        value = _rival(scene, fact)
    elif part in ("subject_adjective", "object_adjective"):
        noun = _noun(fact, part.removesuffix("_adjective"))
        if noun and concepts()[noun].upos == "NOUN":
            said = (fact.predicate, concepts()[fact.predicate].antonym)
            classes = ADJECTIVES.get(concepts()[noun].group, ())
            value = _pick(scene, noun, classes, lambda key: key not in said)
    elif part == "number" and fact.object and concepts()[fact.object].group in COUNTABLE and not now:
        value = scene.pick(fact.object, "number")
    elif part == "degree" and not fact.verbal:
        value = "VERY"
    elif part == "oblique" and frame.obliques:
        adposition, classes = scene.rng.choice(frame.obliques)
        noun = _pick(scene, fact.predicate, classes, _unlike(fact))
        value = (adposition, noun) if noun else ""
    elif part == "time":
        value = scene.pick(fact.predicate, "when")
    elif part == "manner" and fact.verbal:
        value = scene.pick(fact.predicate, *HOW)
    return _put(fact, part, value) if value and value != now else None


def _unlike(fact: Fact) -> Callable[[str], bool]:
    """A test of nouns: none that ``fact`` mentions, nor wider nor narrower ones."""
    nouns = {noun for noun in (fact.subject, fact.companion, fact.object, _noun(fact, "oblique")) if noun}
    wider = {concepts()[noun].hypernym for noun in nouns}
    return lambda key: key not in nouns and key not in wider and concepts()[key].hypernym not in nouns


def _rival(scene: Scene, fact: Fact) -> str:
    """Another predicate that ``fact`` could have and that has nothing to do with its own."""
    if not fact.verbal:
        said = concepts()[fact.subject_adjective] if fact.subject_adjective else None
        avoid = (said.key, said.antonym) if said else ()
        classes = ADJECTIVES.get(concepts()[fact.subject].group, ())
        return _pick(scene, "BE", classes, lambda key: key not in avoid and unrelated(key, fact.predicate))

    def fits(key: str) -> bool:
        frame = _frame(key)
        if not unrelated(key, fact.predicate) or bool(frame.object) != bool(fact.object):
            return False
        noun = _noun(fact, "oblique")
        return (
            _takes(frame.subject, fact.subject)
            and (not fact.object or _takes(frame.object, fact.object))
            and (not noun or any(link == _adposition(fact) and _takes(names, noun) for link, names in frame.obliques))
        )

    return _pick(scene, "PERIOD", VERB_CLASSES, fits)


EDITS: list[tuple[Callable[[Scene, Fact, str], Fact | None], str]] = [
    *((_toggle, part) for part in ADJUNCTS),
    *((_toggle, part) for part in ADJUNCTS[3:]),
    *((_widen, part) for part in NOUNS),
    *((_narrow, part) for part in NOUNS),
    *((_exchange, part) for part in (*NOUNS, "predicate", "subject_adjective", "object_adjective", "time", "manner")),
]
"""The ways to turn one sentence into another, besides its opposite and its negation."""
EDIT_COUNTS = {"entailment": (1, 2), "neutral": (1, 2, 3), "contradiction": (1, 2)}
TURNS = ((False, False), (True, False), (False, True), (True, True))
"""Whether the premise says the opposite of the hypothesis, and whether one of them is negated, not both."""
TURN_WEIGHTS = {
    ("entailment", False): (1, 0, 0, 0),
    ("entailment", True): (6, 0, 0, 4),
    ("neutral", False): (6, 2, 2, 1),
    ("neutral", True): (2, 1, 5, 3),
    ("contradiction", False): (0, 4, 6, 0),
    ("contradiction", True): (0, 0, 1, 0),
}
"""(label, hypothesis negated) -> weights of ``TURNS``: each label has about as many negated premises."""
