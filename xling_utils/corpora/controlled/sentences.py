"""Forty-eight ways to say something, from "this is a lion" to "if it rains, the farmer does not work"."""

from __future__ import annotations

from xling_utils.corpora.controlled.constructions import (
    PEOPLE,
    THINGS,
    construction,
    described,
    end,
    event,
    infinitive,
    leaf,
    noun_phrase,
    pick_frame,
    quality,
    subject,
    verb_phrase,
    year,
)
from xling_utils.corpora.controlled.grammar import CLAUSE, PREDICATE, Node
from xling_utils.corpora.controlled.lexicon import concepts
from xling_utils.corpora.controlled.world import Scene

TIMES = ("day", "night", "morning", "evening", "summer", "winter", "spring", "autumn", "week", "year")


def _clause_of(key: str, *kids: Node | None) -> Node:
    return Node(key, "VERB", frame=CLAUSE).add(*kids)


def _predicate(node: Node, *kids: Node | None) -> Node:
    node.slot, node.frame = "root", PREDICATE
    return node.add(*kids)


def _slot(node: Node, slot: str, *kids: Node) -> Node:
    node.slot = slot
    return node.add(*kids)


@construction(10)
def statement(scene: Scene) -> Node:
    return end(event(scene, "PERIOD"))


@construction(4)
def now_or_then(scene: Scene) -> Node:
    node = event(scene, "now")
    return end(node.add(leaf(scene.pick(node.key, "when"), "tadv")))


@construction(3)
def habit(scene: Scene) -> Node:
    node = event(scene, "always")
    return end(node.add(leaf(scene.pick(node.key, "often"), "freq")))


@construction(3)
def manner(scene: Scene) -> Node:
    node = event(scene, "quickly", oblique=0.2)
    return end(node.add(leaf(scene.pick(node.key, "how"), "adv")))


@construction(4)
def denial(scene: Scene) -> Node:
    return end(event(scene, "NOT", pronoun=0.3).add(leaf("NOT", "neg")))


@construction(3)
def past_year(scene: Scene) -> Node:
    return end(event(scene, "PAST").add(leaf("PAST", "aux"), year(scene)))


@construction(2)
def future(scene: Scene) -> Node:
    return end(event(scene, "WILL").add(leaf("WILL", "aux"), leaf("tomorrow", "tadv") if scene.chance(0.5) else None))


@construction(3)
def ability(scene: Scene) -> Node:
    return end(event(scene, "CAN", pronoun=0.3).add(leaf("CAN", "aux")))


@construction(2)
def duty(scene: Scene) -> Node:
    return end(event(scene, "MUST", pronoun=0.4).add(leaf("MUST", "aux")))


@construction(2)
def permission(scene: Scene) -> Node:
    return end(event(scene, "MAY").add(leaf("MAY", "aux"), leaf("here", "adv") if scene.chance(0.4) else None))


@construction(3)
def desire(scene: Scene) -> Node:
    frame = pick_frame(scene, "want")
    return end(_clause_of("want", subject(scene, frame, 0.4), infinitive(scene, frame, "xcomp")))


@construction(2)
def beginning(scene: Scene) -> Node:
    frame = pick_frame(scene, "BEGIN")
    return end(_clause_of("BEGIN", subject(scene, frame), infinitive(scene, frame, "xcomp")))


@construction(1.5)
def ceasing(scene: Scene) -> Node:
    frame = pick_frame(scene, "STOP")
    return end(_clause_of("STOP", subject(scene, frame), infinitive(scene, frame, "xcomp")))


@construction(2)
def liking(scene: Scene) -> Node:
    frame = pick_frame(scene, "LIKE_TO")
    return end(_clause_of("LIKE_TO", subject(scene, frame, 0.3), infinitive(scene, frame, "xcomp")))


@construction(2)
def need(scene: Scene) -> Node:
    who = noun_phrase(scene, scene.pick("NEED", *PEOPLE), "subj")
    return end(_clause_of("NEED", who, noun_phrase(scene, scene.pick("NEED", *THINGS, "stuff", "drink"), "obj")))


@construction(6)
def description(scene: Scene) -> Node:
    return end(quality(scene, "BE"))


@construction(3)
def strong_description(scene: Scene) -> Node:
    node = quality(scene, "VERY")
    return end(node.add(leaf(scene.rng.choice(("VERY", "VERY", "TOO")), "deg")))


@construction(2)
def lasting(scene: Scene) -> Node:
    return end(quality(scene, "STILL").add(leaf(scene.rng.choice(("STILL", "ALREADY")), "freq")))


@construction(2)
def not_so(scene: Scene) -> Node:
    return end(quality(scene, "NOT").add(leaf("NOT", "neg")))


@construction(2)
def mood(scene: Scene) -> Node:
    node = Node(scene.pick("BE", "mood", "state"), "ADJ", frame=PREDICATE)
    return end(node.add(leaf(scene.habit(node.key, "I", "YOU", "HE", "WE", "THEY"), "subj"), leaf("BE_ADJ", "cop")))


@construction(2)
def becoming(scene: Scene) -> Node:
    node = quality(scene, "BECOME", *PEOPLE, "land", "flora", "dish")
    node.kids = [kid for kid in node.kids if kid.slot != "cop"]
    return end(node.add(leaf("BECOME", "cop")))


@construction(2)
def seeming(scene: Scene) -> Node:
    node = quality(scene, "SEEM", *PEOPLE, "pet", "beast", "idea")
    node.kids = [kid for kid in node.kids if kid.slot != "cop"]
    return end(node.add(leaf("SEEM", "cop")))


@construction(4)
def kind_of(scene: Scene) -> Node:
    noun = scene.pick("BE", "pet", "beast", "fruit", "vegetable", "dish", "drink", "vehicle", "furnishing",
                      "garment", "implement", "place", "flora", "stuff", "family", "profession")  # fmt: skip
    node = Node(concepts()[noun].hypernym or "material", "NOUN").add(leaf("INDEF", "det"))
    return end(_predicate(node, noun_phrase(scene, noun, "subj", rich=0), leaf("BE", "cop")))


@construction(3)
def role(scene: Scene) -> Node:
    name = scene.pick("BE", "person_name")
    node = noun_phrase(scene, scene.pick(name, "profession"), "root")
    return end(_predicate(node, leaf(name, "subj"), leaf("BE", "cop")))


@construction(2)
def naming(scene: Scene) -> Node:
    kin = scene.pick("CALLED", "family", "pet", "profession")
    who = Node(kin, "NOUN", "subj").add(leaf(scene.habit(kin, "MY", "YOUR", "HIS", "OUR"), "poss"))
    return end(_clause_of("CALLED", who, leaf(scene.pick(kin, "person_name"), "obj")))


@construction(4)
def location(scene: Scene) -> Node:
    thing = scene.pick("BE_AT", *THINGS, "pet", "person_name")
    place, classes = scene.rng.choice(
        (("ON", ("furnishing", "land")), ("IN", ("vessel", "place", "city_name")), ("UNDER", ("furnishing", "flora")),
         ("NEAR", ("land", "fixture", "place")), ("BEHIND", ("place", "fixture", "furnishing")))
    )  # fmt: skip
    node = noun_phrase(scene, scene.pick(place, *classes), "root", place)
    return end(_predicate(node, noun_phrase(scene, thing, "subj"), leaf("BE_AT", "cop")))


@construction(2)
def between(scene: Scene) -> Node:
    first, second = (scene.pick("BETWEEN", "place", "land", "city_name") for _ in range(2))
    node = noun_phrase(scene, first, "root", "BETWEEN", 0)
    node.add(noun_phrase(scene, second, "conj", rich=0).add(leaf("AND", "cc")))
    return end(_predicate(node, noun_phrase(scene, scene.pick("BE_AT", "place", "land"), "subj"), leaf("BE_AT", "cop")))


@construction(3)
def existence(scene: Scene) -> Node:
    where = noun_phrase(scene, scene.pick("IN", "place", "land", "city_name", "country_name"), "place", "IN", 0)
    return end(
        _clause_of("EXIST", noun_phrase(scene, scene.pick("EXIST", "pet", "beast", *THINGS, "flora"), "pivot"), where)
    )


@construction(4)
def possession(scene: Scene) -> Node:
    owner = scene.pick("HAVE", *PEOPLE, "firm_name")
    return end(_clause_of("HAVE", noun_phrase(scene, owner, "subj"),
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
    return end(_predicate(Node(country, "PROPN").add(leaf("IN", "case")), leaf(city, "subj"), leaf("BE_AT", "cop")))


@construction(2)
def material(scene: Scene) -> Node:
    thing = scene.pick("MADE_OF", "implement", "vessel", "furnishing", "fixture", "garment")
    node = Node(scene.pick(thing, "stuff"), "NOUN").add(leaf("MADE_OF", "case"))
    return end(_predicate(node, noun_phrase(scene, thing, "subj", rich=0.2), leaf("BE", "cop")))


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
    node = _clause_of(verb, noun_phrase(scene, scene.pick(verb, *PEOPLE), "subj"),
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


@construction(2)
def contrast(scene: Scene) -> Node:
    first = quality(scene, "BUT")
    return end(first.add(_slot(quality(scene, "BUT"), "conjcl", leaf("COMMA", "cc"), leaf("BUT", "cc"))))


@construction(2)
def sequence(scene: Scene) -> Node:
    return end(
        event(scene, "AND", oblique=0.1).add(_slot(event(scene, "AND", oblique=0.1), "conjcl", leaf("AND", "cc")))
    )


@construction(3)
def reason(scene: Scene) -> Node:
    return end(
        event(scene, "BECAUSE", oblique=0.1).add(_slot(quality(scene, "BECAUSE"), "advcl", leaf("BECAUSE", "mark")))
    )


@construction(2)
def concession(scene: Scene) -> Node:
    return end(
        event(scene, "ALTHOUGH", oblique=0.1).add(_slot(quality(scene, "ALTHOUGH"), "advcl", leaf("ALTHOUGH", "mark")))
    )


@construction(2)
def result(scene: Scene) -> Node:
    return end(
        quality(scene, "SO_THAT").add(
            _slot(event(scene, "SO_THAT", oblique=0.1), "conjcl", leaf("COMMA", "cc"), leaf("SO_THAT", "cc"))
        )
    )


@construction(2.5)
def condition(scene: Scene) -> Node:
    clause = quality(scene, "IF") if scene.chance(0.5) else event(scene, "IF", oblique=0)
    main = event(scene, "IF", oblique=0.2).add(leaf("WILL", "aux") if scene.chance(0.4) else None)
    return end(main.add(_slot(clause, "cond", leaf("IF", "mark"), leaf("COMMA", "punct"))))


@construction(2)
def occasion(scene: Scene) -> Node:
    clause = event(scene, "WHEN", oblique=0)
    return end(
        event(scene, "WHEN", oblique=0.2).add(_slot(clause, "cond", leaf("WHEN", "mark"), leaf("COMMA", "punct")))
    )


@construction(3)
def opinion(scene: Scene) -> Node:
    verb = scene.rng.choice(("say", "think", "know", "believe", "forget", "remember"))
    clause = quality(scene, "THAT_C") if scene.chance(0.6) else event(scene, "THAT_C", oblique=0)
    who = noun_phrase(scene, scene.pick(verb, *PEOPLE), "subj")
    return end(_clause_of(verb, who, _slot(clause, "ccomp", leaf("THAT_C", "mark"))))


@construction(1.5)
def wondering(scene: Scene) -> Node:
    who = noun_phrase(scene, scene.pick("ask", *PEOPLE), "subj")
    return end(_clause_of("ask", who, _slot(quality(scene, "WHETHER"), "ccomp", leaf("WHETHER", "mark"))))


@construction(2)
def purpose(scene: Scene) -> Node:
    frame = pick_frame(scene, "IN_ORDER", "object")
    node = _clause_of(
        scene.pick("IN_ORDER", "motion"), noun_phrase(scene, scene.pick(frame.verb, *frame.subject), "subj")
    )
    return end(node.add(_slot(infinitive(scene, frame, "advcl"), "advcl", leaf("IN_ORDER", "mark"))))


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
    return end(_clause_of("HAVE", owner, thing.add(leaf("HOWMANY_Q", "det"))), "QMARK")


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
    node = _clause_of("fight", noun_phrase(scene, fighter, "subj"))
    return end(node.add(noun_phrase(scene, foe, "obl", "AGAINST", 0)))


@construction(1.5)
def places_alike(scene: Scene) -> Node:
    node = event(scene, "here", oblique=0)
    return end(node.add(leaf(scene.pick(node.key, "where"), "place")))
