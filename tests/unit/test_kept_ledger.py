"""The ledger on disk: tested once, and again when what decides it has changed, is damaged or is gone."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from xling_utils.book import numbers
from xling_utils.claims import ledger
from xling_utils.claims.ledger import Finding
from xling_utils.core import identity, kept_text

ROOT = Path(__file__).parents[2]
CONTROLS, CHAPTER = "01_data_size", "02_window_size"


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A book with the rows of one chapter, and of the one with its controls."""
    for folder in ("notebooks", "book/records"):
        (tmp_path / folder).mkdir(parents=True)
    for name in (
        "_toc.yml",
        "book/claims.yml",
        *(f"book/records/{each}.controlled.csv" for each in (CONTROLS, CHAPTER)),
    ):
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[[], tuple[list[Finding], int]]:
    """The findings, as a new process would get them, and how often they were tested for it."""
    tested = []
    test = ledger.Ledger.test

    def counted(self: ledger.Ledger, *given: object) -> list[Finding]:
        tested.append(given)
        return test(self, *given)  # type: ignore[arg-type]

    def ask() -> tuple[list[Finding], int]:
        tested.clear()
        ledger._findings.cache_clear()
        return ledger.findings("controlled"), len(tested)

    monkeypatch.setattr(ledger.Ledger, "test", counted)
    return ask


def test_what_was_tested_once_is_read_back_as_it_was(
    book: Path, asked: Callable[[], tuple[list[Finding], int]]
) -> None:
    first, tested = asked()
    assert tested == 1 and any(finding.parts for finding in first)
    again, tested = asked()
    assert tested == 0
    assert repr(again) == repr(first), "to the last digit; a NaN is not equal to itself"
    assert [finding.claim for finding in again] == list(ledger.load().claims)


@pytest.mark.parametrize("name", ["book/claims.yml", f"book/records/{CHAPTER}.controlled.csv"])
def test_a_changed_record_or_claim_is_tested_again(
    name: str, book: Path, asked: Callable[[], tuple[list[Finding], int]]
) -> None:
    asked()
    path = book / name
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines) + lines[-1] if path.suffix == ".csv" else "".join(lines) + "\n", encoding="utf-8")
    assert asked()[1] == 1
    assert asked()[1] == 0


def test_other_sources_test_again(
    book: Path, asked: Callable[[], tuple[list[Finding], int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked()
    monkeypatch.setattr(identity, "package", lambda: "another")
    assert asked()[1] == 1


@pytest.mark.parametrize("harm", [lambda b: b[:-40], lambda b: b.replace(b"seeds", b"sedes", 1), lambda b: b"\xff" + b])
def test_a_damaged_ledger_counts_as_absent(
    harm: Callable[[bytes], bytes],
    book: Path,
    asked: Callable[[], tuple[list[Finding], int]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    sound, _ = asked()
    path = book / "_build/ledger/controlled.json"
    path.write_bytes(harm(path.read_bytes()))
    found, tested = asked()
    assert tested == 1 and repr(found) == repr(sound)
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"{path} is damaged" in said
    path.unlink()
    assert asked()[1] == 1 and not capsys.readouterr().err, "one that is gone is no news"


def test_where_nothing_can_be_written_the_ledger_is_there(
    book: Path, asked: Callable[[], tuple[list[Finding], int]]
) -> None:
    sound, _ = asked()
    shutil.rmtree(book / "_build")
    (book / "_build").touch()  # no folder can be made there
    assert repr(asked()) == repr((sound, 1)) == repr(asked())


def test_the_identity_is_of_contents(tmp_path: Path) -> None:
    path = tmp_path / "a"
    missing = identity.of("x", path)
    path.write_text("")
    empty = identity.of("x", path)
    path.write_text("b")
    assert len({missing, empty, identity.of("x", path), identity.of("y", path), identity.of("xy", path)}) == 5


def test_a_text_is_made_once_for_each_identity(tmp_path: Path) -> None:
    path = tmp_path / "folder/text"
    assert kept_text.once(path, "a", lambda: "one\ntwo\n") == "one\ntwo\n"
    assert kept_text.once(path, "a", lambda: "other") == "one\ntwo\n"
    assert kept_text.once(path, "b", lambda: "other") == "other"
    assert not list(path.parent.glob("*.tmp"))


def test_a_language_alone_is_tested_once(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ledger.findings_of_language("fr", CHAPTER, "controlled")
    other = ledger.findings_of_language("sw", CHAPTER, "controlled")
    assert any(finding.parts for finding in first)
    assert not any(finding.parts for finding in other), "nothing was read beside it"
    monkeypatch.setattr(ledger.Ledger, "test", lambda *given: pytest.fail("tested again"))
    assert repr(ledger.findings_of_language("fr", CHAPTER, "controlled")) == repr(first)


def test_the_numbers_of_the_text_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = numbers.values()
    numbers._values.cache_clear()
    monkeypatch.setattr(numbers, "_computed", lambda path: pytest.fail("computed again"))
    assert numbers.values() == found
