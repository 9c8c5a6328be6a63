"""`xling probe` from the command line: a small book about a model, on a small directory of text."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests import blocks, families, findings, smoke
from tests.conftest import Call
from tests.scratch import as_real_data, share_ledger, write_lines
from xling_utils import book
from xling_utils.book import rendering
from xling_utils.chapters import opened, probes, records
from xling_utils.chapters.cka import plan as cka
from xling_utils.claims import listing
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale
from xling_utils.corpora import controlled, parallel
from xling_utils.measures.encoders import hub
from xling_utils.measures.encoders.stored_run import masked_lm
from xling_utils.runs.store import RunStore

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("en", "fr", "zh")
WINDOWS = "02_window_size"
ALIGNED = ".venv/bin/xling probe MODEL --data DIR --languages fr,zh --aligned NAME"
DOCUMENTED = ".venv/bin/xling probe MODEL --data DIR --languages fr,zh --chapters"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory in the layout of real data; the controlled world speaks in it."""
    return as_real_data(tmp_path_factory.mktemp("data"), LANGUAGES, 2_600)


def text() -> list[str]:
    return [line for language in LANGUAGES for line in controlled.text(language, 200, 0)["text"][:]]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout's pages and notebooks, without what was built in it."""
    place = tmp_path_factory.mktemp("project")
    for name in ("_config.yml", "_toc.yml", "book", "notebooks"):
        (place / name).symlink_to(ROOT / name)
    share_ledger(place)
    return place


def test_a_model_gets_a_small_book_of_its_own(project: Path, data: Path, tmp_path: Path, xling: Call) -> None:
    model = families.saved(tmp_path / "my <model>", "DistilBERT", text())
    assert blocks.stands_in("book/run/model.md", DOCUMENTED)
    documented = [{"MODEL": str(model), "DIR": str(data)}.get(word, word) for word in DOCUMENTED.split()[1:]]
    done = xling(project, *documented)
    assert done.returncode == 0, done.stderr
    assert all(f"{chapter}: languages: 100%" in done.stderr for chapter in probes.TASKS), "with the time left"
    pages = Path(done.stdout.splitlines()[-1])
    assert pages == project / "_build" / "probe" / "my-model" / "_build" / "html"
    shown = (pages / "notebooks" / "05_language_means.html").read_text(encoding="utf-8")
    assert "my-model, under the lens" in shown and "vega-chart" in shown
    assert "How much of a language is one vector?" in shown and "A run of your own" in shown
    for chapter in probes.TASKS:
        said = findings.plain(pages / "notebooks" / f"{chapter}.html")
        assert len(findings.of(chapter)) > 10 and not [each for each in findings.of(chapter) if each in said]
        assert "The answer." not in said, "a finding about another model"
    kept = pages.parent / "records"
    rows = pd.read_csv(kept / "07_cka.natural.own.csv")
    assert set(rows["encoders"]) == {cka.BILINGUAL, cka.RANDOM} and set(rows["target"]) == {"fr", "zh"}
    assert (pages.parents[1] / "card.html").is_file(), "the card comes first"
    said: list[str] = []
    assert book.probe_chapters(project, str(model), ["fr", "zh"], data, said.append) == (pages, [])
    assert sum(line.endswith("up to date") for line in said) == 3


def test_a_chapter_of_other_parameters_says_nothing_of_the_books_runs(tmp_path: Path, xling: Call) -> None:
    for name in ("_config.yml", "book"):
        (tmp_path / name).symlink_to(ROOT / name)
    share_ledger(tmp_path)
    (tmp_path / "notebooks").mkdir()
    shutil.copyfile(ROOT / f"notebooks/{WINDOWS}.py", tmp_path / f"notebooks/{WINDOWS}.py")
    contents = f"format: jb-book\nroot: book/glossary\nchapters:\n  - file: notebooks/{WINDOWS}\n"
    (tmp_path / "_toc.yml").write_text(contents, encoding="utf-8")
    done = xling(tmp_path, "run", WINDOWS, "--scale", "smoke", "--seeds", "2", "-p", "languages", "[de]")
    assert done.returncode == 0, done.stderr
    fills = {"commands": str, "columns": str}  # of pages that nobody looks at here
    rendering.render(tmp_path, strict=False, fills=fills)  # it links to chapters that are not here
    said = findings.plain(tmp_path / "_build/html/notebooks" / f"{WINDOWS}.html")
    assert len(findings.of(WINDOWS)) > 10 and not [each for each in findings.of(WINDOWS) if each in said]
    assert "The answer." not in said and "A run of your own" in said
    command = said.partition("Made by ")[2].partition(";")[0]
    assert all(word in command for word in ("--scale smoke", "--seeds 2", "[de]")), "the one that made it"


def test_a_stored_run_is_probed_on_its_own_text(tmp_path: Path, xling: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLING_STORE", str(tmp_path))
    spec = scale("smoke").joint(("en", "fr"), 1)
    run = smoke.trained(RunStore(tmp_path), spec)[spec]
    rows = probes.table("06_mds", str(run.path), "smoke", ("fr",), None)
    key = hub.key(masked_lm(run))
    assert set(rows["run"]) == {key, f"{key}-untrained"} and set(rows["source"]) == {"en", "fr"}
    pd.testing.assert_frame_equal(rows, probes.table("06_mds", str(run.path), "smoke", ("fr",), None))
    another = scale("smoke").joint(("en", "fr"), 2)
    other = tmp_path / "elsewhere" / run.path.name
    shutil.copytree(smoke.trained(RunStore(tmp_path), another)[another].path, other)
    assert not set(probes.table("06_mds", str(other), "smoke", ("fr",), None)["run"]) & set(rows["run"]), "of one name"
    with pytest.raises(UserError, match="01_data_size takes no model"):
        probes.table("01_data_size", str(run.path), "smoke", ("fr",), None)
    monkeypatch.setenv("XLING_DATA", str(tmp_path))  # which is not needed
    done = xling(ROOT, "probe", run.key, "--languages", "fr,zh")
    said = f"xling: {run.key}: reads en fr; leave --languages out, or name a directory (--data DIR)\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_translations_of_ones_own_take_the_place_of_the_tests(
    project: Path, data: Path, tmp_path: Path, xling: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert blocks.stands_in("book/run/model.md", ALIGNED)
    own = tmp_path / "data"
    shutil.copytree(data, own)
    for name in ("tatoeba", "nli"):
        shutil.rmtree(own / name)
    for language in LANGUAGES:
        lines = parallel.multiway("controlled", (language,), 60)[language]
        lines[3 if language == "fr" else 4] = ""
        write_lines(own / "parallel" / "mine" / f"{language}.txt", lines)
    model = families.saved(tmp_path / "model", "BERT", text())
    monkeypatch.setenv("XLING_STORE", str(tmp_path / "store"))
    found = probes.table("05_language_means", str(model), "smoke", ("fr", "zh"), own, "mine")
    assert set(found.loc[found["metric"] == "p_at_1", "n"]) == {40}, "as many as the scale asks for"
    moved = probes.table("07_cka", str(model), "smoke", ("fr",), own, "mine")
    halves = {metric: set(moved.loc[moved["metric"] == metric, "n"]) for metric in ("cka", "p_at_1_rotated")}
    assert halves == {"cka": {29}, "p_at_1_rotated": {20}}, "fitted on one half, which is without blank lines"
    with pytest.raises(UserError, match=r"no ur\.txt, plain or \.xz; aligned text in .*: mine"):
        parallel.aligned("mine", ("en", "ur"), data=own)
    done = xling(project, "probe", str(model), "--data", str(own), "--languages", "fr", "--aligned", "yours")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "aligned text in" in done.stderr


def test_a_chapter_measures_its_runs_on_translations_of_ones_own(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for language in ("en", "fr"):
        write_lines(
            data / "parallel" / "mine" / f"{language}.txt", parallel.multiway("controlled", (language,), 30)[language]
        )
    monkeypatch.setenv("XLING_STORE", str(tmp_path))
    chapter = opened("05_language_means", "smoke", ["fr"], 1, "headline", str(data), aligned="mine")
    assert set(chapter.measured.loc[chapter.measured["metric"] == "p_at_1", "n"]) == {30}
    assert chapter.recorded.empty, "records are of other sentences"
    claims = listing.of_chapter(chapter)
    assert claims is not None and "this machine" in claims and "recorded" not in claims
    monkeypatch.setattr(records, "checkout", lambda _: tmp_path)
    assert chapter.record() is None, "nothing to compare with"
    assert {path.name for path in (tmp_path / "_build/records").iterdir()} == {
        "05_language_means.smoke.own.csv",
        "05_language_means.smoke.own.runs.csv",
    }
    with pytest.raises(UserError, match="only 05_language_means is measured on it"):
        opened("07_cka", "smoke", ["fr"], 1, "headline", str(data), aligned="mine")
    with pytest.raises(UserError, match="it is no test"):
        parallel.aligned("bible_nt", ("en", "fr"), data=data)


def test_mistakes_are_one_line(project: Path, data: Path, tmp_path: Path, xling: Call) -> None:
    done = xling(project, "probe", str(tmp_path / "nothing"), "--data", str(data), "--languages", "fr")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "no such folder" in done.stderr
    model = families.saved(tmp_path / "model", "BERT", text())
    done = xling(project, "probe", str(model), "--data", str(data), "--languages", "fr,sw")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "test.sw.tsv" in done.stderr
