"""Parameters of chapters: read from a command line, and checked before anything runs."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xling_utils.chapters import TEXTS, check_codes, check_parameters
from xling_utils.core.errors import UserError
from xling_utils.core.files import yaml_value


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
    if values.get("data"):
        values["data"] = _folder(chapter, values["data"])
    try:
        check_parameters(dict(defaults) | values)
    except UserError as error:
        raise UserError(f"{chapter}: {error}") from None
    return values


def default_parameters(name: str, notebook: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that the tagged cell of the chapter ``name`` assigns, with their literal values.

    Raises :class:`UserError` without such a cell, and on a default that is no literal.
    """
    for cell in notebook["cells"]:
        if "parameters" in cell["metadata"].get("tags", ()):
            break
    else:
        raise UserError(f"notebooks/{name}.py: no cell is tagged 'parameters'")
    values = {}
    try:
        statements = ast.parse("".join(cell["source"])).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UserError(f"notebooks/{name}.py: the cell tagged 'parameters' is not Python ({error})") from None
    for statement in statements:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign) and statement.value:
            targets = [statement.target]
        for target in targets:
            if isinstance(target, ast.Name):
                try:
                    values[target.id] = ast.literal_eval(statement.value)  # type: ignore[attr-defined]
                except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                    raise UserError(
                        f"notebooks/{name}.py: the default of parameter {target.id} is not a literal"
                    ) from None
    return values


def languages_of(text: str) -> list[str]:
    """The languages of a list such as ``"de, ru"``. Raises :class:`UserError` on what is no code."""
    found = [language.strip() for language in text.split(",") if language.strip()]
    check_codes(found)
    return found


def _folder(chapter: str, given: Any) -> str:
    try:
        path = Path(given).absolute()
        if path.is_dir():
            return str(path)
        hint = "; `xling data unpack` makes one of an archive" if path.is_file() else ""
    except (TypeError, ValueError, OSError):  # no text, or none that a file can be named by
        raise UserError(f"{chapter}: data: {given!r:.80} is no path") from None
    raise UserError(f"{chapter}: data: {path} is not a folder{hint}")


def _from_text(chapter: str, parameter: str, text: str, default: Any) -> Any:
    """``text`` as a value of the same kind as ``default``; a default of None takes any kind (text alone of what
    is text)."""
    if isinstance(default, str):
        return text
    try:
        value = yaml_value(text, words=isinstance(default, list))  # "no" is Norwegian
    except ValueError:
        value = text
    if parameter in TEXTS and value is not None and not isinstance(value, str):
        return text
    if isinstance(value, int) and ":" in text:  # YAML reads 1:30:00 as seconds
        value = text
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    kinds = {bool: "true or false", int: "a whole number", float: "a number", list: "a list as in '[a, b]'"}
    kind = list if isinstance(default, tuple) else type(default)
    if default is not None and type(value) is not kind:
        raise UserError(f"{chapter}: parameter {parameter} takes {kinds.get(kind, kind.__name__)}, not {text!r:.80}")
    return value
