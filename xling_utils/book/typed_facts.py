"""Facts that are typed, in YAML files of ``book/``: named entries, all with the same fields."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from xling_utils.core import files
from xling_utils.core.errors import UserError

Entry = TypeVar("Entry")


def entries(path: Path, kind: Callable[..., Entry]) -> dict[str, Entry]:
    """Each as a ``kind``, by name. Raises :class:`UserError` where one lacks a field, or has another."""
    try:
        return {name: kind(**fields) for name, fields in files.yaml_mapping(path).items()}
    except TypeError as error:
        raise UserError(f"{path}: {error}") from None
