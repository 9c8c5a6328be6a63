"""What the package promises about what it reads and what it shows; the reliability page names these tests."""

from __future__ import annotations

import ast
import html
import io
import json
import lzma
import os
import shlex
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.mutations import MARKUP, within
from xling_utils.book import content_policy
from xling_utils.chapters.data_size import explorer
from xling_utils.charts import offline, tables
from xling_utils.core.errors import UserError, printable
from xling_utils.corpora import archive
from xling_utils.measures.tasks.word_retrieval import Dictionary

ROOT = Path(__file__).parents[2]
FOLDERS = ("xling_utils", "notebooks", "benchmarks")
SOURCES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
UNPICKLERS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
RUNS_TEXT = {"eval", "exec", "compile"}
HOSTILE = f"\"'>{MARKUP}</SCRIPT ><img src=x onerror=alert(1)>"


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call in a source, by what is called, as far as it is written: ``"torch.load"``."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def given(call: ast.Call, name: str) -> str:
    return next((ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg == name), "")


def test_no_pickle_is_loaded_and_no_text_is_run() -> None:
    assert len(SOURCES) > 100
    found = []
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [f"{path.name}: import {name}" for name in names if name.split(".")[0] in UNPICKLERS]
        for name, call in calls(path):
            last = name.split(".")[-1]
            forbidden = name in RUNS_TEXT or last in ("read_pickle", "to_pickle")
            forbidden |= name == "torch.load" and given(call, "weights_only") != "True"
            forbidden |= name in ("np.load", "numpy.load") and given(call, "allow_pickle") not in ("", "False")
            forbidden |= given(call, "trust_remote_code") not in ("", "False")
            forbidden |= name in ("yaml.load", "yaml.unsafe_load", "yaml.full_load")
            forbidden |= given(call, "shell") not in ("", "False") or name == "os.system"
            forbidden |= last in ("extractall", "unpack_archive")
            if forbidden:
                found.append(f"{path.name}, line {call.lineno}: {name}")
    assert found == []


def test_models_from_elsewhere_run_no_code_and_are_safetensors() -> None:
    """Written into a mapping that is passed on, where the test above does not see it."""
    source = (ROOT / "xling_utils/measures/encoders/hub.py").read_text(encoding="utf-8")
    assert '"trust_remote_code": False' in source and "use_safetensors=True" in source
    for path in SOURCES:
        assert "trust_remote_code=True" not in path.read_text(encoding="utf-8").replace(" ", "")


# Archives: see test_archive.py for members that would leave their folder


def packed(path: Path, write: tarfile.TarInfo, content: bytes = b"") -> Path:
    """An archive whose sums name ``write``, which stands behind them."""
    sums = f"{'0' * 64}  {write.name}\n".encode()
    first = tarfile.TarInfo("SHA256SUMS")
    first.size = len(sums)
    with lzma.open(path, "wb", preset=0) as stream, tarfile.open(fileobj=stream, mode="w|") as made:
        made.addfile(first, io.BytesIO(sums))
        made.addfile(write, io.BytesIO(content))
    return path


def test_an_archive_that_unpacks_to_too_much_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "ALWAYS_ALLOWED", 100_000)
    bomb = tarfile.TarInfo("text/en/a.txt")
    bomb.size = 30_000_000
    path = packed(tmp_path / "bomb.tar.xz", bomb, b"\0" * bomb.size)
    assert path.stat().st_size < 30_000
    with within(), pytest.raises(UserError, match=r"bomb\.tar\.xz: unpacks to over 100 times its size"):
        archive.unpack(path, tmp_path / "copy")
    assert [path.name for path in tmp_path.iterdir()] == ["bomb.tar.xz"]


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_of_any_length_is_given_up(kind: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "ALWAYS_ALLOWED", 100_000)
    header = tarfile.TarInfo("text/en/a.txt")
    header.type, header.size = kind, 30_000_000
    path = packed(tmp_path / "bomb.tar.xz", header, b"9" * header.size)
    with within(), pytest.raises(UserError, match="unpacks to over 100 times its size"):
        archive.unpack(path, tmp_path / "copy")


def test_a_file_with_holes_is_no_plain_file(tmp_path: Path) -> None:
    sparse = tarfile.TarInfo("text/en/a.txt")
    holes = {"major": "0", "minor": "1", "name": sparse.name, "size": str(10**15), "numblocks": "1", "map": "0,0"}
    sparse.pax_headers = {f"GNU.sparse.{name}": value for name, value in holes.items()}
    path = packed(tmp_path / "holes.tar.xz", sparse)
    with within(), pytest.raises(UserError, match="is no plain file"):
        archive.unpack(path, tmp_path / "copy")


# What is shown


def test_messages_hide_no_character() -> None:
    assert str(UserError("a\x1b[31m\n\u202eb\ud800\0 é 中")) == "a\\x1b[31m\\n\\u202eb\\ud800\\x00 é 中"
    assert printable("قطة ไทย") == "قطة ไทย"
    assert len(str(UserError("x" * 10**6))) < 11_000


def test_words_of_a_dictionary_stay_text_in_the_explorer() -> None:
    words = Dictionary(HOSTILE, ["dog", HOSTILE], [HOSTILE, "chat"], 2, [{0}, {1}])
    vectors = np.random.default_rng(0).normal(size=(2, 2, 4)).astype(np.float32)
    explored = explorer.Explorer(words, vectors, vectors)
    box = explorer.widget(explored)
    for word in words.sources:
        box.children[0].value = word
        shown = box.children[-1].value
        assert "<script" not in shown and "<img" not in shown and "</SCRIPT" not in shown
        assert html.escape(MARKUP) in shown
    page = explorer.page(explored)
    assert "<img" not in page and page.count("<script") == page.count("</script>") == 3


def test_text_in_a_chart_stays_text() -> None:
    spec = {"title": HOSTILE, "description": HOSTILE, "datasets": {"a": [{HOSTILE: HOSTILE}]}}
    shown = offline.chart_html(spec, offline.describe(spec))
    assert shown.count("<") == 10 and shown.count("</script>") == 1, "the element's own tags"
    start = shown.index('json">') + 6
    by_column = {"count": 1, "columns": {HOSTILE: [HOSTILE]}}
    assert json.loads(shown[start : shown.index("</script>")]) == spec | {"datasets": {"a": by_column}}
    assert f'aria-label="{html.escape(HOSTILE)}"' in shown


def test_tables_of_the_chapters_escape_what_they_show() -> None:
    assert "<script" not in pd.DataFrame({HOSTILE: [HOSTILE]}).to_html()
    for path in SOURCES:
        for name, call in calls(path):
            assert given(call, "escape") != "False", f"{path.name}, line {call.lineno}"
            own = ".style." not in name or path.name == "tables.py"
            assert own, f"{path.name}, line {call.lineno}: a Styler escapes what it is told to; tables.show tells it"
    shown = tables.show(pd.DataFrame({HOSTILE: [HOSTILE], "n": [1]})).to_html()
    assert "<script" not in shown and "<img" not in shown and shown.count("&lt;img") == 2
    frame = pd.DataFrame([dict.fromkeys((*tables.ONCE, HOSTILE), HOSTILE)])
    shown = tables.of_claims(frame).data
    assert "<script" not in shown and "<img" not in shown and shown.count("&lt;img") == 11
    assert {"id", "claim", "verdict", "effect", "scale", "test"} < set(tables.ONCE)


# The policy of the pages; tests/book/test_policy.py holds it against a browser

PAGE = """<!DOCTYPE html><html><head><meta charset="utf-8" /><script>own()</script>
<script src="a.js"></script><script type="application/json">{"a": 1}</script></head>
<body><article><p>A</p><script>foreign()</script></article></body></html>"""


def test_only_scripts_of_the_head_are_allowed() -> None:
    own, foreign, data = map(content_policy.digest, ("own()", "foreign()", '{"a": 1}'))
    page, theme = (content_policy.protected(PAGE, name) for name in ("page.html", "search.html"))
    assert page.index("Content-Security-Policy") < page.index("<script")
    assert own in page and foreign not in page and data not in page
    assert own in theme and foreign in theme, "a page of the theme's, without text of the book"


def test_the_policy_takes_nothing_from_elsewhere_and_runs_no_text() -> None:
    policy = content_policy.policy_for(["own()"])
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split("; ")}
    assert rules["default-src"] == rules["base-uri"] == ["'none'"]
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*", "data:", "blob:"} & set(rules["script-src"])
    assert "http" not in policy
    assert all(source.startswith(("'", "file:", "data:", "blob:")) for sources in rules.values() for source in sources)


FOUND = "Found 2 known vulnerabilities in 1 package\nName Version ID\n"
UNREACHED = "ERROR:pip_audit._cli: Could not connect to the service of vulnerabilities\n"


@pytest.mark.parametrize(
    ("says", "ends", "code", "line"),
    [
        ("No known vulnerabilities found\n", 0, 0, "No known"),
        ("zict could not be audited\nzipp could not be audited\n", 0, 0, "audit: not done for 2 packages"),
        (FOUND, 1, 1, "raise the versions named above in requirements.lock"),
        (UNREACHED, 1, 0, "audit: not done, there is no network"),
    ],
)
def test_dependencies_are_audited(says: str, ends: int, code: int, line: str, tmp_path: Path) -> None:
    """With a stand-in for pip-audit, which needs the network."""
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    (tmp_path / ".ci/audit-ignored").write_text("# why\nPYSEC-1 only on Windows\n")
    tool = tmp_path / "bin/pip-audit"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "$@"\nprintf {shlex.quote(says)} >&2\nexit {ends}\n')
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
    done = subprocess.run([tmp_path / ".ci/audit"], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == code
    assert line in done.stdout
    assert "--requirement requirements.lock" in done.stdout and "--ignore-vuln PYSEC-1" in done.stdout
    steps = yaml.safe_load((ROOT / ".github/workflows/audit.yml").read_text(encoding="utf-8"))["jobs"]["audit"]["steps"]
    assert ".ci/audit" in {step.get("run") for step in steps}


def test_a_vulnerability_is_ignored_for_a_reason_only(tmp_path: Path) -> None:
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    (tmp_path / ".ci/audit-ignored").write_text("PYSEC-1\n")
    done = subprocess.run([tmp_path / ".ci/audit"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "audit: .ci/audit-ignored gives no reason for PYSEC-1\n")
