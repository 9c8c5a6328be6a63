"""Notes in the margin: each term once a chapter, beside the paragraph that it first stands in."""

from __future__ import annotations

from pathlib import Path

from xling_utils.book import glossary_notes

GLOSSARY = """# Glossary

```{glossary}
alignment
  Vectors of translations
  lie near each other. See {ref}`csls`.

run
  One training.
```
"""


def test_definitions_are_those_of_the_page(tmp_path: Path) -> None:
    page = tmp_path / "glossary.md"
    assert glossary_notes.definitions(page) == {}
    page.write_text(GLOSSARY)
    assert glossary_notes.definitions(page) == {
        "alignment": "Vectors of translations lie near each other.",
        "run": "One training.",
    }


def test_a_term_is_explained_where_it_first_stands_and_never_again() -> None:
    known = {"run": "One training.", "seed": "A number."}
    first = glossary_notes.with_notes(
        "Before.\n\nOf {term}`runs <run>` and {term}`elsewhere`.\n\n- {term}`seed`", known
    )
    note = "```{margin} run\n:class: term-note\nOne training.\n```"
    assert first.split("\n\n") == ["Before.", note, "Of {term}`runs <run>` and {term}`elsewhere`.", "- {term}`seed`"]
    assert glossary_notes.with_notes("A {term}`run`.", known) == "A {term}`run`."
    assert list(known) == ["seed"]
