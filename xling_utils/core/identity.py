"""What a result was made of, as a hash: files by their content, this package, and the libraries that compute."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from sysconfig import get_path

from xling_utils.core.errors import UserError
from xling_utils.core.files import regular
from xling_utils.core.writing import sha256

PACKAGE = Path(__file__).parents[1]
LIBRARIES = ("numpy", "pandas", "scipy")


def of(*parts: str | Path) -> str:
    """The hash of texts, and of files by name and content; one that cannot be read differs from an empty one."""
    digest = hashlib.sha256()
    for part in parts:
        line = f"{part.name} {_of_any(part)}" if isinstance(part, Path) else part
        digest.update(f"{len(line)} {line}\n".encode())
    return digest.hexdigest()


def _of_any(path: Path) -> str | None:
    try:
        return of_file(path)
    except (UserError, OSError):
        return None


def of_folder(folder: Path) -> str:
    """The hash of all files in ``folder`` and of their places in it."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return of(*(f"{path.relative_to(folder).as_posix()} {_of_any(path)}" for path in found))


def of_file(path: Path) -> str:
    """The hash of a file's content, which is read again when its size or the time that it was written changed."""
    state = regular(path).stat()
    return _content(path, state.st_size, state.st_mtime_ns)


@cache
def _content(path: Path, *_: int) -> str:
    return sha256(path)


@cache
def package() -> str:
    """The hash of this package's code, tables and templates, and of the Python and the libraries that compute."""
    return of(platform.python_version(), *(f"{name} {version(name)}" for name in LIBRARIES), *_sources())


@cache
def tables() -> str:
    """The hash of this package's tables, which are those of the controlled world."""
    return of(*sorted(PACKAGE.rglob("*.tsv")))


@cache
def installed() -> str:
    """The hash of the names and versions of all packages that are installed beside this one."""
    return of(*sorted(path.name for path in Path(get_path("purelib")).glob("*.dist-info")))


def _sources() -> Iterable[Path]:
    return sorted(path for kind in ("*.py", "*.tsv", "*.html") for path in PACKAGE.rglob(kind))
