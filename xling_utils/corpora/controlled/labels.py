"""Gold labels of controlled sentences: trees as CoNLL-U, parts of speech, and named entities.

Nothing is annotated here: the grammar knows the head, the relation and the class of every word it places.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from xling_utils.corpora.controlled.documents import documents
from xling_utils.corpora.controlled.grammar import GRAMMARS, Token, linearise
from xling_utils.corpora.controlled.lexicon import concepts, words

if TYPE_CHECKING:
    from datasets import Dataset

ENTITY_CLASSES = {"person_name": "PER", "city_name": "LOC", "country_name": "LOC", "firm_name": "ORG"}
"""Semantic class of a proper name -> type of the entity."""

UNIVERSAL = {
    ("PUNCT", "cc"): ("PUNCT", "punct"),
    ("ADV", "obl"): ("ADV", "advmod"),
    ("ADV", "discourse"): ("ADV", "advmod"),
    ("ADV", "det"): ("DET", "det"),
    ("PRON", "mark"): ("PRON", "nsubj"),
    ("VERB", "cop"): ("AUX", "cop"),
}
"""(UPOS, relation) as the lexicon and a slot have them -> as Universal Dependencies wants them together."""


def conllu(sentences: Iterable[list[Token]], language: str) -> str:
    """The sentences as CoNLL-U (https://universaldependencies.org/format.html), ids ``<language>-1`` ...

    Words are uninflected, so LEMMA is FORM; both may hold a space, which the format allows inside words
    (as in Vietnamese). XPOS, FEATS, DEPS and MISC are empty. Raises :class:`UserError` on an unknown
    language.
    """
    words(language)
    lines = []
    for number, sentence in enumerate(sentences, 1):
        text = " ".join(token.form for token in sentence)
        lines += [f"# sent_id = {language}-{number}", f"# text = {text}"]
        for position, token in enumerate(sentence, 1):
            upos, relation = _universal(token)
            columns = (position, token.form, token.form, upos, "_", "_", token.head, relation, "_", "_")
            lines.append("\t".join(map(str, columns)))
        lines.append("")
    return "".join(f"{line}\n" for line in lines)


def entities(sentence: list[Token]) -> list[str]:
    """One BIO tag a token: ``B-PER``, ``B-LOC``, ``B-ORG`` or ``O`` (a name is one token: no ``I-``)."""
    return [_entity(token.key) for token in sentence]


def tagged(language: str, sentences: int, seed: int) -> Dataset:
    """``sentences`` labelled sentences, a draw of their own, as columns of lists, equally long in a row.

    ``tokens`` (strings; one may hold a space), ``upos`` (strings), ``heads`` (int64, 1-based, 0 is the root),
    ``deprel`` (strings) and ``entities`` (strings, see :func:`entities`). Raises :class:`UserError` on an
    unknown language.
    """
    from datasets import Dataset

    forms = words(language)
    trees = (tree for trees in documents(seed, f"{language}/tagged") for tree in trees)
    rows = []
    for tree in islice(trees, sentences):
        sentence = linearise(tree, GRAMMARS[language], forms)
        rows.append(
            {
                "tokens": [token.form for token in sentence],
                "upos": [_universal(token)[0] for token in sentence],
                "heads": [token.head for token in sentence],
                "deprel": [_universal(token)[1] for token in sentence],
                "entities": entities(sentence),
            }
        )
    return Dataset.from_list(rows)


def _universal(token: Token) -> tuple[str, str]:
    return UNIVERSAL.get((token.upos, token.relation), (token.upos, token.relation))


def _entity(key: str) -> str:
    kind = ENTITY_CLASSES.get(concepts()[key].group) if key in concepts() else None
    return f"B-{kind}" if kind else "O"
