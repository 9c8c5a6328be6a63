"""HTML from the templates of a room: what is put into them is escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def rendered(room: str, name: str, **values: Any) -> str:
    """``templates/NAME`` of a room of the package (``"charts"``) with ``values``, as one line for each of its own.

    A value that a template does not find is a mistake of ours (``jinja2.UndefinedError``)."""
    return _environment(room).get_template(name).render(values)


@cache
def _environment(room: str) -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader(f"xling_utils.{room}")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
