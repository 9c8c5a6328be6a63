"""What parameters a chapter can be opened with, checked before anything starts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_utils.chapters.sized import SMALLEST
from xling_utils.core.errors import UserError
from xling_utils.core.specs import LANGUAGES, LIVE, SCALES
from xling_utils.runs import Compute
from xling_utils.runs.compute import check_number

CODE = re.compile(r"[A-Za-z]{1,8}([_-][A-Za-z0-9]{1,8})*")
"""What a language's code looks like: it becomes part of the names of files."""
CONTROLLED = "controlled"
"""The scale that reads no directory of text."""
NOTHING = "none"
"""What is trained ``live`` where records are all that is shown."""
CHOICES = {"scale": SCALES, "live": LIVE}
LEAST = {"seeds": 1, "first_seed": 1}
MOST_SENTENCES = 10**9
TEXTS = ("data", "model", "aligned", "scheduler")
"""Parameters that are text."""
LONGEST = 4096
BOOKS: dict[str, Any] = {
    "scale": CONTROLLED,
    "languages": list(LANGUAGES[1:]),
    "sentences": None,
    "data": None,
    "model": None,
    "aligned": None,
}
"""What the book's own run has of the parameters that decide what a chapter is about; the others say how much is
trained, and where."""


def of_ones_own(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters among ``given`` that make a run one of one's own; empty for the book's. Of a directory of text its
    name."""
    found = {name: given[name] for name, books in BOOKS.items() if name in given and given[name] != books}
    return found | ({"data": Path(found["data"]).name} if "data" in found else {})


def check_parameters(values: Mapping[str, Any]) -> None:
    """Raises :class:`UserError` on a value among ``values``, parameter -> value, that no chapter can take; parameters
    that it does not know are not its affair."""
    for name, value in values.items():
        if name in CHOICES and value not in CHOICES[name]:
            raise UserError(f"unknown {name} {value!r:.80}; known: {', '.join(CHOICES[name])}")
        if name in LEAST:
            check_number(name, value, LEAST[name])
        if name == "sentences" and value is not None:
            check_number(name, value, most=MOST_SENTENCES)
        if name in TEXTS and not (value is None or _is_text(value)):
            raise UserError(f"{name} takes text, not {value!r:.80}")
    Compute.of(values)  # which checks its own
    _check_text(values)
    if "languages" in values:
        _check_languages(values["languages"], controlled=not reads_real_text(values))


def reads_real_text(values: Mapping[str, Any]) -> bool:
    """Whether chapters with these parameters take their languages from a directory, given or still missing."""
    scale = values.get("scale", CONTROLLED)
    return scale not in (CONTROLLED, SMALLEST) or (scale == SMALLEST and bool(values.get("data")))


def check_codes(languages: Iterable[Any]) -> None:
    """Raises :class:`UserError` unless every one of ``languages`` is the code of one."""
    for language in languages:
        if not (isinstance(language, str) and CODE.fullmatch(language)):
            raise UserError(f"language {language!r:.80}: give a code, such as de")


def _check_text(values: Mapping[str, Any]) -> None:
    """Whoever names a directory expects it to be read, and what is trained on real text reads one."""
    data, scale = values.get("data"), values.get("scale")
    trains = values.get("live", NOTHING) != NOTHING and not values.get("model")
    if trains and reads_real_text(values):
        from xling_utils.corpora import directory

        directory.given(Path(data) if data else None)
    if data and scale == CONTROLLED and not (values.get("model") or values.get("aligned")):
        raise UserError(
            f"scale {scale} reads its own world, not {data:.80}; add --scale natural, or {SMALLEST} for a first try"
        )


def _check_languages(languages: Sequence[Any], controlled: bool) -> None:
    """Real text brings its own languages: its reader checks them against the data directory."""
    if isinstance(languages, str):  # papermill's -p has text alone
        inside = languages.strip("[] ")
        raise UserError(f"languages is text, not a list; with papermill itself: -y 'languages: [{inside:.80}]'")
    if not languages:
        raise UserError("languages: name at least one in a list, as in '[de, ru]'")
    check_codes(languages)
    known = LANGUAGES[1:] if controlled else None
    for language in languages:
        if language == LANGUAGES[0] or (known and language not in known):
            raise UserError(f"unknown language {language!r}; known beside English: {', '.join(LANGUAGES[1:])}")
    if len(set(languages)) < len(languages):
        raise UserError(f"languages: name each once, not {', '.join(languages)}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST and value.isprintable()
