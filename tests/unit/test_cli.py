"""The command line: what it answers, with which exit code, and how soon."""

import json
import lzma
import re
import shlex
import subprocess
import sys
from pathlib import Path

import jupytext
import pytest

from tests.conftest import Call
from xling_utils.book.parameters import default_parameters
from xling_utils.book.recording import EVERY_RUN
from xling_utils.chapters.architecture import plan as architecture
from xling_utils.chapters.overlap import plan as overlap
from xling_utils.claims import replication
from xling_utils.cli import main, output, runs
from xling_utils.core.scales import scale
from xling_utils.core.specs import CorpusSpec, EncoderSpec, RunSpec, TokenizerSpec, TrainingSpec
from xling_utils.measures import MeasuresFailed
from xling_utils.runs import RunsFailed
from xling_utils.runs.store import RunStore

ROOT = Path(__file__).parents[2]
XLING = Path(sys.executable).with_name("xling")

FIRST = """
# %% [markdown]
# # A chapter

# %% tags=["parameters"]
scale = "controlled"
languages = ["de", "fr"]
jobs = None
scheduler = None
seeds = 3
live = "headline"
data = None
engine = "local"
rate = 0.1

# %%
import sys
from tqdm import tqdm
for _ in tqdm(range(1000), desc="counting", mininterval=0):
    pass
print(sys.prefix, scale, languages, seeds, rate)
"""

SECOND = """
# %% tags=["parameters"]
scale = "controlled"
seeds: int = 3

# %%
import os
from xling_utils.core.errors import UserError
if seeds == 1:
    raise UserError("data/en.txt:3: not UTF-8")
if seeds == 2:
    raise ValueError("odd")
if seeds == 4:
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book of two chapters; the second fails in several ways, by its number of seeds."""
    (tmp_path / "_toc.yml").write_text("")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/01_first.py").write_text(FIRST)
    (tmp_path / "notebooks/02_second.py").write_text(SECOND)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "run",
        "book",
        "play",
        "plan",
        "bench",
        "runs",
        *(f"runs {c}" for c in ("list", "show", "verify", "prune")),
        "data",
        *(f"data {c}" for c in ("check", "pack", "unpack")),
    ],
)
def test_every_command_has_help(book: Path, arguments: str, xling: Call) -> None:
    done = xling(book, *arguments.split(), "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: xling" in done.stdout


def test_help_waits_for_no_heavy_library() -> None:
    code = "import sys, xling_utils.cli.main; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "numpy", "pandas", "transformers", "altair", "papermill"} & set(loaded)


def test_an_interrupt_while_the_command_is_still_being_imported_is_one_line() -> None:
    code = """
import sys

class Interrupting:
    def find_spec(self, name, *rest):
        if name == "typer":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
from xling_utils.cli import xling
xling()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "xling: interrupted\n")


MISTAKES = [
    (["run", "04_nothing"], "unknown chapter '04_nothing' in .*; known: 01_first, 02_second"),
    (["run", "--scale", "huge"], "01_first: unknown scale 'huge'; known: smoke, controlled, natural, paper"),
    (["run", "-p", "scale", "huge"], "01_first: unknown scale 'huge'; known: smoke,"),
    (["run", "--engine", "spark"], "01_first: unknown engine 'spark'; known: local, dask"),
    (["run", "-p", "live", "some"], "01_first: unknown live 'some'; known: headline, all, none"),
    (["run", "-p", "languages", "[fr, xx]"], "01_first: unknown language 'xx'; known beside English: fr, es"),
    (["run", "-p", "languages", "[]"], "01_first: languages: name at least one"),
    (["run", "-p", "seeds", "1:30:00"], "01_first: parameter seeds takes a whole number, not '1:30:00'"),
    (["run", "-p", "jobs", "true"], "01_first: jobs takes a whole number, not True"),
    (["run", "-p", "scheduler", "nonsense"], "01_first: scheduler 'nonsense' is no address"),
    (["run", "-p", "languages", "en"], "parameter languages takes a list as in '.a, b.', not 'en'"),
    (["run", "-p", "langages", "[en]"], "01_first: unknown parameter 'langages'; known: data, engine"),
    (["run", "-p", "rate", "1"], "02_second: unknown parameter 'rate'; known: scale, seeds"),
    (["run", "-p", "seeds", "many"], "01_first: parameter seeds takes a whole number, not 'many'"),
    (["run", "-p", "seeds"], "-p takes a NAME and a VALUE"),
    (["run", "-pscale"], "-p takes a NAME and a VALUE"),
    (["run", "--seeds", "2", "-p", "seeds", "3"], "seeds is given twice"),
    (["run", "-p", "languages", "[fr]", "-p", "languages", "[de]"], "languages is given twice, with -p"),
    (["run", "--seeds", "0"], "Invalid value for '--seeds'"),
    (["run", "01_first", "--data", "nowhere"], "01_first: data: .*nowhere is not a folder"),
    (["run", "--records-only", "-p", "live", "none"], "live none leaves nothing to measure without notebooks"),
    (["data", "pack", ".", "--languages", "", "--out", "o.tar.xz"], "--languages: name at least one beside English"),
    (["run", "--records-only", "01_first"], "unknown chapter '01_first'; known: 01_data_size, 02_window_size"),
    (["run", "--records-only", "--scale", "huge"], "01_data_size: unknown scale 'huge'; known: smoke, controlled"),
    (["run", "--records-only", "-p", "model", "m"], "01_data_size: unknown parameter 'model'; known: data, engine"),
    (["run", "--records-only", "--data", "_toc.yml"], "is not a folder; `xling data unpack` makes one of an archive"),
    (["play", "04_nothing"], "unknown chapter '04_nothing' in .*; known: 01_first, 02_second"),
    (["run", "--speed", "2"], "No such option: --speed"),
    (["walk"], "No such command 'walk'"),
    (["runs"], "Missing command"),
    (["runs", "show", "abc"], "no run 'abc' in .*; `xling runs list`"),
    (["runs", "prune", "--keep", "abc"], "no run 'abc' in .*, so nothing is removed"),
    (["data", "pack", "notebooks", "--languages", "fr", "--out", "f"], "notebooks/text/en: no text"),
    (["data", "pack", "nowhere", "--languages", "fr", "--out", "f"], "nowhere: no such directory"),
    (["data", "pack", "notebooks", "--out", "f"], "Missing option '--languages'"),
    (["data", "unpack", "_toc.yml", "new"], "_toc.yml: no whole archive .*; copy it again"),
    (["data", "unpack", "nowhere", "new"], "nowhere: No such file or directory"),
    (["data", "unpack", "_toc.yml", "notebooks"], "notebooks: not an empty folder; name a new one"),
    (["claims", "--jobs", "2"], "--jobs is for --check-seed"),
    *(
        (["claims", "--check-seed", "99", *other], "--check-seed takes no --scale, --json or --power")
        for other in (["--scale", "natural"], ["--json"], ["--power"])
    ),
    (["bench", "fast"], "unknown benchmark 'fast'"),
    (["bench", "--list", "fast"], "unknown benchmark 'fast'"),
    *(
        (["run", *local, *given], "engine local trains here, and a scheduler hands runs out")
        for local in (["--engine", "local"], ["-p", "engine", "local"])
        for given in (["--scheduler", "a:1"], ["-p", "scheduler", "a:1"])
    ),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=[" ".join(m[0]) for m in MISTAKES])
def test_a_mistake_is_one_line_and_exit_code_2(book: Path, arguments: list[str], message: str, xling: Call) -> None:
    done = xling(book, *arguments)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("xling")
    assert re.search(message, done.stderr)
    assert not (book / "_build").exists(), "everything is checked before anything runs"


@pytest.mark.parametrize("failure", [RunsFailed, MeasuresFailed])
def test_a_seed_that_cannot_be_checked_is_one_line(
    book: Path, failure: type[Exception], xling: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failed(seed: int, jobs: int | None) -> None:
        raise failure("1 of 2 failed")

    monkeypatch.setattr(replication, "measure", failed)
    done = xling(book, "claims", "--check-seed", "99")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "xling: 1 of 2 failed\n")


def test_outside_of_a_book(tmp_path: Path, xling: Call) -> None:
    done = xling(tmp_path, "run")
    assert done.returncode == 2
    assert "is not in a book" in done.stderr


def test_chapters_are_executed_once_and_again_when_something_changes(book: Path, xling: Call) -> None:
    options = ("run", "01_first", "-p", "languages", "[de, ur]", "--seeds", "2", "-p", "rate", "1")
    done = xling(book, *options)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "01_first: executing")
    progress = done.stderr.splitlines()
    assert progress[-1].startswith("counting: 100%")
    assert len(progress) <= 2, "a redrawn bar is not a line a time"
    notebook = json.loads((book / "_build/executed/01_first.ipynb").read_text())
    injected = [c for c in notebook["cells"] if "injected-parameters" in c["metadata"]["tags"]]
    assert ["remove-cell" in cell["metadata"]["tags"] for cell in injected] == [True]
    outputs = {o["name"]: "".join(o["text"]) for o in notebook["cells"][-1]["outputs"]}
    assert outputs["stdout"] == f"{sys.prefix} controlled ['de', 'ur'] 2 1.0\n"
    assert outputs["stderr"].count("\n") == 1
    assert str(book) not in json.dumps(notebook), "nothing of this machine"

    assert xling(book, *options).stdout == "01_first: up to date\n"
    assert "executing" in xling(book, *options, "--scale", "smoke").stdout
    assert "executing" in xling(book, *options).stdout
    (book / "book/records").mkdir(parents=True)
    (book / "book/records/01.csv").write_text("a\n")
    assert "executing" in xling(book, *options).stdout
    assert xling(book, *options, "-p", "engine", "dask").stdout == "01_first: up to date\n"
    (book / "notebooks/01_first.py").write_text(FIRST + "\n# more\n")
    assert "executing" in xling(book, *options).stdout


@pytest.mark.parametrize(
    ("seeds", "code", "message"),
    [
        (1, 2, "02_second: data/en.txt:3: not UTF-8 [log: "),
        (2, 1, "02_second: ValueError: odd [log: "),
        (4, 1, "02_second: DeadKernelError: Kernel died [log: "),
    ],
)
def test_a_failed_chapter_is_named_and_the_others_finish(
    book: Path, seeds: int, code: int, message: str, xling: Call
) -> None:
    (book / "notebooks/03_third.py").write_text('# %% tags=["parameters"]\nseeds = 1\n')
    (book / "notebooks/01_first.py").unlink()
    done = xling(book, "run", "--seeds", str(seeds))
    assert done.returncode == code
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"xling: {message}")
    assert "Traceback" not in done.stderr
    assert "Error" in (book / "_build/logs/02_second.log").read_text()
    assert (book / "_build/executed/03_third.ipynb").exists()
    assert not (book / "_build/executed/02_second.ipynb").exists()
    assert (book / "_build/failed/02_second.ipynb").exists() == (seeds != 4), "a dead kernel leaves none"


def test_the_store_from_the_command_line(book: Path, xling: Call) -> None:
    assert xling(book, "runs", "list").stdout == f"no runs in {book / 'runs'}\n"
    (book / "runs").write_text("a file")
    refused = xling(book, "runs", "list")
    assert (refused.returncode, "runs: not a folder; set XLING_STORE to one" in refused.stderr) == (2, True)
    (book / "runs").unlink()
    corpus = CorpusSpec("controlled", ("en", "fr"), 100)
    spec = RunSpec(corpus, TokenizerSpec(), EncoderSpec(), TrainingSpec(10), seed=7)
    store = RunStore(book / "runs")
    for key in ("aa", "bb"):
        with store.writing(key, spec) as draft:
            (draft.path / "model.safetensors").write_bytes(b"weights")
            draft.provenance["seconds"] = 1.5
    rows = json.loads(xling(book, "runs", "list", "--json").stdout)
    assert [(row["key"], row["kind"], row["languages"], row["seed"]) for row in rows] == [
        ("aa", "bert", "en-fr", 7),
        ("bb", "bert", "en-fr", 7),
    ]
    assert xling(book, "runs", "list").stdout.count("\n") == 3
    shown = json.loads(xling(book, "runs", "show", "aa").stdout)
    assert shown["spec"]["training"]["steps"] == 10
    assert xling(book, "runs", "verify").returncode == 0
    (store.root / "bb/model.safetensors").write_bytes(b"WEIGHTS")
    damaged = xling(book, "runs", "verify")
    assert damaged.returncode == 1
    assert "bb: model.safetensors has the wrong sha256" in damaged.stdout
    assert xling(book, "runs", "prune", "--keep", "aa").stdout == "bb\n"
    assert store.keys() == ["aa"]


def test_benchmarks_run_in_turn(book: Path, xling: Call) -> None:
    (book / "benchmarks").mkdir()
    (book / "benchmarks/one.py").write_text("print('fast')")
    (book / "benchmarks/two.py").write_text("raise SystemExit(3)")
    (book / "benchmarks/_shared.py").write_text("raise SystemExit(3)")
    assert xling(book, "bench", "--list").stdout == "one\ntwo\n"
    assert xling(book, "bench", "--list", "two").stdout == "two\n"
    assert xling(book, "bench", "one").stdout == "## one\nfast\n"
    done = xling(book, "bench")
    assert (done.returncode, done.stderr) == (1, "xling: failed: two\n")


def test_a_data_directory_is_checked(book: Path, xling: Call) -> None:
    text = book / "data/text/en"
    text.mkdir(parents=True)
    with lzma.open(text / "news.txt.xz", "wb") as file:
        file.write(b"One sentence .\nAnother one .\n")
    done = xling(book, "data", "check", "data")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("data: nothing is broken\n")
    (text / "more.txt.xz").write_bytes((text / "news.txt.xz").read_bytes()[:-20])
    done = xling(book, "data", "check", "data")
    assert done.returncode == 2
    assert "more.txt.xz" in done.stderr
    assert "Traceback" not in done.stderr
    assert xling(book, "data", "check", "nowhere").returncode == 2


def test_a_data_directory_travels_as_one_file(book: Path, xling: Call) -> None:
    for language in ("en", "fr", "sw"):
        (book / "data/text" / language).mkdir(parents=True)
        (book / "data/text" / language / "news.txt").write_text("One sentence .\n")
    done = xling(book, "data", "pack", "data", "--languages", "fr", "--out", "some.tar.xz")
    assert done.returncode == 0 and re.fullmatch(r"some.tar.xz: 2 files, 0.0 MB, sha256 [0-9a-f]{64}\n", done.stdout)
    done = xling(book, "data", "unpack", "some.tar.xz", "copy")
    assert (done.returncode, done.stdout) == (0, "copy: 2 files, all as their sha256 says\n")
    assert xling(book, "data", "check", "copy").returncode == 0
    assert not (book / "copy/text/sw").exists()


@pytest.mark.parametrize("arguments", ["runs list", "plan 02_window_size", "--help", "walk"])
@pytest.mark.parametrize("closed", [">&-", "2>&-", "| true"])
def test_a_closed_stream_is_no_traceback(arguments: str, closed: str, tmp_path: Path) -> None:
    line = f"{shlex.quote(str(XLING))} {arguments} 2>{tmp_path / 'told'} {closed}; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.splitlines()[-1] in (("2",) if arguments == "walk" else ("0", "1")), done.stdout
    assert "Traceback" not in (tmp_path / "told").read_text() + done.stderr


def test_what_several_chapters_say_stays_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    class Written(list[str]):
        write, flush = list.append, staticmethod(lambda: None)

    monkeypatch.setattr(sys, "stdout", written := Written())
    output.say("02_window_size: done after 3 s")
    assert written == ["02_window_size: done after 3 s\n"], "another thread could come between what is written"


def test_too_little_memory_is_one_line() -> None:
    line = f"ulimit -v 400000; {shlex.quote(str(XLING))} plan 02_window_size"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "xling: memory is limited to 390 MB (ulimit -v), and 2048 are needed\n"


def test_the_help_names_every_parameter_without_an_option() -> None:
    named = set(main.PARAMETERS.replace(",", " ").replace(";", " ").replace(".", " ").split())
    known = set(EVERY_RUN)
    for path in (ROOT / "notebooks").glob("*.py"):
        known |= set(default_parameters(path.stem, jupytext.read(path)))
    assert known & named == known - {"scale", "seeds", "data", "engine", "scheduler", "jobs"}


def test_the_listing_tells_variants_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = scale("controlled")
    plans = [*overlap.grid(small, ("fr",), 1, "all"), *architecture.grid(small, ("fr", "de", "ru"), 1, "all")]
    specs = {spec for planned in plans for spec in planned.specs}
    assert len({(*spec.corpus.languages, spec.kind, steps(spec), runs._variant(spec)) for spec in specs}) == len(specs)
    assert runs._variant(small.bert(("en", "fr"), 15_000, 31, 8)) == (
        "heads 4, layers 3, width 64, kind wordpiece, size 1600, length 24, snapshots 8"
    )
    assert runs._variant(small.static("glove", ("en", "fr"), 15_000, 31)).startswith("width 64, window 5")


def steps(spec: RunSpec) -> int:
    return spec.training.steps if spec.training else 0


def test_a_plan_ends_with_what_it_takes(xling: Call) -> None:
    told = xling(ROOT, "plan", "02_window_size").stdout.splitlines()[-1]
    assert re.fullmatch(r"55 runs of 5 seeds, \d+ stored; the others take some [\d.]+ core-hours to train", told)
    fewer = xling(
        ROOT, "plan", "05_language_means", "--scale", "natural", "--seeds", "2", "-p", "languages", "[nl, fr]"
    )
    assert " en-nl-fr " in fewer.stdout and "4 runs of 2 seeds, their text is not at hand" in fewer.stdout
    wrong = xling(ROOT, "plan", "05_language_means", "-p", "languages", "[nl]")
    assert wrong.returncode == 2 and "unknown language 'nl'" in wrong.stderr
