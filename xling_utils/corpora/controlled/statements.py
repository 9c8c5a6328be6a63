"""Ways to say something, one clause each: what happens, how often, whether it can, and what things are like."""

from __future__ import annotations

from xling_utils.corpora.controlled.constructions import (
    PEOPLE,
    THINGS,
    clause_of,
    construction,
    end,
    event,
    infinitive,
    leaf,
    noun_phrase,
    pick_frame,
    quality,
    subject,
    year,
)
from xling_utils.corpora.controlled.grammar import PREDICATE, Node
from xling_utils.corpora.controlled.world import Scene


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
    return end(clause_of("want", subject(scene, frame, 0.4), infinitive(scene, frame, "xcomp")))


@construction(2)
def beginning(scene: Scene) -> Node:
    frame = pick_frame(scene, "BEGIN")
    return end(clause_of("BEGIN", subject(scene, frame), infinitive(scene, frame, "xcomp")))


@construction(1.5)
def ceasing(scene: Scene) -> Node:
    frame = pick_frame(scene, "STOP")
    return end(clause_of("STOP", subject(scene, frame), infinitive(scene, frame, "xcomp")))


@construction(2)
def liking(scene: Scene) -> Node:
    frame = pick_frame(scene, "LIKE_TO")
    return end(clause_of("LIKE_TO", subject(scene, frame, 0.3), infinitive(scene, frame, "xcomp")))


@construction(2)
def need(scene: Scene) -> Node:
    who = noun_phrase(scene, scene.pick("NEED", *PEOPLE), "subj")
    return end(clause_of("NEED", who, noun_phrase(scene, scene.pick("NEED", *THINGS, "stuff", "drink"), "obj")))


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
