"""Labelled data for transfer: both sources, the divisions, and every mistake a labelled file can hold."""

from collections import Counter

import pytest

from tests.given import DATA, failure, real, write
from xling_utils.corpora.checks import check
from xling_utils.corpora.label_files import TAGS, inference_lines, repaired, tagged_sentences
from xling_utils.corpora.labelled import (
    LABELS,
    inference,
    named_entities,
)


def pairs(dataset):
    return list(zip(dataset["premise"], dataset["hypothesis"], dataset["label"], strict=True))


def sentences(dataset):
    return list(zip(map(tuple, dataset["words"]), map(tuple, dataset["tags"]), strict=True))


def entities_only(rows):
    return [[tag for tag in tags if tag[0] == "B"] for tags in rows["tags"]]


@pytest.fixture
def data(tmp_path):
    """Thirty pairs in English and in Swahili (packed), and a hundred tagged sentences in each."""
    for language, there in (("en", "is here"), ("sw", "yuko hapa")):
        for name in ("xnli/dev", "xnli/test", "multinli15k/train"):
            deny = "contradictory" if name.startswith("multi") else "contradiction"
            labels = ("entailment", "neutral", deny)
            lines = (f"Ann {n} {there}.\tBob {n} {there}.\t{labels[n % 3]}\n" for n in range(30))
            write(tmp_path / f"nli/{name}.{language}.tsv", "".join(lines), packed=language == "sw")
        for part, numbers in (("train", range(100)), ("dev", range(95, 195))):
            lines = (f"Ann\tB-PER\nLee-{n}\tI-PER\n{there}\tO\n.\tO\n\n" for n in numbers)
            write(tmp_path / f"ner/panx/{part}.{language}.tsv", "".join(lines), packed=language == "sw")
    return tmp_path


# A directory


def test_both_spellings_of_contradiction_are_one_label_and_text_is_normalised(data):
    for split in ("train", "dev", "test"):
        rows = inference("directory", "sw", split, data=data)
        assert rows.column_names == ["premise", "hypothesis", "label"] and len(rows) == 30
        assert Counter(rows["label"]) == dict.fromkeys(LABELS, 10)
        assert rows[2] == {"premise": "ann 2 yuko hapa .", "hypothesis": "bob 2 yuko hapa .", "label": "contradiction"}
    assert inference("directory", "en", "dev", data=data, form="cased")[0]["premise"] == "Ann 0 is here ."


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_a_sample_takes_the_same_rows_in_every_language_and_begins_the_larger_one(data, split):
    english = pairs(inference("directory", "en", split, count=10, seed=3, data=data))
    swahili = pairs(inference("directory", "sw", split, count=10, seed=3, data=data))
    assert [premise.split()[1] for premise, _, _ in english] == [premise.split()[1] for premise, _, _ in swahili]
    assert english == pairs(inference("directory", "en", split, count=25, seed=3, data=data))[:10]
    assert english != pairs(inference("directory", "en", split, count=10, seed=4, data=data))
    assert len(set(english)) == 10


def test_tags_follow_the_units_of_a_word(data):
    lines = (
        "Lee-Ann\tB-PER\n\u200e\tI-PER\nO'Hara\tI-PER\nin\tO\n\u200e\tB-LOC\n北京\tI-LOC\n\n\u200e\tO\n\nหมา\tB-ORG\n"
    )
    write(data / "ner/panx/dev.en.tsv", lines)
    rows = named_entities("directory", "en", "test", data=data)
    assert rows.column_names == ["words", "tags"]
    assert rows["words"][:] == [["lee", "-", "ann", "o", "'", "hara", "in", "北", "京"], ["ห", "มา"]]
    assert rows["tags"][:] == [["B-PER", *["I-PER"] * 5, "O", "B-LOC", "I-LOC"], ["B-ORG", "I-ORG"]]
    assert named_entities("directory", "en", "test", data=data, form="cased")["words"][0][0] == "Lee"


def test_an_entity_whose_first_word_is_no_text_does_not_join_the_one_before(data):
    write(data / "ner/panx/dev.en.tsv", "Ann\tB-PER\n\u200e\tB-PER\nBob\tI-PER\n")
    assert named_entities("directory", "en", "test", data=data)["tags"][:] == [["B-PER", "B-PER"]]


def test_gold_tags_that_begin_inside_are_repaired_and_reported(data):
    path = write(data / "ner/panx/dev.en.tsv", "He\tO\n\nAnn\tI-PER\nLee\tI-PER\n\nin\tO\nRome\tI-LOC\n")
    assert named_entities("directory", "en", "test", data=data)["tags"][1:] == [["B-PER", "I-PER"], ["O", "B-LOC"]]
    assert [first for first, _, _ in tagged_sentences(path)] == [1, 3, 6]
    notes = [finding for finding in check(data) if finding.level == "note"]
    assert [(note.path, note.line) for note in notes] == [(path, 3)]
    assert "2 I- tags after O, the first in line 3" in notes[0].message


def test_train_dev_and_test_share_no_sentence_and_only_the_tests_leave_train(data):
    write(data / "ner/panx/dev.tr.tsv", "ann\tO\nlee-7\tO\nis here\tO\n.\tO\n")
    split = {name: sentences(named_entities("directory", "en", name, data=data)) for name in ("train", "dev", "test")}
    assert sum(map(len, split.values())) == len(set().union(*split.values())) == 94 + 100
    assert len(split["test"]) == 100 and 0 < len(split["dev"]) < 25
    missing = {f"{n}" for n in range(100)} - {words[3] for words, _ in split["train"] + split["dev"]}
    assert missing == {"7", "95", "96", "97", "98", "99"}


def test_a_sample_of_sentences_is_determined_by_its_seed(data):
    rows = sentences(named_entities("directory", "sw", "test", count=20, seed=1, data=data))
    assert rows == sentences(named_entities("directory", "sw", "test", count=40, seed=1, data=data))[:20]
    assert rows != sentences(named_entities("directory", "sw", "test", count=20, seed=2, data=data))


def test_sentences_that_are_no_text_do_not_count(data):
    write(data / "ner/panx/dev.en.tsv", "\u200e\tO\n\n" * 5 + "Ann\tB-PER\n\n" * 5)
    assert len(named_entities("directory", "en", "test", count=5, data=data)) == 5
    assert "5 rows for test, 6 asked for" in failure(named_entities, "directory", "en", "test", count=6, data=data)


# Mistakes


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("Ann is here.\tBob is.\tperhaps", "unknown label 'perhaps'; write one of entailment, neutral"),
        ("Ann is here.\tneutral", "2 columns instead of 3"),
        ("Ann is here.\t\tneutral", "premise without a hypothesis"),
        (" \tBob is.\tneutral", "hypothesis without a premise"),
        ("Ann is here.\tBob is.\tneutral\t1", "4 columns instead of 3"),
        ("", "1 columns instead of 3"),
        ("Ann is here.\t\u200e\tneutral", "nothing of premise or hypothesis is text"),
    ],
)
def test_a_bad_pair_is_named_with_its_line(data, line, part):
    path = write(data / "nli/xnli/test.en.tsv", f"A.\tB.\tneutral\n{line}\nA.\tB.\tneutral\n")
    message = failure(inference, "directory", "en", "test", data=data)
    assert message.startswith(f"{path}, line 2: ") and part in message


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("Rome", "not one word with one tag"),
        ("\tB-LOC", "not one word with one tag"),
        ("Rome\tB-LOC\tO", "not one word with one tag"),
        ("Rome\tB-DATE", "unknown tag 'B-DATE'; write one of O B-PER I-PER"),
        ("Rome\tLOC", "unknown tag 'LOC'"),
        ("Rome\t", "unknown tag ''"),
        ("Rome\tI-LOC", "I-LOC after B-PER is not BIO; begin an entity with B-LOC"),
    ],
)
def test_a_bad_tag_is_named_with_its_line_by_reading_and_by_check(data, line, part):
    path = write(data / "ner/panx/dev.sw.tsv", f"He\tO\n\nAnn\tB-PER\n{line}\n", packed=True)
    message = failure(named_entities, "directory", "sw", "test", data=data)
    assert message.startswith(f"{path}, line 4: ") and part in message
    assert any(finding.level == "broken" and finding.message == message for finding in check(data))


def test_check_finds_a_premise_without_a_hypothesis(data):
    write(data / "nli/xnli/dev.en.tsv", "A.\tB.\tneutral\nA.\t \tneutral\n")
    assert ("dev.en.tsv", 2) in {(f.path.name, f.line) for f in check(data) if f.level == "broken"}


def test_a_language_without_a_file_is_told_who_has_one(data):
    write(data / "nli/xnli/test.tlh.tsv", "A.\tB.\tneutral\n")
    message = failure(inference, "directory", "fr", "test", data=data)
    assert f"{data / 'nli/xnli/test.fr.tsv'}: no such file" in message and message.endswith("one: en sw tlh")
    assert "ner/panx/train.fr.tsv" in failure(named_entities, "directory", "fr", "dev", data=data)
    assert failure(inference, "directory", "en", "test", data=data / "nli").endswith("one: none")


@pytest.mark.parametrize("read", [inference, named_entities])
def test_arguments_that_make_no_sense_are_named(data, read):
    assert "known: controlled, directory" in failure(read, "hub", "en", "test", data=data)
    assert "known: train, dev, test" in failure(read, "controlled", "en", "valid", count=3)
    assert "give a count" in failure(read, "controlled", "en", "test")
    assert "0 rows" in failure(read, "directory", "en", "test", count=0, data=data)
    assert "101 asked for" in failure(read, "directory", "en", "test", count=101, data=data)
    assert "XLING_DATA" in failure(read, "directory", "en", "test")
    assert "xx" in failure(read, "controlled", "xx", "test", count=3)


# The repair of predictions


@pytest.mark.parametrize(
    ("tags", "valid"),
    [
        ("O I-PER O", "O B-PER O"),
        ("I-LOC I-LOC", "B-LOC I-LOC"),
        ("B-PER I-LOC I-ORG O I-PER", "B-ORG I-ORG I-ORG O B-PER"),
        ("B-PER I-PER B-PER I-LOC", "B-PER I-PER B-LOC I-LOC"),
        ("I-PER I-LOC B-ORG", "B-LOC I-LOC B-ORG"),
        ("", ""),
    ],
)
def test_stray_tags_are_repaired_and_valid_ones_stay(tags, valid):
    assert repaired(tags.split()) == valid.split() == repaired(valid.split())


# The controlled world


@pytest.mark.parametrize("language", ["en", "zh", "vi"])
def test_controlled_splits_share_nothing_and_labels_are_balanced(language):
    splits = ("train", "dev", "test")
    drawn = [inference("controlled", language, split, count=300) for split in splits]
    assert all(Counter(rows["label"]) == dict.fromkeys(LABELS, 100) for rows in drawn)
    found = [{pair[:2] for pair in pairs(rows)} for rows in drawn]
    assert not found[0] & found[1] | found[0] & found[2] | found[1] & found[2]
    tagged = [named_entities("controlled", language, split, count=300) for split in splits]
    words = [{tuple(words) for words in rows["words"]} for rows in tagged]
    assert not words[0] & words[1] | words[0] & words[2] | words[1] & words[2]
    assert min(len(seen) for seen in (*found, *words)) > 200


def test_the_controlled_test_is_parallel_and_training_is_not():
    english, hindi = (inference("controlled", language, "test", count=60, seed=2) for language in ("en", "hi"))
    assert english["label"][:] == hindi["label"][:] and english["premise"][:] != hindi["premise"][:]
    said = [named_entities("controlled", language, "test", count=200, seed=2) for language in ("en", "ru", "zh")]
    counts = [[Counter(tags) for tags in entities_only(rows)] for rows in said]
    assert counts[0] == counts[1] == counts[2] and sum(map(bool, counts[0])) > 20
    drawn = [named_entities("controlled", language, "train", count=200, seed=2) for language in ("en", "ru")]
    assert entities_only(drawn[0]) != entities_only(drawn[1])


@pytest.mark.parametrize("read", [inference, named_entities])
def test_controlled_draws_are_determined_by_their_seed(read):
    rows, more, other = (
        list(read("controlled", "tr", "train", count=count, seed=seed)) for count, seed in ((30, 5), (60, 5), (30, 6))
    )
    assert rows == more[:30] and rows != other


def test_a_controlled_name_of_two_words_is_one_entity_in_text_units():
    rows = named_entities("controlled", "vi", "train", count=600)
    assert all(" " not in word for words in rows["words"] for word in words)
    tags = Counter(tag for row in rows["tags"] for tag in row)
    assert tags["I-LOC"] and set(tags) <= set(TAGS)
    assert all(repaired(row) == row for row in rows["tags"])


# Real data


@real("nli", "ner")
def test_real_files_are_read_and_only_chinese_tags_need_repair():
    for language, strays in (("en", 0), ("ur", 0), ("zh", 476)):
        labels = Counter(label for *_, label in inference_lines(DATA / f"nli/xnli/test.{language}.tsv.xz"))
        assert labels == dict.fromkeys(LABELS, 1670)
        gold = [tags for _, _, tags in tagged_sentences(DATA / f"ner/panx/dev.{language}.tsv.xz")]
        assert sum(a != b for tags in gold for a, b in zip(tags, repaired(tags), strict=True)) == strays


@real("nli", "ner")
def test_real_samples_are_parallel_and_divided():
    labels = {tuple(inference("directory", x, "test", count=90, data=DATA)["label"]) for x in ("en", "th", "ur")}
    assert len(labels) == 1
    assert len(named_entities("directory", "en", "dev", data=DATA)) == 1873
    assert "languages that have one: en fr" in failure(named_entities, "directory", "th", "test", data=DATA)
