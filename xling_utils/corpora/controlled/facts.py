"""Facts: what simple sentences of the controlled world claim, and what one claim says about another.

The logic is natural logic (MacCartney and Manning, 2007) with one operator. Two sentences speak of one
situation. A noun is narrower than its hypernym, a phrase with a modifier narrower than the phrase without it,
and opposite verbs, predicates and manners exclude each other. "Not" denies the predicate with its objects and
circumstances, never the subject: there, and only there, it turns directions around. A lion is an animal; who
does not eat fruit does not eat lemons.
"""

from __future__ import annotations

from typing import NamedTuple

from xling_utils.corpora.controlled.constructions import COUNTABLE, DETERMINER_SLOT, end, leaf
from xling_utils.corpora.controlled.grammar import CLAUSE, PREDICATE, Node
from xling_utils.corpora.controlled.lexicon import concepts

OUTER = ("subject", "subject_adjective", "companion")
"""Parts that a negation does not reach."""
INNER = ("predicate", "degree", "object", "object_adjective", "number", "oblique", "time", "manner")
"""Parts that a negation denies."""
CIRCUMSTANCES = ("degree", "oblique", "time", "manner")
BODILY = ("motion", "posture", "toil")
"""Classes of verbs that one body seldom does at once: neither related nor unrelated."""
SAME_DEED = ({"cook_v", "make"}, {"bring", "carry"}, {"read", "learn"})
"""Verbs of different classes where one deed may be the other: neither related nor unrelated."""


class Fact(NamedTuple):
    """What a sentence claims. Every part is a concept or ``""``; ``oblique`` is an adposition and a noun, or
    ``None``; ``predicate`` is a verb or an adjective."""

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


def tree(fact: Fact) -> Node:
    """The sentence that claims ``fact``, for any grammar to order."""
    subject = _noun(fact.subject, "subj", fact.determiner, fact.subject_adjective)
    if fact.companion:
        subject.add(_noun(fact.companion, "conj", fact.determiner).add(leaf("AND", "cc")))
    node = Node(fact.predicate, concepts()[fact.predicate].upos, frame=CLAUSE if fact.verbal else PREDICATE)
    node.add(subject, None if fact.verbal else leaf("BE_ADJ", "cop"))
    if fact.object:
        article = "INDEF" if concepts()[fact.object].group in COUNTABLE and not fact.number else ""
        thing = _noun(fact.object, "obj", article, fact.object_adjective)
        if fact.number:
            thing.add(leaf(fact.number, "num"), leaf("CLF", "clf"))
        node.add(thing.add(leaf("ACC", "case")))
    if fact.oblique:
        adposition, noun = fact.oblique
        node.add(_noun(noun, "obl", "DEF").add(leaf(adposition, "case")))
    negation = "NOT" if fact.negated else ""
    for key, slot in ((negation, "neg"), (fact.degree, "deg"), (fact.time, "tadv"), (fact.manner, "adv")):
        node.add(leaf(key, slot) if key else None)
    return end(node)


def judge(premise: Fact, hypothesis: Fact) -> str:
    """``"entailment"``, ``"neutral"`` or ``"contradiction"``; ``""`` where the world does not settle it."""
    outer = _combine({part: _compare(premise, hypothesis, part) for part in OUTER})
    inner = _combine({part: _compare(premise, hypothesis, part) for part in INNER})
    if "?" in (outer, inner):
        return ""
    if outer == "#":
        return "neutral"
    if premise.negated:
        inner = {"<": ">", ">": "<", "x": "#"}.get(inner, inner)
    if premise.negated == hypothesis.negated:
        if inner == "x":
            return "contradiction" if outer in "=<" else ""
        return "entailment" if inner in "=<" and outer in "=<" else "neutral"
    if inner in "=<":
        return "contradiction" if outer in "=<" else ""
    return "entailment" if inner == "x" and outer in "=<" else "neutral"


def unrelated(a: str, b: str) -> bool:
    """Whether of one subject and object the predicate ``a`` says nothing about the predicate ``b``."""
    first, second = concepts()[a], concepts()[b]
    if first.upos != second.upos or first.group == second.group or {a, b} in SAME_DEED:
        return False
    return not (first.group in BODILY and second.group in BODILY)


def _noun(key: str, slot: str, determiner: str, adjective: str = "") -> Node:
    node = Node(key, concepts()[key].upos, slot)
    if determiner and node.upos == "NOUN":
        node.add(leaf(determiner, DETERMINER_SLOT[determiner]))
    return node.add(leaf(adjective, "adj") if adjective else None)


def _compare(premise: Fact, hypothesis: Fact, part: str) -> str:
    """How the premise's part relates to the hypothesis's: ``=`` the same, ``<`` narrower, ``>`` wider, ``x``
    excludes it, ``#`` independent of it, ``?`` not settled."""
    a, b = getattr(premise, part), getattr(hypothesis, part)
    if a == b:
        return "="
    if not a or not b:
        return "<" if a else ">"
    if part == "oblique":
        (link, a), (other_link, b) = a, b
        if link != other_link:  # not every language tells all links apart: the nouns must
            return "?" if a == b or concepts()[a].hypernym == b or concepts()[b].hypernym == a else "#"
    if concepts()[a].hypernym == b:
        return "<"
    if concepts()[b].hypernym == a:
        return ">"
    if part in ("predicate", "manner") and concepts()[a].antonym == b:
        return "x"
    return "?" if part == "predicate" and not unrelated(a, b) else "#"


def _combine(relations: dict[str, str]) -> str:
    """The relation of the whole from those of its parts. What excludes goes on excluding if besides it only
    circumstances are added or dropped."""
    found = {relation for relation in relations.values() if relation != "="}
    if len(found) < 2:
        return found.pop() if found else "="
    if "x" in found:
        besides = {part: relation for part, relation in relations.items() if relation not in "=x"}
        mild = set(besides) <= set(CIRCUMSTANCES) and set(besides.values()) <= {"<", ">"}
        return "x" if mild else "?"
    return "?" if "?" in found else "#"
