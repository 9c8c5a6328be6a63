"""Notes in the margin of a chapter: what a term means, beside the paragraph that it first stands in."""

from __future__ import annotations

import re
from pathlib import Path

_GLOSSARY = re.compile(r"^```\{glossary\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
_TERM = re.compile(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`")
_ELSEWHERE = re.compile(r" ?See \{\w+\}`[^`]*`\.?")
"""Pages are linked from the glossary; a note is short."""


def definitions(glossary: Path) -> dict[str, str]:
    """Term -> what it means, of a page with a glossary; none where there is no such page."""
    found = {}
    for block in _GLOSSARY.findall(glossary.read_text(encoding="utf-8") if glossary.exists() else ""):
        for entry in block.strip().split("\n\n"):
            term, _, meaning = entry.partition("\n")
            found[term] = _ELSEWHERE.sub("", " ".join(meaning.split()))
    return found


def with_notes(text: str, known: dict[str, str]) -> str:
    """Markdown with a note before each paragraph that uses terms for the first time. Their definitions are taken out of
    ``known``, so that the next text of the same chapter does not repeat them."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(_notes(paragraph, known) + paragraph for paragraph in paragraphs)


def _notes(paragraph: str, known: dict[str, str]) -> str:
    if paragraph.lstrip().startswith(("- ", "|", "```", "#")):
        return ""
    terms = dict.fromkeys(term for term in _TERM.findall(paragraph) if term in known)
    return "".join(_note(term, known.pop(term)) for term in terms)


def _note(term: str, meaning: str) -> str:
    return f"```{{margin}} {term}\n:class: term-note\n{meaning}\n```\n\n"
