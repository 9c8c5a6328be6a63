"""Pipes, devices and bombs where a file should be: one line, and at once."""

import lzma
import os
from pathlib import Path

import pytest

from tests.mutations import within
from xling_utils.core import files, identity
from xling_utils.core.errors import UserError
from xling_utils.corpora import archive, checks, lines

READERS = {
    "text": files.text,
    "json": files.json_object,
    "yaml": files.yaml_mapping,
    "table": files.table,
    "lines": lambda path: list(lines.read_lines(path)),
    "identity": identity.of_file,
    "archive": lambda path: archive.unpack(path, path.with_name("new")),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_is_not_waited_for(reader: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with within(), pytest.raises(UserError, match=r"pipe.txt: a pipe or a device; copy what it gives into a file"):
        READERS[reader](tmp_path / "pipe.txt")
    with pytest.raises(UserError, match=r"none.txt: No such file"):
        READERS[reader](tmp_path / "none.txt")


@pytest.mark.parametrize("name", ["text/fr/a.txt", "tatoeba/fr-en.fr", "ner/panx/dev.fr.tsv", "parallel/mine/fr.txt"])
def test_a_pipe_in_a_directory_of_data_is_a_finding(name: str, tmp_path: Path) -> None:
    for language in ("en", "fr"):
        (tmp_path / "text" / language).mkdir(parents=True)
        (tmp_path / "text" / language / "b.txt").write_text("One .\nTwo .\n")
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(tmp_path / name)
    with within():
        try:
            told = [str(finding) for finding in checks.check(tmp_path)]
        except UserError as error:
            told = [str(error)]
    assert any("a pipe or a device" in each for each in told)


def test_the_identity_of_what_cannot_be_read_is_no_empty_files(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    folder = identity.of(tmp_path / "a")
    (tmp_path / "a").rmdir()
    missing = identity.of(tmp_path / "a")
    (tmp_path / "a").write_text("")
    assert identity.of(tmp_path / "a") not in (folder, missing)


def test_templates_are_of_the_package() -> None:
    assert identity.PACKAGE / "book/templates/ledger.html" in identity._sources()


@pytest.mark.parametrize("unit", [b"\n", b"a\n", b"one and the same line\n"])
def test_an_xz_file_that_unpacks_to_more_than_text_does_is_refused(unit: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bomb.txt.xz"
    path.write_bytes(lzma.compress(unit * (300_000_000 // len(unit)), preset=0))
    with within(), pytest.raises(UserError, match=r"bomb.txt.xz: unpacks to over 100 times its size"):
        list(lines.read_lines(path))


@pytest.mark.parametrize(
    "nested", ["[" * 100_000, "{a: " * 20_000, "- " * 50_000 + "x"], ids=["lists", "mappings", "blocks"]
)
def test_yaml_that_nests_without_end_is_refused_before_it_is_composed(nested: str) -> None:
    with pytest.raises(ValueError, match=r"not YAML \(more than 50 levels\)"):
        files.yaml_value(nested)
    assert files.yaml_value("[" * files.DEEPEST + "]" * files.DEEPEST)
