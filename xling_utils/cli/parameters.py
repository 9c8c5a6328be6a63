"""Parameters of chapters on the command line: some have options of their own, ``-p`` takes any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

from xling_utils.core.errors import UserError

NO_PAIR = "-p takes a NAME and a VALUE: -p scale controlled"


class Pairs(TyperCommand):
    """A command whose ``-p`` takes a name and a value, as papermill's does."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        joined, rest = [], list(args)
        while rest:
            word = rest.pop(0)
            if word == "-p":
                if len(rest) < 2:
                    raise UserError(NO_PAIR)
                word = f"-p{rest.pop(0)}={rest.pop(0)}"
            joined.append(word)
        return super().parse_args(ctx, joined)


def typed_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """What ``-p`` says: name -> value. Raises :class:`UserError` on half a pair, and on a name that comes twice."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UserError(NO_PAIR)
        if name in found:
            raise UserError(f"{name} is given twice, with -p")
        found[name] = value
    return found


def meant(data: Path | None, ctx: typer.Context, asked: Mapping[str, Any]) -> Path | None:
    """The directory of text; one that XLING_DATA alone names counts only where something is ``asked`` that needs it."""
    from xling_utils.chapters import reads_real_text

    needed = reads_real_text(asked) or asked.get("model") or asked.get("aligned")
    return data if needed or on_the_line(ctx, "data") else None


def given_once(options: Mapping[str, Any], ctx: typer.Context, typed: Mapping[str, str]) -> dict[str, Any]:
    """The values that ``options`` have, without what ``typed`` says in their place. Raises :class:`UserError` for one
    that the command line gives both ways."""
    if twice := [name for name in options if name in typed and on_the_line(ctx, name)]:
        raise UserError(f"{twice[0]} is given twice, as --{twice[0]} and with -p")
    return {name: value for name, value in options.items() if value is not None and name not in typed}


def on_the_line(ctx: typer.Context, name: str) -> bool:
    """Whether an option was typed: neither its default nor taken from the environment."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
