"""Treebanks: both sources, which file is read, and every mistake that a tree can hold."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from tests.given import DATA, failure, real
from xling_utils.core.specs import LANGUAGES
from xling_utils.corpora.labelled import named_entities
from xling_utils.corpora.treebanks import (
    LOW_RESOURCE,
    RELATIONS,
    UPOS,
    commonest_tags,
    languages_with_trees,
    treebank,
    trees,
)

DOG = [("The", "DET", 2, "det"), ("dog", "NOUN", 3, "nsubj:outer"), ("runs", "VERB", 0, "root")]


def conllu(*sentences) -> str:
    lines = []
    for number, sentence in enumerate(sentences):
        lines.append(f"# sent_id = {number}")
        lines += [f"{i}\t{w}\t_\t{t}\t_\t_\t{h}\t{r}\t_\t_" for i, (w, t, h, r) in enumerate(sentence, 1)]
        lines.append("")
    return "\n".join(lines) + "\n"


def write(data: Path, name: str, text: str) -> Path:
    folder = data / "ud" / f"UD_{name.split('-')[0]}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(lzma.compress(text.encode()) if name.endswith(".xz") else text.encode())
    return path


# The controlled world


@pytest.mark.parametrize("language", LANGUAGES)
def test_controlled_trees_have_one_root_and_known_labels(language):
    rows = treebank("controlled", language, "test", count=15)
    assert rows.column_names == ["words", "tags", "heads", "relations"] and len(rows) == 15
    for row in rows:
        assert len({len(column) for column in row.values()}) == 1
        assert row["heads"].count(0) == 1 and row["relations"][row["heads"].index(0)] == "root"
        assert set(row["tags"]) <= set(UPOS) and set(row["relations"]) <= set(RELATIONS)


def test_the_controlled_test_is_parallel_and_shares_no_sentence_with_train_and_dev():
    english, french = (treebank("controlled", language, "test", count=60) for language in ("en", "fr"))
    assert [sorted(tags) for tags in english["tags"]] != [sorted(tags) for tags in french["tags"]]
    named = [[tags.count("PROPN") for tags in rows["tags"]] for rows in (english, french)]
    assert named[0] == named[1] and sum(named[0]) > 5
    tested = {tuple(words) for words in english["words"]}
    for split in ("train", "dev"):
        assert not tested & {tuple(words) for words in treebank("controlled", "en", split, count=300)["words"]}


def test_controlled_splits_are_those_of_named_entities():
    trees_of, entities = (call("controlled", "fr", "train", count=20) for call in (treebank, named_entities))
    assert [" ".join(words).split() for words in trees_of["words"]] == entities["words"][:]


# A directory


def test_words_of_several_units_and_words_without_text_stay_one_word(tmp_path):
    sentence = [("Rock'n'Roll", "NOUN", 2, "nsubj"), ("北京", "PROPN", 0, "root"), ("\u200e", "PUNCT", 2, "punct:x")]
    write(tmp_path, "en_ewt-ud-test.conllu", conllu(sentence))
    (row,) = treebank("directory", "en", "test", data=tmp_path)
    assert row["words"] == ["rock ' n ' roll", "北 京", ""]
    assert row["heads"] == [2, 0, 2] and row["relations"] == ["nsubj", "root", "punct"]
    cased = treebank("directory", "en", "test", data=tmp_path, form="cased")
    assert cased["words"][0][0] == "Rock ' n ' Roll"


def test_multiword_tokens_and_empty_nodes_are_no_words(tmp_path):
    text = conllu([("de", "ADP", 3, "case"), ("le", "DET", 3, "det"), ("chien", "NOUN", 0, "root")])
    lines = text.splitlines()
    lines.insert(1, "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_")
    lines.insert(4, "2.1\tgrand\t_\tADJ\t_\t_\t_\t_\t3:amod\t_")
    write(tmp_path, "fr_gsd-ud-test.conllu", "\n".join(lines) + "\n\n")
    (row,) = treebank("directory", "fr", "test", data=tmp_path)
    assert row["words"] == ["de", "le", "chien"] and row["heads"] == [3, 3, 0]


def test_the_parallel_treebank_comes_first_then_the_first_by_name_whatever_is_packed(tmp_path):
    for name in ("fr_gsd", "fr_pud", "el_gud", "el_gdt"):
        write(tmp_path, f"{name}-ud-test.conllu.xz", conllu([(name[3:], "X", 0, "root")]))
    write(tmp_path, "en_ewt-ud-train.from_sources.conllu", conllu(DOG))
    write(tmp_path, "sw_draft.conllu", "no tree")
    assert treebank("directory", "fr", "test", data=tmp_path)["words"][:] == [["pud"]]
    assert treebank("directory", "el", "test", data=tmp_path)["words"][:] == [["gdt"]]
    assert len(treebank("directory", "en", "train", data=tmp_path)) == 1
    assert languages_with_trees(tmp_path, "test") == ("el", "fr") and languages_with_trees(tmp_path, "dev") == ()
    assert "test of sw; languages that have one: el fr" in failure(treebank, "directory", "sw", "test", data=tmp_path)


def test_samples_of_parallel_treebanks_are_parallel(tmp_path):
    for language in ("en", "de"):
        sentences = [[(f"{n}", "NUM", 0, "root")] for n in range(30)]
        write(tmp_path, f"{language}_pud-ud-test.conllu", conllu(*sentences))
    english, german = (treebank("directory", x, "test", count=9, data=tmp_path)["words"][:] for x in ("en", "de"))
    assert english == german and english != sorted(english)
    assert "30 sentences, 31 asked for" in failure(treebank, "directory", "en", "test", count=31, data=tmp_path)


# Mistakes


def changed(row: int, **columns) -> list[tuple]:
    names = ("word", "tag", "head", "relation")
    sentence = [dict(zip(names, word, strict=True)) for word in DOG]
    sentence[row] |= columns
    return [tuple(word.values()) for word in sentence]


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        (changed(0, head=4), "line 7: head 4 in a sentence of 3 words"),
        (changed(1, head="_"), "line 8: head no in a sentence of 3 words"),
        (changed(1, head="x"), "sentence of line 7: not CoNLL-U"),
        (changed(1, head="9" * 5_000), "sentence of line 7: not CoNLL-U"),
        (changed(2, tag="VB"), "line 9: unknown part of speech 'VB'; known: ADJ ADP"),
        (changed(0, relation="dependent"), "line 7: unknown relation 'dependent'"),
        (changed(1, head=0), "line 7: a sentence with 2 roots"),
        (changed(2, head=1), "line 7: a sentence with 0 roots"),
        (changed(1, head=1), "line 7: word 1 stands above itself: a cycle is no tree"),
        (changed(1, head=2), "line 8: word 2 stands above itself"),
    ],
)
def test_what_is_no_tree_is_named_with_its_line(tmp_path, sentence, part):
    path = write(tmp_path, "en_ewt-ud-test.conllu", conllu(DOG, sentence))
    found = failure(treebank, "directory", "en", "test", data=tmp_path)
    assert found.startswith(f"{path}, ") and part in found


def test_lines_without_ten_columns_and_words_out_of_order_are_named():
    lines = list(enumerate(conllu(DOG).splitlines(), 1))
    assert "made up, line 3: 2 columns; CoNLL-U has 10" in failure(trees, [*lines[:2], (3, "2\tdog")], "made up")
    assert "line 3: word 3 where word 2 should be" in failure(trees, [*lines[:2], (3, lines[3][1])], "made up")


@pytest.mark.parametrize(("text", "part"), [("", "is empty"), ("# sent_id = 1\n\n", "an empty treebank")])
def test_an_empty_treebank_is_named(tmp_path, text, part):
    write(tmp_path, "en_ewt-ud-test.conllu", text)
    assert part in failure(treebank, "directory", "en", "test", data=tmp_path)


def test_requests_that_cannot_be_are_named(tmp_path):
    assert "give a count" in failure(treebank, "controlled", "en", "test")
    assert "unknown split 'all'" in failure(treebank, "directory", "en", "all", data=tmp_path)
    assert "--data" in failure(treebank, "directory", "en", "test")
    assert "languages that have one: none" in failure(treebank, "directory", "en", "test", data=tmp_path)


# Real data


@real("ud")
def test_ewt_is_as_large_as_its_release_and_pud_says_the_same_everywhere():
    train = treebank("directory", "en", "train", data=DATA)
    assert len(train) == 12_544 and sum(map(len, train["words"])) == 204_577
    for language in ("en", "ar", "zh", "th", "tr"):
        assert len(treebank("directory", language, "test", data=DATA)) == 1_000


@real("ud")
def test_every_real_test_is_a_treebank_and_swahili_has_none():
    there = languages_with_trees(DATA, "test")
    assert set(LANGUAGES) - set(there) == {"sw"} and set(LOW_RESOURCE) <= set(there)
    for language in (*LOW_RESOURCE, "bg", "vi"):
        assert len(treebank("directory", language, "test", data=DATA)) > 400


def test_a_word_has_the_tag_that_most_of_its_occurrences_have(tmp_path):
    run = [("runs", "VERB", 0, "root")]
    ran = [("Runs", "NOUN", 0, "root")]
    others = [[("of course", "ADV", 0, "root")], [("rare", "ADJ", 0, "root")], [("*", "X", 0, "root")]]
    write(tmp_path, "en_ewt-ud-train.conllu", conllu(*[run] * 3, *[ran] * 2, *others[:1] * 4, *others[1:]))
    assert commonest_tags(tmp_path, "en", least=3) == {"runs": "VERB"}
    assert commonest_tags(tmp_path, "en", least=1) == {"runs": "VERB", "rare": "ADJ", "*": "X"}
    assert commonest_tags(tmp_path, "fr") == {}


def test_a_word_that_is_as_often_this_as_that_has_no_tag(tmp_path):
    write(tmp_path, "en_ewt-ud-train.conllu", conllu(*[[("runs", tag, 0, "root")] for tag in ("VERB", "NOUN") * 3]))
    assert commonest_tags(tmp_path, "en") == {}


def test_a_treebank_in_two_folders_is_refused(tmp_path):
    for folder in ("UD_Dutch-A", "UD_Dutch-A-old"):
        (tmp_path / "ud" / folder).mkdir(parents=True)
        (tmp_path / "ud" / folder / "nl_a-ud-test.conllu").write_text(conllu(DOG), encoding="utf-8")
    message = failure(treebank, "directory", "nl", "test", data=tmp_path)
    assert "UD_Dutch-A-old/nl_a-ud-test.conllu: stands in" in message and message.endswith("remove one of the two")
