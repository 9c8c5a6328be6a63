"""A directory of real text in which anything can stand: every reader of it, and the commands over it."""

from __future__ import annotations

import lzma
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from datasets import Dataset

from tests.mutations import COUNTS, MARKUP, answered, survives, within
from xling_utils.core.errors import UserError
from xling_utils.core.specs import TokenizerSpec
from xling_utils.corpora import archive, checks, directory, labelled, parallel, treebanks
from xling_utils.corpora.text import normalise
from xling_utils.models import tokenization

TREE = (
    "# text = du Ann came\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tAnn\tann\tPROPN\tN\tCase=Nom|X=Y\t2\tnsubj\t2:nsubj\tSpaceAfter=No\n"
    "2\tcame\tcome\tVERB\t_\t_\t0\troot\t_\t_\n2.1\tcame\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
)
VOCABULARY = "vocab/bert-base-multilingual-cased.vocab.txt"
ONLY_CHECKED = ("pos/xtreme_udpos/test.en.tsv", "classification/sib200/en/test.tsv")
NAMES = (MARKUP.replace("/", " "), "\x1b[31m", "a\nb", "\u202egpj", "**", "[a", "x" * 200, os.fsdecode(b"\xff\xfe"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Every kind of file, in three languages."""

    def write(name: str, text: str) -> None:
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    for language in ("en", "fr", "zh"):
        write(
            f"text/{language}/a.txt", "".join(f"Le chat {n} , 中文 {language} .\nไทย rit {n} .\n\n" for n in range(12))
        )
        for part in ("train", "dev"):
            tagged = "".join(f"Ann\tB-PER\nLee\tI-PER\nin\tO\n{language}{part}{n}\tB-LOC\n\n" for n in range(12))
            write(f"ner/panx/{part}.{language}.tsv", tagged)
        for name in ("multinli15k/train", "xnli/dev", "xnli/test"):
            write(f"nli/{name}.{language}.tsv", "Ann came .\tShe came .\tentailment\nHe left .\tShe ran .\tneutral\n")
        write(f"parallel/articles/{language}.txt", "Une phrase .\nDeux .\n")
    for language in ("fr", "zh"):
        for side in ("en", language):
            write(f"tatoeba/{language}-en.{side}", "Bonjour .\nMerci .\n")
        for part in ("train", "test"):
            write(f"dictionaries/muse/en-{language}.{part}.txt", "cat chat\ndog chien\n")
    write("dictionaries/wiktionary/en-tr.tsv", "cat\tkedi\nhot dog\tsosisli\n")
    for side in ("en", "zh"):
        write(f"bucc2018/zh-en.dev.{side}", f"{side}-1\tone\n{side}-2\ttwo\n")
    write("bucc2018/zh-en.dev.gold", "zh-1\ten-1\n")
    write("ud/UD_English-PUD/en_pud-ud-test.conllu", TREE * 3)
    write("pos/xtreme_udpos/test.en.tsv", "a\tNOUN\n\n")
    write("classification/sib200/en/test.tsv", "1\tscience\ta b\n")
    return tmp_path / "data"


def text(data: Path) -> object:
    directory.fingerprint(data, ["en"])
    return [list(directory.sentences(data, "en", form=form)) for form in ("lower", "raw")], directory.sample(
        data, "en", 5, 1
    )


READERS: dict[str, Callable[[Path], object]] = {
    "text/en/a.txt": text,
    "dictionaries/muse/en-fr.train.txt": lambda data: directory.dictionary(data, "fr"),
    "dictionaries/wiktionary/en-tr.tsv": lambda data: directory.dictionary(data, "tr"),
    "tatoeba/fr-en.fr": lambda data: (
        parallel.pairs("directory", "fr", 9, data=data),
        directory.protected_sentences(data, "fr"),
    ),
    "parallel/articles/fr.txt": lambda data: directory.protected_sentences(data, "fr"),
    "bucc2018/zh-en.dev.zh": lambda data: parallel.unaligned("directory", "zh", 9, data=data),
    "bucc2018/zh-en.dev.gold": lambda data: parallel.unaligned("directory", "zh", 9, data=data),
    "nli/xnli/test.fr.tsv": lambda data: parallel.multiway("directory", ["en", "fr"], 9, data=data),
    "nli/multinli15k/train.en.tsv": lambda data: labelled.inference("directory", "en", "train", data=data)[:],
    "ner/panx/train.en.tsv": lambda data: labelled.named_entities("directory", "en", "train", data=data)[:],
    "ner/panx/dev.fr.tsv": lambda data: labelled.named_entities("directory", "en", "train", data=data)[:],
    "ud/UD_English-PUD/en_pud-ud-test.conllu": lambda data: treebanks.treebank("directory", "en", "test", data=data)[:],
}


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", READERS)
def test_what_reads_data_survives_anything(name: str, data: Path, count: int) -> None:
    survives(lambda: READERS[name](data), data / name, count)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", [*READERS, *ONLY_CHECKED, VOCABULARY])
def test_the_check_of_data_survives_anything(
    name: str, data: Path, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == VOCABULARY:
        (data / name).parent.mkdir()
        (data / name).write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n中\n", encoding="utf-8")
        monkeypatch.setattr(checks, "MBERT_SIZE", 8)
    survives(lambda: answered("data", "check", str(data)), data / name, count)


@pytest.mark.parametrize("count", COUNTS)
def test_a_vocabulary_survives_anything(data: Path, count: int) -> None:
    path = data / VOCABULARY
    path.parent.mkdir()
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n中\n", encoding="utf-8")
    words = {"en": Dataset.from_dict({"text": ["a b"], "document": [0]})}
    survives(lambda: tokenization.build(TokenizerSpec("mbert", 0), words, data), path, count)


def test_any_number_of_marks_on_a_letter_takes_little_time() -> None:
    for marks in ("\u0316\u0301" * 200_000, "\u0301" * 200_000 + "\u0316" * 200_000):
        with within():
            assert len(normalise(f"a{marks} b")) < 100
    assert normalise("a\u0323\u0302 " * 400) == "ậ " * 399 + "ậ"


def test_a_tree_of_any_depth_takes_little_time(data: Path) -> None:
    path, words = data / "ud/UD_English-PUD/en_pud-ud-test.conllu", 5_000

    def write(heads: list[int]) -> None:
        lines = (f"{n}\tw\t_\tNOUN\t_\t_\t{h}\t{'dep' if h else 'root'}\t_\t_\n" for n, h in enumerate(heads, 1))
        path.write_text("".join(lines) + "\n", encoding="utf-8")

    heads = list(range(words))
    write(heads)
    with within():
        assert treebanks.treebank("directory", "en", "test", data=data)["heads"][0] == heads
    heads[3_999] = words
    write(heads)
    with within(), pytest.raises(UserError, match="line 4000: word 4000 stands above itself"):
        treebanks.treebank("directory", "en", "test", data=data)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("packed", [False, True], ids=["in the xz data", "in the text"])
def test_packed_text_survives_anything(packed: bool, data: Path, count: int) -> None:
    plain = data / "text/en/a.txt"
    path = plain.with_name("a.txt.xz")
    path.write_bytes(lzma.compress(plain.read_bytes()))
    plain.unlink()
    survives(lambda: text(data), path, count, written=lzma.compress if packed else bytes)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("packed", [False, True], ids=["in the xz data", "in the tar"])
def test_an_archive_survives_anything(packed: bool, data: Path, tmp_path: Path, count: int) -> None:
    file, folder = tmp_path / "some.tar.xz", tmp_path / "copy"
    archive.pack(data, ["fr"], file)
    before = {path for path in tmp_path.rglob("*") if data not in path.parents}

    def unpack() -> int:
        shutil.rmtree(folder, ignore_errors=True)
        code = answered("data", "unpack", str(file), str(folder))
        if code == 2:
            assert {path for path in tmp_path.rglob("*") if data not in path.parents} == before, "it left something"
        return code

    def compressed(content: bytes) -> bytes:
        return lzma.compress(content, preset=0)

    survives(unpack, file, count, written=compressed if packed else bytes)


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_files_of_any_name_can_be_checked(name: str, data: Path) -> None:
    shutil.copy(data / "text/en/a.txt", data / "text/en" / f"{name}.txt")
    shutil.copytree(data / "parallel/articles", data / "parallel" / name)
    shutil.copytree(data / "ud/UD_English-PUD", data / "ud" / name)
    shutil.copytree(data / "text/zh", data / "text" / name)
    assert directory.fingerprint(data, ("en",)) != directory.fingerprint(data, ("en",), ("a",))
    (data / "text/fr" / f"{name}.txt").write_bytes(b"\xff")
    assert answered("data", "check", str(data)) == 2


def test_the_real_process_prints_no_traceback_either(data: Path) -> None:
    odd = os.fsdecode(b"\xff\xfe\x1b[31m.txt")
    (data / "text/en" / odd).write_bytes(b"\xff")
    (data / "text/zh/a.txt").write_bytes("中文".encode("utf-16"))
    xling = Path(sys.executable).with_name("xling")
    for encoding in ("utf-8", "ascii"):
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        command = [str(xling), "data", "check", str(data)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, encoding=encoding, check=False)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr and done.stderr.count("\n") == 2
        assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize("languages", ["**", "../../etc", "[a", "a b", "\u202ede", "x" * 200, "/", "de,*"])
def test_a_language_is_named_by_its_code(languages: str, data: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "a.tar.xz")
    assert answered("data", "pack", str(data), "--languages", languages, "--out", out) == 2
