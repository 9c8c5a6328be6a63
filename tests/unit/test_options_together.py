"""Options that say the same thing, or nothing without another: none is left out without a word."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Call

ROOT = Path(__file__).parents[2]
CHAPTER = "05_language_means"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a plan was asked for."""
    found: dict[str, Any] = {}
    monkeypatch.setattr("xling_utils.chapters.plan", lambda chapter, **given: found.update(given) or [])
    return found


@pytest.mark.parametrize("command", [("run", "--records-only"), ("plan",)])
@pytest.mark.parametrize(
    ("name", "option", "typed"),
    [("seeds", "1", "2"), ("seeds", "5", "5"), ("scale", "controlled", "natural"), ("data", ".", "book")],
)
def test_what_is_given_twice_is_refused(
    command: tuple[str, ...], name: str, option: str, typed: str, xling: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    for taken in ("book.record", "chapters.plan"):
        monkeypatch.setattr(f"xling_utils.{taken}", lambda *_, **__: pytest.fail("takes one of two"))
    done = xling(ROOT, *command, CHAPTER, f"--{name}", option, "-p", name, typed)
    assert (done.returncode, done.stderr) == (2, f"xling: {name} is given twice, as --{name} and with -p\n")


@pytest.mark.parametrize("option", [["--data", "text"], ["-p", "data", "text"]])
@pytest.mark.parametrize("scale", [["--scale", "natural"], ["-p", "scale", "natural"]])
def test_a_plan_reads_the_directory_that_is_named(
    option: list[str], scale: list[str], asked: dict[str, Any], tmp_path: Path, xling: Call,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "notebooks").mkdir()
    for path in ("_toc.yml", f"notebooks/{CHAPTER}.py"):
        (tmp_path / path).touch()
    for folder in ("text", "other"):
        (tmp_path / folder).mkdir()
    assert xling(tmp_path, "plan", CHAPTER, *scale, *option).returncode == 0
    assert (asked["scale"], asked["data"]) == ("natural", tmp_path / "text")
    monkeypatch.setenv("XLING_DATA", str(tmp_path / "other"))
    assert xling(tmp_path, "plan", CHAPTER, *scale).returncode == 0
    assert asked["data"] == tmp_path / "other"
    assert xling(tmp_path, "plan", CHAPTER, *scale, *option).returncode == 0
    assert asked["data"] == tmp_path / "text", "what is typed counts before the environment"
    assert xling(tmp_path, "plan", CHAPTER).returncode == 0
    assert (asked["scale"], asked["seeds"], asked["data"]) == ("controlled", 5, None)


def test_a_branch_is_one_of_a_repository(xling: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: dict[str, Any] = {}
    monkeypatch.setattr("xling_utils.book.render", lambda root, **given: rendered.update(given))
    for branch in ("v1", "main"):
        done = xling(ROOT, "book", "--branch", branch)
        assert (done.returncode, rendered) == (2, {})
        assert done.stderr == "xling: --branch is for --repository: without it no chapter gets a button\n"
    assert xling(ROOT, "book").returncode == 0
    assert (rendered["repository"], rendered["branch"]) == (None, "main")
    assert xling(ROOT, "book", "--branch", "v1", "--repository", "https://github.com/a/b").returncode == 0
    assert rendered["branch"] == "v1"
