"""Sentences of several clauses, questions, requests and answers."""

from __future__ import annotations

import xling_utils.corpora.controlled.relations  # noqa: F401  (their order is part of the world)
from xling_utils.corpora.controlled.constructions import (
    PEOPLE,
    THINGS,
    clause_of,
    construction,
    described,
    end,
    event,
    in_slot,
    infinitive,
    leaf,
    noun_phrase,
    pick_frame,
    quality,
    subject,
    verb_phrase,
)
from xling_utils.corpora.controlled.grammar import CLAUSE, PREDICATE, Node
from xling_utils.corpora.controlled.world import Scene


@construction(2)
def contrast(scene: Scene) -> Node:
    first = quality(scene, "BUT")
    return end(first.add(in_slot(quality(scene, "BUT"), "conjcl", leaf("COMMA", "cc"), leaf("BUT", "cc"))))


@construction(2)
def sequence(scene: Scene) -> Node:
    return end(
        event(scene, "AND", oblique=0.1).add(in_slot(event(scene, "AND", oblique=0.1), "conjcl", leaf("AND", "cc")))
    )


@construction(3)
def reason(scene: Scene) -> Node:
    return end(
        event(scene, "BECAUSE", oblique=0.1).add(in_slot(quality(scene, "BECAUSE"), "advcl", leaf("BECAUSE", "mark")))
    )


@construction(2)
def concession(scene: Scene) -> Node:
    return end(
        event(scene, "ALTHOUGH", oblique=0.1).add(
            in_slot(quality(scene, "ALTHOUGH"), "advcl", leaf("ALTHOUGH", "mark"))
        )
    )


@construction(2)
def result(scene: Scene) -> Node:
    return end(
        quality(scene, "SO_THAT").add(
            in_slot(event(scene, "SO_THAT", oblique=0.1), "conjcl", leaf("COMMA", "cc"), leaf("SO_THAT", "cc"))
        )
    )


@construction(2.5)
def condition(scene: Scene) -> Node:
    clause = quality(scene, "IF") if scene.chance(0.5) else event(scene, "IF", oblique=0)
    main = event(scene, "IF", oblique=0.2).add(leaf("WILL", "aux") if scene.chance(0.4) else None)
    return end(main.add(in_slot(clause, "cond", leaf("IF", "mark"), leaf("COMMA", "punct"))))


@construction(2)
def occasion(scene: Scene) -> Node:
    clause = event(scene, "WHEN", oblique=0)
    return end(
        event(scene, "WHEN", oblique=0.2).add(in_slot(clause, "cond", leaf("WHEN", "mark"), leaf("COMMA", "punct")))
    )


@construction(3)
def opinion(scene: Scene) -> Node:
    verb = scene.rng.choice(("say", "think", "know", "believe", "forget", "remember"))
    clause = quality(scene, "THAT_C") if scene.chance(0.6) else event(scene, "THAT_C", oblique=0)
    who = noun_phrase(scene, scene.pick(verb, *PEOPLE), "subj")
    return end(clause_of(verb, who, in_slot(clause, "ccomp", leaf("THAT_C", "mark"))))


@construction(1.5)
def wondering(scene: Scene) -> Node:
    who = noun_phrase(scene, scene.pick("ask", *PEOPLE), "subj")
    return end(clause_of("ask", who, in_slot(quality(scene, "WHETHER"), "ccomp", leaf("WHETHER", "mark"))))


@construction(2)
def purpose(scene: Scene) -> Node:
    frame = pick_frame(scene, "IN_ORDER", "object")
    node = clause_of(
        scene.pick("IN_ORDER", "motion"), noun_phrase(scene, scene.pick(frame.verb, *frame.subject), "subj")
    )
    return end(node.add(in_slot(infinitive(scene, frame, "advcl"), "advcl", leaf("IN_ORDER", "mark"))))


@construction(2.5)
def relative(scene: Scene) -> Node:
    inner, outer = pick_frame(scene, "WHO_REL"), pick_frame(scene, "WHO_REL")
    who = noun_phrase(scene, scene.pick(inner.verb, *inner.subject), "subj", rich=0)
    clause = verb_phrase(scene, inner, Node(inner.verb, "VERB", "rel", CLAUSE), 0.1)
    who.add(clause.add(leaf("WHO_REL", "mark")))
    return end(verb_phrase(scene, outer, Node(outer.verb, "VERB", frame=CLAUSE).add(who), 0.2))


@construction(3)
def yes_no(scene: Scene) -> Node:
    node = event(scene, "Q", pronoun=0.4) if scene.chance(0.6) else quality(scene, "Q")
    return end(node.add(leaf("Q", "q")), "QMARK")


@construction(2)
def who(scene: Scene) -> Node:
    frame = pick_frame(scene, "WHO")
    return end(verb_phrase(scene, frame, Node(frame.verb, "VERB", frame=CLAUSE).add(leaf("WHO", "whsubj"))), "QMARK")


@construction(2)
def what(scene: Scene) -> Node:
    frame = pick_frame(scene, "WHAT", "object")
    node = Node(frame.verb, "VERB", frame=CLAUSE).add(subject(scene, frame, 0.4), leaf("WHAT", "whobj"))
    return end(node, "QMARK")


@construction(2)
def where(scene: Scene) -> Node:
    what = noun_phrase(scene, scene.pick("WHERE_Q", *THINGS, "place", "pet"), "wsubj")
    return end(Node("WHERE_Q", "ADV", frame=PREDICATE).add(leaf("BE_AT", "wcop"), what), "QMARK")


@construction(2)
def when_why_how(scene: Scene) -> Node:
    word = scene.rng.choice(("WHEN_Q", "WHY_Q", "HOW_Q"))
    return end(event(scene, "WHY_Q", oblique=0, pronoun=0.4).add(leaf(word, "wh")), "QMARK")


@construction(1.5)
def which(scene: Scene) -> Node:
    noun = scene.pick("WHICH", *THINGS, "fruit", "pet", "flora")
    node = Node(described(scene, noun), "ADJ", frame=PREDICATE)
    return end(node.add(Node(noun, "NOUN", "subj").add(leaf("WHICH", "det")), leaf("BE_ADJ", "cop")), "QMARK")


@construction(1.5)
def how_many(scene: Scene) -> Node:
    owner = noun_phrase(scene, scene.pick("HAVE", *PEOPLE), "subj", rich=0)
    thing = Node(scene.pick("HOWMANY_Q", "pet", "fruit", "vessel", "garment", "media"), "NOUN", "whobj")
    return end(clause_of("HAVE", owner, thing.add(leaf("HOWMANY_Q", "det"))), "QMARK")


@construction(2)
def request(scene: Scene) -> Node:
    frame = pick_frame(scene, "PLEASE", "object")
    return end(verb_phrase(scene, frame, Node(frame.verb, "VERB", frame=CLAUSE).add(leaf("PLEASE", "disc"))), "EXCL")


@construction(1.5)
def prohibition(scene: Scene) -> Node:
    frame = pick_frame(scene, "NOT", "object")
    return end(verb_phrase(scene, frame, Node(frame.verb, "VERB", frame=CLAUSE).add(leaf("NOT", "neg"))), "EXCL")


@construction(1.5)
def let_us(scene: Scene) -> Node:
    frame = pick_frame(scene, "LET", "oblique")
    return end(verb_phrase(scene, frame, Node(frame.verb, "VERB", frame=CLAUSE).add(leaf("LET", "disc"))), "EXCL")


@construction(1.5)
def reply(scene: Scene) -> Node:
    yes = scene.chance(0.5)
    node = event(scene, "YES", oblique=0, pronoun=0.6).add(leaf("YES" if yes else "NO_I", "disc"))
    return end(node if yes else node.add(leaf("NOT", "neg")))


@construction(1.5)
def exclamation(scene: Scene) -> Node:
    return end(quality(scene, "EXCL").add(leaf("VERY", "deg")), "EXCL")


@construction(1.5)
def also_or_only(scene: Scene) -> Node:
    return end(event(scene, "ALSO").add(leaf(scene.rng.choice(("ALSO", "ONLY")), "freq")))


@construction(1.5)
def perhaps(scene: Scene) -> Node:
    return end(event(scene, "MAYBE").add(leaf("MAYBE", "disc")))


@construction(1.5)
def nobody(scene: Scene) -> Node:
    frame = pick_frame(scene, "NOBODY")
    word = scene.rng.choice(("NOBODY", "SOMEONE"))
    return end(verb_phrase(scene, frame, Node(frame.verb, "VERB", frame=CLAUSE).add(leaf(word, "subj"))))


@construction(1.5)
def nothing(scene: Scene) -> Node:
    frame = pick_frame(scene, "NOTHING", "object")
    node = Node(frame.verb, "VERB", frame=CLAUSE).add(subject(scene, frame, 0.4))
    return end(node.add(leaf(scene.rng.choice(("NOTHING", "SOMETHING")), "obj")))


@construction(1.5)
def either(scene: Scene) -> Node:
    frame = pick_frame(scene, "OR", "object")
    thing = noun_phrase(scene, scene.pick(frame.verb, *frame.object), "obj", rich=0)
    thing.add(noun_phrase(scene, scene.pick(frame.verb, *frame.object), "conj", rich=0).add(leaf("OR", "cc")))
    return end(Node(frame.verb, "VERB", frame=CLAUSE).add(subject(scene, frame), thing))


@construction(1.5)
def hostility(scene: Scene) -> Node:
    fighter = scene.pick("fight", "soldier", "king", "country_name", "person_name")
    foe = scene.pick("AGAINST", "country_name", "soldier", "king", "beast")
    node = clause_of("fight", noun_phrase(scene, fighter, "subj"))
    return end(node.add(noun_phrase(scene, foe, "obl", "AGAINST", 0)))


@construction(1.5)
def places_alike(scene: Scene) -> Node:
    node = event(scene, "here", oblique=0)
    return end(node.add(leaf(scene.pick(node.key, "where"), "place")))
