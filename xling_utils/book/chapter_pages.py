"""An executed notebook as a page of the book: what the machine left in it goes, what a reader needs comes."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from xling_utils.book import glossary_notes, own_run
from xling_utils.book.parameters import default_parameters
from xling_utils.chapters import of_ones_own, records
from xling_utils.charts import offline, tables
from xling_utils.charts.shapes import ORIGIN, PAPER_SHAPES
from xling_utils.core.errors import UserError
from xling_utils.core.files import json_object, table
from xling_utils.core.scales import FIRST_REPORTED_SEED
from xling_utils.core.specs import LANGUAGES, of_earlier_recipe
from xling_utils.measures import kept_rows

ALONE = ("model", "aligned", "sentences")
"""Parameters of runs beside which there are no records."""
PAPERS = ("paper", *PAPER_SHAPES)
"""What rows of a paper say that they are."""
SOURCES = {"this machine": "live", "recorded": "recorded"}
"""What other rows say that they are -> its badge."""
REAL = "real text"
"""What its rows say that they are in a figure of both worlds."""
CODE_OR_TEXT = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|[^`]+", re.DOTALL)
"""Of Markdown; code has a group."""
AT_LENGTH = 120
"""Letters of what one figure of a page says for all."""
HTML, WIDGET = "text/html", "application/vnd.jupyter.widget-view+json"
"""Kinds of outputs of a notebook."""


def with_values(text: str) -> str:
    """Text with its numbers as the records have them (see :mod:`numbers`)."""
    from xling_utils.book import numbers

    return numbers.filled(text, numbers.values()) if numbers.OPENING in text else text


def published(root: Path, path: Path) -> bytes:
    """An executed notebook as the book shows and offers it: without papermill's notes (paths and times of the
    machine that ran it), with the injected parameters out of sight, its numbers filled in, terms explained in the
    margin, cells without an output left out, and at each figure whether it is live, recorded or a paper's, its rows and
    its command.

    Raises `UserError` where that is no notebook, and where the chapter's records are damaged."""
    import nbformat

    origins = {scale: _origin(root, path.stem, scale) for scale in ("controlled", "natural")}
    try:
        notebook = json_object(path)
        nbformat.validate(notebook)
        _make_public(origins, path.stem, notebook)
    except (UserError, nbformat.ValidationError, AssertionError, KeyError, TypeError, AttributeError) as error:
        first = str(error).split("\n")[0]
        raise UserError(f"{path} is not a notebook ({first}); run `xling run {path.stem}` again") from error
    terms = glossary_notes.definitions(root / "book/glossary.md")
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = glossary_notes.with_notes(with_values("".join(cell["source"])), terms)
        for output in cell.get("outputs", ()):
            offline.as_text(output.get("data", {}))
    return json.dumps(notebook, ensure_ascii=False).encode("utf-8")  # indented it takes a second longer


def _make_public(origins: Mapping[str, tuple[str, str]], chapter: str, notebook: dict[str, Any]) -> None:
    """With the :func:`_origin` of the chapter's rows of each world."""
    given = notebook["metadata"].pop("papermill", {}).get("parameters", {})
    defaults = default_parameters(chapter, notebook)
    own = of_ones_own(given)
    beside = {scale: origins[scale] for scale in origins if not own or _is_beside(chapter, scale, given)}
    trained = own and given.get("live", defaults.get("live")) != "none"
    told: dict[str, str] = {}  # scale -> the figure that says at length how its rows are made
    if own:
        own_run.described(notebook, own)
    _without_kernel(notebook)
    for cell in notebook["cells"]:
        for key in ("papermill", "execution"):
            cell["metadata"].pop(key, None)
        if figure := cell["metadata"].get("mystnb", {}).get("figure"):
            of_real_text = "natural" in figure["name"]
            scale = "natural" if of_real_text else given.get("scale", defaults.get("scale"))
            rows, made = beside.get(scale, ("", ""))
            drawn = bool(cell["outputs"])
            if drawn and len(made) > AT_LENGTH and told.setdefault(scale, figure["name"]) != figure["name"]:
                made = f"as those of {{numref}}`{told[scale]}`"
            recorded = f"{rows}, made {made}." if rows else ""
            rows, made = origins["natural"]
            if rows and scale != "natural" and REAL in _shown(cell, "shown"):
                recorded = f"{recorded} On real text: {rows}, made {made}.".lstrip()
            live = not recorded or (trained and not of_real_text)
            sources = _sources(cell, otherwise="live" if live else "recorded")
            if own and sources == {"live"}:
                recorded = ""
            first, *rest = figure["caption"].split("\n\n")
            made = _of_own(chapter, given, defaults, recorded) if own else recorded
            parts = first + _badges(sources), " ".join(rest), made
            figure["caption"] = _with_apostrophes("\n\n".join(filter(None, parts)))
        tags = cell["metadata"].get("tags", [])
        prepares = cell["cell_type"] == "code" and not cell["outputs"] and "parameters" not in tags
        if prepares and "remove-cell" not in tags:
            cell["metadata"]["tags"] = [*tags, "remove-cell"]


def _is_beside(chapter: str, scale: str, given: Mapping[str, Any]) -> bool:
    """Whether what is recorded stands beside a run of one's own."""
    if _is_alone(given):
        return False
    return len(records.of_languages(records.load(chapter, scale), given.get("languages", LANGUAGES))) > 0


def _is_alone(given: Mapping[str, Any]) -> bool:
    return any(given.get(name) for name in ALONE)


def _with_apostrophes(caption: str) -> str:
    """As Sphinx sets them in text, but not in captions; commands stay as they are."""
    return CODE_OR_TEXT.sub(lambda piece: piece[0] if piece[1] else tables.apostrophes(piece[0]), caption)


def _without_kernel(notebook: dict[str, Any]) -> None:
    """A widget that has HTML beside it is that HTML; the state of widgets goes where none of them is left."""
    shown = [output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", ())]
    for data in shown:
        if HTML in data:
            data.pop(WIDGET, None)
    if not any(WIDGET in data for data in shown):
        notebook["metadata"].pop("widgets", None)


def _shown(cell: Mapping[str, Any], *columns: str) -> set[str | None]:
    """What the rows of a figure say that they are, in the first of ``columns`` that a row has; None where they do not
    say it."""
    charts = [output["data"].get(offline.VEGALITE) for output in cell["outputs"] if "data" in output]
    rows = [row for chart in filter(None, charts) for rows in chart.get("datasets", {}).values() for row in rows]
    said = [next((row[name] for name in columns if name in row), None) for row in rows]
    return {name for name in said if name} or ({None} if rows else set())


def _sources(cell: Mapping[str, Any], otherwise: str) -> set[str]:
    """Where the numbers of a figure come from, as *How to read* explains it: what its rows say, and ``otherwise`` where
    they do not say it."""
    return {
        "paper" if shown in PAPERS else SOURCES.get(shown or "", otherwise) for shown in _shown(cell, ORIGIN, "shown")
    }


def _badges(sources: Collection[str]) -> str:
    return "".join(
        f"\N{NO-BREAK SPACE}[{source}]{{.badge-{source}}}"
        for source in ("live", "recorded", "paper")
        if source in sources
    )


def _of_own(chapter: str, given: Mapping[str, Any], defaults: Mapping[str, Any], recorded: str) -> str:
    """For a caption: the command that made a page of one's own, where its rows lie, and of ``recorded`` ones beside
    them where those come from."""
    own = ".own" if _is_alone(given) else ""
    rows = f"_build/records/{chapter}.{given.get('scale', defaults.get('scale'))}{own}.csv"
    made = f"Made by {own_run.code(own_run.command(chapter, given, defaults))}; rows in `{rows}`."
    return f"{made} Recorded seeds: {recorded}" if recorded else made


def _origin(root: Path, chapter: str, scale: str) -> tuple[str, str]:
    """For a caption: the committed rows that a figure is drawn from, and by which commands they are made again; empty
    where there are none. Raises `UserError` where they, or what is known of their runs, are damaged."""
    rows = root / "book/records" / f"{chapter}.{scale}.csv"
    blocks = _blocks(rows) if rows.is_file() else {}
    if not blocks:
        return "", ""
    real = " --scale natural --data DIR" if scale == "natural" else ""
    (first, block), *others = blocks.items()
    seeds, languages = block
    some = f" -p languages '{languages}'" if languages else ""
    command = f"xling run {chapter}{real} --seeds {seeds}{some} "
    earlier = _of_earlier_recipe(rows.with_suffix(".runs.csv"))
    later = others or (first != FIRST_REPORTED_SEED and not earlier)
    command += f"--records-only -p first_seed {first}" if later else "-p live all"
    alike = [str(each) for each, other in others if other == block]
    then = f", and as many from {', '.join(alike)}" if alike else ""
    then += "".join(f", {other[0]} from seed {each} on with `{other[1]}`" for each, other in others if other != block)
    recipe = ", with an {ref}`earlier recipe <recipe>`" if earlier else ""
    return f"{{download}}`Rows (CSV, zipped) <../book/records/{rows.name}.zip>`", f"by `{command}`{then}{recipe}"


def _of_earlier_recipe(runs: Path) -> bool:
    if not runs.is_file():
        raise UserError(f"{runs} is missing, which says how the rows beside it were made; restore the file")
    specs = table(runs, ["spec"])["spec"]
    try:
        return of_earlier_recipe(specs)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UserError(f"{runs}: what stands in column 'spec' is not the specification of a run; restore it") from None


def _blocks(rows: Path) -> dict[int, tuple[int, str]]:
    """Seeds of recorded ``rows`` that follow one another and read the same languages: the first of them -> their
    number, and the languages as the parameter has them, nothing where they are all."""
    read: dict[int, dict[str, None]] = {}
    recorded = kept_rows.from_csv(rows, ("seed", "source", "target"))
    if (recorded["seed"].astype(float) % 1 != 0).any():
        raise UserError(f"{rows}: a seed that is no whole number; restore the file")
    for seed, *both in zip(recorded["seed"], recorded["source"], recorded["target"], strict=True):
        read.setdefault(int(seed), {}).update(dict.fromkeys(both))  # as they were planned
    blocks: dict[int, tuple[int, str]] = {}
    first, before = 0, (0, [""])
    for seed, languages in sorted(read.items()):
        others = [language for language in languages if language in LANGUAGES[1:]]
        if (seed - 1, others) != before:
            first = seed
        before = seed, others
        some = f"[{', '.join(others)}]" if 0 < len(others) < len(LANGUAGES) - 1 else ""
        blocks[first] = (seed - first + 1, some)
    return blocks
