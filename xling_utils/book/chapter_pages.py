"""An executed notebook as a page of the book: what the machine left in it goes, what a reader needs comes."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xling_utils.book import glossary_notes, own_run
from xling_utils.book.parameters import default_parameters
from xling_utils.chapters import of_ones_own
from xling_utils.core.errors import UserError
from xling_utils.core.files import json_object
from xling_utils.core.specs import LANGUAGES, of_earlier_recipe


def with_values(text: str) -> str:
    """Text with its numbers as the records have them (see :mod:`numbers`)."""
    from xling_utils.book import numbers

    return numbers.filled(text, numbers.values()) if numbers.OPENING in text else text


def published(root: Path, path: Path) -> bytes:
    """An executed notebook as the book shows and offers it: without papermill's notes (paths and times of the
    machine that ran it), with the injected parameters out of sight, its numbers filled in, terms explained in the
    margin, and below each figure its rows and its command."""
    import nbformat

    try:
        notebook = json_object(path)
        nbformat.validate(notebook)
        _make_public(root, path.stem, notebook)
    except (UserError, nbformat.ValidationError, AssertionError, KeyError, TypeError, AttributeError) as error:
        first = str(error).split("\n")[0]
        raise UserError(f"{path} is not a notebook ({first}); run `xling run {path.stem}` again") from error
    terms = glossary_notes.definitions(root / "book/glossary.md")
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = glossary_notes.with_notes(with_values("".join(cell["source"])), terms)
    return json.dumps(notebook, ensure_ascii=False, indent=1).encode("utf-8")


def _make_public(root: Path, chapter: str, notebook: dict[str, Any]) -> None:
    given = notebook["metadata"].pop("papermill", {}).get("parameters", {})
    defaults = default_parameters(chapter, notebook)
    own = of_ones_own(given)
    scales = {scale: _origin(root, chapter, scale) for scale in ("controlled", "natural")}
    if own:
        own_run.described(notebook, own)
    for cell in notebook["cells"]:
        for key in ("papermill", "execution"):
            cell["metadata"].pop(key, None)
        if figure := cell["metadata"].get("mystnb", {}).get("figure"):
            recorded = scales["natural" if "natural" in figure["name"] else "controlled"]
            figure["caption"] += _of_own(chapter, given, defaults, scales) if own else recorded
        tags = cell["metadata"].get("tags", [])
        if "injected-parameters" in tags and "remove-cell" not in tags:
            cell["metadata"]["tags"] = [*tags, "remove-cell"]


def _of_own(chapter: str, given: Mapping[str, Any], defaults: Mapping[str, Any], recorded: Mapping[str, str]) -> str:
    """For a caption: the command that made a page of one's own, where its rows lie, and of recorded ones beside them
    where those come from."""
    scale = given.get("scale", defaults.get("scale"))
    alone = any(given.get(name) for name in ("model", "aligned"))
    rows = f"_build/records/{chapter}.{scale}{'.own' * alone}.csv"
    made = f"\n\nMade by `{own_run.command(chapter, given, defaults)}`; rows in `{rows}`."
    beside = "" if alone else recorded.get(scale, "")
    return made + (f" Recorded seeds: {beside.strip()}" if beside else "")


def _origin(root: Path, chapter: str, scale: str) -> str:
    """For a caption: the committed rows that a figure is drawn from, and the command that makes them again."""
    rows = root / "book/records" / f"{chapter}.{scale}.csv"
    if not rows.is_file():
        return ""
    real = " --scale natural --data DIR" if scale == "natural" else ""
    (first, (seeds, languages)), *others = _blocks(rows).items()
    some = f" -p languages '{languages}'" if languages else ""
    command = f"xling run {chapter}{real} --seeds {seeds}{some} "
    command += f"--records-only -p first_seed {first}" if others else "-p live all"
    then = "".join(f", from seed {each} on {n} with `{which}`" for each, (n, which) in others)
    with rows.with_suffix(".runs.csv").open(encoding="utf-8", newline="") as file:
        earlier = of_earlier_recipe([row["spec"] for row in csv.DictReader(file)])
    recipe = ", with an {ref}`earlier recipe <recipe>`" if earlier else ""
    return f"\n\n{{download}}`Rows (CSV) <../book/records/{rows.name}>`, made by `{command}`{then}{recipe}."


def _blocks(rows: Path) -> dict[int, tuple[int, str]]:
    """Seeds of recorded ``rows`` that read the same languages: the first of them -> their number, and the languages as
    the parameter has them, nothing where they are all."""
    read: dict[int, dict[str, None]] = {}
    with rows.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):  # as they were planned
            read.setdefault(int(row["seed"]), {}).update({row["source"]: None, row["target"]: None})
    blocks: dict[int, tuple[int, str]] = {}
    first, before = 0, None
    for seed, languages in sorted(read.items()):
        others = [language for language in languages if language in LANGUAGES[1:]]
        if others != before:
            first, before = seed, others
        some = f"[{', '.join(others)}]" if 0 < len(others) < len(LANGUAGES) - 1 else ""
        blocks[first] = (seed - first + 1, some)
    return blocks
