"""A small corpus of one's own: how much of it is read, at which scale, and what is said of it before a run."""

from __future__ import annotations

from pathlib import Path
from re import search

import pytest

from tests.conftest import Call
from tests.given import failure, write
from xling_utils import corpora
from xling_utils.book import own_run
from xling_utils.book.parameters import checked
from xling_utils.chapters import check_parameters, declared, named, of_ones_own, readiness, records, rows
from xling_utils.chapters.planning import MODULES, measurable
from xling_utils.chapters.sized import sized
from xling_utils.core.scales import scale
from xling_utils.core.specs import SCALES, CorpusSpec, canonical_json
from xling_utils.corpora.loading import HELD_OUT_SENTENCES
from xling_utils.runs import Compute

ROOT = Path(__file__).parents[2]
DEFAULTS = {"scale": "controlled", "languages": ["fr"], "seeds": 1, "live": "none", "data": None, "sentences": None}


@pytest.fixture
def dutch(tmp_path: Path) -> Path:
    """Sixty documents of three lines of English and of Dutch, and a dictionary."""
    for language, word in (("en", "house"), ("nl", "huis")):
        lines = "\n".join("".join(f"{word} {n} , {line} .\n" for line in range(3)) for n in range(60))
        write(tmp_path / "dutch/text" / language / "farm.txt", lines)
    write(tmp_path / "dutch/dictionaries/muse/en-nl.train.txt", "house huis\n")
    write(tmp_path / "dutch/dictionaries/muse/en-nl.test.txt", "garden tuin\n")
    return tmp_path / "dutch"


@pytest.mark.parametrize("name", SCALES)
def test_who_asks_for_nothing_gets_the_scale(name: str) -> None:
    assert sized(name) == scale(name), "so keys of runs and of rows are what they were"
    if name != "smoke":
        assert sized(name, data=Path("DIR")) == scale(name)


def test_sentences_keep_the_proportion_of_small_and_large() -> None:
    found = sized("natural", 3_000)
    assert (found.sentences, found.multilingual.sentences) == ((300, 3_000), 3_000)
    assert sized("natural", 3).sentences == (1, 3)
    for chapter in MODULES:
        grid = declared(chapter).grid(found, ["fr"], 1, "all")
        assert {spec.corpus.sentences for p in grid for spec in p.specs} <= {300, 3_000}
        usual = declared(chapter).grid(scale("natural"), ["fr"], 1, "all")
        assert len(usual) == len(grid)


def test_the_smallest_scale_reads_the_directory_it_is_given() -> None:
    grid = declared("02_window_size").grid(sized("smoke", data=Path("DIR")), ["nl"], 1, "headline")
    assert {spec.corpus.source for p in grid for spec in p.specs} == {"directory"}
    assert {spec.corpus.sentences for p in grid for spec in p.specs} == {600}
    assert canonical_json(sized("smoke", data=Path("DIR"))) != canonical_json(scale("smoke")), (
        "rows of another identity"
    )


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"sentences": "0"}, "sentences must be at least 1"),
        ({"sentences": "-5"}, "sentences must be at least 1"),
        ({"sentences": "many"}, "sentences takes a whole number, not 'many'"),
        ({"sentences": "1.5"}, "sentences takes a whole number, not 1.5"),
        ({"sentences": "true"}, "sentences takes a whole number, not True"),
        ({"sentences": "[3000]"}, r"sentences takes a whole number, not \[3000\]"),
        ({"sentences": "9999999999999"}, "sentences must be at least 1 and at most 1000000000"),
    ],
)
def test_a_number_of_sentences_is_one(typed: dict[str, str], message: str) -> None:
    assert search(message, failure(checked, "02_window_size", DEFAULTS, {}, typed))


def test_text_that_would_not_be_read_is_a_mistake(dutch: Path) -> None:
    given = DEFAULTS | {"data": str(dutch)}
    assert "scale controlled reads its own world, not" in failure(check_parameters, given)
    for read in ({"scale": "natural"}, {"scale": "smoke", "languages": ["nl"]}, {"aligned": "mine"}, {"model": "m"}):
        check_parameters(given | read)
    assert "unknown language 'nl'" in failure(check_parameters, DEFAULTS | {"scale": "smoke", "languages": ["nl"]})


def test_text_that_is_not_there_is_missed_before_anything_runs(dutch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = DEFAULTS | {"scale": "natural", "live": "headline"}
    assert "name its directory (data=DIR; of a command --data, XLING_DATA)" in failure(check_parameters, real)
    for none_needed in ({"live": "none"}, {"model": "m"}):
        check_parameters(real | none_needed)
    monkeypatch.setattr(rows, "prepare", lambda *_: pytest.fail("trains"))
    for data, said in ((None, "name the directory that holds parallel/mine"), (dutch, "no en.txt, plain or .xz")):
        compute = Compute(data=data)
        given = ("05_language_means", "smoke", ["nl" if data else "fr"], 1, "all", compute)
        assert said in failure(rows.table, *given, aligned="mine")


@pytest.mark.parametrize("arguments", [[], ["--scale", "smoke"], ["-p", "scale", "controlled"]])
def test_a_directory_of_the_environment_waits_until_it_is_needed(
    arguments: list[str], dutch: Path, xling: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XLING_DATA", str(dutch))
    taken = {}
    monkeypatch.setattr("xling_utils.book.record", lambda root, names, given, typed, say: taken.update(given) or [])
    assert xling(ROOT, "run", "--records-only", *arguments).returncode == 0
    assert "data" not in taken
    for needs in (["--scale", "natural"], ["-p", "scale", "paper"], ["-p", "aligned", "mine"], ["--data", str(dutch)]):
        taken.clear()
        xling(ROOT, "run", "--records-only", *needs)
        assert taken["data"] == str(dutch), needs


def test_a_small_corpus_holds_out_what_it_has(dutch: Path, tmp_path: Path) -> None:
    spec = CorpusSpec("directory", ("en", "nl"), 120)
    held_out = corpora.load(spec, dutch, held_out=True)
    assert all(0 < len(text) < HELD_OUT_SENTENCES for text in held_out.values())
    assert "sentences to train on, 900 asked for; ask for fewer (-p sentences)" in failure(
        corpora.load, CorpusSpec("directory", ("nl",), 900), dutch
    )
    lines = (dutch / "text/nl/farm.txt").read_text().replace("\n\n", "\n")
    write(tmp_path / "one/text/nl/farm.txt", lines)
    message = failure(corpora.load, CorpusSpec("directory", ("nl",), 50), tmp_path / "one", held_out=True)
    assert "put blank lines between documents" in message


def test_nothing_to_measure_is_said_before_anything_is_trained(dutch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planned = declared("02_window_size").grid(sized("natural", 100), ["nl"], 1, "headline")
    assert set(measurable("02_window_size", planned, dutch).values()) == {("word retrieval",)}
    assert "not measured: NER, NLI" in capsys.readouterr().err
    (dutch / "dictionaries/muse/en-nl.test.txt").unlink()
    message = failure(measurable, "02_window_size", planned, dutch)
    assert message.startswith("02_window_size: nothing can be measured: no dictionaries/muse/en-nl.test.txt, ner/")


def test_a_check_speaks_of_what_was_asked(dutch: Path, xling: Call) -> None:
    write(dutch / "text/fr/broken.txt", b"\xff")
    write(dutch / "nli/xnli/test.fr.tsv", "broken\n")
    assert xling(ROOT, "data", "check", str(dutch)).returncode == 2
    done = xling(ROOT, "data", "check", str(dutch), "--languages", "nl", "--chapter", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "fr" not in done.stdout.replace("for want", "").split() and "missing" not in done.stdout
    told = [line.strip() for line in done.stdout.splitlines()]
    assert "measured: word retrieval" in told
    wanted = "ner/panx/train.en.tsv, ner/panx/dev.en.tsv, ner/panx/dev.nl.tsv"
    assert f"left out: NER, for want of {wanted}" in told
    (text,) = [line for line in told if line.startswith("text: ")]
    assert "the scale natural reads 50,000 of a language, so add -p sentences 1" in text
    alone = xling(ROOT, "data", "check", str(dutch), "--languages", "nl")
    assert alone.returncode == 0 and "no file for en nl" in alone.stdout and "el bg" not in alone.stdout
    write(dutch / "dictionaries/muse/en-nl.test.txt", "garden\n")
    broken = xling(ROOT, "data", "check", str(dutch), "--languages", "nl", "--chapter", "2")
    assert broken.returncode == 2 and "en-nl.test.txt, line 1" in broken.stderr
    assert xling(ROOT, "data", "check", str(dutch), "--languages", "nl", "--chapter", "5").returncode == 0


@pytest.mark.parametrize("chapter", MODULES)
def test_every_chapter_says_what_it_misses(chapter: str, dutch: Path) -> None:
    assert named(chapter) == named(str(int(chapter[:2]))) == chapter
    lines = readiness.ready(chapter, ["nl"], dutch).lines
    planned = declared(chapter).grid(scale("natural"), ["nl"], 1, "all")
    tasks = {task for each in planned for task in declared(chapter).tasks(each)}
    assert any(line.startswith("left out: ") for line in lines) or tasks == {"word retrieval"}
    known = {line.partition(": ")[2].partition(", for want")[0] for line in lines}
    assert tasks <= known or chapter == "08_minimult"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--chapter", "12"], "unknown chapter '12'; known: 01_data_size"),
        (["--languages", "../x"], "language '../x': give a code"),
        (["--languages", "de", "--chapter", "2"], "text/de: no text"),
        (["--languages", "en", "--chapter", "2"], "no language beside English has text"),
    ],
)
def test_mistakes_of_a_check_are_one_line(options: list[str], message: str, dutch: Path, xling: Call) -> None:
    done = xling(ROOT, "data", "check", str(dutch), *options)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and message in done.stderr


def test_a_page_names_sentences_and_text() -> None:
    own = of_ones_own({"scale": "smoke", "sentences": 300, "data": "/home/me/dutch"})
    assert own == {"scale": "smoke", "sentences": 300, "data": "dutch"}, "the folder's name, not its place"
    made = own_run.command("02_window_size", {"sentences": 300, "data": "/home/me/dutch"}, DEFAULTS)
    assert made == "xling run 02_window_size -p sentences 300 --data DIR"


def test_records_of_other_languages_stay_away() -> None:
    rows = records.load("02_window_size", "natural")
    assert records.of_languages(rows, ["nl"]).empty
    assert len(records.of_languages(rows, ["nl", "fr"])) == len(rows)
    double = records.load("08_minimult", "controlled")
    assert len(records.of_languages(double, ["nl"])) == len(double), "which reads English alone"
