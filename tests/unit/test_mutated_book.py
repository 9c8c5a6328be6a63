"""The committed results, the claims, the papers' tables and executed notebooks, in which anything can stand."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path

import jupytext
import pytest
import yaml

from tests.mutations import COUNTS, MARKUP, STRANGE, answered, survives
from xling_utils import chapters
from xling_utils.book import chapter_pages, front_page, ledger_page, notebooks, numbers, rendering
from xling_utils.book.parameters import default_parameters
from xling_utils.chapters import records
from xling_utils.chapters.shared import published
from xling_utils.claims import ledger, listing, replication
from xling_utils.core.errors import UserError
from xling_utils.measures import kept_rows
from xling_utils.measures.encoders import bundled_text
from xling_utils.measures.tasks import registry

REPOSITORY = Path(__file__).parents[2]
CHAPTER = "01_data_size"
NUMBERS = {
    name: {
        "chapter": CHAPTER,
        "scale": "controlled",
        "of": {"a": {"model": "BERT", "metric": "mrr"}},
        "quantity": quantity,
        "form": form,
    }
    for name, quantity, form in (("a number", "a", "share"), ("another", "2 * a", "percent"))
}


@cache
def claims() -> str:
    """A few of one chapter, as JSON, which is YAML."""
    content = yaml.safe_load((REPOSITORY / "book/claims.yml").read_text(encoding="utf-8"))
    content["claims"] = [claim for claim in content["claims"] if claim["chapter"] == CHAPTER][:4]
    content["needs"] = {"retrieval": [content["claims"][0]["id"]]}
    return json.dumps(content)


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A book of one chapter with a few of its claims and rows."""
    for folder in ("notebooks", "book/records", "book/published", "_build/executed"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("_config.yml", "_toc.yml", "book/published/E_table_1_overlap.csv"):
        shutil.copy(REPOSITORY / name, tmp_path / name)
    tables = {f"{CHAPTER}.controlled.csv": 40, f"{CHAPTER}.controlled.runs.csv": 20, "claims.check.csv": 20}
    for name, step in tables.items():
        head, *rows = (REPOSITORY / "book/records" / name).read_text(encoding="utf-8").splitlines()
        (tmp_path / "book/records" / name).write_text("\n".join([head, *rows[::step]]) + "\n", encoding="utf-8")
    (tmp_path / "book/claims.yml").write_text(claims(), encoding="utf-8")
    (tmp_path / "book/numbers.yml").write_text(json.dumps(NUMBERS), encoding="utf-8")
    monkeypatch.setattr(front_page, "values", dict)  # those take all chapters
    source = REPOSITORY / "tests/book/sample/01_sample.py"
    shutil.copy(source, tmp_path / "notebooks")
    jupytext.write(jupytext.read(source), tmp_path / "_build/executed/01_sample.ipynb")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def whole_ledger() -> None:
    ledger._read.cache_clear()
    ledger._findings.cache_clear()
    listed = listing.as_json(["controlled"])
    listing.lines(listed)
    assert "<script>" not in ledger_page.page().replace('<script defer src="../_static/ledger.js"></script>', "")
    assert "<script>" not in ledger_page.summary()


def checked_page() -> None:
    replication.committed()
    assert "<script>" not in ledger_page.check()


def executed(book: Path) -> None:
    path = book / "_build/executed/01_sample.ipynb"
    notebooks._is_up_to_date(book, "01_sample", "x")
    json.loads(chapter_pages.published(book, path))


def numbers_in_text() -> None:
    ledger._read.cache_clear()
    numbers._values.cache_clear()
    numbers.values()


READERS = {
    "book/numbers.yml": lambda book: numbers_in_text(),
    "book/claims.yml": lambda book: whole_ledger(),
    f"book/records/{CHAPTER}.controlled.csv": lambda book: whole_ledger(),
    f"book/records/{CHAPTER}.controlled.runs.csv": lambda book: records.hardware(CHAPTER, "controlled"),
    "book/records/claims.check.csv": lambda book: checked_page(),
    "book/published/E_table_1_overlap.csv": lambda book: published.table("E_table_1_overlap"),
    "_toc.yml": rendering.chapters,
    "notebooks/01_sample.py": lambda book: default_parameters("01_sample", notebooks.read(book, "01_sample")),
    "_build/executed/01_sample.ipynb": executed,
}


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", READERS)
def test_what_the_book_is_made_of_is_read_or_refused(name: str, book: Path, count: int) -> None:
    survives(lambda: READERS[name](book), book / name, count)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", ["book/claims.yml", f"book/records/{CHAPTER}.controlled.csv"])
def test_the_claims_command_survives_anything(name: str, book: Path, count: int) -> None:
    def ask() -> int:
        ledger._read.cache_clear()
        ledger._findings.cache_clear()
        return answered("claims", "--scale", "controlled")

    survives(ask, book / name, count)


QUANTITIES = ("__import__('os').system('id')", "@x", "2 ** 999999999", "a.b", "a[0]", "(", "'x'", "", "(" * 500, "\0")


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_quantity_is_arithmetic_and_nothing_else(quantity: str, book: Path) -> None:
    path = book / "book/claims.yml"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["claims"][0]["tests"][0]["quantity"] = quantity
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError, match=r"claims.yml: claim A-01: .*quantity"):
        whole_ledger()


@pytest.mark.parametrize("strange", STRANGE[:6])
def test_markup_in_claims_and_rows_stays_text_in_the_ledger(strange: str, book: Path) -> None:
    path = book / "book/claims.yml"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["needs"] = {}
    for claim in content["claims"]:
        claim |= {"claim": strange, "where": strange, "theirs": strange, "id": claim["id"] + strange}
        claim["experiments"] = [strange]
        claim["figure"] = strange
    path.write_text(json.dumps(content), encoding="utf-8")
    whole_ledger()
    for page in (ledger_page.page(), ledger_page.summary()):
        assert "<img" not in page and "</SCRIPT" not in page


@pytest.mark.parametrize("count", COUNTS)
def test_rows_measured_before_are_those_or_count_as_absent(
    count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.csv"
    frame = chapters.empty(CHAPTER).reindex(columns=list(registry.ROW))
    frame.loc[0] = ["t", "m", "en", MARKUP, 1, None, 0.5, 0.4, 0.6, 10, "0123"]
    kept_rows.keep(path, frame)
    sound = kept_rows.load(path)

    def read() -> bool:
        kept = kept_rows.is_kept(path)
        assert kept != bool(capsys.readouterr().err)
        if kept:
            rows = kept_rows.load(path)
            assert rows.equals(sound) or not path.read_text(encoding="utf-8").startswith("#")
        return not kept

    survives(read, path, count)


@pytest.mark.parametrize("name", [bundled_text.TOKENS, bundled_text.STATES])
def test_what_comes_with_the_book_is_read_or_refused(name: str, tmp_path: Path) -> None:
    folder = shutil.copytree(REPOSITORY / bundled_text.FOLDER, tmp_path / "models")
    (folder / name).write_bytes((folder / name).read_bytes()[:1000])
    text = bundled_text.load(folder)
    with pytest.raises(UserError, match=name):
        text.means("en", 1), text.ids("en")
