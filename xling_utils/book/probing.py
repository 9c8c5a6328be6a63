"""Any one model: its report card, and a small book of chapters 5 to 7 executed on it, under ``_build/probe``."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from xling_utils.book import card_page, notebooks, own_run
from xling_utils.book.rendering import render
from xling_utils.chapters import cards
from xling_utils.chapters.cards import Card
from xling_utils.chapters.probes import SENTENCES, TASKS
from xling_utils.core import identity
from xling_utils.core.errors import UserError
from xling_utils.core.files import json_object
from xling_utils.core.writing import held
from xling_utils.measures import examine, names
from xling_utils.runs import RunStore

PAGES = ("metrics.md", "bibliography.md", "references.bib")
TOC = """format: jb-book
root: book/intro
parts:
  - caption: Under the lens
    chapters:
{chapters}
  - caption: At the end
    chapters:
      - file: book/metrics
      - file: book/bibliography
"""


def probe(
    root: Path,
    model: str,
    languages: Sequence[str],
    data: Path | None,
    say: Callable[[str], None],
    aligned: str | None = None,
    pooling: str | None = None,
    against: str | None = None,
    chapters: bool = False,
) -> Card:
    """The report card of ``model``, a folder, a name on the Hub or the key of a stored run, as :func:`cards.card` makes
    it; written to :func:`folder_of` the model. Before, the model is examined, for ``chapters`` on what they read, too.

    ``root`` is the book's folder. Raises :class:`UserError` on a model or on data that cannot be measured.
    """
    model, against = _place(model), against and _place(against)
    read = SENTENCES if chapters else cards.SENTENCES
    for each, sentences, own in ((model, read, pooling), (against, cards.SENTENCES, None)):
        if each is not None:
            say(f"{each}: examining it")
            examine(each, languages, data, sentences, aligned, own)
    found = cards.card(model, languages, data, aligned, pooling, against)
    card_page.write(found, folder_of(root, model))
    return found


def probe_chapters(
    root: Path,
    model: str,
    languages: Sequence[str],
    data: Path | None,
    say: Callable[[str], None],
    aligned: str | None = None,
    predicts: bool = True,
) -> tuple[Path, list[notebooks.ChapterFailure]]:
    """Executes the chapters of :data:`probes.TASKS` on ``model``, which :func:`probe` has examined, and on the text
    ``aligned`` of one's own if there is any (:func:`parallel.aligned`), and renders them; returns the pages' folder and
    what failed, in which case nothing is rendered. A model that ``predicts`` no tokens has no chapter on token
    translation.
    """
    model = _place(model)
    place = folder_of(root, model)
    chapters = [name for name, task in TASKS.items() if predicts or task != names.TOKEN_TRANSLATION]
    given: dict[str, Any] = {"scale": "natural", "model": model, "languages": list(languages)}
    if aligned:
        given["aligned"] = aligned
    if data:
        given["data"] = str(data.absolute())
    place.mkdir(parents=True, exist_ok=True)
    with held(place / "probing.lock"):
        _lay_out(root, place, chapters)
        failures = notebooks.execute(place, chapters, given, {}, say)
        return place / "_build" / "html" if failures else render(place), failures


def own_languages(model: str) -> tuple[str, ...]:
    """Those of the text that a stored run of the controlled world brings, which needs no directory; none of others."""
    from xling_utils.measures import hub  # takes seconds

    run = hub.run_in(Path(_place(model)))
    return run.spec.corpus.languages if run and run.spec.corpus.source == "controlled" else ()


def folder_of(root: Path, model: str) -> Path:
    """Where what is made of a model lies: a folder of its name, or, where the card there is of another model, one with
    letters of a hash behind it."""
    place = _place(model)
    name = os.path.basename(os.path.abspath(place)) if Path(place).exists() else model  # of ".", too
    folder = root / "_build" / "probe" / (re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "model")
    with suppress(UserError):  # no card yet, or a damaged one
        if json_object(folder / "card.json").get("model") != place:
            return folder.with_name(f"{folder.name}-{identity.of(place)[:8]}")
    return folder


def _place(model: str) -> str:
    """The folder of a stored run whose key is given; a folder as a whole path; a name on the Hub as it is."""
    run = None if Path(model).exists() else RunStore().get(model)
    folder = run.path if run else Path(model)
    return str(folder.absolute()) if folder.exists() else model


def _lay_out(root: Path, place: Path, chapters: Sequence[str]) -> None:
    """The project of the small book: ``chapters`` and pages of the large one, less what only that can say."""
    import jupytext

    name = place.name
    for folder in ("book", "notebooks"):
        shutil.rmtree(place / folder, ignore_errors=True)
        (place / folder).mkdir(parents=True)
    config = (root / "_config.yml").read_text(encoding="utf-8")
    title = "Why is a multilingual encoder multilingual?"
    if title not in config:
        raise UserError(f"{root / '_config.yml'}: the title {title!r} is not there; a book about a model needs its own")
    (place / "_config.yml").write_text(config.replace(title, f"{name}, under the lens"), encoding="utf-8")
    listed = "\n".join(f"      - file: notebooks/{chapter}" for chapter in chapters)
    (place / "_toc.yml").write_text(TOC.format(chapters=listed), encoding="utf-8")
    shutil.copytree(root / "book" / "published", place / "book" / "published")
    shutil.copyfile(root / "book" / "claims.yml", place / "book" / "claims.yml")
    for page in PAGES:
        text = (root / "book" / page).read_text(encoding="utf-8")
        (place / "book" / page).write_text(_alone(text, chapters), encoding="utf-8")
    (place / "book" / "intro.md").write_text(_intro(name), encoding="utf-8")
    for chapter in chapters:
        notebook = jupytext.read(root / "notebooks" / f"{chapter}.py")
        notebook.cells = [cell for cell in notebook.cells if own_run.OF_THE_RECORD not in cell.metadata.get("tags", ())]
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = _alone(cell.source, chapters)
        jupytext.write(notebook, place / "notebooks" / f"{chapter}.py", fmt="py:percent")


def _alone(text: str, chapters: Sequence[str]) -> str:
    """References to pages that the small book lacks, to the log, and to the glossary, as plain words."""
    pages = "|".join((*chapters, "metrics", "bibliography"))
    text = re.sub(r"\{(?:doc|term)\}`([^<`]+?)\s*<[^>]*>`", r"\1", text)
    text = re.sub(r"\{ref\}`([^<`]+?)\s*<negative-[^>]*>`", r"\1", text)
    text = re.sub(r"\{term\}`([^`]+)`", r"\1", text)
    return re.sub(rf"\{{doc\}}`(?:[./a-z]*/)?(?!(?:{pages})`)([^`]+)`", r"the chapter \1 of the book", text)


def _intro(name: str) -> str:
    return f"""# {name}, under the lens

What the chapters of *Why is a multilingual encoder multilingual?* that can be asked of any model measure, measured on
this one. Beside it stands its untrained twin: a model of the same shape with
its first weights. What the twin shows, too, needs no learning.

There is one model, so intervals are over languages.
"""
