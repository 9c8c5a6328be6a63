"""Files of other hands, read with care: whatever stands in them, the caller gets it or is told what is wrong where."""

from __future__ import annotations

import errno
import json
import stat
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xling_utils.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

LONGEST_LINE = 200_000
"""Characters of a line of :func:`source`."""
MOST_VALUES = 1_000_000
"""In YAML, its aliases written out."""
DEEPEST = 50
"""Levels of lists and mappings in YAML: what composes them, in C, goes down into each without a limit of its own."""


def regular(path: Path) -> Path:
    """``path``, of a file that can be read to its end. Raises :class:`UserError` on a pipe or a device, which would be
    waited for, and where there is nothing."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise UserError(f"{path}: a pipe or a device; copy what it gives into a file")
    return path


def text(path: Path) -> str:
    """The whole of a UTF-8 file. Raises :class:`UserError` where it cannot be read, or is no UTF-8."""
    try:
        return regular(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}, byte {error.start}: not UTF-8 ({error.reason}); restore or convert the file"
        ) from None
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None


def source(path: Path) -> str:
    """:func:`text` written by a person. Raises :class:`UserError` on a line that no person writes, too."""
    found = text(path)
    for number, line in enumerate(found.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            raise UserError(f"{path}, line {number}: {len(line):,} characters; break it")
    return found


PASSING = {errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE, errno.EACCES, errno.EPERM, errno.ENOMEM}
"""Why a sound file may not be read now."""


def raise_if_passing(path: Path, error: OSError) -> None:
    """Raises :class:`UserError` where ``error`` says nothing of what is in the file, so that nobody takes it for
    damaged and throws it away."""
    if error.errno in PASSING:
        raise UserError(f"{path}: {error.strerror}; try again, or remove it if it cannot be read for good") from None


def json_object(path: Path) -> dict[str, Any]:
    """A JSON object. Raises :class:`UserError` where the file holds none."""
    try:
        found = json.loads(text(path))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON ({error}); restore the file") from None
    if not isinstance(found, dict):
        raise UserError(f"{path}: a JSON {type(found).__name__} where an object should be; restore the file")
    return found


def yaml_mapping(path: Path) -> dict[str, Any]:
    """A YAML mapping. Raises :class:`UserError` where the file holds none."""
    try:
        found = yaml_value(source(path))
    except ValueError as error:
        raise UserError(f"{path}: {error}") from None
    if not isinstance(found, dict):
        raise UserError(f"{path}: no mapping; write 'name: value'")
    return found


def yaml_value(text: str, words: bool = False) -> Any:
    """What ``text`` is as YAML, of plain values only, or of ``words``: "no" is no truth there. Raises ValueError where
    it is none, and where its aliases stand for themselves or for more than :data:`MOST_VALUES` values."""
    import yaml

    loader = yaml.CBaseLoader if words else yaml.CSafeLoader
    try:
        _check_depth(yaml.parse(text, loader))
        found = loader(text).get_single_data()
        size = _size(found, {})
    # PyYAML lets what its constructors stumble over through: !!int x, !!timestamp x, 2001-99-99
    except (yaml.YAMLError, ValueError, AttributeError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"not YAML ({' '.join(str(error).split())})") from None
    if size > MOST_VALUES:
        raise ValueError(f"aliases that stand for {size:,} values; write out what they stand for")
    return found


def _check_depth(events: Iterable[Any]) -> None:
    from yaml import CollectionEndEvent, CollectionStartEvent

    depth = 0
    for event in events:
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError(f"more than {DEEPEST} levels")


def _size(value: Any, known: dict[int, int]) -> int:
    """The values in ``value``, an alias counted as often as it is used. Raises ValueError on one inside itself."""
    if not isinstance(value, dict | list | set | tuple):
        return 1
    if id(value) not in known:
        known[id(value)] = 0  # while it is counted
        inside = [*value, *value.values()] if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_size(each, known) for each in inside)
    elif not known[id(value)]:
        raise ValueError("an alias inside of what it stands for")
    return known[id(value)]


def table(
    path: Path | StringIO, columns: Iterable[str] = (), numbers: Iterable[str] = (), **options: Any
) -> pd.DataFrame:
    """A CSV file as pandas reads it with ``options``.

    Raises :class:`UserError` where it cannot be read, lacks one of ``columns``, or has in one of ``numbers`` (those
    that it has) what is none.
    """
    import pandas as pd

    try:
        found = pd.read_csv(regular(path) if isinstance(path, Path) else path, low_memory=False, **options)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:  # pandas' own, and what is no UTF-8
        raise UserError(f"{path}: not CSV ({' '.join(str(error).split())}); restore the file") from None
    if missing := [name for name in columns if name not in found]:
        raise UserError(f"{path}: no column {missing[0]!r}; it has {', '.join(map(str, found))}; restore the file")
    for name in numbers:
        if len(found) and name in found and not pd.api.types.is_numeric_dtype(found[name]):
            wrong = [value for value in found[name] if not _is_number(value)]
            first = (wrong or found[name].tolist())[0]
            raise UserError(f"{path}: {first!r:.80} in column {name!r} is no number; restore the file")
    return found


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
