"""The book as HTML: stage the pages beside the executed notebooks, render, publish. Nothing is executed here.

``_build/executed/*.ipynb`` (from `xling run`) -> ``_build/stage`` -> ``_build/html``. The stage is kept
between calls, with the parsed pages of the last render, and only files whose bytes changed are written to it,
so that a second render costs the changed pages only. A failed render leaves the published pages as they were.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from xling_utils.book import chapter_pages, content_policy, encoder_script, line_breaks, published_book, stage_identity
from xling_utils.book.launch import with_buttons
from xling_utils.book.published_book import STATIC
from xling_utils.charts.offline import BUNDLE
from xling_utils.core.errors import UserError
from xling_utils.core.files import yaml_mapping
from xling_utils.core.writing import held

Fills = Mapping[str, Callable[[], str]]
"""What stands for a mark of that name in a page, as Markdown."""
NO_FILLS: Fills = {}
_MARK = re.compile(rb"^<!-- fill: (.+) -->$", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def pages(root: Path) -> list[str]:
    """Pages of ``root/_toc.yml`` in reading order, such as ``["book/intro", "notebooks/01_data_size"]``."""

    def files(entry: Any) -> Iterator[str]:
        if isinstance(entry, dict):
            for key, value in entry.items():
                if key in ("root", "file"):
                    yield str(value)
                else:
                    yield from files(value)
        elif isinstance(entry, list):
            for value in entry:
                yield from files(value)

    return list(files(yaml_mapping(root / "_toc.yml")))


def chapters(root: Path) -> list[str]:
    """Names of the notebooks among the `pages`, for example ``["01_data_size"]``."""
    return [Path(page).stem for page in pages(root) if page.startswith("notebooks/")]


def stage(
    root: Path,
    executed: Path,
    out: Path,
    repository: str | None = None,
    branch: str = "main",
    fills: Fills = NO_FILLS,
) -> Path:
    """Put everything the renderer reads under ``out``, writing only what changed, and return ``out``.

    ``root`` is the repository (``_config.yml``, ``_toc.yml``, ``book/``), ``executed`` the folder of executed
    notebooks; of ``branch`` of ``repository`` see :mod:`launch`, of ``fills`` :func:`filled`. Raises `UserError` for a
    chapter of ``_toc.yml`` that has no executed notebook.
    """
    for name in chapters(root):
        if not (executed / f"{name}.ipynb").is_file():
            raise UserError(
                f"chapter {name} has not been executed: {executed / name}.ipynb does not exist; "
                f"run `xling run {name}` first"
            )
    wanted: dict[Path, bytes] = {}
    for name in ("_config.yml", "_toc.yml"):
        wanted[Path(name)] = (root / name).read_bytes()
    if repository:
        wanted[Path("_config.yml")] = with_buttons(root / "_config.yml", repository, branch)
    for folder, target in ((root / "book", "book"), (STATIC, "static")):
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            place, content = target / file.relative_to(folder), file.read_bytes()
            if file.suffix == ".csv":
                wanted[place.with_name(f"{place.name}.zip")] = _zipped(place.name, content)
            else:
                wanted[place] = filled(content, fills) if file.suffix == ".md" else content
    wanted |= {Path("static", name): content for name, content in encoder_script.of_book(root).items()}
    for name in chapters(root):
        wanted[Path("notebooks", f"{name}.ipynb")] = chapter_pages.published(root, executed / f"{name}.ipynb")

    identity = stage_identity.of(root, wanted)
    if not (out / "identity").is_file() or (out / "identity").read_text() != identity:
        shutil.rmtree(out, ignore_errors=True)
    parsed = out / "_build" / ".doctrees" / "environment.pickle"
    if parsed.is_file() and parsed.stat().st_mtime > time.time():
        # The clock was set back. What has changed since a page was parsed cannot be told: it goes by time.
        shutil.rmtree(out / "_build")
    kept = {Path("identity"), Path("static", BUNDLE)}
    for file in [path for path in out.rglob("*") if path.is_file()]:
        relative = file.relative_to(out)
        if relative.parts[0] != "_build" and relative not in wanted.keys() | kept:
            file.unlink()
    changed = [_write_if_changed(out / relative, content) for relative, content in wanted.items()]
    if any(changed):  # the bibliography links back to every citation, so it is read again with any page
        for relative in (path for path, content in wanted.items() if b"{bibliography}" in content):
            (out / relative).touch()
    if not (out / "static" / BUNDLE).is_file():
        _write_if_changed(out / "static" / BUNDLE, _vega_bundle())
    _write_if_changed(out / "identity", identity.encode())
    return out


def render(
    root: Path,
    *,
    strict: bool = True,
    repository: str | None = None,
    branch: str = "main",
    fills: Fills = NO_FILLS,
) -> Path:
    """Render the book of ``root`` to ``root/_build/html`` and return that folder; with a ``repository`` on GitHub,
    with buttons that open its chapters there (see :mod:`launch`); of ``fills`` see :func:`filled`.

    With ``strict`` every warning (a dead reference, an unknown citation, a duplicate label) is an error.
    Raises `UserError` with the first one, its file and line; ``_build/render.log`` has the whole output. A book that
    was rendered of the very same things is left as it is.
    """
    build = root / "_build"
    build.mkdir(exist_ok=True)
    with held(build / "rendering.lock"):
        notebooks = [build / "executed" / f"{name}.ipynb" for name in chapters(root)]
        made_of = published_book.made_of(root, notebooks, (strict, repository, branch))
        if not published_book.is_there(build / "html", made_of):
            _render(stage(root, build / "executed", build / "stage", repository, branch, fills), build, strict)
            published_book.note(build / "html", made_of)
    return build / "html"


def _render(staged: Path, build: Path, strict: bool) -> None:
    command = [
        sys.executable,
        "-c",
        "from jupyter_book.cli.main import main; main()",
        "build",
        str(staged),
        "-n",
    ]
    if strict:
        command += ["-W", "--keep-going"]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    unfinished = build / "rendering.unfinished"
    if unfinished.exists():
        # Sphinx notes pages as read before it warns of them all and writes them: nothing it left can be trusted.
        shutil.rmtree(staged / "_build", ignore_errors=True)
    unfinished.touch()
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        env=environment,
    )
    log = build / "render.log"
    log.write_text(_COLOUR.sub("", done.stdout).replace(f"{staged}{os.sep}", ""), encoding="utf-8")
    if done.returncode == 0:
        _publish(staged / "_build" / "html", build / "html")
    if done.returncode or not strict:
        # A parsed page is not parsed, and so not warned about, again: start afresh next time.
        shutil.rmtree(staged / "_build", ignore_errors=True)
    unfinished.unlink()
    if done.returncode:
        raise UserError(f"the book did not render: {_first_problem(log)}; everything it said is in {log}")


def filled(page: bytes, fills: Fills = NO_FILLS) -> bytes:
    """A page with what is computed, from the records and the program, in place of its marks, such as
    ``<!-- fill: ledger page -->``. ``fills`` are those that the caller knows.

    Raises `UserError` on a mark that nothing fills."""

    def fill(mark: re.Match[bytes]) -> bytes:
        from xling_utils.book import deviations, experiments, front_page
        from xling_utils.book import ledger_page as ledger

        tables = (ledger.page, ledger.summary, ledger.check, ledger.left_out, ledger.criteria, ledger.power)
        markup = {f"ledger {table.__name__.replace('_', ' ')}": table for table in tables}
        markup |= {f"figure {name}": partial(front_page.figure, name) for name in front_page.FIGURES}
        markup["figure verdicts"] = partial(ledger.summary, len(front_page.FIGURES) + 1)
        written = {"deviations": deviations.page, "experiments": experiments.page, **fills}
        names = ", ".join((*markup, *written))
        name = mark[1].decode()
        if name in written:
            return written[name]().encode()
        if name not in markup:
            raise UserError(f"nothing fills the mark {name!r} of a page; known: {names}")
        return f"```{{raw}} html\n{markup[name]()}\n```".encode()

    return _MARK.sub(fill, chapter_pages.with_values(page.decode()).encode())


@cache
def _vega_bundle() -> bytes:
    """Vega, Vega-Lite and Vega-Embed in one script; wrapped, since its top-level names would clash."""
    import vl_convert

    return f"(() => {{\n{vl_convert.javascript_bundle('window.vegaEmbed = vegaEmbed;')}\n}})();\n".encode()


def _write_if_changed(path: Path, content: bytes) -> bool:
    """Whether it wrote."""
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


def _first_problem(log: Path) -> str:
    lines = log.read_text(encoding="utf-8").splitlines()
    problems = [line for line in lines if re.search(r"\b(WARNING|ERROR|CRITICAL|Error):", line)]
    if not problems:
        return next((line.strip() for line in reversed(lines) if line.strip(" =")), "it said nothing")
    first = problems[0].strip()
    return first if len(problems) == 1 else f"{first} (and {len(problems) - 1} more)"


def _publish(rendered: Path, html: Path) -> None:
    """Replace ``html`` by a copy of ``rendered`` in two renames, so that no reader meets half a book."""
    fresh, old = html.with_name("html.new"), html.with_name("html.old")
    for folder in (fresh, old):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(rendered, fresh, ignore=shutil.ignore_patterns(".buildinfo*", "*.map"))
    for page in fresh.rglob("*.html"):
        text = line_breaks.allowed(page.read_text(encoding="utf-8"))
        page.write_text(content_policy.protected(text, page.relative_to(fresh).as_posix()), encoding="utf-8")
    for notebook in (fresh / "_sources").rglob("*.ipynb"):
        _without_outputs(notebook)
    if html.exists():
        html.rename(old)
    fresh.rename(html)
    shutil.rmtree(old, ignore_errors=True)


def _zipped(name: str, content: bytes) -> bytes:
    """A table as pages offer it, a tenth as large: the same bytes from the same table."""
    whole = io.BytesIO()
    with ZipFile(whole, "w", ZIP_DEFLATED) as archive:
        archive.writestr(ZipInfo(name), content, ZIP_DEFLATED)
    return whole.getvalue()


def _without_outputs(path: Path) -> None:
    """The notebook that a page offers is there to be run: what it showed stands on the page, and would be a third of
    the book."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1), encoding="utf-8")
