"""The controlled world: its words, grammars, documents and gold labels."""

import hashlib
import os
import random
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from itertools import islice
from pathlib import Path

import conllu as conllu_reader
import numpy as np
import pytest

from xling_utils.core.errors import UserError
from xling_utils.core.specs import LANGUAGES
from xling_utils.corpora import controlled
from xling_utils.corpora.controlled import facts, inference, labels, lexicon
from xling_utils.corpora.controlled.constructions import CONSTRUCTIONS
from xling_utils.corpora.controlled.documents import documents
from xling_utils.corpora.controlled.grammar import GRAMMARS
from xling_utils.corpora.controlled.world import Scene, world

CONCEPTS = lexicon.concepts()
PAGE = Path(__file__).parents[2] / "book" / "controlled_world.md"
SCRIPTS = dict.fromkeys(("en", "fr", "es", "de", "tr", "vi", "sw"), ("LATIN",))
SCRIPTS |= {"el": ("GREEK",), "bg": ("CYRILLIC",), "ru": ("CYRILLIC",), "ar": ("ARABIC",), "ur": ("ARABIC",)}
SCRIPTS |= {"th": ("THAI",), "zh": ("CJK UNIFIED",), "hi": ("DEVANAGARI",)}
MARKET = facts.Fact(
    "fisherman", "sell", "DEF", negated=True, subject_adjective="old",
    object="fish", object_adjective="fresh", number="three", oblique=("IN", "market"),
)  # fmt: skip
"""The sentence that the book shows in several scripts."""


SELLS = {"subject": "fisherman", "predicate": "sell", "determiner": "DEF", "object": "fish"}
EXAMPLES = [
    ({"subject_adjective": "old", "number": "three", "object_adjective": "fresh", "oblique": ("IN", "market")}, {}),
    ({"object": "animal", "negated": True}, {"oblique": ("IN", "market"), "negated": True}),
    ({"predicate": "buy"}, {"negated": True}),
    ({"object": "animal"}, {}),
    ({"oblique": ("IN", "market"), "negated": True}, {"negated": True}),
    ({"predicate": "buy", "negated": True}, {}),
    ({}, {"predicate": "buy"}),
    ({"object_adjective": "fresh"}, {"negated": True}),
]
"""The triples that the book shows: what premise and hypothesis add to "the fisherman sells a fish"."""


def said(fact, language):
    return controlled.realise(facts.tree(fact), language)


def text_of(sentence):
    return " ".join(token.form for token in sentence)


@pytest.fixture(scope="module")
def parallel():
    return controlled.parallel(LANGUAGES, 300, seed=1)


# The lexicon


def test_lexicon_is_complete_in_every_language():
    assert len(CONCEPTS) >= 250
    for language in LANGUAGES:
        for entry in [*CONCEPTS.values(), *lexicon.function_words().values()]:
            form = entry.forms[language]
            assert form or entry.group == "function", (language, entry.key)
            assert form == " ".join(form.split()) and unicodedata.is_normalized("NFC", form), (language, entry.key)
            letters = [char for char in form if unicodedata.category(char)[0] in "LM"]
            foreign = [c for c in letters if not unicodedata.name(c).startswith((*SCRIPTS[language], "COMBINING"))]
            assert not foreign, (language, entry.key, form)


def test_words_of_one_part_of_speech_differ():
    for language in LANGUAGES:
        forms = Counter((entry.upos, entry.forms[language]) for entry in CONCEPTS.values())
        assert not [form for form, count in forms.items() if count > 1], language


def test_hypernyms_and_antonyms_exist_and_antonyms_are_mutual():
    for entry in CONCEPTS.values():
        assert not entry.hypernym or CONCEPTS[entry.hypernym].upos == "NOUN", entry.key
        assert not entry.antonym or CONCEPTS[entry.antonym].antonym == entry.key, entry.key
        assert not entry.antonym or CONCEPTS[entry.antonym].upos == entry.upos, entry.key


def test_every_concept_is_used_and_listed():
    used = {node.key for trees in islice(documents(0, "en"), 8000) for tree in trees for node in tree.walk()}
    assert not set(CONCEPTS) - used
    assert ("cat", "chat") in lexicon.dictionary("fr")
    assert ("Anna", "Anna") not in lexicon.dictionary("fr")


def test_a_class_goes_before_a_concept_of_the_same_name():
    assert "apple" in lexicon.members("fruit") and lexicon.members("apple") == ("apple",)
    with pytest.raises(UserError, match="nothing_such"):
        lexicon.members("nothing_such")


# Grammars


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_every_language_says_every_construction(name):
    for topic in range(len(world().topics)):
        tree = CONSTRUCTIONS[name][1](Scene(random.Random(f"{name}/{topic}"), topic))
        sentences = {language: controlled.realise(tree, language) for language in LANGUAGES}
        content = {
            lang: Counter(token.key for token in sentence if token.key in CONCEPTS)
            for lang, sentence in sentences.items()
        }
        assert content["en"] == Counter(node.key for node in tree.walk() if node.key in CONCEPTS)
        for language in LANGUAGES:
            assert content[language] == content["en"], language
            assert_tree([token.head for token in sentences[language]])
            assert sentences[language][-1].upos == "PUNCT"


def assert_tree(heads):
    """One root, heads in range, no cycle, no crossing arcs."""
    assert heads.count(0) == 1 and all(0 <= head <= len(heads) for head in heads)
    for position in range(1, len(heads) + 1):
        seen, at = set(), position
        while at:
            assert at not in seen, heads
            seen.add(at)
            at = heads[at - 1]
    arcs = [tuple(sorted(arc)) for arc in enumerate(heads, 1) if arc[1]]
    assert not [(a, b) for a in arcs for b in arcs if a[0] < b[0] < a[1] < b[1]], heads


@pytest.mark.parametrize(
    ("language", "order"),
    [
        ("en", "old fisherman NOT sell three fresh fish IN market PERIOD"),
        ("fr", "fisherman old sell NOT three fish fresh IN market PERIOD"),
        ("de", "old fisherman sell three fresh fish NOT IN market PERIOD"),
        ("tr", "old fisherman market IN three fresh fish sell NOT PERIOD"),
        ("ar", "NOT sell fisherman old three fish fresh IN market PERIOD"),
        ("hi", "old fisherman market IN three fresh fish NOT sell PERIOD"),
        ("ur", "old fisherman market IN three fresh fish NOT sell PERIOD"),
        ("th", "fisherman old NOT sell fish fresh three CLF IN market PERIOD"),
        ("vi", "fisherman old NOT sell three CLF fish fresh IN market PERIOD"),
        ("zh", "old fisherman NOT market IN sell three CLF fresh fish PERIOD"),
        ("sw", "fisherman old NOT sell fish fresh three IN market PERIOD"),
    ],
)
def test_word_order(language, order):
    keys = [token.key for token in said(MARKET, language)]
    assert [key for key in keys if key not in ("DEF", "INDEF", "ACC")] == order.split()


def test_verbs_come_where_the_language_puts_them(parallel):
    for language, place in (("tr", "after"), ("hi", "after"), ("ur", "after"), ("ar", "before"), ("en", "between")):
        for sentences in parallel:
            sentence = sentences[language]
            root = next(i for i, token in enumerate(sentence) if token.head == 0)
            places = {
                token.relation: i < root for i, token in enumerate(sentence) if token.head == root + 1
                and token.upos in ("NOUN", "PROPN") and token.relation in ("nsubj", "obj")
            }  # fmt: skip
            if sentence[root].key in CONCEPTS and sentence[root].upos == "VERB" and len(places) == 2:
                expected = {"after": (True, True), "before": (False, False), "between": (True, False)}[place]
                assert (places["nsubj"], places["obj"]) == expected, text_of(sentence)


# Text


def test_text_is_the_same_in_another_process():
    code = "from tests.unit.test_controlled import digest; print(digest())"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == digest(), done.stderr


def digest():
    rows = [
        controlled.text("zh", 40, seed=3).to_dict(),
        controlled.text("sw", 40, seed=3, held_out=True).to_dict(),
        labels.tagged("tr", 40, seed=3).to_dict(),
        inference.triples("el", 40, seed=3).to_dict(),
    ]
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def test_a_small_corpus_is_the_beginning_of_a_large_one():
    small, large = controlled.text("vi", 50, seed=0), controlled.text("vi", 120, seed=0)
    assert small["text"] == large["text"][:50] and small["document"] == large["document"][:50]
    assert controlled.text("vi", 50, seed=1)["text"] != small["text"]
    assert list(inference.pairs(9, 0, "x")) == list(inference.pairs(30, 0, "x"))[:9]


def test_documents_are_consecutive_and_of_several_sentences():
    numbers = controlled.text("en", 600, seed=0)["document"]
    assert sorted(set(numbers)) == list(range(numbers[-1] + 1)) and numbers == sorted(numbers)
    assert set(Counter(numbers[: numbers.index(numbers[-1])]).values()) == {3, 4, 5, 6, 7, 8}


def test_languages_draw_independently():
    streams = {lang: tuple(controlled.text(lang, 200, seed=0)["document"]) for lang in LANGUAGES}
    assert len(set(streams.values())) == len(LANGUAGES)
    keys = [
        {tuple(node.key for tree in trees for node in tree.walk()) for trees in islice(documents(0, lang), 300)}
        for lang in ("en", "fr")
    ]
    assert not keys[0] & keys[1]


def test_held_out_documents_are_never_in_the_training_text():
    def gathered(rows):
        found = {}
        for row in rows:
            found.setdefault(row["document"], []).append(row["text"])
        return {tuple(sentences) for sentences in found.values()}

    training = gathered(controlled.text("en", 6000, seed=0))
    assert not training & gathered(controlled.text("en", 500, seed=0, held_out=True))


@pytest.mark.parametrize(
    "call",
    [
        lambda: controlled.text("xx", 5, seed=0),
        lambda: controlled.parallel(("en", "xx"), 5, seed=0),
        lambda: lexicon.dictionary("xx"),
        lambda: labels.conllu([], "xx"),
        lambda: labels.tagged("xx", 5, seed=0),
        lambda: inference.triples("xx", 3, seed=0),
        lambda: inference.parallel_triples(("en", "xx"), 3, seed=0),
    ],
)
def test_unknown_language_is_a_clear_error(call):
    with pytest.raises(UserError, match="'xx'"):
        call()


# Trees, parts of speech, names


RELATIONS = {
    "acl:relcl": "VERB", "advcl": "VERB ADJ", "advmod": "ADV PART", "amod": "ADJ", "aux": "AUX", "case": "ADP",
    "cc": "CCONJ SCONJ", "ccomp": "VERB ADJ", "clf": "PART", "conj": "NOUN PROPN VERB ADJ", "cop": "AUX",
    "det": "DET", "discourse": "INTJ PART", "iobj": "NOUN PROPN", "mark": "SCONJ", "nmod": "NOUN PROPN",
    "nsubj": "NOUN PROPN PRON", "nummod": "NUM", "obj": "NOUN PROPN PRON", "obl": "NOUN PROPN NUM",
    "punct": "PUNCT", "root": "VERB ADJ ADV NOUN PROPN", "xcomp": "VERB",
}  # fmt: skip
"""Relations of Universal Dependencies 2 that the world uses, and the parts of speech they may have here."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_conllu_is_valid(language, parallel):
    sentences = [row[language] for row in parallel]
    written = labels.conllu(sentences, language)
    read = conllu_reader.parse(written)
    assert len(read) == len(sentences) and written.endswith("\n\n")
    assert all(len(line.split("\t")) == 10 for line in written.splitlines() if line and line[0] != "#")
    for number, (tokens, sentence) in enumerate(zip(read, sentences, strict=True), 1):
        assert tokens.metadata == {"sent_id": f"{language}-{number}", "text": text_of(sentence)}
        assert [token["form"] for token in tokens] == [token.form for token in sentence]
        assert_tree([token["head"] for token in tokens])
        for token in tokens:
            assert token["upos"] in RELATIONS[token["deprel"]].split(), (text_of(sentence), token)
            assert (token["head"] == 0) == (token["deprel"] == "root")
    assert conllu_reader.parse_tree(written)


def test_tagged_sentences_line_up():
    tagged = labels.tagged("ru", 300, seed=0)
    assert tagged.column_names == ["tokens", "upos", "heads", "deprel", "entities"]
    kinds = Counter()
    names = {entry.forms["ru"]: entry.group for entry in CONCEPTS.values() if entry.upos == "PROPN"}
    for row in tagged:
        assert len({len(column) for column in row.values()}) == 1
        assert_tree(row["heads"])
        for form, upos, tag in zip(row["tokens"], row["upos"], row["entities"], strict=True):
            assert (tag != "O") == (upos == "PROPN")
            assert tag == "O" or tag == f"B-{labels.ENTITY_CLASSES[names[form]]}"
            kinds[tag] += 1
    assert set(kinds) == {"O", "B-PER", "B-LOC", "B-ORG"}


# Inference


def test_triples_are_balanced_and_parallel():
    triples = inference.triples("en", 300, seed=0)
    assert Counter(triples["label"]) == dict.fromkeys(inference.LABELS, 100)
    assert len(inference.triples("en", 4, seed=0)) == 4
    both = inference.parallel_triples(("en", "hi"), 30, seed=0)
    assert both["en"]["label"] == both["hi"]["label"]
    assert both["en"]["premise"] != inference.triples("en", 30, seed=0)["premise"]
    drawn = list(inference.pairs(30, 0, "parallel"))
    assert both["hi"]["hypothesis"] == [text_of(said(hypothesis, "hi")) for _, hypothesis, _ in drawn]


@pytest.mark.parametrize(
    ("premise", "hypothesis", "label"),
    [
        ({"subject": "dog"}, {"subject": "animal"}, "entailment"),
        ({"subject": "animal"}, {"subject": "dog"}, "neutral"),
        ({"subject": "cat"}, {}, "neutral"),
        ({"subject_adjective": "big"}, {}, "entailment"),
        ({}, {"companion": "cat"}, "neutral"),
        ({"time": "today"}, {}, "entailment"),
        ({"negated": True}, {}, "contradiction"),
        ({"negated": True}, {"negated": True, "time": "today"}, "entailment"),
        ({"negated": True, "time": "today"}, {"negated": True}, "neutral"),
        ({"negated": True, "time": "today"}, {}, "neutral"),
        ({"negated": True, "subject_adjective": "big"}, {"negated": True}, "entailment"),
        ({"predicate": "wake"}, {}, "contradiction"),
        ({"predicate": "wake"}, {"negated": True}, "entailment"),
        ({"predicate": "wake", "negated": True}, {}, "neutral"),
        ({"predicate": "think"}, {}, "neutral"),
        ({"predicate": "sit"}, {}, ""),
        ({"manner": "quickly"}, {"manner": "slowly"}, "contradiction"),
        ({"manner": "quickly"}, {"manner": "alone"}, "neutral"),
    ],
)
def test_what_follows_from_what(premise, hypothesis, label):
    sleeps = {"subject": "dog", "predicate": "sleep", "determiner": "DEF"}
    assert facts.judge(facts.Fact(**sleeps | premise), facts.Fact(**sleeps | hypothesis)) == label


@pytest.mark.parametrize("language", ["en", "tr", "th"])
def test_the_label_follows_from_the_two_sentences(language):
    """An oracle that sees only the sentences' words and trees, never how they were made, is always right."""
    for premise, hypothesis, label in inference.pairs(1500, 5, "oracle"):
        assert oracle(claims(said(premise, language)), claims(said(hypothesis, language))) == label


def claims(sentence):
    """What a sentence says, part by part, read off its tree."""
    kids = {}
    for position, token in enumerate(sentence, 1):
        kids.setdefault(token.head, []).append((position, token))

    def under(position, relation):
        return [(i, token.key) for i, token in kids.get(position, ()) if token.relation == relation]

    ((at, root),) = kids[0]
    ((at_subject, subject),) = under(at, "nsubj")
    found = {"predicate": root.key, "outer subject": subject}
    found |= {f"outer {rel}": key for rel in ("amod", "conj") for _, key in under(at_subject, rel)}
    for i, key in under(at, "obj"):
        found |= {"object": key} | {f"object {rel}": k for rel in ("amod", "nummod") for _, k in under(i, rel)}
    for i, key in under(at, "obl"):
        found |= {"place": key, "link": under(i, "case")[0][1] if under(i, "case") else "FROM or TO"}
    for _, key in under(at, "advmod"):
        group = CONCEPTS[key].group if key in CONCEPTS else key
        found[{"when": "time", "how": "manner", "VERY": "degree", "NOT": "negated"}[group]] = key
    return found


def within(a, b):
    """Whether one of two nouns is the other's hypernym."""
    return a in CONCEPTS and b in CONCEPTS and (CONCEPTS[a].hypernym == b or CONCEPTS[b].hypernym == a)


def oracle(premise, hypothesis):
    outer = [part for part in {*premise, *hypothesis} if part.startswith("outer")]
    inner = [part for part in {*premise, *hypothesis} if not part.startswith("outer") and part != "negated"]

    def covers(narrow, wide, parts):
        """Whether whatever ``narrow`` says of the parts makes true what ``wide`` says of them."""
        return all(
            part not in wide or (part in narrow and wide[part] in (narrow[part], CONCEPTS[narrow[part]].hypernym))
            if part not in ("link", "degree")
            else wide.get(part) in (None, narrow.get(part))
            for part in parts
        )

    subject = covers(premise, hypothesis, outer)
    forward, backward = covers(premise, hypothesis, inner), covers(hypothesis, premise, inner)
    opposite = {
        part for part in ("predicate", "manner")
        if part in premise and part in hypothesis and CONCEPTS[premise[part]].antonym == hypothesis[part]
    }  # fmt: skip
    others = [part for part in inner if part not in opposite and premise.get(part) != hypothesis.get(part)]
    free = ("time", "place", "link", "manner", "degree")
    excludes = bool(opposite) and all(
        part in free and (part not in premise or part not in hypothesis or within(premise[part], hypothesis[part]))
        for part in others
    )
    denied = "negated" in premise, "negated" in hypothesis
    if denied == (False, False):
        return "contradiction" if subject and excludes else "entailment" if subject and forward else "neutral"
    if denied == (False, True):
        return "contradiction" if subject and forward else "entailment" if subject and excludes else "neutral"
    if denied == (True, False):
        return "contradiction" if subject and backward else "neutral"
    return "entailment" if subject and backward else "neutral"


@pytest.fixture(scope="module")
def judged():
    """Pairs of sentences, the numbers of their labels, and how many naive Bayes gets right by either side alone."""
    triples = inference.triples("en", 6000, seed=0)
    gold = np.array([inference.LABELS.index(label) for label in triples["label"]])
    return triples, gold, {side: naive_bayes(triples[side], gold) for side in ("premise", "hypothesis")}


def test_the_hypothesis_alone_says_nothing_of_the_label(judged):
    triples, gold, alone = judged
    assert alone["hypothesis"] < 0.40
    assert alone["premise"] < 0.45
    for column in ("premise", "hypothesis"):
        lengths = np.array([len(sentence.split()) for sentence in triples[column]])
        means = [lengths[gold == label].mean() for label in range(3)]
        assert max(means) - min(means) < 1, column
    for word in ("not", "animal", "person"):  # negations and hypernyms stand in hypotheses of every label
        counts = [sum(word in h.split() for h in np.array(triples["hypothesis"])[gold == label]) for label in range(3)]
        assert min(counts) > 0.6 * max(counts), word


def test_the_page_says_what_simple_rules_achieve(judged):
    triples, gold, alone = judged
    pairs = [(p.split(), h.split()) for p, h in zip(triples["premise"], triples["hypothesis"], strict=True)]
    found = {
        "the words of the hypothesis (naive Bayes)": alone["hypothesis"],
        "the words of the premise": alone["premise"],
        "the words of both, without comparing them": naive_bayes(
            [" ".join([*(f"1{word}" for word in p), *(f"2{word}" for word in h)]) for p, h in pairs], gold
        ),
        "which of the two holds *not*, which is longer, whether either holds all words of the other": by_lookup(
            [("not" in p, "not" in h, np.sign(len(p) - len(h)), {*h} <= {*p}, {*p} <= {*h}) for p, h in pairs], gold
        ),
    }
    page = PAGE.read_text(encoding="utf-8")
    for rule, accuracy in found.items():
        assert f"| {rule} | {accuracy:.2f} |".replace("0.", ".") in page, (rule, accuracy)
    lengths = [np.array([len(side) for side in sides]) for sides in zip(*pairs, strict=True)]
    means = ["{:.1f}, {:.1f} and {:.1f}".format(*(of[gold == label].mean() for label in range(3))) for of in lengths]
    assert f"Premises have {means[0]} words on average under the three labels, hypotheses {means[1]}." in page


def by_lookup(features, gold):
    """Accuracy on the last third of the commonest label that the others have with the same features."""
    cut = 2 * len(features) // 3
    seen = {}
    for feature, label in zip(features[:cut], gold[:cut], strict=True):
        seen.setdefault(feature, Counter())[label] += 1
    guesses = [seen[feature].most_common(1)[0][0] if feature in seen else -1 for feature in features[cut:]]
    return (np.array(guesses) == gold[cut:]).mean()


def naive_bayes(sentences, gold):
    """Accuracy on the last third of a naive Bayes classifier of word presence fitted to the others."""
    vocabulary = {word: i for i, word in enumerate(sorted({word for s in sentences for word in s.split()}))}
    present = np.zeros((len(sentences), len(vocabulary)))
    for row, sentence in enumerate(sentences):
        present[row, [vocabulary[word] for word in sentence.split()]] = 1
    cut = 2 * len(sentences) // 3
    train, labels_seen = present[:cut], gold[:cut]
    rates = np.stack([(train[labels_seen == k].sum(0) + 1) / ((labels_seen == k).sum() + 2) for k in range(3)])
    scores = present[cut:] @ np.log(rates / (1 - rates)).T + np.log(1 - rates).sum(1)
    return (scores.argmax(1) == gold[cut:]).mean()


# The page of the book


def test_the_page_says_what_the_package_says():
    page = PAGE.read_text(encoding="utf-8")
    shown = re.findall(r'<span lang="(\w+)"(?: dir="rtl")?>([^<]+)</span>', page)
    assert {language for language, _ in shown} == set(LANGUAGES)
    for language, sentence in shown:
        assert sentence == text_of(said(MARKET, language)), language
    lines = labels.conllu([said(MARKET, "en")], "en").replace("\t", " ").split()
    assert " ".join(lines) in " ".join(page.split())
    for line in labels.conllu([said(MARKET, "hi")], "hi").splitlines():
        if line[:1].isdigit():
            number, form, _, tag, _, _, head, relation, *_ = line.split("\t")
            assert f'| {number} | <i lang="hi">{form}</i> | {tag} | {head} | {relation} |' in page
    for changes in EXAMPLES:
        premise, hypothesis = (facts.Fact(**SELLS | change) for change in changes)
        cells = text_of(said(premise, "en")), text_of(said(hypothesis, "en")), facts.judge(premise, hypothesis)
        assert "| {} | {} | {} |".format(*cells) in page, cells
    for language, grammar in GRAMMARS.items():
        (name,) = re.findall(rf"^\| (\w+) \(`{language}`\)", page, re.MULTILINE)
        (row,) = [line for line in page.splitlines() if line.startswith(f"| {name} | ")]
        order = "".join({"subj": "S", "H": "V", "obj": "O"}.get(slot, "") for slot in grammar.clause)
        sides = ["before" if grammar.noun.index(slot) < grammar.noun.index("H") else "after"
                 for slot in ("adj", "num", "dem", "gen", "rel")]  # fmt: skip
        assert [cell.strip() for cell in row.split("|")[2:8]] == [order, *sides], language
    numbers = {
        "concepts": len(CONCEPTS),
        "function words": len(lexicon.function_words()),
        "constructions": len(CONSTRUCTIONS),
        "topics": len(world().topics),
        "languages": len(GRAMMARS),
    }
    for what, number in numbers.items():
        assert f"{number} {what}" in page, f"{number} {what}"
