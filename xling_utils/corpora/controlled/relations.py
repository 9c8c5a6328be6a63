"""Ways to say something of two things: what one is, where it is, whose, than what, with whom and when."""

from __future__ import annotations

import xling_utils.corpora.controlled.statements  # noqa: F401  (their order is part of the world)
from xling_utils.corpora.controlled.constructions import (
    PEOPLE,
    THINGS,
    TIMES,
    clause_of,
    construction,
    described,
    end,
    event,
    leaf,
    noun_phrase,
    pick_frame,
    predicate,
    quality,
    verb_phrase,
)
from xling_utils.corpora.controlled.grammar import CLAUSE, PREDICATE, Node
from xling_utils.corpora.controlled.lexicon import concepts
from xling_utils.corpora.controlled.world import Scene


@construction(4)
def kind_of(scene: Scene) -> Node:
    noun = scene.pick("BE", "pet", "beast", "fruit", "vegetable", "dish", "drink", "vehicle", "furnishing",
                      "garment", "implement", "place", "flora", "stuff", "family", "profession")  # fmt: skip
    node = Node(concepts()[noun].hypernym or "material", "NOUN").add(leaf("INDEF", "det"))
    return end(predicate(node, noun_phrase(scene, noun, "subj", rich=0), leaf("BE", "cop")))


@construction(3)
def role(scene: Scene) -> Node:
    name = scene.pick("BE", "person_name")
    node = noun_phrase(scene, scene.pick(name, "profession"), "root")
    return end(predicate(node, leaf(name, "subj"), leaf("BE", "cop")))


@construction(2)
def naming(scene: Scene) -> Node:
    kin = scene.pick("CALLED", "family", "pet", "profession")
    who = Node(kin, "NOUN", "subj").add(leaf(scene.habit(kin, "MY", "YOUR", "HIS", "OUR"), "poss"))
    return end(clause_of("CALLED", who, leaf(scene.pick(kin, "person_name"), "obj")))


@construction(4)
def location(scene: Scene) -> Node:
    thing = scene.pick("BE_AT", *THINGS, "pet", "person_name")
    place, classes = scene.rng.choice(
        (("ON", ("furnishing", "land")), ("IN", ("vessel", "place", "city_name")), ("UNDER", ("furnishing", "flora")),
         ("NEAR", ("land", "fixture", "place")), ("BEHIND", ("place", "fixture", "furnishing")))
    )  # fmt: skip
    node = noun_phrase(scene, scene.pick(place, *classes), "root", place)
    return end(predicate(node, noun_phrase(scene, thing, "subj"), leaf("BE_AT", "cop")))


@construction(2)
def between(scene: Scene) -> Node:
    first, second = (scene.pick("BETWEEN", "place", "land", "city_name") for _ in range(2))
    node = noun_phrase(scene, first, "root", "BETWEEN", 0)
    node.add(noun_phrase(scene, second, "conj", rich=0).add(leaf("AND", "cc")))
    return end(predicate(node, noun_phrase(scene, scene.pick("BE_AT", "place", "land"), "subj"), leaf("BE_AT", "cop")))


@construction(3)
def existence(scene: Scene) -> Node:
    where = noun_phrase(scene, scene.pick("IN", "place", "land", "city_name", "country_name"), "place", "IN", 0)
    return end(
        clause_of("EXIST", noun_phrase(scene, scene.pick("EXIST", "pet", "beast", *THINGS, "flora"), "pivot"), where)
    )


@construction(4)
def possession(scene: Scene) -> Node:
    owner = scene.pick("HAVE", *PEOPLE, "firm_name")
    return end(clause_of("HAVE", noun_phrase(scene, owner, "subj"),
                          noun_phrase(scene, scene.pick(owner, *THINGS, "pet", "money", "music"), "obj")))  # fmt: skip


@construction(3)
def belonging(scene: Scene) -> Node:
    owner = scene.pick("OF", *PEOPLE)
    thing = noun_phrase(scene, scene.pick(owner, *THINGS, "pet", "body"), "subj", rich=0.2)
    thing.add(noun_phrase(scene, owner, "gen", "OF", 0))
    return end(Node(described(scene, thing.key), "ADJ", frame=PREDICATE).add(thing, leaf("BE_ADJ", "cop")))


@construction(2)
def capital(scene: Scene) -> Node:
    city = scene.pick("BE_AT", "city_name")
    country = scene.pick(city, "country_name")
    return end(predicate(Node(country, "PROPN").add(leaf("IN", "case")), leaf(city, "subj"), leaf("BE_AT", "cop")))


@construction(2)
def material(scene: Scene) -> Node:
    thing = scene.pick("MADE_OF", "implement", "vessel", "furnishing", "fixture", "garment")
    node = Node(scene.pick(thing, "stuff"), "NOUN").add(leaf("MADE_OF", "case"))
    return end(predicate(node, noun_phrase(scene, thing, "subj", rich=0.2), leaf("BE", "cop")))


@construction(3)
def comparison(scene: Scene) -> Node:
    node = quality(scene, "MORE").add(leaf("MORE", "deg"))
    group = concepts()[node.kids[0].key].group
    return end(node.add(noun_phrase(scene, scene.pick(node.key, group), "than", "THAN", 0)))


@construction(1.5)
def superlative(scene: Scene) -> Node:
    node = quality(scene, "MOST", "beast", "city_name", "country_name", "vehicle", "land", "fruit").add(
        leaf("MOST", "deg")
    )
    return end(node)


@construction(1.5)
def simile(scene: Scene) -> Node:
    node = quality(scene, "AS_LIKE", *PEOPLE)
    return end(node.add(noun_phrase(scene, scene.pick(node.key, "beast", "sky", "stuff"), "obl", "AS_LIKE", 0)))


@construction(4)
def giving(scene: Scene) -> Node:
    verb = scene.rng.choice(("give", "send", "tell", "sell"))
    node = clause_of(verb, noun_phrase(scene, scene.pick(verb, *PEOPLE), "subj"),
                      noun_phrase(scene, scene.pick(verb, "flora", "media", "garment", "money"), "obj"))  # fmt: skip
    return end(node.add(noun_phrase(scene, scene.pick(verb, *PEOPLE), "iobj", "DAT", 0)))


@construction(2)
def company(scene: Scene) -> Node:
    node = event(scene, "WITH", oblique=0)
    link, classes = scene.rng.choice(
        (("WITH", PEOPLE), ("WITHOUT", ("garment", "money", "implement")), ("FOR", PEOPLE))
    )
    return end(node.add(noun_phrase(scene, scene.pick(link, *classes), "place", link, 0)))


@construction(3)
def season(scene: Scene) -> Node:
    link = scene.rng.choice(("AT_TIME", "AT_TIME", "BEFORE", "AFTER", "UNTIL"))
    return end(event(scene, "AT_TIME").add(noun_phrase(scene, scene.pick(link, *TIMES), "time", link, 0)))


@construction(3)
def both(scene: Scene) -> Node:
    frame = pick_frame(scene, "AND")
    node = Node(frame.verb, "VERB", frame=CLAUSE)
    who = noun_phrase(scene, scene.pick(frame.verb, *frame.subject), "subj", rich=0)
    who.add(noun_phrase(scene, scene.pick(frame.verb, *frame.subject), "conj", rich=0).add(leaf("AND", "cc")))
    return end(verb_phrase(scene, frame, node.add(who)))
