"""The run store: one folder a trained run, found by its key, verified on read, written in one step.

::

    runs/<key>/            spec.json provenance.json model files tokenizer.json trace.csv manifest.json
    runs/.partial/<key>-*  a run being written; renamed to runs/<key> when complete
    runs/.work/<key>/      checkpoints of a run being trained, kept when it is interrupted
    runs/.logs/<key>.log   what the training process printed
    runs/.damaged/<key>-*  runs that failed verification, set aside
    runs/.locks/<key>      held by the process that trains the run
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xling_utils.core.errors import UserError, printable
from xling_utils.core.files import json_object, raise_if_passing, table
from xling_utils.core.project import project_root
from xling_utils.core.specs import RunSpec, run_from_dict, to_dict
from xling_utils.core.writing import enough_space, held, sha256, sync, writable, write_json

if TYPE_CHECKING:
    import pandas as pd

KEY = re.compile("[0-9a-z]{1,64}")
"""What a run can be called: nothing that leads out of the store."""
VECTORS_FILE, TOKENIZER_FILE, TRACE_FILE = "vectors.safetensors", "tokenizer.json", "trace.csv"
SNAPSHOTS = "snapshots"
SECONDS_TO_BEGIN = 3600
"""In which a request is read: until then no lock says that it is wanted."""
MANIFEST = "manifest.json"
TRACE_COLUMNS = ("step", "loss", "held_out_loss", "tokens", "seconds")

_verified: set[tuple[Path, int]] = set()
"""Folders (with the time their manifest was written) that this process has checked."""


@dataclass(frozen=True)
class Run:
    """One stored run: its ``key``, the folder ``path``, the ``spec`` it was trained from and ``provenance``
    (versions, hardware, seconds, tokens, commit, dates)."""

    key: str
    path: Path
    spec: RunSpec
    provenance: dict[str, Any]

    @property
    def trace(self) -> pd.DataFrame:
        """The loss trace, one row a logged step: ``step``, ``loss``, ``held_out_loss`` (nats a masked token),
        ``tokens``, ``seconds``; no rows for a run without training. With ``next_sentence``, ``loss`` holds that
        objective too, in nats an input, while ``held_out_loss`` is of masked tokens alone."""
        import pandas as pd

        path = self.path / TRACE_FILE
        if not path.exists():
            return pd.DataFrame(columns=list(TRACE_COLUMNS))
        return table(path, ("step", "loss"), numbers=TRACE_COLUMNS)


@dataclass
class Draft:
    """A run being written: put its files under ``path`` and what is known of its making in ``provenance``."""

    path: Path
    provenance: dict[str, Any] = field(default_factory=dict)


class RunStore:
    """Trained runs under ``root``: ``XLING_STORE`` where set, else ``runs/`` of the book (or of the working
    directory outside of one). Reading creates nothing, so a store on a read-only disk can be read."""

    def __init__(self, root: Path | str | None = None) -> None:
        chosen = root or os.environ.get("XLING_STORE") or (project_root() or Path.cwd()) / "runs"
        self.root = Path(chosen).absolute()

    def keys(self) -> list[str]:
        """The keys of all stored runs, sorted; nothing is verified. Raises :class:`UserError` where a file is in the
        store's place."""
        if not self.root.is_dir():
            if self.root.exists():
                raise UserError(f"{self.root}: not a folder; set XLING_STORE to one")
            return []
        return sorted(p.name for p in self.root.iterdir() if p.is_dir() and not p.name.startswith("."))

    def get(self, key: str, locked: bool = False) -> Run | None:
        """The stored run, or ``None`` if there is none; what is no plain name of letters and digits is none.

        Every file is checked against the manifest, once a process. A damaged run is set aside with one
        warning line and counts as absent, unless another process holds its :meth:`lock`, to make it anew; ``locked``
        says that this one does. Raises :class:`UserError` if another version of this package wrote a spec that this
        one does not know.
        """
        path = self.root / key
        if not KEY.fullmatch(key) or not path.is_dir():
            return None
        if damage(path, key):
            with ExitStack() as lock:
                alone = True
                with suppress(UserError):  # where no lock can be made, nothing can be moved either
                    alone = locked or lock.enter_context(self.lock(key, wait=False))
                if problem := damage(path, key):  # still: another process may have made it anew meanwhile
                    place = self._set_aside(path) if alone else "another process makes it anew"
                    line = f"run {key} is damaged ({problem}); {place} and it counts as absent"
                    print(printable(line), file=sys.stderr)
                    return None
        return Run(key, path, read_spec(path), json_object(path / "provenance.json"))

    def verify(self) -> dict[str, str]:
        """Checks every file of every run again. Returns what is wrong by key: empty when all is well.
        Nothing is moved."""
        problems = {key: damage(self.root / key, key, again=True) for key in self.keys()}
        return {key: problem for key, problem in problems.items() if problem}

    @contextmanager
    def lock(self, key: str, wait: bool = True) -> Iterator[bool]:
        """Holds the run for this process, once no other does; without ``wait``, yields whether none did. The
        lock ends with its process, however that ends. Between machines it needs a file system with flock."""
        path = self.folder(".locks") / key
        with writable(path):
            path.touch()
        with held(path, wait) as free:
            yield free

    @contextmanager
    def writing(self, key: str, spec: RunSpec) -> Iterator[Draft]:
        """A draft for the run; the caller holds :meth:`lock`. At the end of the block the spec, the
        provenance and the manifest are added and the whole takes its place in one step. An error leaves
        nothing behind; a full or read-only disk raises :class:`UserError`, and so does what is in the place already."""
        if (self.root / key).exists():
            raise UserError(f"{self.root / key}: stands where run {key} is to be stored; move it away")
        partial_root = self.folder(".partial")
        for abandoned in partial_root.glob(f"{key}-*"):  # of a process that was killed: we hold the lock
            shutil.rmtree(abandoned, ignore_errors=True)
        with writable(partial_root):
            draft = Draft(Path(tempfile.mkdtemp(prefix=f"{key}-", dir=partial_root)))
        with enough_space(self.root):
            try:
                draft.path.chmod(0o755)
                yield draft
                write_json(draft.path / "spec.json", to_dict(spec))
                write_json(draft.path / "provenance.json", draft.provenance)
                _write_manifest(draft.path, key)
                os.rename(draft.path, self.root / key)
                sync(self.root)
            except BaseException:
                shutil.rmtree(draft.path, ignore_errors=True)
                raise
        shutil.rmtree(self.root / ".work" / key, ignore_errors=True)

    def folder(self, *names: str) -> Path:
        """A folder of the store, created if need be. Raises :class:`UserError` where it cannot be."""
        path = self.root.joinpath(*names)
        with writable(path):
            path.mkdir(parents=True, exist_ok=True)
        return path

    def prune(self, keep: Collection[str] | None = None) -> list[str]:
        """Removes what killed processes left, damaged runs, logs and checkpoints of finished ones; with ``keep``, also
        every run and every checkpoint whose key is not in it. What another process holds stays, and so do requests of
        the last hour and folders that hold no run. Returns the removed paths, relative to the store."""
        doomed = [*self._inside(".partial"), *filter(_is_old, self._inside(".requests")), *self._inside(".damaged")]
        doomed += [p for p in self._inside(".logs") if (self.root / p.stem).is_dir()]
        doomed += [p for p in self._inside(".work") if (self.root / p.name).is_dir()]
        if keep is not None:
            runs = [self.root / key for key in self.keys() if KEY.fullmatch(key) and _of_a_run(self.root / key)]
            doomed += [p for p in (*runs, *self._inside(".work")) if p.name not in keep]
        removed = []
        for path in doomed:
            key = path.stem.split("-")[0]
            with self.lock(key, wait=False) as free:
                if free:
                    with writable(path), suppress(FileNotFoundError):  # its own process may have removed it
                        shutil.rmtree(path) if path.is_dir() else path.unlink()
                        removed.append(str(path.relative_to(self.root)))
        return removed

    def _inside(self, name: str) -> list[Path]:
        folder = self.root / name
        return sorted(folder.iterdir()) if folder.is_dir() else []

    def _set_aside(self, path: Path) -> str:
        try:
            folder = self.folder(".damaged")
            number = 1
            while (target := folder / f"{path.name}-{number}").exists():
                number += 1
            path.rename(target)
        except FileNotFoundError:
            return "another process has set it aside"
        except (OSError, UserError):
            return f"it cannot be moved from {path}"
        return f"it is set aside in {target}"


def _of_a_run(folder: Path) -> bool:
    """Whether it holds a run, damaged or not: "photos" could be a key too."""
    return any((folder / name).exists() for name in (MANIFEST, "spec.json", "provenance.json"))


def _is_old(request: Path) -> bool:
    with suppress(FileNotFoundError):
        return time.time() - request.stat().st_mtime > SECONDS_TO_BEGIN
    return False


def damage(path: Path, key: str | None, again: bool = False) -> str | None:
    """What is wrong with the files of the run ``key`` in the folder ``path`` (of any run, if ``None``), or None. Raises
    :class:`UserError` where that cannot be told, for they cannot be read now (:data:`files.PASSING`)."""
    manifest_path = path / MANIFEST
    try:
        identity = (path, manifest_path.stat().st_mtime_ns)
        if identity in _verified and not again:
            return None
        _verified.discard(identity)
        manifest_path.read_bytes()  # an error of reading it is one, and not a mistake of the caller
        manifest = json_object(manifest_path)
        files = {name: (int(row["size"]), str(row["sha256"])) for name, row in manifest["files"].items()}
    except OSError as error:
        raise_if_passing(manifest_path, error)
        return f"{MANIFEST} is missing or cannot be read"
    except (UserError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return f"{MANIFEST} is not a manifest"
    if key is not None and manifest.get("key") != key:
        return f"{MANIFEST} belongs to another run"
    if outside := [name for name in files if not (path / name).is_relative_to(path) or ".." in Path(name).parts]:
        return f"{MANIFEST} names {outside[0]!r}, which is not in its folder"
    if missing := {"spec.json", "provenance.json"} - set(files):
        return f"{min(missing)} is not in {MANIFEST}"
    for name, (size, digest) in files.items():
        try:
            if (path / name).stat().st_size != size:
                return f"{name} has the wrong size"
            if sha256(path / name) != digest:
                return f"{name} has the wrong sha256"
        except (OSError, ValueError) as error:  # the second: a name that no file can have
            if isinstance(error, OSError):
                raise_if_passing(path / name, error)
            return f"{name} is missing or cannot be read"
    _verified.add(identity)
    return None


def _write_manifest(path: Path, key: str) -> None:
    """Lists size and sha256 of every file, after each has reached the disk."""
    files = {}
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        sync(file)
        files[file.relative_to(path).as_posix()] = {"size": file.stat().st_size, "sha256": sha256(file)}
    written = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    write_json(path / MANIFEST, {"key": key, "written": written, "files": files})
    for folder in (*(p for p in path.rglob("*") if p.is_dir()), path):
        sync(folder)


def read_spec(folder: Path) -> RunSpec:
    """The spec of the run in ``folder``. Raises :class:`UserError` where it cannot be read or is of another version."""
    path = folder / "spec.json"
    found = json_object(path)
    try:
        return run_from_dict(found)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
