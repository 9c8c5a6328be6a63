"""The sentence constructions of the controlled world, each with function words of its own.

A construction takes a scene (topic and what has been mentioned) and returns a tree that any of the fifteen
grammars can order. Every tree ends in sentence-final punctuation.
"""

from __future__ import annotations

from collections.abc import Callable

from xling_utils.corpora.controlled.grammar import CLAUSE, PREDICATE, Node
from xling_utils.corpora.controlled.lexicon import COUNTS, YEARS, concepts, function_words
from xling_utils.corpora.controlled.world import Frame, Scene, frames

PEOPLE = ("person_name", "family", "profession")
THINGS = ("garment", "vehicle", "furnishing", "fixture", "implement", "vessel", "media")
ADJECTIVES = {
    "pet": ("size", "state", "mood", "colour"), "beast": ("size", "trait", "speed", "mood"),
    "dish": ("flavour", "value", "feel"), "fruit": ("flavour", "colour", "value"),
    "vegetable": ("flavour", "size"), "drink": ("flavour", "feel"), "family": ("age", "mood", "trait"),
    "profession": ("trait", "mood", "age"), "body": ("size", "state", "feel"),
    "garment": ("colour", "state", "value", "age"), "place": ("age", "size", "value", "state"),
    "land": ("size", "speed", "value", "feel"), "flora": ("colour", "size", "feel"),
    "sky": ("speed", "colour", "feel"), "vehicle": ("speed", "age", "value"),
    "furnishing": ("feel", "size", "age"), "fixture": ("state", "size", "age"),
    "implement": ("feel", "size", "state"), "vessel": ("state", "size", "colour"),
    "stuff": ("feel", "value", "colour"), "media": ("age", "value", "size"), "music": ("age", "speed", "value"),
    "season": ("feel", "size", "value"), "idea": ("value", "size", "age"), "person_name": ("mood", "trait"),
    "kind": ("size", "value", "colour"), "city_name": ("age", "size", "value", "speed"),
    "country_name": ("size", "trait", "age"), "firm_name": ("trait", "value", "size"),
}  # fmt: skip
"""Semantic class of a noun -> classes of the adjectives that may describe it."""


DETERMINERS = (
    "DEF",
    "DEF",
    "INDEF",
    "THIS",
    "THAT_D",
    "MY",
    "YOUR",
    "HIS",
    "OUR",
    "EVERY",
    "SOME",
    "MANY",
    "NO",
    "OF",
    "CLF",
)
"""What may stand with a noun; ``OF`` stands for nothing at all, ``CLF`` for a number."""
DETERMINER_SLOT = dict.fromkeys(("DEF", "INDEF", "EVERY", "SOME", "MANY", "NO"), "det")
DETERMINER_SLOT |= dict.fromkeys(("THIS", "THAT_D"), "dem") | dict.fromkeys(("MY", "YOUR", "HIS", "OUR"), "poss")
COUNTABLE = ("pet", "beast", "fruit", "vegetable", "profession", "garment", "place", "land", "flora", "vehicle",
             "furnishing", "fixture", "implement", "vessel", "media", "music", "season", "kind")  # fmt: skip


TIMES = ("day", "night", "morning", "evening", "summer", "winter", "spring", "autumn", "week", "year")


def upos(key: str) -> str:
    """Universal part of speech of a concept, function word or digit string."""
    entry = concepts().get(key) or function_words().get(key)
    return entry.upos if entry else "NUM"


def leaf(key: str, slot: str) -> Node:
    """A word without dependants."""
    return Node(key, upos(key), slot)


def described(scene: Scene, noun: str) -> str:
    """An adjective that suits ``noun``."""
    return scene.pick(noun, *ADJECTIVES[concepts()[noun].group])


def noun_phrase(scene: Scene, noun: str, slot: str, case: str = "", rich: float = 1.0) -> Node:
    """``noun`` with an article, demonstrative, possessive or number and perhaps an adjective; names stay bare."""
    node = Node(noun, upos(noun), slot)
    if case:
        node.add(leaf(case, "case"))
    if node.upos == "PROPN":
        return node
    group = concepts()[noun].group
    options = DETERMINERS if group in COUNTABLE else DETERMINERS[:-1]
    choice = scene.habit(noun, *options)
    if choice == "CLF":
        count = scene.rng.choice(COUNTS) if scene.chance(0.3) else scene.pick(noun, "number")
        node.add(leaf(count, "num"), leaf("CLF", "clf"))
    elif choice != "OF":
        node.add(leaf(choice, DETERMINER_SLOT[choice]))
    if scene.chance(0.3 * rich):
        node.add(leaf(described(scene, noun), "adj"))
    return node


def subject(scene: Scene, frame: Frame, pronoun: float = 0.15) -> Node:
    """The subject of a verb: a pronoun where people may act, else a noun phrase."""
    if set(frame.subject) & set(PEOPLE) and scene.chance(pronoun):
        return leaf(scene.habit(frame.verb, "I", "YOU", "HE", "WE", "THEY"), "subj")
    return noun_phrase(scene, scene.pick(frame.verb, *frame.subject), "subj", rich=0.7)


def pick_frame(scene: Scene, governor: str, need: str = "") -> Frame:
    """A verb that suits the topic and ``governor``, the word that marks the construction; ``need`` asks for an
    ``"object"`` or ``"oblique"``."""
    while True:
        frame = frames()[scene.pick(governor, *VERB_CLASSES)]
        if (need != "object" or frame.object) and (need != "oblique" or frame.obliques):
            return frame


VERB_CLASSES = tuple(dict.fromkeys(entry.group for entry in concepts().values() if entry.upos == "VERB"))


def verb_phrase(scene: Scene, frame: Frame, node: Node, oblique: float = 0.45) -> Node:
    """Adds the object and perhaps an oblique of ``frame`` to ``node``, which is its verb."""
    if frame.object:
        thing = noun_phrase(scene, scene.pick(frame.verb, *frame.object), "obj")
        node.add(thing.add(leaf("ACC", "case")))
    if frame.obliques and scene.chance(oblique if frame.object else 0.9):
        adposition, classes = scene.rng.choice(frame.obliques)
        node.add(noun_phrase(scene, scene.pick(frame.verb, *classes), "obl", adposition, 0.6))
    return node


def event(scene: Scene, governor: str, oblique: float = 0.45, pronoun: float = 0.15) -> Node:
    """A plain clause without punctuation: somebody does something that suits ``governor``."""
    frame = pick_frame(scene, governor)
    node = Node(frame.verb, "VERB", frame=CLAUSE).add(subject(scene, frame, pronoun))
    return verb_phrase(scene, frame, node, oblique)


def quality(scene: Scene, governor: str, *classes: str) -> Node:
    """A clause of the form "the house is big", about something that suits ``governor``."""
    noun = scene.pick(governor, *(classes or tuple(ADJECTIVES)))
    node = Node(described(scene, noun), "ADJ", frame=PREDICATE)
    return node.add(noun_phrase(scene, noun, "subj", rich=0.2), leaf("BE_ADJ", "cop"))


def infinitive(scene: Scene, frame: Frame, slot: str) -> Node:
    """The verb of ``frame`` with what follows it, as complement of another verb."""
    return verb_phrase(scene, frame, Node(frame.verb, "VERB", slot, CLAUSE))


def end(node: Node, mark: str = "PERIOD") -> Node:
    """Closes a sentence."""
    return node.add(leaf(mark, "punct"))


def clause_of(key: str, *kids: Node | None) -> Node:
    """A clause headed by the verb ``key``."""
    return Node(key, "VERB", frame=CLAUSE).add(*kids)


def predicate(node: Node, *kids: Node | None) -> Node:
    """``node`` as what is said of a subject: "is a bird", "is on the table"."""
    node.slot, node.frame = "root", PREDICATE
    return node.add(*kids)


def in_slot(node: Node, slot: str, *kids: Node) -> Node:
    """``node`` placed in another slot, with more dependants."""
    node.slot = slot
    return node.add(*kids)


CONSTRUCTIONS: dict[str, tuple[float, Callable[[Scene], Node]]] = {}
"""Name -> (weight, builder); filled by the modules of constructions below."""


def construction(weight: float) -> Callable[[Callable[[Scene], Node]], Callable[[Scene], Node]]:
    """Registers a builder of sentences with how often it is used before a topic has its say."""

    def register(build: Callable[[Scene], Node]) -> Callable[[Scene], Node]:
        CONSTRUCTIONS[build.__name__] = (weight, build)
        return build

    return register


def year(scene: Scene) -> Node:
    """ "in 1994"."""
    return leaf(scene.rng.choice(YEARS), "time").add(leaf("AT_TIME", "case"))
