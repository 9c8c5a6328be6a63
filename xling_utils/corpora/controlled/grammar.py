"""Fifteen grammars over one kind of tree: where each language puts what.

A sentence of the controlled world is a tree of concepts and function words. A language orders the dependants
of every head by four templates (verbal clause, predicate clause, noun phrase, adjective phrase) taken from
typological facts: dominant word order, the side of adjectives, numerals, genitives, relative clauses,
adpositions, negation, question words and particles. A function word the language lacks leaves no trace.
Words stand in their citation form: this is a controlled language, not a grammar book.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

CLAUSE, PREDICATE = "clause", "predicate"

RELATIONS = {
    "subj": "nsubj", "obj": "obj", "iobj": "iobj", "obl": "obl", "time": "obl", "tadv": "advmod",
    "adv": "advmod", "freq": "advmod", "neg": "advmod", "aux": "aux", "cop": "cop", "mark": "mark",
    "disc": "discourse", "q": "discourse", "wh": "advmod", "xcomp": "xcomp", "ccomp": "ccomp",
    "advcl": "advcl", "cond": "advcl", "conjcl": "conj", "punct": "punct", "cc": "cc", "conj": "conj",
    "case": "case", "det": "det", "dem": "det", "poss": "det", "num": "nummod", "clf": "clf", "adj": "amod",
    "gen": "nmod", "made": "nmod", "rel": "acl:relcl", "deg": "advmod", "than": "obl",
    "place": "obl", "pivot": "nsubj", "whsubj": "nsubj",
    "whobj": "obj", "wsubj": "nsubj", "wcop": "cop",
}  # fmt: skip
"""Slot of a dependant -> its Universal Dependencies relation."""


@dataclass(slots=True)
class Node:
    """A word of a sentence before any language has ordered it.

    ``key`` names a concept or function word of the lexicon (or is a literal, for digits); ``slot`` is its place
    under its head; ``frame`` is ``CLAUSE`` or ``PREDICATE`` where it heads a clause, else ``""``.
    """

    key: str
    upos: str
    slot: str = "root"
    frame: str = ""
    kids: list[Node] = field(default_factory=list)

    def add(self, *kids: Node | None) -> Node:
        """Appends dependants (``None`` is left out) and returns this node."""
        self.kids.extend(kid for kid in kids if kid is not None)
        return self

    def walk(self) -> Iterator[Node]:
        """This node and all below it."""
        yield self
        for kid in self.kids:
            yield from kid.walk()


@dataclass(frozen=True)
class Token:
    """One word of a sentence: surface ``form``, its ``key``, UPOS, 1-based ``head`` (0 = root) and relation."""

    form: str
    key: str
    upos: str
    head: int
    relation: str


@dataclass(frozen=True)
class Grammar:
    """The four order templates of a language; ``H`` is the head itself, slots not named stand right after it.

    ``moves`` names the function words that stand in another slot than their kind: key -> slot.
    """

    clause: tuple[str, ...]
    predicate: tuple[str, ...]
    noun: tuple[str, ...]
    adjective: tuple[str, ...]
    moves: dict[str, str]

    def order(self, node: Node) -> tuple[str, ...]:
        """The template that applies to ``node``; a predicate keeps its own phrase around it."""
        if node.frame == CLAUSE:
            return self.clause
        phrase = self.noun if node.upos in ("NOUN", "PROPN", "PRON", "NUM") else self.adjective
        if node.frame == PREDICATE:
            at = self.predicate.index("H")
            inner = (slot for slot in phrase if slot == "H" or slot not in self.predicate)
            return (*self.predicate[:at], *inner, *self.predicate[at + 1 :])
        return phrase


def _grammar(
    clause: str, predicate: str, noun: str, adjective: str = "than deg H", moves: dict[str, str] | None = None
) -> Grammar:
    """Adds to a language's own templates what all share: the edges of a sentence, where question words stand
    (``wh`` before the subject: fronted, else in place), and coordination."""
    if clause.index("wh") < clause.index("subj"):
        clause = clause.replace("wh", "wh whsubj whobj", 1)
        predicate = predicate.replace("H", "H wcop wsubj")
    else:
        clause = clause.replace("subj", "subj whsubj", 1).replace("iobj obj", "iobj obj whobj")
        clause = clause.replace("obj iobj", "obj whobj iobj")
        predicate = predicate.replace("subj", "subj wsubj", 1).replace("cop", "cop wcop")
    start, end = ("cc", "mark", "disc", "cond"), ("latemark", "conjcl", "advcl", "punct")
    return Grammar(
        (*start, *clause.split(), *end),
        (*start, *predicate.split(), *end),
        ("cc", *noun.split(), *(() if "conj" in noun else ("conj",))),
        ("cc", *adjective.split(), "conj"),
        moves or {},
    )


_FRONTED = "wh q tadv time"
_EUROPEAN_NOUN = "case det dem poss num adj H made gen rel"
_ROMANCE_NOUN = "case det dem poss num H adj made gen rel"
_INDIC_NOUN = "gen poss dem det num made adj H conj case rel"
_INDIC_CLAUSE = "q tadv time subj place pivot freq obl iobj obj xcomp adv wh neg H aux ccomp"
_INDIC_PREDICATE = "q tadv time subj place freq obl wh H neg cop aux ccomp"
_LIGHT = "deg H than"

GRAMMARS: dict[str, Grammar] = {
    "en": _grammar(f"{_FRONTED} subj pivot aux neg freq H obj iobj obl place adv xcomp ccomp",
                   f"{_FRONTED} subj aux cop neg freq H obl place ccomp", _EUROPEAN_NOUN, _LIGHT),
    "fr": _grammar(f"{_FRONTED} subj aux H neg freq obj iobj adv obl place xcomp ccomp",
                   f"{_FRONTED} subj aux cop neg freq H obl place ccomp", _ROMANCE_NOUN, _LIGHT),
    "es": _grammar(f"{_FRONTED} subj neg aux H freq adv obj iobj obl place xcomp ccomp",
                   f"{_FRONTED} subj neg aux cop freq H obl place ccomp", _ROMANCE_NOUN, _LIGHT),
    "de": _grammar("wh q subj aux H tadv time freq iobj obj neg adv place obl xcomp ccomp",
                   "wh q subj cop aux tadv time freq neg H obl place ccomp", _EUROPEAN_NOUN, _LIGHT),
    "el": _grammar(f"{_FRONTED} subj neg aux H freq adv obj iobj obl place xcomp ccomp",
                   f"{_FRONTED} subj neg aux cop freq H obl place ccomp",
                   "case dem det num adj H poss made gen rel", _LIGHT),
    "bg": _grammar("wh tadv time subj neg aux freq H q obj iobj obl place adv xcomp ccomp",
                   "wh tadv time subj neg aux q cop freq H obl place ccomp", _EUROPEAN_NOUN, _LIGHT),
    "ru": _grammar("wh tadv time subj freq neg aux adv H q iobj obj obl place xcomp ccomp",
                   "wh tadv time subj neg aux cop freq H q obl place ccomp", _EUROPEAN_NOUN, _LIGHT,
                   {"WHETHER": "latemark"}),
    "tr": _grammar("tadv time subj place pivot freq obl iobj obj xcomp wh adv H neg aux q ccomp",
                   "tadv time subj place freq wh obl H neg cop aux q ccomp",
                   "rel gen dem poss num det made adj H conj case",
                   moves=dict.fromkeys(("WHEN", "ALTHOUGH", "IN_ORDER", "WHETHER"), "latemark")),
    "ar": _grammar("q wh tadv time aux neg H subj obj iobj obl place adv freq xcomp ccomp",
                   "q wh tadv time aux neg cop subj freq H obl place ccomp",
                   "case dem num det H poss gen adj made rel", "H deg than"),
    "vi": _grammar("tadv time subj aux neg freq H obj iobj obl wh place adv xcomp ccomp q",
                   "tadv time subj aux neg freq cop H obl wh place ccomp q",
                   "case det num clf H adj made dem poss gen rel", _LIGHT,
                   {"WHICH": "dem", "MOST": "than", "WHY_Q": "tadv"}),
    "th": _grammar("tadv time subj neg aux H obj iobj obl wh place adv freq xcomp ccomp q",
                   "tadv time subj neg aux cop H freq obl wh place ccomp q",
                   "case det H adj made poss gen num clf dem rel", "H deg than",
                   {"WHICH": "dem", "HOWMANY_Q": "num", "STILL": "neg", "never": "neg", "WHETHER": "q", "LET": "q"}),
    "zh": _grammar("tadv time subj wh freq neg aux place obl adv H past iobj obj xcomp ccomp q",
                   "tadv time subj freq neg aux cop place obl wh H ccomp q",
                   "case poss gen rel dem det num clf made adj H conj post",
                   moves=dict.fromkeys(("IN", "ON", "UNDER", "NEAR", "BEHIND", "BETWEEN", "BEFORE", "AFTER", "OF",
                                        "MADE_OF"), "post") | {"WHO_REL": "q", "PAST": "past"}),
    "hi": _grammar(_INDIC_CLAUSE, _INDIC_PREDICATE, _INDIC_NOUN),
    "sw": _grammar("q tadv time subj neg aux H obj iobj obl place adv freq wh xcomp ccomp",
                   "q tadv time subj freq neg aux cop H obl place wh ccomp",
                   "case det H poss adj num dem made gen rel", "H deg than",
                   {"MANY": "num", "HOWMANY_Q": "num", "WHICH": "dem"}),
    "ur": _grammar(_INDIC_CLAUSE, _INDIC_PREDICATE, _INDIC_NOUN),
}  # fmt: skip


def linearise(root: Node, grammar: Grammar, words: dict[str, str]) -> list[Token]:
    """Orders a tree in one language: tokens with gold heads and relations.

    ``words`` maps every key to its form, ``""`` where the language has no such word: function words are leaves,
    so nothing hangs on an absent one.
    """
    placed: list[tuple[Node, Node | None]] = []

    def place(node: Node, parent: Node | None) -> None:
        slots = grammar.order(node)
        kids = [(kid, grammar.moves.get(kid.key, kid.slot)) for kid in node.kids]
        for slot in slots:
            if slot == "H":
                if words.get(node.key, node.key):
                    placed.append((node, parent))
                for kid, at in kids:
                    if at not in slots:
                        place(kid, node)
            else:
                for kid, at in kids:
                    if at == slot:
                        place(kid, node)

    place(root, None)
    index = {id(node): i for i, (node, _) in enumerate(placed, 1)}
    return [
        Token(
            form=words.get(node.key, node.key),
            key=node.key,
            upos=node.upos,
            head=index[id(parent)] if parent else 0,
            relation=RELATIONS[node.slot] if parent else "root",
        )
        for node, parent in placed
    ]
