"""Parameters of chapters: read from a command line, and checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xling_utils.errors import UserError
from xling_utils.specs import LANGUAGES, SCALES

CHOICES = {"scale": SCALES, "engine": ("local", "dask"), "live": ("headline", "all", "none")}


def checked(
    chapter: str, defaults: Mapping[str, Any], given: Mapping[str, Any], typed: Mapping[str, str]
) -> dict[str, Any]:
    """The parameters that ``chapter`` is called with: ``given`` values, and ``typed`` text read by its ``defaults``.

    Raises :class:`UserError` on an unknown parameter or value, and on data that are no folder.
    """
    for parameter in (*given, *typed):
        if parameter not in defaults:
            raise UserError(f"{chapter}: unknown parameter {parameter!r}; known: {', '.join(sorted(defaults))}")
    values = dict(given)
    for parameter, text in typed.items():
        values[parameter] = _from_text(chapter, parameter, text, defaults[parameter])
    for parameter, allowed in CHOICES.items():
        if values.get(parameter, allowed[0]) not in allowed:
            raise UserError(f"{chapter}: unknown {parameter} {values[parameter]!r}; known: {', '.join(allowed)}")
    # Real text brings its own languages: its reader checks them against the data directory.
    if values.get("scale", defaults.get("scale")) in ("smoke", "controlled"):
        for language in values.get("languages") or ():
            if language not in LANGUAGES:
                raise UserError(f"{chapter}: unknown language {language!r}; known: {', '.join(LANGUAGES)}")
    if values.get("data"):
        values["data"] = str(Path(values["data"]).absolute())
        if not Path(values["data"]).is_dir():
            hint = "; `xling data unpack` makes one of an archive" if Path(values["data"]).is_file() else ""
            raise UserError(f"{chapter}: data: {values['data']} is not a folder{hint}")
    return values


def _from_text(chapter: str, parameter: str, text: str, default: Any) -> Any:
    """``text`` as a value of the same kind as ``default``; a default of None takes any kind."""
    import yaml

    if isinstance(default, str):
        return text
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = text
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    kinds = {bool: "true or false", int: "a whole number", float: "a number", list: "a list as in '[a, b]'"}
    kind = list if isinstance(default, tuple) else type(default)
    if default is not None and type(value) is not kind:
        raise UserError(f"{chapter}: parameter {parameter} takes {kinds.get(kind, kind.__name__)}, not {text!r}")
    return value
