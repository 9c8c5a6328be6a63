"""What is done to text before it is read: each transform alone, and the changes and domains of a corpus."""

import unicodedata
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest
import tokenizers

from tests.given import failure
from xling_utils import corpora
from xling_utils.core.errors import UserError
from xling_utils.core.specs import DOUBLE, LANGUAGES, Change, CorpusSpec
from xling_utils.corpora import controlled, loading, transforms
from xling_utils.corpora.controlled import lexicon
from xling_utils.corpora.controlled.world import DOMAINS, domain_topics, world
from xling_utils.corpora.text import normalise

CORPUS = CorpusSpec("controlled", ("en", "fr"), 200, seed=1)
CHANGES = {
    "fake": Change("fake", ("en",)),
    "permuted": Change("permuted", ("en", "fr"), 0.5),
    "unigrams": Change("unigrams", ("fr",)),
    "code_switched": Change("code_switched", ("en", "fr"), 0.5),
    "reversed": Change("reversed", ("fr",)),
}
WORDS = ["the", "old", "fisherman", "sells", "three", "fresh", "fish", "in", "the", "market", "."]


def rng(seed=1):
    return np.random.default_rng(seed)


@cache
def changed(*changes, corpus=CORPUS, **options):
    texts = corpora.load(replace(corpus, changes=changes), **options)
    return {lang: text["text"][:] for lang, text in texts.items()}


# Fake-English


@pytest.fixture(scope="module")
def characters():
    """Every character that the controlled world writes in any language, and more that real text has."""
    written = {char for lang in LANGUAGES for form in lexicon.words(lang).values() for char in form}
    return written | set("[](){}#0123456789\u2019\u2014\u00bd\u0130\u01c5\ufb01\uff0c𝄞😀𠀀\U00030000")


def test_fake_english_is_one_to_one_and_shares_no_character(characters):
    faked = {char: transforms.fake_english(char) for char in characters if char != " "}
    assert len(set(faked.values())) == len(faked)
    assert not set(faked.values()) & characters
    assert all(chr(ord(fake) - transforms.FAKE_SHIFT) == char for char, fake in faked.items())


def test_fake_english_keeps_white_space_and_so_words():
    line = "Anna sells\t12 fish ,\nand [ MASK ] ."
    faked = transforms.fake_english(line)
    assert [len(word) for word in faked.split()] == [len(word) for word in line.split()]
    assert [char for char in faked if char.isspace()] == [char for char in line if char.isspace()]


def test_no_rule_of_normalisation_touches_fake_english(characters):
    faked = transforms.fake_english(" ".join(sorted(characters - {" "})))
    assert normalise(faked) == normalise(faked, form="cased") == faked
    assert unicodedata.normalize("NFKC", faked) == faked and faked.lower() == faked


def test_a_tokenizer_reads_fake_english_as_words_that_share_no_piece():
    text = changed(CHANGES["fake"])
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.WordPieceTrainer(vocab_size=900, special_tokens=["[UNK]"], show_progress=False)
    tokenizer.train_from_iterator([*text["en"], *text["fr"]], trainer)
    pieces = {lang: {p for line in text[lang] for p in tokenizer.encode(line).tokens} for lang in text}
    assert "[UNK]" not in pieces["en"] | pieces["fr"]
    assert not pieces["en"] & pieces["fr"]
    units = tokenizer.pre_tokenizer.pre_tokenize_str(text["en"][0])
    assert [unit for unit, _ in units] == text["en"][0].split(" ")


@pytest.mark.parametrize("shift", [0, 1, 0x3F000, 0xDFFFF, 0x200000, -1])
def test_a_shift_onto_characters_in_use_is_refused(shift):
    assert "0x40000" in failure(transforms.fake_english, "a[", shift)


def test_text_is_not_faked_three_times():
    twice = transforms.fake_english(transforms.fake_english("fish"))
    assert set(twice).isdisjoint(transforms.fake_english("fish"))
    with pytest.raises(UserError):
        transforms.fake_english(transforms.fake_english(twice))


# Order, frequency, anchors, slices


def test_permuting_keeps_the_words_and_nothing_when_the_fraction_is_zero():
    assert transforms.permute_words(WORDS, 0, rng()) == WORDS
    for fraction in (0.25, 0.5, 1):
        permuted = transforms.permute_words(WORDS, fraction, rng())
        assert permuted != WORDS and Counter(permuted) == Counter(WORDS)
    for short in ([], ["fish"]):
        assert transforms.permute_words(short, 1, rng()) == short
    assert transforms.permute_words(["old", "fish"], 1, rng()) == ["fish", "old"]


def test_every_pair_of_places_is_swapped_alike_often():
    random = rng()
    drawn = [transforms.permute_words("abcde", 1 / 10, random) for _ in range(4000)]
    swapped = Counter(tuple(i for i in range(5) if sentence[i] != "abcde"[i]) for sentence in drawn)
    assert set(swapped) == set(combinations(range(5), 2))
    assert all(abs(count - 400) < 100 for count in swapped.values())


def test_no_pair_is_swapped_twice():
    # Three places and all three pairs: an odd number of swaps, whichever comes first, exchanges exactly two words.
    random = rng()
    for _ in range(50):
        permuted = transforms.permute_words("abc", 1, random)
        assert sum(new != old for new, old in zip(permuted, "abc", strict=True)) == 2


def test_more_permutation_leaves_less_order():
    def in_order(fraction):
        random = rng()
        orders = [transforms.permute_words([str(i) for i in range(10)], fraction, random) for _ in range(300)]
        return np.mean([[int(a) < int(b) for a, b in pairwise(o)] for o in orders])

    kept = [in_order(fraction) for fraction in (0, 0.05, 0.25, 1)]
    assert kept[0] == 1 and kept[1] > kept[2] + 0.1 and kept[2] < 0.7 and abs(kept[3] - 0.5) < 0.2


def test_unigrams_keep_lengths_and_frequencies_and_no_order():
    sentences = [["the", "fish", "swims", "."], ["a"], [], ["the", "old", "fish", "swims", "."]] * 2000
    drawn = transforms.resample_unigrams(sentences, rng())
    assert [len(sentence) for sentence in drawn] == [len(sentence) for sentence in sentences]
    before, after = (Counter(word for s in text for word in s) for text in (sentences, drawn))
    assert set(before) == set(after) and before != after
    assert all(abs(after[word] - count) < 0.1 * count for word, count in before.items())
    starts = Counter(sentence[0] for sentence in drawn if sentence)
    assert abs(starts["the"] / starts["fish"] - 1) < 0.1
    assert transforms.resample_unigrams([[], []], rng()) == [[], []]


def test_code_switching_has_the_rates_asked_for():
    dictionary = {"fish": ["poisson", "poissons"], "market": ["marché"]}
    random = rng()
    switched = [transforms.code_switch(WORDS, dictionary, random, 0.3, 0.5) for _ in range(8000)]
    uses = Counter(word for sentence in switched for word in sentence)
    assert abs(uses["marché"] / 8000 - 0.15) < 0.015
    assert abs((uses["poisson"] + uses["poissons"]) / 8000 - 0.15) < 0.015
    assert abs(uses["poisson"] / uses["poissons"] - 1) < 0.2
    assert uses["fisherman"] == 8000 and all(len(sentence) == len(WORDS) for sentence in switched)
    touched = np.mean([sentence != WORDS for sentence in switched])
    assert abs(touched - 0.5 * (1 - 0.7**2)) < 0.02


def test_code_switching_at_its_ends_changes_nothing_or_every_known_word():
    dictionary = {word: [word.upper()] for word in WORDS}
    for rates in ((0, 1), (1, 0)):
        assert transforms.code_switch(WORDS, dictionary, rng(), *rates) == WORDS
    assert transforms.code_switch(WORDS, dictionary, rng(), 1, 1) == [word.upper() for word in WORDS]
    assert transforms.code_switch(WORDS, {}, rng(), 1, 1) == WORDS


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_shares_outside_0_to_1_are_named(value):
    assert f"fraction is {value}" in failure(transforms.permute_words, WORDS, value, rng())
    assert f"word_rate is {value}" in failure(transforms.code_switch, WORDS, {}, rng(), word_rate=value)
    assert f"batch_rate is {value}" in failure(transforms.code_switch, WORDS, {}, rng(), batch_rate=value)


# The changes of a corpus


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("held_out", [False, True])
def test_each_change_changes_its_languages_alone_and_the_same_way_every_time(kind, held_out):
    change = CHANGES[kind]
    plain, text = changed(held_out=held_out), changed(change, held_out=held_out)
    assert text == changed.__wrapped__(change, held_out=held_out)
    for language in CORPUS.languages:
        assert (text[language] != plain[language]) == (language in change.languages)
        assert [len(line.split()) for line in text[language]] == [len(line.split()) for line in plain[language]]


def test_columns_and_documents_stay():
    plain, text = corpora.load(CORPUS)["fr"], corpora.load(replace(CORPUS, changes=(CHANGES["unigrams"],)))["fr"]
    assert text.features == plain.features and list(text["document"]) == list(plain["document"])


def test_a_changed_small_corpus_is_the_beginning_of_a_larger_one():
    changes = [CHANGES[kind] for kind in ("code_switched", "permuted", "fake")]
    small, large = changed(*changes), changed(*changes, corpus=replace(CORPUS, sentences=260))
    assert all(large[language][:200] == small[language] for language in CORPUS.languages)


def test_a_language_changes_alike_whether_another_does_or_not():
    assert changed(CHANGES["permuted"])["fr"] == changed(Change("permuted", ("fr",), 0.5))["fr"]


DRAWING = {"permuted": "permute_words", "unigrams": "resample_unigrams", "code_switched": "code_switch"}


@pytest.mark.parametrize("kind", DRAWING)
def test_seeds_languages_and_held_out_text_draw_from_streams_of_their_own(kind, monkeypatch):
    monkeypatch.setattr(loading, "_translations", lambda *_: {word: [word.upper()] for word in WORDS})

    def drawn(seed=1, language="en", held_out=False):
        corpus = replace(CORPUS, seed=seed)
        return list(loading._rewritten([WORDS] * 20, CHANGES[kind], corpus, language, None, held_out))

    first = drawn()
    assert first == drawn() and first != [WORDS] * 20
    for other in ({"seed": 2}, {"language": "fr"}, {"held_out": True}):
        assert drawn(**other) != first, other


def test_kinds_draw_from_streams_of_their_own(monkeypatch):
    def drawn(*arguments, **_):
        (rng,) = (each for each in arguments if isinstance(each, np.random.Generator))
        return [rng.random()]

    for name in DRAWING.values():
        monkeypatch.setattr(transforms, name, drawn)
    found = {str(list(loading._rewritten([WORDS], CHANGES[kind], CORPUS, "fr", None, False))) for kind in DRAWING}
    assert len(found) == len(DRAWING)


def test_changes_apply_in_their_order_and_spelling_has_none():
    fake, permuted, unigrams = CHANGES["fake"], Change("permuted", ("en",), 1.0), Change("unigrams", ("en",))
    assert changed(permuted, unigrams) != changed(unigrams, permuted)
    assert changed(fake, permuted) == changed(permuted, fake)
    faked = changed(fake, permuted)["en"]
    assert faked == [transforms.fake_english(line) for line in changed(permuted)["en"]]


@pytest.mark.parametrize("order", [1, -1])
def test_switched_words_have_the_spelling_of_their_language(order):
    changes = (Change("fake", ("en",)), Change("code_switched", ("en", "fr"), 1.0))[::order]
    text, plain = changed(*changes), changed()
    french = {french: english for english, french in lexicon.dictionary("fr")}
    for language in ("en", "fr"):
        for before, after in zip(plain[language], text[language], strict=True):
            for old, new in zip(before.split(), after.split(), strict=True):
                if language == "en" and new != transforms.fake_english(old):
                    assert (old, new) in lexicon.dictionary("fr")
                if language == "fr" and new != old:
                    assert old in french and all(char >= chr(transforms.FAKE_SHIFT) for char in new)
    assert any(char < chr(transforms.FAKE_SHIFT) for line in text["en"] for char in line if char != " ")
    assert any(char >= chr(transforms.FAKE_SHIFT) for line in text["fr"] for char in line)


def test_code_switching_replaces_words_by_entries_of_the_dictionary():
    pairs = set(lexicon.dictionary("fr"))
    plain, text = changed(), changed(Change("code_switched", ("en", "fr"), 1.0))
    for language, turn in (("en", 1), ("fr", -1)):
        words = [
            (old, new)[::turn]
            for before, after in zip(plain[language], text[language], strict=True)
            for old, new in zip(before.split(), after.split(), strict=True)
        ]
        replaced = [pair for pair in words if pair[0] != pair[1]]
        assert replaced and set(replaced) <= pairs
        known = {pair[::turn][0] for pair in pairs if " " not in pair[0] + pair[1]}
        assert abs(len(replaced) / sum(pair[::turn][0] in known for pair in words) - 0.3) < 0.06


def test_real_text_is_changed_with_its_own_dictionary(tmp_path):
    for language, line in (("en", "The fish swims"), ("fr", "Le poisson nage")):
        (tmp_path / "text" / language).mkdir(parents=True)
        lines = "\n\n".join(f"{line} {number}." for number in range(40))
        (tmp_path / "text" / language / "book.txt").write_text(lines, encoding="utf-8")
    (tmp_path / "dictionaries" / "wiktionary").mkdir(parents=True)
    (tmp_path / "dictionaries" / "wiktionary" / "en-fr.tsv").write_text("fish\tpoisson\nswims\tnage\n")
    corpus = CorpusSpec("directory", ("en", "fr"), 20, 1)
    text = changed(Change("code_switched", ("fr",)), Change("fake", ("en",)), corpus=corpus, data=tmp_path)
    words = {lang: {word for line in lines for word in line.split()} for lang, lines in text.items()}
    assert {transforms.fake_english("fish"), transforms.fake_english("swims"), "poisson", "nage"} <= words["fr"]
    assert transforms.fake_english(".") in words["en"] and "." in words["fr"]
    switching = replace(corpus, changes=(Change("code_switched", ("fr",)),))
    before, plain = corpora.fingerprint(switching, tmp_path), corpora.fingerprint(corpus, tmp_path)
    (tmp_path / "dictionaries" / "wiktionary" / "en-fr.tsv").write_text("fish\tpoisson\n")
    assert corpora.fingerprint(switching, tmp_path) != before and corpora.fingerprint(corpus, tmp_path) == plain


def test_a_domain_of_real_text_is_a_file(tmp_path):
    (tmp_path / "text" / "en").mkdir(parents=True)
    for name in ("bible", "news"):
        lines = "\n\n".join(f"{name} {number}" for number in range(200))
        (tmp_path / "text" / "en" / f"{name}.txt").write_text(lines, encoding="utf-8")
    corpus = CorpusSpec("directory", ("en", DOUBLE), 100, 1)
    both, one = changed(corpus=corpus, data=tmp_path), replace(corpus, domains=("bible", "bible"))
    assert {line.split()[0] for line in both["en"]} == {"bible", "news"}
    text = changed(corpus=one, data=tmp_path)
    assert {line.split()[0] for line in text["en"]} == {"bible"} and text[DOUBLE] == text["en"]
    before, whole = corpora.fingerprint(one, tmp_path), corpora.fingerprint(corpus, tmp_path)
    (tmp_path / "text" / "en" / "news.txt").write_text("other news", encoding="utf-8")
    assert corpora.fingerprint(one, tmp_path) == before and corpora.fingerprint(corpus, tmp_path) != whole
    message = failure(corpora.load, replace(corpus, domains=("bible", "wiki")), tmp_path)
    assert "text/en: no text (wiki.txt or wiki.txt.xz)" in message


@pytest.mark.parametrize("held_out", [False, True])
def test_a_double_says_what_english_says(held_out):
    corpus = replace(CORPUS, languages=("en", DOUBLE))
    plain = changed(corpus=corpus, held_out=held_out)
    assert plain[DOUBLE] == plain["en"] == changed(held_out=held_out)["en"]
    assert corpora.fingerprint(corpus) == corpora.fingerprint(replace(corpus, languages=("en",)))
    text = changed(Change("reversed", (DOUBLE,)), corpus=corpus, held_out=held_out)
    assert text["en"] == plain["en"]
    assert [line.split()[::-1] for line in text[DOUBLE]] == [line.split() for line in text["en"]]


def test_respelled_is_how_the_corpus_spells_a_language():
    corpus = replace(CORPUS, changes=(CHANGES["permuted"], CHANGES["fake"]))
    line = " ".join(WORDS)
    assert corpora.respelled(corpus, "fr")(line) == line == corpora.respelled(CORPUS, "en")(line)
    spelt = corpora.respelled(corpus, "en")
    assert spelt(line) == transforms.fake_english(line)
    units = {word for text in changed(CHANGES["fake"])["en"] for word in text.split()}
    assert {spelt(word) for word in ("the", ".", "fish")} <= units


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (Change("translated", ("en",)), ["'translated'", "fake, permuted, unigrams, code_switched, reversed"]),
        (Change("fake", ("de",)), ["'fake'", "'de'", "en fr"]),
        (Change("fake", ()), ["'fake'", "no language"]),
        (Change("permuted", ("en",), 1.5), ["'permuted'", "1.5"]),
        (Change("permuted", ("en",), float("nan")), ["'permuted'", "nan"]),
        (Change("unigrams", ("en",), 0.5), ["'unigrams'", "0.5", "leave it at 1"]),
        (Change("fake", ("en", "fr", "en")), ["'fake'", "'en'", "twice"]),
    ],
)
def test_a_change_that_cannot_be_is_named(change, parts):
    for call in (corpora.load, corpora.fingerprint):
        message = failure(call, replace(CORPUS, changes=(change,)))
        assert all(part in message for part in parts)


@pytest.mark.parametrize("languages", [("en", "fr", "de"), ("fr", "de"), ("en",)])
def test_code_switching_needs_english_and_one_other_language(languages):
    corpus = replace(CORPUS, languages=languages, changes=(Change("code_switched", languages[:1]),))
    assert "English and one other" in failure(corpora.load, corpus)


# Domains


def test_the_two_domains_share_out_all_topics_evenly():
    first, second = (domain_topics(domain) for domain in DOMAINS)
    assert sorted(first + second) == list(range(len(world().topics)))
    weights = [sum(world().topic_weights[topic] for topic in topics) for topics in (first, second)]
    assert abs(weights[0] - weights[1]) / sum(weights) < 0.05


def test_domains_have_vocabularies_of_their_own():
    def shares(domain, seed):
        counts = Counter(w for line in controlled.text("en", 2000, seed, domain=domain)["text"] for w in line.split())
        return {word: counts[word] / counts.total() for word in content}

    content = {entry.forms["en"] for entry in lexicon.concepts().values()}
    here, again, there = shares("first", 1), shares("first", 2), shares("second", 1)
    same, other = (sum(abs(here[word] - text[word]) for word in content) for text in (again, there))
    assert other > 2 * same


def test_each_language_of_a_corpus_speaks_of_its_domain():
    corpus = replace(CORPUS, domains=("first", "second"))
    text = changed(corpus=corpus)
    assert text["fr"] == list(controlled.text("fr", 200, 1, domain="second")["text"])
    assert text == changed.__wrapped__(corpus=corpus) and text["en"] != changed()["en"]
    assert changed(corpus=corpus, held_out=True)["en"][:200] != text["en"]
    larger = changed(corpus=replace(corpus, sentences=260))
    assert larger["en"][:200] == text["en"]


@pytest.mark.parametrize(
    ("domains", "parts"),
    [(("first",), ["1 domains for 2 languages"]), (("first", "third"), ["'third'", "first, second"])],
)
def test_domains_that_cannot_be_are_named(domains, parts):
    message = failure(corpora.load, replace(CORPUS, domains=domains))
    assert all(part in message for part in parts)


def test_a_language_named_twice_is_refused():
    with pytest.raises(UserError, match="language 'fr' is named twice"):
        corpora.load(CorpusSpec("controlled", ("en", "fr", "fr"), 5))


def test_a_line_too_long_to_be_permuted_is_refused():
    rng = np.random.default_rng(0)
    assert len(transforms.permute_words(["w"] * transforms.LONGEST, 0.0, rng)) == transforms.LONGEST
    with pytest.raises(UserError, match="a line of 2,001 words cannot be permuted; put one sentence on a line"):
        transforms.permute_words(["w"] * 2001, 0.5, rng)
