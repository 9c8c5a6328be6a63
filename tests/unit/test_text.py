"""Case, Unicode and languages without spaces."""

import re
import sys
import unicodedata
from pathlib import Path

import pytest

from xling_utils.corpora.text import normalise


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("The  cat,\tsaid \u00a0Ann.", "the cat , said ann ."),
        ("\ufeffco\u00adope\u200brate\u200d!\x07", "cooperate !"),
        ("Ти\u0301хий ДОМ", "ти́хий дом"),
        ("ΟΔΟΣ ΤΗΣ ΑΥΓΗΣ", "οδος της αυγης"),
        ("Tie\u0302\u0301ng Vie\u0323\u0302t", "tiếng việt"),
        ("शेर\u0964 ज\u093cरा", "शेर । ज\u093cरा"),
        ("我们喝茶，好吗？", "我 们 喝 茶 ， 好 吗 ？"),
        ("买3本书", "买 3 本 书"),
        ("هل هذا بيتك؟", "هل هذا بيتك ؟"),
        ("یہ گھر ہے۔", "یہ گھر ہے ۔"),
        ("paka-shamba", "paka - shamba"),
        ("\ufffd \u200e \n", ""),
    ],
)
def test_each_script(line, expected):
    assert normalise(line) == expected


@pytest.mark.parametrize(
    ("word", "clusters"),
    [
        ("บ้าน", "บ้า น"),
        ("น้ำ", "น้ำ"),
        ("เกาะ", "เกาะ"),
        ("เรือ", "เรื อ"),
        ("ไทย", "ไท ย"),
        ("ปี๒๕๑๐", "ปี ๒๕๑๐"),
        ("ช้าๆ", "ช้า ๆ"),
    ],
)
def test_thai_clusters(word, clusters):
    assert normalise(word) == clusters


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("น้ำ", "ฉันดื่มน้ำเย็น"),
        ("โรงเรียน", "เธอไปโรงเรียนทุกวัน"),
        ("学校", "他在学校读书。"),
        ("Hund", "Der Hund, der bellt."),
    ],
)
def test_a_dictionary_word_is_found_in_a_sentence_as_the_same_units(word, sentence):
    assert f" {normalise(word)} " in f" {normalise(sentence)} "


def test_full_width_and_ligatures_are_not_folded_as_nfkc_would():
    assert normalise("，ﬁ²…") == "， ﬁ² …"
    assert "ำ" in normalise("คำ")


def test_canonically_equal_spellings_become_one():
    for line in ("Çok güzel", "Việt", "शु\u095eरू", "اَلشَّمْسُ", "Άνοιξη"):
        assert normalise(unicodedata.normalize("NFD", line)) == normalise(line)


def test_turkish_capitals_both_become_dotted():
    assert normalise("İzmir ISPARTA ılık") == "izmir isparta ılık"
    assert normalise("I\u0307zmir") == "izmir"


def test_case_can_stay():
    assert normalise("Der Hund İzmir", form="cased") == "Der Hund İzmir"


@pytest.mark.parametrize("token", ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##ing"])
@pytest.mark.parametrize("form", ["lower", "cased"])
def test_special_tokens_in_text_come_apart(token, form):
    assert token not in normalise(f"a {token} b{token}c", form=form)


@pytest.mark.parametrize("form", ["lower", "cased"])
def test_twice_is_once(form):
    for code in (*range(0x3100), *range(0x3100, sys.maxunicode, 101)):
        if not 0xD800 <= code < 0xE000:
            once = normalise(f"i{chr(code)}\u0307 {chr(code)}", form=form)
            assert normalise(once, form=form) == once, hex(code)


def test_no_control_or_format_character_is_left():
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Co"):
            assert normalise(f"a{chr(code)}b") in ("ab", "a b"), hex(code)


def test_the_examples_of_the_book_page_are_what_the_function_does():
    page = Path(__file__).resolve().parents[2] / "book" / "data.md"
    rows = re.findall(r"^\| \w+ \| `(.*)` \| `(.*)` \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) >= 8
    for line, units in rows:
        assert normalise(line) == units


def test_a_raw_line_is_as_it_is_written():
    assert normalise("  Ça\tva ?  [SEP]\n", form="raw") == "Ça va ? [SEP]"
