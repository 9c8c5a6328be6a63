"""The lexicon of the controlled world: concepts and function words with their forms in fifteen languages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from xling_utils.core.errors import UserError
from xling_utils.core.specs import LANGUAGES

YEARS = tuple(str(year) for year in range(1990, 2002))
COUNTS = tuple(str(count) for count in range(11, 21))


@dataclass(frozen=True)
class Entry:
    """A concept or function word. ``group`` is its semantic class (``"function"`` for function words);
    ``hypernym`` and ``antonym`` are keys or ``""``; ``forms`` maps language to word, ``""`` where it has none."""

    key: str
    group: str
    upos: str
    hypernym: str
    antonym: str
    forms: dict[str, str]


def read_table(name: str) -> list[dict[str, str]]:
    """A tab-separated table of this package; its first line names the columns."""
    text = resources.files(__package__ or __name__).joinpath(name).read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines() if line]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def _optional(value: str) -> str:
    return "" if value == "-" else value


@cache
def concepts() -> dict[str, Entry]:
    """The content words, in the order of ``lexicon.tsv``."""
    return {
        row["id"]: Entry(
            row["id"],
            row["class"],
            row["upos"],
            _optional(row["hypernym"]),
            _optional(row["antonym"]),
            {language: row[language] for language in LANGUAGES},
        )
        for row in read_table("lexicon.tsv")
    }


@cache
def function_words() -> dict[str, Entry]:
    """The function words and punctuation, in the order of ``function_words.tsv``."""
    return {
        row["id"]: Entry(row["id"], "function", row["upos"], "", "", {lang: _optional(row[lang]) for lang in LANGUAGES})
        for row in read_table("function_words.tsv")
    }


@cache
def words(language: str) -> dict[str, str]:
    """Key -> form in ``language``. Digits are written alike everywhere. Raises on an unknown language."""
    if language not in LANGUAGES:
        raise UserError(f"controlled corpus: no language {language!r}; known: {' '.join(LANGUAGES)}")
    entries = [*concepts().values(), *function_words().values()]
    return {entry.key: entry.forms[language] for entry in entries} | {digits: digits for digits in YEARS + COUNTS}


@cache
def members(name: str) -> tuple[str, ...]:
    """The concepts of a class, or else the concept itself ("fruit" is both: the class is meant). Raises
    :class:`UserError` if there is neither."""
    found = tuple(entry.key for entry in concepts().values() if entry.group == name)
    if not found and name in concepts():
        return (name,)
    if not found:
        raise UserError(f"lexicon.tsv: no class or concept {name!r}")
    return found


def dictionary(language: str) -> list[tuple[str, str]]:
    """(English, ``language``) pairs of the content words, without proper names, which are the same in all languages."""
    words(language)  # names an unknown language
    pairs = [(entry.forms["en"], entry.forms[language]) for entry in concepts().values() if entry.upos != "PROPN"]
    return sorted(set(pairs))


def tagged_dictionary(language: str) -> list[tuple[str, str, str]]:
    """(English, ``language``, UPOS) of content and function words, for retrieval by part of speech.

    Names and punctuation stay out, and so do English words of several parts of speech and absent words.
    """
    words(language)
    entries = [*concepts().values(), *function_words().values()]
    kept = [e for e in entries if e.upos not in ("PROPN", "PUNCT") and e.forms["en"] and e.forms[language]]
    tags: dict[str, set[str]] = {}
    for entry in kept:
        tags.setdefault(entry.forms["en"], set()).add(entry.upos)
    return [(e.forms["en"], e.forms[language], e.upos) for e in kept if len(tags[e.forms["en"]]) == 1]
