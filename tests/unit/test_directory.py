"""Real text: documents, samples, dictionaries, and every bad input a data directory can hold."""

import codecs
import errno
import lzma
import os
import tracemalloc
from typing import get_args

import pytest

from tests.given import failure, write
from xling_utils.core.errors import UserError
from xling_utils.core.specs import Form
from xling_utils.corpora import directory, lines, parallel
from xling_utils.corpora.checks import check, summary


@pytest.fixture
def data(tmp_path):
    """200 documents of three lines in English (plain) and Swahili (xz), and a list without documents."""
    for language, word in (("en", "house"), ("sw", "nyumba")):
        documents = ("".join(f"{word} {number} is number {line}.\n" for line in range(3)) for number in range(200))
        write(tmp_path / "text" / language / "book.txt", "\n".join(documents), packed=language == "sw")
    write(tmp_path / "text" / "en" / "list.txt", "".join(f"Line {n}\n" for n in range(1005)))
    return tmp_path


def test_lines_are_numbered_and_byte_order_mark_and_line_ends_go(tmp_path):
    path = write(tmp_path / "a.txt", b"\xef\xbb\xbfone\r\n\ntwo")
    assert list(lines.read_lines(path)) == [(1, "one"), (2, ""), (3, "two")]


def test_plain_and_packed_read_alike(tmp_path):
    plain = write(tmp_path / "a.txt", "one\n二\n")
    write(tmp_path / "b.txt", "one\n二\n", packed=True)
    assert list(lines.read_lines(plain)) == list(lines.read_lines(tmp_path / "b.txt.xz"))


@pytest.mark.parametrize(
    ("content", "name", "parts"),
    [
        (b"good\n\xff\xfe bad\n", "a.txt", ["a.txt, line 2", "not UTF-8"]),
        (lzma.compress(b"good\n\xe9\n"), "a.txt.xz", ["a.txt.xz, line 2", "not UTF-8"]),
        (lzma.compress(b"line\n" * 9000)[:-40], "a.txt.xz", ["a.txt.xz, after line", "cut short"]),
        (b"", "a.txt.xz", ["a.txt.xz", "cut short"]),
        (b"no xz at all", "a.txt.xz", ["a.txt.xz", "damaged xz"]),
        (b"", "a.txt", ["a.txt", "empty"]),
        (b"\n \n", "a.txt", ["a.txt", "empty"]),
        (b"good\nb\0a\0d\0\n", "a.txt", ["a.txt, line 2", "NUL"]),
        (b"good\n" + b"x" * 1_500_000, "a.txt", ["a.txt, line 2", "over a megabyte"]),
    ],
)
def test_a_damaged_file_is_named_with_its_line(tmp_path, content, name, parts):
    message = failure(lines.read_lines, write(tmp_path / name, content))
    assert all(part in message for part in parts), message


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_lines_are_whole_wherever_a_block_ends(tmp_path, packed, end):
    wanted = [str(number) + "ж中" * (number % 97) for number in range(9_000)]
    path = write(tmp_path / "a.txt", end.join(wanted).encode(), packed=packed)
    path = path.with_name("a.txt.xz") if packed else path
    assert path.stat().st_size > 100 and len("".join(wanted).encode()) > 5 * lines.BLOCK
    assert list(lines.read_lines(path)) == list(enumerate(wanted, 1))


def test_what_stands_above_a_mistake_is_read_first(tmp_path):
    content = b"a\n" * lines.BLOCK + b"b\n\xe9\n"
    read = []
    with pytest.raises(UserError, match=f"line {lines.BLOCK + 2}: not UTF-8"):
        read.extend(lines.read_lines(write(tmp_path / "a.txt", content)))
    read = lines.read_lines(write(tmp_path / "a.txt", content))
    assert [line for _, line in zip(range(lines.BLOCK + 1), read, strict=False)][-1] == (lines.BLOCK + 1, "b")


def test_a_corrupt_byte_inside_xz_is_found(tmp_path):
    content = bytearray(lzma.compress("".join(f"line {n}\n" for n in range(5000)).encode()))
    content[len(content) // 2] ^= 0xFF
    path = write(tmp_path / "a.txt.xz", bytes(content))
    assert "a.txt.xz, after line" in failure(lines.read_lines, path)


def test_xz_streams_one_after_another_are_read_to_the_end(tmp_path):
    first, second = (lzma.compress("".join(f"{of} {n}\n" for n in range(50_000)).encode()) for of in "ab")
    path = write(tmp_path / "a.txt.xz", first + b"\0" * 8 + second + b"\0" * 4)
    assert [line for _, line in lines.read_lines(path)][50_000:] == [f"b {n}" for n in range(50_000)]
    for damaged in (b"\xff" + second[1:], second[:-9], b"x"):
        write(path, first + damaged)
        assert "a.txt.xz, after line" in failure(lines.read_lines, path)


def test_a_missing_file_is_named(tmp_path):
    assert "nowhere.txt: No such file" in failure(lines.read_lines, tmp_path / "nowhere.txt")


def test_an_endless_line_is_never_held(tmp_path):
    path = write(tmp_path / "a.txt", b"x" * 100_000_000, packed=True).with_name("a.txt.xz")
    tracemalloc.start()
    assert "over a megabyte" in failure(lines.read_lines, path)
    assert tracemalloc.get_traced_memory()[1] < 32_000_000
    tracemalloc.stop()


def test_missing_and_empty_languages(data):
    (data / "text" / "tr").mkdir()
    write(data / "text" / "ur" / "a.txt", "")
    mark = write(data / "b.txt", codecs.BOM_UTF8)
    assert "b.txt: the file is empty" in failure(lines.read_lines, mark)
    assert "text/fr" in failure(directory.sample, data, "fr", 1, 0)
    assert "en, sw" in failure(directory.sentences, data, "tr")
    assert "ur/a.txt: the file is empty" in failure(directory.sample, data, "ur", 1, 0)
    assert directory.languages(data) == ("en", "sw", "ur")


def test_a_file_beside_its_packed_copy_is_a_mistake(data):
    write(data / "text" / "en" / "book.txt", "again\n", packed=True)
    assert "remove one of the two" in failure(directory.sentences, data, "en")


def test_documents_end_at_blank_lines_and_lists_come_in_chunks(data):
    book, loose = data / "text" / "en" / "book.txt", data / "text" / "en" / "list.txt"
    assert [len(document) for document in directory.documents(book)] == [3] * 200
    assert [len(document) for document in directory.documents(loose)] == [20] * 50 + [5]


def test_a_test_sentence_is_kept_out_of_text_whatever_separates_its_words(data):
    write(data / "parallel/own/en.txt", "Line  12\tof the book.\n")
    assert "line 12 of the book ." in directory.protected_sentences(data, "en")
    write(data / "bucc2018/zh-en.dev.en", "en-1\tLine 13\tof the book.\n")
    assert "line 13 of the book ." in directory.protected_sentences(data, "en")


def test_training_and_held_out_share_no_document_and_lose_none(data):
    train = set(directory.sentences(data, "en"))
    held = set(directory.sentences(data, "en", held_out=True))
    train_text, held_text = {text for _, text in train}, {text for _, text in held}
    assert not train_text & held_text
    assert len(train_text | held_text) == 600 + 1005
    assert 0.03 < len(held) / 1605 < 0.2
    assert {document for document, _ in train} == set(range(len({document for document, _ in train})))


def test_a_sample_is_determined_by_its_seed_and_begins_the_larger_one(data):
    rows = directory.sample(data, "en", 300, 7).to_dict()
    assert rows == directory.sample(data, "en", 300, 7).to_dict()
    assert rows["text"] == directory.sample(data, "en", 900, 7)["text"][:300]
    assert rows["text"] != directory.sample(data, "en", 300, 8)["text"][:]
    assert len(rows["text"]) == 300
    assert rows["document"] == sorted(rows["document"])


def test_a_sample_is_drawn_in_whole_documents_from_its_own_side(data):
    held = {text for _, text in directory.sentences(data, "sw", held_out=True)}
    rows = directory.sample(data, "sw", 60, 0)
    assert not held & set(rows["text"])
    assert all(rows["document"][:].count(number) == 3 for number in set(rows["document"]))
    assert set(directory.sample(data, "sw", 9, 0, held_out=True)["text"]) <= held


def test_a_sample_does_not_depend_on_packing_or_file_names(data, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    write(other / "text" / "en" / "z.txt", (data / "text" / "en" / "book.txt").read_bytes(), packed=True)
    write(other / "text" / "en" / "a.txt", (data / "text" / "en" / "list.txt").read_bytes(), packed=True)
    one, two = directory.sample(data, "en", 200, 3), directory.sample(other, "en", 200, 3)
    assert one.to_dict() == two.to_dict()


def test_too_few_sentences_says_how_many_there_are(data):
    there = len(list(directory.sentences(data, "sw")))
    message = failure(directory.sample, data, "sw", 601, 0)
    assert f"{there} sentences" in message and "601 asked for" in message
    assert len(directory.sample(data, "sw", there, 0)) == there


def test_case_can_stay_in_samples(data):
    assert any(text.startswith("Line") for _, text in directory.sentences(data, "en", form="cased"))


@pytest.mark.parametrize("form", get_args(Form))
def test_no_test_sentence_is_read_as_text(data, form):
    write(data / "text" / "sw" / "news.txt", "Nyumba ni kubwa.\nJua linawaka!\nHabari njema\nSiku ya leo\n")
    write(data / "tatoeba" / "sw-en.sw", "nyumba  ni kubwa.\n")
    write(data / "parallel" / "articles" / "sw.txt", "Jua linawaka!\n", packed=True)
    write(data / "parallel" / "msdocs" / "sw.txt", "Habari njema\n")
    write(data / "bucc2018" / "sw-en.dev.sw", "sw-01\tSiku ya leo\n")
    read = {s.lower() for h in (0, 1) for _, s in directory.sentences(data, "sw", form=form, held_out=h)}
    assert "habari njema" in read
    assert not {"nyumba ni kubwa .", "jua linawaka !", "siku ya leo"} & read


def test_the_fingerprint_follows_content(data):
    one = directory.fingerprint(data, ["en", "sw"])
    assert one == directory.fingerprint(data, ["sw", "en", "en"]) != directory.fingerprint(data, ["en"])
    write(data / "dictionaries" / "muse" / "en-sw.test.txt", "house nyumba\n")
    assert directory.fingerprint(data, ["en", "sw"]) == one
    write(data / "tatoeba" / "sw-en.sw", "Habari.\n")
    two = directory.fingerprint(data, ["en", "sw"])
    write(data / "text" / "en" / "list.txt", "another line\n")
    assert len({one, two, directory.fingerprint(data, ["en", "sw"])}) == 3
    assert "text/fr" in failure(directory.fingerprint, data, ["fr"])


def test_both_parts_of_muse_are_read_and_normalised(tmp_path):
    write(tmp_path / "dictionaries/muse/en-th.train.txt", "water น้ำ\nhouse\tบ้าน\nhouse บ้าน\n\n", packed=True)
    write(tmp_path / "dictionaries/muse/en-th.test.txt", "Games games\nend จบ\n")
    found = directory.dictionary(tmp_path, "th")
    assert found == [("water", "น้ำ"), ("house", "บ้า น"), ("games", "games"), ("end", "จ บ")]
    assert directory.dictionary(tmp_path, "th", form="cased")[2] == ("Games", "games")


def test_wiktionary_stands_in_without_entries_of_several_words(tmp_path):
    lines = "".join(f"word{n}\tneno{n}\nword{n}\tjina{n}\n" for n in range(200))
    write(tmp_path / "dictionaries/wiktionary/en-sw.tsv", lines + "botanical garden\tbustani\nfern\tmti mdogo\n")
    assert len(directory.dictionary(tmp_path, "sw")) == 400


@pytest.mark.parametrize("line", ["alone", "alone\t", "one two three", "a\tb\tc"])
def test_a_dictionary_line_without_two_columns_is_named(tmp_path, line):
    write(tmp_path / "dictionaries/muse/en-fr.train.txt", "water eau\n")
    write(tmp_path / "dictionaries/muse/en-fr.test.txt", f"house maison\n{line}\n", packed=True)
    message = failure(directory.dictionary, tmp_path, "fr")
    assert "en-fr.test.txt.xz, line 2" in message


def test_a_missing_dictionary_or_part_is_named(tmp_path):
    assert "no dictionary for fr" in failure(directory.dictionary, tmp_path, "fr")
    write(tmp_path / "dictionaries/muse/en-fr.train.txt", "house maison\n")
    assert "en-fr.test.txt" in failure(directory.dictionary, tmp_path, "fr")


def test_the_vocabulary_must_be_there(tmp_path):
    assert "vocab.txt" in failure(directory.mbert_vocabulary, tmp_path)
    path = write(tmp_path / "vocab" / "bert-base-multilingual-cased.vocab.txt", "[PAD]\n")
    assert directory.mbert_vocabulary(tmp_path) == path


def test_check_counts_and_names_what_is_missing(data):
    findings = [*check(data)]
    assert not [finding for finding in findings if finding.level == "broken"]
    rows = {row["language"]: row for row in summary(findings)}
    assert rows["en"]["sentences"] == 1605 and rows["en"]["files"] == 2
    assert rows["sw"]["documents"] == 200
    missing = {finding.what: finding.message for finding in findings if finding.level == "missing"}
    assert "fr es" in missing["text"] and "ud" in missing and "vocab" in missing


def test_check_tells_what_it_finds_as_it_finds_it(data):
    found = check(data)
    assert next(found).what == "text"
    write(data / "ner/panx/dev.en.tsv", "Ann\tB-PER\nsleeps\n")  # meanwhile
    assert [finding.path.name for finding in found if finding.level == "broken"] == ["dev.en.tsv"]


def test_check_finds_every_kind_of_damage(data):
    tree = "1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    write(data / "ud/UD_English-Own/en_own-ud-test.conllu", tree * 3 + "1\tDogs\tdog\n\n")
    write(data / "ud/UD_English-Own/en_own-ud-dev.conllu", tree.replace("1\tDogs", "x\tDogs"))
    write(data / "ud/UD_English-Own/en_own-ud-train.conllu", tree.replace("\t2\t", f"\t{'2' * 5_000}\t"))
    write(data / "text/en/bad.txt", b"fine\nfine\n\xff\n")
    write(data / "dictionaries/muse/en-sw.test.txt", "house nyumba\nalone\n")
    write(data / "nli/xnli/test.en.tsv", "A dog.\tAn animal.\tperhaps\n", packed=True)
    write(data / "ner/panx/dev.en.tsv", "Ann\tB-PER\nsleeps\n")
    write(data / "tatoeba/sw-en.sw", "nyumba 1 is number 1.\nMbili.\n")
    write(data / "tatoeba/sw-en.en", "One.\n")
    write(data / "bucc2018/zh-en.dev.gold", "zh-1\ten-1\n", packed=True)
    write(data / "vocab/bert-base-multilingual-cased.vocab.txt", "[PAD]\n[UNK]\n")
    findings = [*check(data)]
    broken = {(finding.path.name, finding.line) for finding in findings if finding.level == "broken"}
    assert broken >= {
        ("en_own-ud-test.conllu", 10),
        ("en_own-ud-dev.conllu", 1),
        ("bad.txt", 3),
        ("en-sw.test.txt", 2),
        ("test.en.tsv", 1),
        ("dev.en.tsv", 2),
        ("en_own-ud-train.conllu", 1),
        ("zh-en.dev.gold", 1),
        ("bert-base-multilingual-cased.vocab.txt", None),
    }
    assert any("where its translations have" in f.message for f in findings if f.level == "broken")
    write(data / "dictionaries/muse/en-eo.test.txt", "house\n")
    assert not any("en-eo" in finding.path.name for finding in check(data)), (
        "nothing is known of a language without text"
    )
    write(data / "text/eo/own.txt", "Saluton.\n")
    assert any(f.level == "broken" and f.path.name == "en-eo.test.txt" for f in check(data))
    notes = [finding.message for finding in findings if finding.level == "note"]
    assert len(notes) == 1 and "sw: 1 or more lines are test sentences" in notes[0]


def test_a_dictionary_that_another_stands_in_for_is_not_missed(data):
    """As Wiktionary's does for MUSE's, which has neither Swahili nor Urdu."""
    for part in ("train", "test"):
        (data / f"dictionaries/muse/en-sw.{part}.txt").unlink(missing_ok=True)

    def missed() -> list[str]:
        found = check(data, ["sw"])
        return [finding.what for finding in found if finding.level == "missing" and "dictionaries" in finding.what]

    assert missed() == [f"dictionaries/muse/en-{{}}.{part}.txt" for part in ("train", "test")]
    write(data / "dictionaries/wiktionary/en-sw.tsv", "house\tnyumba\n")
    assert missed() == []


def test_check_wants_a_directory_with_text(tmp_path):
    assert "no such directory" in failure(check, tmp_path / "nowhere")
    assert [f.what for f in check(tmp_path) if f.level == "broken"] == ["text"]


def test_a_domain_is_the_name_of_a_file_and_no_pattern(tmp_path):
    folder = tmp_path / "text" / "en"
    folder.mkdir(parents=True)
    for name in ("news[1]", "x"):
        (folder / f"{name}.txt").write_text("A sentence .\n", encoding="utf-8")
    assert [path.name for path in directory.text_files(tmp_path, "en", "news[1]")] == ["news[1].txt"]
    with pytest.raises(UserError, match="no text"):
        directory.text_files(tmp_path, "en", "*")
    with pytest.raises(UserError, match="is no domain"):
        directory.text_files(tmp_path, "en", "../en/x")


def test_check_looks_at_every_file_that_is_read(data):
    """Tests of pairs that no language of the book has, entities of others and lines that readers refuse."""
    write(data / "tatoeba/fy-en.en", b"\xff\n")
    write(data / "bucc2018/nl-en.dev.en", b"\xff\n")
    write(data / "ner/panx/dev.fy.tsv", "Ann\n")
    write(data / "dictionaries/muse/en-sw.train.txt", "house\t\n")
    tree = "1\tAnn\t_\tNUON\t_\t_\t0\troot\t_\t_\n\n"
    write(data / "ud/UD_English-Own/en_own-ud-test.conllu", tree)
    messages = [finding.message for finding in check(data) if finding.level == "broken"]
    for name in ("fy-en.en", "nl-en.dev.en", "dev.fy.tsv", "en-sw.train.txt", "en_own-ud-test"):
        assert sum(name in message for message in messages) == 1, name
    assert any("dev.fy.tsv" in finding.message for finding in check(data, ["sw"]) if finding.level == "broken")


def test_a_link_to_nothing_is_no_text_and_a_hidden_file_is_none(tmp_path):
    folder = tmp_path / "text/nl"
    write(folder / "a.txt", "Een huis .\n")
    for copy in (".a.txt", "._a.txt"):
        write(folder / copy, "Een huis .\n")
    assert [path.name for path in directory.text_files(tmp_path, "nl")] == ["a.txt"]
    (folder / "b.txt").symlink_to(tmp_path / "nowhere")
    assert "b.txt: a link to nothing" in failure(directory.text_files, tmp_path, "nl")


@pytest.mark.parametrize("name", ["tatoeba", "parallel/mine", "text/en"])
def test_a_folder_that_cannot_be_read_is_not_taken_for_an_empty_one(name, data, monkeypatch):
    """Else its tests would be text to train on."""
    (data / name).mkdir(parents=True, exist_ok=True)
    real = os.scandir

    def scandir(place):
        if place == data / name:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
        return real(place)

    monkeypatch.setattr(directory, "scandir", scandir)
    read = directory.text_files if name.startswith("text") else directory.protected_files
    assert failure(read, data, "en") == f"{data / name}: Permission denied; make it readable"


def test_a_pair_of_which_one_is_blank_is_no_pair(tmp_path):
    write(tmp_path / "tatoeba/nl-en.en", "One .\nTwo .\nThree .\n")
    write(tmp_path / "tatoeba/nl-en.nl", "Een .\n\nDrie .\n")
    assert parallel.pairs("directory", "nl", 2, data=tmp_path) == (["one .", "three ."], ["een .", "drie ."])
