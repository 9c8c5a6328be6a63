"""Tidy tables: their columns, and when rows that were kept are still those that would be measured."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from xling_utils import chapters
from xling_utils.chapters import records
from xling_utils.core import identity, sources
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale as scale_of
from xling_utils.core.specs import CorpusSpec, EncoderSpec, TokenizerSpec
from xling_utils.measures import kept_rows, names, pool
from xling_utils.measures.tasks import registry
from xling_utils.runs import Compute, Run

CHAPTER = "01_data_size"

Stored = Callable[..., Run]


@pytest.mark.parametrize("chapter", chapters.MODULES)
def test_a_chapters_factors_are_columns_among_those_of_all(chapter: str) -> None:
    varied = chapters.declared(chapter).columns
    found = chapters.columns(chapter)
    assert found[:2] == ("experiment", "scale") and found[2 : 2 + len(varied)] == varied
    assert found[-5:] == ("value", "low", "high", "n", "run")
    assert len(set(found)) == len(found)
    assert list(chapters.empty(chapter).columns) == list(found)
    scale = scale_of("smoke")
    for planned in chapters.declared(chapter).grid(scale, ["fr"], 1, "all"):
        assert set(dict(planned.condition)) <= set(varied), "a condition that the table would lose"


def test_rows_are_kept_under_all_that_they_depend_on() -> None:
    scale = scale_of("smoke")
    known = pool.identity(scale, names.WORDS, "")
    assert known == pool.identity(scale_of("smoke"), names.WORDS, "")
    assert known != pool.identity(replace(scale, candidates=7), names.WORDS, "")
    assert known != pool.identity(scale, names.SIMILARITY, "")
    assert known != pool.identity(scale, names.WORDS, "other tests")


def test_rows_on_aligned_text_are_those_of_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = chapters.declared(CHAPTER).grid(scale_of("smoke"), ["fr"], 1, "all")[0].spec
    run = Run("a", tmp_path, spec, {})
    monkeypatch.setenv("XLING_STORE", str(tmp_path / "store"))
    monkeypatch.setattr(pool, "ensure", lambda specs, **_: dict.fromkeys(specs, run))
    monkeypatch.setattr(pool, "_measure_all", lambda *_: None)
    folder = tmp_path / "data" / "parallel" / "own"
    folder.mkdir(parents=True)
    assert spec.corpus.source == "controlled" and "en" in spec.corpus.languages

    def kept(task: str, name: str, line: str) -> Path:
        (folder / name).write_text(f"{line}\n", encoding="utf-8")
        return pool.ensure_rows([((spec,), task)], scale_of("smoke"), Compute(tmp_path / "data"))[(spec,), task]

    own = names.LANGUAGE_MEANS + names.ON + "own"
    first = kept(own, "en.txt", "one")
    assert kept(own, "en.txt", "two") != first == kept(own, "en.txt", "one")
    assert kept(own, "sw.txt", "moja") == first, "no language of the run's"
    assert kept(names.LANGUAGE_MEANS, "en.txt", "one") == kept(names.LANGUAGE_MEANS, "en.txt", "two")


def test_a_report_card_is_measured_like_any_task(stored: Stored) -> None:
    spec, pieces = CorpusSpec("controlled", ("en", "fr"), 200, 3), TokenizerSpec("wordpiece", 900)
    encoder = EncoderSpec(layers=1, width=16, heads=2, intermediate=32, positions=32)
    found = registry.measure(names.REPORT_CARD, stored(spec, pieces, encoder), scale="smoke")
    assert {"p_at_1", "cka_debiased", "probe_accuracy", "bleu1"} <= set(found["metric"])
    for languages in (("en",), ("tr", "fr")):
        run = stored(replace(spec, languages=languages), pieces, encoder)
        with pytest.raises(UserError, match="English and another language are needed"):
            registry.measure(names.REPORT_CARD, run, scale="smoke")
    with pytest.raises(UserError, match="word retrieval, on talks does not read aligned text of one's own"):
        registry.measure(names.WORDS + names.ON + "talks", run)


def test_chapters_label_the_same_rows_each_in_its_way() -> None:
    row = dict.fromkeys(registry.ROW) | {"task": names.WORDS, "metric": "mrr", "value": 0.5, "run": "a"}
    rows = pd.DataFrame([row | {"part_of_speech": None}, row | {"part_of_speech": "NOUN"}, row | {"task": "NER"}])
    found = {}
    for chapter in chapters.MODULES:
        first = chapters.declared(chapter).grid(scale_of("smoke"), ["fr"], 1, "all")[0]
        shown = chapters.labelled(chapter, dict(first.condition), first.spec.seed, rows, "smoke")
        assert tuple(shown.columns) == chapters.columns(chapter)
        found[chapter] = shown["experiment"].tolist()
    assert found["02_window_size"] == ["R03", "R33"] and found["03_overlap"] == ["R06", "R33"]
    assert found["01_data_size"][:2] == ["R01", "R05"]


BELOW = {
    "measures/metrics/retrieval.py": (names.WORDS, names.POS, names.LANGUAGE_MEANS, names.CONTEXTUAL),
    "measures/encoders/subject.py": (names.SIMILARITY, names.TOKEN_TRANSLATION, names.PARSING),
    "measures/transfer/tuning.py": (*names.LEARNED, names.RANDOM_LABELS, *names.SHIFTED, names.CONTEXTUAL),
    "corpora/transforms.py": (names.WORDS, names.INFERENCE, names.SHIFTED_INFERENCE),
    "models/encoder.py": (names.WORDS, names.DOUBLES, names.WORD_ALIGNMENT),
    "corpora/controlled/lexicon.tsv": tuple(registry.TASKS),
}
"""Files, and some of the tasks whose rows they can change."""


@pytest.mark.parametrize("changed", BELOW)
def test_rows_depend_on_every_source_below_their_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    package = tmp_path / identity.PACKAGE.name
    shutil.copytree(identity.PACKAGE, package, ignore=shutil.ignore_patterns("static"))

    def identities() -> dict[str, str]:
        for kept in (sources.digest, sources._imported, identity._content):
            kept.cache_clear()
        return {task: pool.identity(scale_of("smoke"), task, "") for task in registry.TASKS}

    monkeypatch.setattr(identity, "PACKAGE", package)
    monkeypatch.setattr(pool, "tables", identity.tables.__wrapped__)
    before = identities()
    with (package / changed).open("a", encoding="utf-8") as file:
        file.write("# other code\n")
    other = {task for task, now in identities().items() if now != before[task]}
    assert set(BELOW[changed]) <= other
    (package / "charts" / "shapes.py").write_text("", encoding="utf-8")
    assert {task for task, now in identities().items() if now != before[task]} == other, "a chart changes no row"


def test_comparison_takes_a_number_for_the_same_however_its_column_was_read() -> None:
    which = {"experiment": "R12", "layers": 2, "task": "retrieval", "metric": "mrr", "step": None, "run": "a"}
    live = pd.DataFrame([which | {"value": 0.5, "low": 0.4, "high": 0.6, "n": 9}])
    recorded = live.assign(layers=2.0, step=float("nan"), value=0.25, low=0.0)
    recorded = pd.concat([recorded, recorded.assign(layers=4.0, value=0.1)])
    same = records.compare(live, recorded)
    assert same[["live", "recorded"]].to_numpy().tolist() == [[0.5, 0.25]]
    assert records.compare(live, recorded.assign(task="inference")).empty


def test_every_measure_that_failed_is_named_in_one_line():
    mistakes = {"NLI of a": UserError("no file"), "NLI of b": UserError("no file")}
    with pytest.raises(UserError, match=r"^2 measures failed, the others are kept: no file \[NLI of a; NLI of b\]$"):
        pool._raise_failures(mistakes, others=True)
    with pytest.raises(UserError, match=r"^2 measures failed: no file \["):
        pool._raise_failures(mistakes, others=False)
    with pytest.raises(pool.MeasuresFailed, match=r"no file \[.*\] \| KeyError: 'x' \[NER of a\]$"):
        pool._raise_failures({**mistakes, "NER of a": KeyError("x")}, others=True)
    pool._raise_failures({}, others=True)


def test_a_key_that_looks_like_a_number_stays_text(tmp_path: Path) -> None:
    keys = ["70351428960351428960", "1234567890123456e789", "0b1c"]
    path = tmp_path / "rows.csv"
    path.write_text(kept_rows.to_csv(pd.DataFrame({"run": keys, "beside": keys, "value": [0.5, 1, 2]})))
    assert kept_rows.from_csv(path)["run"].tolist() == kept_rows.from_csv(path)["beside"].tolist() == keys
    path.write_text(kept_rows.to_csv(pd.DataFrame({"run": keys[:1], "value": [0.5]})))
    assert kept_rows.from_csv(path)["run"].tolist() == keys[:1]


def test_kept_rows_come_back_and_damaged_ones_count_as_absent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, rows = tmp_path / "rows.csv", pd.DataFrame({"task": ["NLI", "NA"], "value": [0.5, 0.25], "run": ["1e5", "b"]})
    assert not kept_rows.is_kept(path)
    kept_rows.keep(path, rows)
    assert kept_rows.is_kept(path) and kept_rows.load(path).equals(rows)
    assert [file.name for file in tmp_path.iterdir()] == ["rows.csv"]
    whole = path.read_bytes()
    harmed = [whole.replace(b"0.25", b"0.75"), whole[:-4], whole[:20], b"", whole.replace(b"NA", b"N\xff")]
    for damaged in harmed:
        path.write_bytes(damaged)
        assert not kept_rows.is_kept(path)
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and f"{path} are damaged" in said
        with pytest.raises(ValueError, match="damaged"):
            kept_rows.load(path)
    kept_rows.keep(path, rows)
    assert kept_rows.load(path).equals(rows)
    path.write_text(kept_rows.to_csv(rows))
    assert kept_rows.is_kept(path) and kept_rows.load(path).equals(rows), "of a version without checksums"
