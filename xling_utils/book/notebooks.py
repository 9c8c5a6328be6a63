"""Executes chapters headlessly: ``notebooks/NAME.py`` -> papermill -> ``_build/executed/NAME.ipynb``.

The ``.py`` files are the source. Several chapters are executed at a time. A notebook takes its place only when it ran
to its end; of one that failed, ``_build/logs`` keeps the traceback and, unless its kernel died, ``_build/failed`` the
notebook. A chapter is not executed again while nothing that it is made of has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xling_utils.book.kernels import Interrupted, Kernels
from xling_utils.book.parameters import checked, default_parameters
from xling_utils.chapters import ahead
from xling_utils.core.errors import UserError
from xling_utils.core.files import json_object, source
from xling_utils.core.identity import PACKAGE, of_file
from xling_utils.core.writing import held
from xling_utils.runs.compute import usable_cores

if TYPE_CHECKING:
    from nbformat import NotebookNode

PLACEMENT = {"engine", "scheduler", "jobs"}
"""Parameters that say where runs are trained; they do not change what a chapter shows."""

KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
"""As Jupyter calls it."""
MOST_AT_A_TIME = 4
"""Chapters: a kernel takes up to a gigabyte. There is one more than cores, as a kernel waits a fifth of its time."""
LARGE = 300_000_000
"""Bytes of a model's files."""
SECONDS_BETWEEN_LOOKS = 0.2


@dataclass(frozen=True)
class ChapterFailure:
    """A chapter that did not run to its end: one line, its log, and whether it is a mistake of the caller."""

    chapter: str
    message: str
    log: Path
    user: bool


def chapters(root: Path) -> list[str]:
    """The names of the chapters in ``root/notebooks``, sorted: ``["01_data_size", ...]``."""
    return sorted(path.stem for path in (root / "notebooks").glob("[0-9]*.py"))


def execute(
    root: Path,
    names: Sequence[str],
    given: Mapping[str, Any],
    typed: Mapping[str, str],
    say: Callable[[str], None],
) -> list[ChapterFailure]:
    """Executes the chapters ``names`` (all if empty) of the book at ``root``.

    ``given`` are parameters with their values, ``typed`` parameters as text from a command line, read
    according to the default in the chapter's ``parameters`` cell. All are checked in all chapters before
    anything runs: an unknown chapter, parameter or value raises :class:`UserError`. ``say`` takes one line a
    chapter. A failure does not stop the chapters after it; all failures are returned.
    """
    known = chapters(root)
    for name in names:
        if name not in known:
            raise UserError(f"unknown chapter {name!r} in {root / 'notebooks'}; known: {', '.join(known)}")
    plans = []
    for name in dict.fromkeys(names or known):
        notebook = read(root, name)
        defaults = default_parameters(name, notebook)
        plans.append((name, notebook, defaults, checked(name, defaults, given, typed)))
    due, asked = [], {}
    for name, notebook, defaults, parameters in plans:
        identity = _identity(root, name, parameters)
        if _is_up_to_date(root, name, identity):
            say(f"{name}: up to date")
        else:
            due.append((name, notebook, parameters, identity))
            asked[name] = defaults | parameters
    ahead(asked, say)
    due.sort(key=lambda each: _seconds(root, each[0]), reverse=True)  # the longest first: no core waits at the end
    kernels = Kernels()
    large = any(_is_large(parameters.get("model")) for _, _, parameters, _ in due)  # each kernel would hold it
    with ThreadPoolExecutor(1 if large else min(usable_cores() + 1, MOST_AT_A_TIME)) as pool:
        try:
            results = [pool.submit(_one, root, each, kernels, say) for each in due]
            return [failure for result in results if (failure := result.result())]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            kernels.end()
            raise


def _is_large(model: str | None) -> bool:
    """Whether a model may take more memory than several kernels should; of one that is not in a folder nobody knows."""
    if not model:
        return False
    return not Path(model).is_dir() or sum(file.stat().st_size for file in Path(model).glob("*.*")) > LARGE


def _one(
    root: Path,
    due: tuple[str, NotebookNode, dict[str, Any], str],
    kernels: Kernels,
    say: Callable[[str], None],
) -> ChapterFailure | None:
    """Executes one chapter, unless another process has done so meanwhile, or all is to end."""
    name, notebook, parameters, identity = due
    with suppress(Interrupted), _alone(root, name, kernels, say):
        if _is_up_to_date(root, name, identity):
            say(f"{name}: up to date now")
            return None
        say(f"{name}: executing{on_text(parameters)}")
        begun = time.monotonic()
        failure = _execute(root, name, notebook, parameters, identity, kernels)
        say(f"{name}: {'failed' if failure else 'done'} after {time.monotonic() - begun:.0f} s")
        return failure
    return None


@contextmanager
def _alone(root: Path, name: str, kernels: Kernels, say: Callable[[str], None]) -> Iterator[None]:
    """While no other process executes the chapter here."""
    lock = root / "_build/executing" / f"{name}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    waiting = False
    while True:
        with held(lock, wait=False) as mine:
            if mine:
                yield
                return
        if not waiting:
            say(f"{name}: another process executes it; waiting")
        waiting = True
        kernels.pause(SECONDS_BETWEEN_LOOKS)


def read(root: Path, name: str) -> NotebookNode:
    """The chapter as a notebook, from its source. Raises :class:`UserError` where that is no text."""
    import jupytext

    return jupytext.reads(source(root / "notebooks" / f"{name}.py"), fmt="py:percent")


def on_text(parameters: Mapping[str, Any]) -> str:
    """For a line that tells what begins: the directory whose text it is about, if any."""
    return f" on the text of {parameters['data']}" if parameters.get("data") else ""


def _is_up_to_date(root: Path, name: str, identity: str) -> bool:
    """Whether the last execution ended well and was of the same things."""
    _, log = _places(root, name)
    return not log.exists() and _noted(root, name).get("identity") == identity


def _seconds(root: Path, name: str) -> float:
    """How long the last execution took; none if there was none, or it was not noted."""
    seconds = _noted(root, name).get("seconds")
    return float(seconds) if isinstance(seconds, int | float) else 0.0


def _noted(root: Path, name: str) -> dict[str, Any]:
    """What :func:`_execute` noted in the executed chapter; nothing where there is none, or it is damaged."""
    executed, _ = _places(root, name)
    try:
        return dict(json_object(executed)["metadata"]["xling"]) if executed.exists() else {}
    except (UserError, KeyError, TypeError, ValueError):
        return {}


def _places(root: Path, name: str) -> tuple[Path, Path]:
    return root / "_build/executed" / f"{name}.ipynb", root / "_build/logs" / f"{name}.log"


def _execute(
    root: Path, name: str, notebook: NotebookNode, parameters: dict[str, Any], identity: str, kernels: Kernels
) -> ChapterFailure | None:
    import nbformat
    from papermill.exceptions import PapermillExecutionError

    executed, log = _places(root, name)
    failed = root / "_build/failed" / f"{name}.ipynb"
    aside = root / "_build/executing"
    for folder in (executed.parent, log.parent, failed.parent, aside):
        folder.mkdir(parents=True, exist_ok=True)
    notebook.metadata["kernelspec"] = KERNEL
    source, target = aside / f"{name}.source.ipynb", aside / f"{name}.ipynb"
    nbformat.write(notebook, source)
    begun = time.monotonic()
    try:
        result = kernels.execute(source, target, root / "notebooks", parameters)
    except Interrupted:
        target.unlink(missing_ok=True)
        raise
    except PapermillExecutionError as error:
        target.replace(failed)
        text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))
        log.write_text(f"{error.source}\n\n{text}\n", encoding="utf-8")
        user = error.ename == "UserError"
        line = " ".join((error.evalue if user else f"{error.ename}: {error.evalue}").split())
        return ChapterFailure(name, line, log, user)
    except Exception as error:  # the kernel died, for one
        target.unlink(missing_ok=True)
        log.write_text(traceback.format_exc(), encoding="utf-8")
        return ChapterFailure(name, " ".join(f"{type(error).__name__}: {error}".split()), log, False)
    finally:
        source.unlink(missing_ok=True)
    for cell in result.cells:
        if "injected-parameters" in cell.metadata.get("tags", ()):
            cell.metadata.tags.append("remove-cell")
    for path in ("input_path", "output_path"):  # of this machine
        result.metadata.papermill.pop(path, None)
    result.metadata["xling"] = {"identity": identity, "seconds": round(time.monotonic() - begun, 1)}
    nbformat.write(result, target)
    target.replace(executed)
    for stale in (log, failed):
        stale.unlink(missing_ok=True)
    return None


def _identity(root: Path, name: str, parameters: Mapping[str, Any]) -> str:
    """A hash of everything that a chapter is made of."""
    shown = {key: value for key, value in parameters.items() if key not in PLACEMENT}
    digest = hashlib.sha256(json.dumps(shown, sort_keys=True).encode())
    for path in (root / "notebooks" / f"{name}.py", root / "requirements.lock", *_sources(root)):
        if path.is_file():
            digest.update(f"\n{path.name} {of_file(path)}".encode())
    for given in filter(None, map(parameters.get, ("data", "model"))):
        for place in _beneath(given):
            state = os.stat(place) if os.path.exists(place) else os.lstat(place)  # a link to nothing
            digest.update(os.fsencode(f"\n{place} {state.st_size} {state.st_mtime_ns}"))
    return digest.hexdigest()


def _beneath(given: str) -> Iterator[str]:
    """The files in a folder, in linked folders, too. What another link has led to, a loop for one, is only named."""
    seen = set()
    for folder, folders, files in os.walk(given, followlinks=True):
        if (real := os.path.realpath(folder)) in seen:
            folders.clear()
            yield folder
            continue
        seen.add(real)
        folders.sort()
        yield from (os.path.join(folder, file) for file in sorted(files))


def _sources(root: Path) -> Iterator[Path]:
    yield from sorted(p for p in PACKAGE.rglob("*") if "__pycache__" not in p.parts)
    yield from sorted((root / "book").glob("*.yml"))
    for folder in ("records", "published", "models"):
        yield from sorted((root / "book" / folder).rglob("*"))
