"""Plain data read as dataclasses, every part of the type that it must be: pydantic compares, and converts nothing."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

T = TypeVar("T")
UNKNOWN = "unexpected_keyword_argument"


class Mistyped(ValueError):
    """``wrong``: each part that is unknown, missing or of another type, with its place (``loc``), as pydantic tells it;
    unknown ones first, since of a name that is misspelt one is missing, too."""

    def __init__(self, wrong: list[ErrorDetails]) -> None:
        self.wrong = sorted(wrong, key=lambda each: each["type"] != UNKNOWN)
        super().__init__(said(self.wrong[0]))


def read(kind: type[T], parts: tuple[type, ...], plain: Any) -> T:
    """``plain``, of what JSON can hold, as ``kind``, whose dataclasses are ``parts``. Raises :class:`Mistyped`."""
    from pydantic import ValidationError

    try:
        return _adapter(kind, parts).validate_json(json.dumps(plain))
    except ValidationError as error:
        raise Mistyped(error.errors()) from None


def said(wrong: ErrorDetails, skipped: int = 0) -> str:
    """Where something is wrong, without the first ``skipped`` steps to it, and what."""
    place = ".".join(map(str, wrong["loc"][skipped:]))
    if wrong["type"] in ("missing", "missing_argument"):
        return f"{place!r} is missing"
    if wrong["type"] == "json_invalid":  # half of a surrogate pair, or too many lists inside of lists
        return f"something that JSON cannot hold ({wrong['msg']})"
    if wrong["type"] == UNKNOWN:
        return f"unknown field {place!r}"
    return f"{repr(place) + ': ' if place else ''}{wrong['msg']} where {wrong['input']!r:.50} stands"


@cache
def _adapter(kind: type, parts: tuple[type, ...]) -> TypeAdapter[Any]:
    from pydantic import ConfigDict, TypeAdapter

    for part in parts:
        config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
        part.__pydantic_config__ = config  # type: ignore[attr-defined]
    return TypeAdapter(kind)
