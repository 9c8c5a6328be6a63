"""Data as one file: what goes in, that it comes out as it was, and that nothing else comes out."""

import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest

from tests.given import write
from xling_utils.core.errors import UserError
from xling_utils.corpora import archive, directory, labelled, parallel, task_files, treebanks
from xling_utils.corpora.checks import check

TREE = "1\tAnn\t_\tPROPN\t_\t_\t2\tnsubj\t_\t_\n2\tcame\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
LEFT_OUT = {
    "text/sw/news.txt",
    "text/en/news.ids",
    "tatoeba/sw-en.sw",
    "parallel/msdocs/en.txt",
    "dictionaries/muse/en-sw.train.txt",
    "dictionaries/muse/en-sw.test.txt",
    "nli/multinli15k/train.fr.tsv",
    "ner/panx/train.fr.tsv.xz",
    "ner/panx/train.sw.tsv",
    "ud/UD_French-GSD/fr_gsd-ud-dev.conllu",
}


@pytest.fixture
def data(tmp_path):
    """English, French (packed in part) and Swahili."""
    folder = tmp_path / "data"
    for language in ("en", "fr", "sw"):
        sentences = "".join(f"Sentence {n} in {language} .\n\n" for n in range(50))
        write(folder / f"text/{language}/news.txt", sentences, packed=language == "fr")
        for part in ("train", "dev"):
            numbers = range(30) if part == "train" else range(20, 40)
            tagged = "".join(f"Ann\tB-PER\n{language}-{n}\tO\n\n" for n in numbers)
            write(folder / f"ner/panx/{part}.{language}.tsv", tagged, packed=language == "fr")
    for other in ("fr", "sw"):
        for side in ("en", other):
            write(folder / f"tatoeba/{other}-en.{side}", f"Sentence 7 in {side} .\n")
        for part in ("train", "test"):
            write(folder / f"dictionaries/muse/en-{other}.{part}.txt", f"sentence phrase{part}\n")
    for language in ("en", "fr"):
        write(folder / f"parallel/articles/{language}.txt", f"Sentence 8 in {language} .\n", packed=True)
        for name in ("multinli15k/train", "xnli/dev", "xnli/test"):
            write(folder / f"nli/{name}.{language}.tsv", "Ann came .\tShe came .\tentailment\n")
    for name in ("English-EWT/en_ewt-ud-train", "English-EWT/en_ewt-ud-dev", "English-PUD/en_pud-ud-test",
                 "French-GSD/fr_gsd-ud-dev", "French-GSD/fr_gsd-ud-test", "Irish-IDT/ga_idt-ud-test"):  # fmt: skip
        write(folder / f"ud/UD_{name}.conllu", TREE, packed="English" in name)
    write(folder / "parallel/msdocs/en.txt", "Sentence 9 in en .\n")
    write(folder / "text/en/news.ids", "1\n")
    write(folder / "SOURCES.md", "Written for this test.\n")
    return folder


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_comes_out_is_what_runs_read(data, tmp_path):
    count, digest = archive.pack(data, ["fr"], tmp_path / "some.tar.xz")
    assert digest == hashlib.sha256((tmp_path / "some.tar.xz").read_bytes()).hexdigest()
    copy = tmp_path / "new" / "copy"
    assert archive.unpack(tmp_path / "some.tar.xz", copy) == count
    before, after = contents(data), contents(copy)
    sums = after.pop("SHA256SUMS").decode()
    assert sums == "".join(f"{hashlib.sha256(after[name]).hexdigest()}  {name}\n" for name in sorted(after))
    assert after == {name: content for name, content in before.items() if name not in LEFT_OUT}
    assert len(after) == count and set(before) >= LEFT_OUT
    assert sorted(path.name for path in tmp_path.rglob(".*")) == []
    assert task_files.fingerprint(copy, ["fr"]) == task_files.fingerprint(data, ["fr"])


@pytest.mark.parametrize(
    ("name", "matters"),
    [("dictionaries/muse/en-fr.train.txt", True), ("nli/xnli/test.fr.tsv", True), ("ner/panx/dev.sw.tsv", True),
     ("ud/UD_English-GUM/en_gum-ud-train.conllu", True), ("dictionaries/muse/en-sw.train.txt", False),
     ("text/fr/more.txt", False)],
)  # fmt: skip
def test_what_languages_are_tested_with_changes_with_each_file_of_theirs(data, name, matters):
    before = task_files.fingerprint(data, ["fr"])
    write(data / name, "other words\n")
    assert (task_files.fingerprint(data, ["fr"]) != before) is matters


def test_names_of_any_kind_come_out_again(data, tmp_path):
    for name in ("a\u2028b", "c\u0085d", os.fsdecode(b"e\xfff")):  # the last is in no encoding
        write(data / f"text/fr/{name}.txt", "Sentence 3 in fr .\n")
    count, _ = archive.pack(data, ["fr"], tmp_path / "some.tar.xz")
    assert archive.unpack(tmp_path / "some.tar.xz", tmp_path / "copy") == count
    write(data / "text/fr/e\nf.txt", "Sentence 4 in fr .\n")
    with pytest.raises(UserError, match="ends a line"):
        archive.pack(data, ["fr"], tmp_path / "some.tar.xz")


def test_runs_have_the_same_keys_and_read_the_same(data, tmp_path):
    archive.pack(data, ["en", "fr"], tmp_path / "some.tar.xz")
    archive.unpack(tmp_path / "some.tar.xz", tmp_path / "copy")
    for languages in (["en"], ["fr"], ["en", "fr"]):
        assert directory.fingerprint(tmp_path / "copy", languages) == directory.fingerprint(data, languages)
    assert [finding.message for finding in check(tmp_path / "copy") if finding.level == "broken"] == []
    splits = [("en", "train"), ("en", "dev"), ("en", "test"), ("fr", "test")]

    def read(folder):
        for language, split in splits:
            for reader in (labelled.inference, labelled.named_entities, treebanks.treebank):
                yield reader("directory", language, split, data=folder)[:]
        yield labelled.inference("directory", "fr", "dev", data=folder)[:]
        yield treebanks.treebank("directory", "ga", "test", data=folder)[:]
        yield parallel.pairs("directory", "fr", 9, data=folder)
        yield directory.dictionary(folder, "fr")
        yield [*directory.sentences(folder, "en"), *directory.sentences(folder, "fr", held_out=True)]

    assert list(read(tmp_path / "copy")) == list(read(data))


def test_the_same_files_give_the_same_archive(data, tmp_path):
    one = archive.pack(data, ["fr", "sw"], tmp_path / "one.tar.xz")
    for path in data.rglob("*.txt"):
        os.utime(path, (1, 1))
        path.chmod(0o600)
    assert archive.pack(data, ["sw", "en", "fr"], tmp_path / "two.tar.xz") == one
    assert (tmp_path / "one.tar.xz").read_bytes() == (tmp_path / "two.tar.xz").read_bytes()


def test_text_alone_can_be_packed_and_a_language_without_text_cannot(tmp_path):
    write(tmp_path / "data/text/en/a.txt", "One .\n")
    assert archive.pack(tmp_path / "data", [], tmp_path / "a.tar.xz")[0] == 1
    with pytest.raises(UserError, match=r"text/fr: no text .*languages with text in .*: en$"):
        archive.pack(tmp_path / "data", ["fr"], tmp_path / "a.tar.xz")
    with pytest.raises(UserError, match="nowhere: no such directory"):
        archive.pack(tmp_path / "nowhere", [], tmp_path / "a.tar.xz")
    with pytest.raises(UserError, match=r"nowhere: no such folder; make it, or name another with --out"):
        archive.pack(tmp_path / "data", [], tmp_path / "nowhere/a.tar.xz")


# Archives that are none


def member(name, content=b"", **given):
    found = tarfile.TarInfo(name)
    found.size = len(content)
    for key, value in given.items():
        setattr(found, key, value)
    return found, io.BytesIO(content)


def sums(*members):
    lines = (f"{hashlib.sha256(content.getvalue()).hexdigest()}  {found.name}\n" for found, content in members)
    return member("SHA256SUMS", "".join(lines).encode())


GOOD = member("text/en/a.txt", b"One .\n")
OUT, ABSOLUTE, DOT = member("../out.txt", b"x"), member("/tmp/out.txt", b"x"), member("./a.txt", b"x")
LINK = member("text/en/b.txt", type=tarfile.SYMTYPE, linkname="/etc/passwd")
HARD = member("text/en/b.txt", type=tarfile.LNKTYPE, linkname="text/en/a.txt")
FIFO, FOLDER = member("text/en/b.txt", type=tarfile.FIFOTYPE), member("text/en/b", type=tarfile.DIRTYPE)
DEVICE = member("text/en/b.txt", type=tarfile.CHRTYPE)
OTHER = member("text/en/a.txt", b"Two .\n")
DEEP = member("text/" + "en/" * 5000 + "a.txt", b"x")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([sums(GOOD, OUT), GOOD, OUT], "'../out.txt' would leave its folder"),
        ([sums(GOOD, ABSOLUTE), GOOD, ABSOLUTE], "'/tmp/out.txt' would leave its folder"),
        ([sums(GOOD, DOT), GOOD, DOT], "'./a.txt' would leave its folder"),
        ([sums(GOOD, DEEP), GOOD, DEEP], "a name of 5002 folders"),
        ([sums(GOOD, LINK), GOOD, LINK], "'text/en/b.txt' is no plain file"),
        ([sums(GOOD, HARD), GOOD, HARD], "'text/en/b.txt' is no plain file"),
        ([sums(GOOD, FIFO), GOOD, FIFO], "'text/en/b.txt' is no plain file"),
        ([sums(GOOD, DEVICE), GOOD, DEVICE], "'text/en/b.txt' is no plain file"),
        ([sums(GOOD, FOLDER), GOOD, FOLDER], "'text/en/b' is no plain file"),
        ([member("SHA256SUMS", type=tarfile.SYMTYPE, linkname="/etc/passwd")], "'SHA256SUMS' is no plain file"),
        ([sums(GOOD), GOOD, member("b.txt")], "'b.txt' is not among its sums"),
        ([sums(GOOD), GOOD, GOOD], "'text/en/a.txt' is not among its sums, or is there twice"),
        ([sums(GOOD), OTHER], "text/en/a.txt has another sha256 than the sums say"),
        ([sums(GOOD, member("z.txt")), GOOD], "z.txt is missing, one of 1 files"),
        ([GOOD, sums(GOOD)], "does not begin with SHA256SUMS"),
        ([], "does not begin with SHA256SUMS"),
        ([member("SHA256SUMS", b"nonsense\n")], "SHA256SUMS has a line that is no 'sha256  name'"),
        ([sums(GOOD, member("text/en", b"x")), GOOD, member("text/en", b"x")], "text/en: Is a directory"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_archive_that_is_unsafe_or_not_whole_leaves_nothing_behind(tmp_path, members, message):
    file = tmp_path / "bad.tar.xz"
    with tarfile.open(file, "w:xz") as written:
        for found, content in members:
            written.addfile(found, io.BytesIO(content.getvalue()))
    refused(file, tmp_path, message)


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 0.9])
def test_an_archive_cut_short_is_refused(data, tmp_path, share):
    archive.pack(data, ["fr"], tmp_path / "whole.tar.xz")
    file, whole = tmp_path / "bad.tar.xz", (tmp_path / "whole.tar.xz").read_bytes()
    file.write_bytes(whole[: int(share * len(whole))])
    refused(file, tmp_path, "no whole archive")


def test_a_damaged_byte_is_found(data, tmp_path):
    archive.pack(data, ["fr"], tmp_path / "whole.tar.xz")
    content = bytearray((tmp_path / "whole.tar.xz").read_bytes())
    content[len(content) // 2] ^= 1
    file = tmp_path / "bad.tar.xz"
    file.write_bytes(content)
    refused(file, tmp_path, "no whole archive")


def refused(file, tmp_path, message):
    there = contents(tmp_path)
    with pytest.raises(UserError) as caught:
        archive.unpack(file, tmp_path / "copy")
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert contents(tmp_path) == there and not (tmp_path / "copy").exists()


def test_what_is_in_a_folder_stays(data, tmp_path):
    archive.pack(data, ["fr"], tmp_path / "some.tar.xz")
    with pytest.raises(UserError, match="not an empty folder"):
        archive.unpack(tmp_path / "some.tar.xz", data)
    (tmp_path / "copy").mkdir()
    archive.unpack(tmp_path / "some.tar.xz", tmp_path / "copy")
    assert (tmp_path / "copy/text/en/news.txt").exists()


def test_a_folder_of_ones_own_is_filled_and_stays_the_same(data, tmp_path, monkeypatch):
    """The current one too, and one behind a link."""
    archive.pack(data, ["fr"], tmp_path / "some.tar.xz")
    for name in ("here", "behind"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "behind")
    monkeypatch.chdir(tmp_path / "here")
    before = os.stat(".").st_ino
    for folder in (Path("."), tmp_path / "link"):
        archive.unpack(tmp_path / "some.tar.xz", folder)
        assert (folder / "text/en/news.txt").exists() and {p.name for p in folder.iterdir()} >= {"SHA256SUMS", "text"}
    assert os.stat(".").st_ino == before


def test_what_could_not_be_unpacked_is_not_packed(data, tmp_path, monkeypatch):
    with pytest.raises(UserError, match="a folder; name a file with --out"):
        archive.pack(data, ["fr"], tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="a pipe or a device"):
        archive.pack(data, ["fr"], tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo(), "what is no file is not replaced"
    monkeypatch.setattr(archive, "ALWAYS_ALLOWED", 10_000)
    write(data / "text/en/long.txt", "The same sentence .\n\n" * 200_000)
    with pytest.raises(UserError, match="packs to over 100 times less; no text does"):
        archive.pack(data, ["fr"], tmp_path / "some.tar.xz")
    assert not list(tmp_path.glob("some*"))
