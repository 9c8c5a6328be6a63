"""``xling data pack`` and ``unpack``: what the runs of some languages read, as one file to carry to another machine.

An archive is a tar compressed with xz. It holds whole files, byte for byte and under their names, so runs have the
same keys on either side (:func:`directory.fingerprint`), and first of all ``SHA256SUMS``, which ``sha256sum -c``
reads too. The same files give the same archive: names are sorted, times and owners left out.
"""

from __future__ import annotations

import io
import lzma
import os
import tarfile
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Any

from xling_utils.core.errors import UserError
from xling_utils.core.files import regular
from xling_utils.core.writing import sha256
from xling_utils.corpora import directory
from xling_utils.corpora.lines import LARGEST_RATIO
from xling_utils.corpora.task_files import task_files

SUMS = "SHA256SUMS"
LARGEST_SUMS = 10_000_000  # bytes
DEEPEST = 20  # folders
ALWAYS_ALLOWED = 100_000_000  # bytes
MEMBER = 1024  # bytes that a file takes in a tar beside its own, at most


def pack(data: Path, languages: Iterable[str], file: Path) -> tuple[int, str]:
    """Writes what runs of English and ``languages`` read in ``data`` to ``file``; returns the number of files and the
    archive's sha256. Only text is a must.

    Raises :class:`UserError` where a language has no text, on files that cannot be read and where ``file`` cannot be
    written.
    """
    if not data.is_dir():
        raise UserError(f"{data}: no such directory")
    if not file.parent.is_dir():
        raise UserError(f"{file.parent}: no such folder; make it, or name another with --out")
    found = {path.relative_to(data).as_posix(): path for path in _read_by(data, dict.fromkeys(("en", *languages)))}
    if torn := [name for name in found if "\n" in name]:
        raise UserError(f"{data}: {torn[0]!r} has a name that ends a line in the middle; rename it")
    if file.is_dir():
        raise UserError(f"{file}: a folder; name a file with --out")
    if file.exists():
        regular(file)
    draft = file.with_name(f".{file.name}.{os.getpid()}.tmp")  # of this process alone
    try:
        sums = "".join(f"{sha256(found[name])}  {name}\n" for name in sorted(found)).encode(errors="surrogateescape")
        with tarfile.open(draft, "w:xz", preset=1) as archive:  # most files are compressed already
            archive.addfile(_member(SUMS, len(sums)), io.BytesIO(sums))
            for name in sorted(found):
                with regular(found[name]).open("rb") as stream:
                    archive.addfile(_member(name, found[name].stat().st_size), stream)
        if sum(found[name].stat().st_size + MEMBER for name in found) > _most(draft):
            raise UserError(f"{data}: packs to over {LARGEST_RATIO} times less; no text does; look at its files")
        packed = sha256(draft)
        draft.replace(file)
    except OSError as error:
        raise UserError(f"{error.filename or file}: {error.strerror or error}") from None
    finally:
        draft.unlink(missing_ok=True)
    return len(found), packed


def _read_by(data: Path, languages: Collection[str]) -> Iterator[Path]:
    for language in languages:
        yield from directory.text_files(data, language)
    yield from task_files(data, languages)
    yield from data.glob("*.md")  # whose the data are, and on which terms


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)  # a plain file of nobody's, of 1970
    member.size = size
    return member


def unpack(file: Path, folder: Path) -> int:
    """Unpacks the archive ``file`` to the new or empty ``folder``; returns the number of files. Its files
    appear when all have been checked against the archive's sums, these last.

    Raises :class:`UserError` on a folder with something in it, on a file that is no such archive, cut short, damaged
    or of other content than its sums say, and on members that are no plain files or would leave the folder.
    """
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise UserError(f"{folder}: not an empty folder; name a new one")
    if not hasattr(tarfile, "data_filter"):
        raise UserError("unpacking takes Python 3.11.4 or newer, which can refuse unsafe members of an archive")
    folder = Path(os.path.realpath(folder))  # of a link, what it stands for
    with _mistakes(file), lzma.open(regular(file)) as stream:
        made = [place for place in (folder, *folder.parents) if not place.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=folder, ignore_cleanup_errors=True) as draft:
                with _opened(_Bounded(stream, file)) as archive:
                    count = _unpack(archive, Path(draft), file)
                for path in sorted(Path(draft).iterdir(), key=lambda path: path.name == SUMS):  # the sums last
                    path.replace(folder / path.name)
        except BaseException:
            with suppress(OSError):  # somebody else has put something there
                for place in made:
                    place.rmdir()
            raise
    return count


def _most(file: Path) -> int:
    """Bytes that an honest archive unpacks to."""
    return ALWAYS_ALLOWED + LARGEST_RATIO * file.stat().st_size


def _opened(stream: Any) -> tarfile.TarFile:
    """For reading once from beginning to end: of ``stream`` it asks ``read`` alone."""
    return tarfile.open(fileobj=stream, mode="r|")


class _Bounded:
    """The beginning of an archive's decompressed bytes: raises :class:`UserError` on what no honest one unpacks to."""

    def __init__(self, stream: IO[bytes], file: Path) -> None:
        self._stream, self._file = stream, file
        self._left = _most(file)

    def read(self, size: int) -> bytes:
        if size > self._left:
            raise UserError(f"{self._file}: unpacks to over {LARGEST_RATIO} times its size; nothing is unpacked")
        found = self._stream.read(size)
        self._left -= len(found)
        return found


def _unpack(archive: tarfile.TarFile, folder: Path, file: Path) -> int:
    members = (_safe(member, file) for member in archive)
    sums = _sums(archive, next(members, None), file)
    (folder / SUMS).write_bytes(sums)
    expected = _expected(sums, file)
    count = len(expected)
    for member in members:
        if member.name not in expected:
            raise UserError(f"{file}: {member.name!r} is not among its sums, or is there twice; nothing is unpacked")
        archive.extract(member, folder, filter="data")
        if sha256(folder / member.name) != expected.pop(member.name):
            raise UserError(f"{file}: {member.name} has another sha256 than the sums say; copy or pack it again")
    if expected:
        raise UserError(f"{file}: {min(expected)} is missing, one of {len(expected)} files; copy or pack it again")
    return count


def _safe(member: tarfile.TarInfo, file: Path) -> tarfile.TarInfo:
    """``member``, if it is a plain file inside the folder."""
    path = PurePosixPath(member.name)
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
        raise UserError(f"{file}: {member.name!r} is no plain file (a link, a folder, a device); nothing is unpacked")
    if len(path.parts) > DEEPEST:
        raise UserError(f"{file}: a name of {len(path.parts)} folders; nothing is unpacked")
    if path.is_absolute() or ".." in path.parts or path.as_posix() != member.name:
        raise UserError(f"{file}: {member.name!r} would leave its folder; nothing is unpacked")
    return member


def _sums(archive: tarfile.TarFile, member: tarfile.TarInfo | None, file: Path) -> bytes:
    """The content of the first member."""
    stream = archive.extractfile(member) if member and member.size <= LARGEST_SUMS else None
    if member is None or member.name != SUMS or stream is None:
        raise UserError(f"{file}: does not begin with {SUMS}; give what `xling data pack` wrote")
    return stream.read()


def _expected(sums: bytes, file: Path) -> dict[str, str]:
    """Name -> sha256."""
    lines = [line.split("  ", 1) for line in sums.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")]
    if any(len(line) != 2 for line in lines):
        raise UserError(f"{file}: {SUMS} has a line that is no 'sha256  name'; give what `xling data pack` wrote")
    return {name: digest for digest, name in lines}


@contextmanager
def _mistakes(file: Path) -> Iterator[None]:
    """What can be wrong with an archive, as :class:`UserError`."""
    try:
        yield
    except tarfile.FilterError as error:
        raise UserError(f"{file}: {error}; nothing is unpacked") from None
    except (tarfile.TarError, lzma.LZMAError, EOFError, ValueError, OverflowError) as error:
        raise UserError(f"{file}: no whole archive ({error}); copy it again") from None
    except OSError as error:
        raise UserError(f"{error.filename or file}: {error.strerror or error}") from None
