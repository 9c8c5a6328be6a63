"""Pages of runs of one's own: no sentence of what the book found on its own."""

import shlex
from dataclasses import replace
from pathlib import Path

import jupytext
import pandas as pd
import pytest

from tests.given import ROOT
from xling_utils.book import chapter_pages, own_run
from xling_utils.book.parameters import default_parameters
from xling_utils.chapters import minimult, of_ones_own, opened
from xling_utils.charts.offline import VEGALITE
from xling_utils.claims import listing
from xling_utils.core.errors import UserError
from xling_utils.core.specs import LANGUAGES

CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9]*.py"))
SMOKE = {"scale": "smoke", "languages": ["de"]}


def texts(notebook: dict) -> list[str]:
    captions = [cell["metadata"].get("mystnb", {}).get("figure", {}).get("caption", "") for cell in notebook["cells"]]
    return [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "markdown"] + captions


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_page_of_ones_own_has_no_finding_of_the_book(path: Path) -> None:
    book, own = jupytext.read(path), jupytext.read(path)
    findings = [cell["source"] for cell in book["cells"] if own_run.OF_THE_RECORD in cell["metadata"].get("tags", ())]
    titled = [cell["source"] for cell in book["cells"] if own_run.ASKED in cell["metadata"]]
    findings += [text.split("\n\n")[0] for text in titled if text.startswith("# ")]
    captions = [text for text in texts(book)[-len(book["cells"]) :] if text]
    findings += [caption.split("\n\n")[0] for caption in captions]
    findings += [caption.split("\n\n")[2] for caption in captions if caption.count("\n\n") == 2]
    own_run.described(own, SMOKE)
    page = "\n".join(texts(own))
    assert len(findings) > (1 if path.stem == "09_scatter" else 5)  # whose title asks, and which has one figure
    assert not [text for text in findings if text in page]
    assert "The answer" not in page and "<!-- value" not in page, "a number of the book's records"
    title = texts(own)[0].split("\n")[0]
    assert title.startswith("# ") and title.endswith("?")
    assert "smoke" in texts(own)[1] and "de" in texts(own)[1]
    kept = {caption.split("\n\n")[1] for caption in captions}
    assert {text for text in texts(own)[-len(own["cells"]) :] if text} <= kept


def test_what_makes_a_page_ones_own() -> None:
    defaults = default_parameters("02_window_size", jupytext.read(CHAPTERS[1]))
    assert of_ones_own({"scale": "controlled", "seeds": 3, "live": "all", "jobs": 2}) == {}
    assert of_ones_own({**SMOKE, "seeds": 3}) == SMOKE
    given = {**SMOKE, "seeds": 3, "live": "all", "data": "/a b", "engine": "local"}
    made = "xling run 02_window_size --scale smoke -p languages '[de]' --seeds 3 -p live all --data DIR"
    assert own_run.command("02_window_size", given, defaults) == made


def test_a_command_can_be_pasted_and_shown_whatever_it_names() -> None:
    model = "/home/o'brien/a `b``"
    made = own_run.command("02_window_size", {"model": model}, {})
    assert shlex.split(made)[-2:] == ["model", model]
    assert own_run.code("ls") == "`ls`" and own_run.code(made) == f"``` {made} ```"
    caption = chapter_pages._of_own("02_window_size", {"model": model}, {"scale": "smoke"}, "")
    assert made in chapter_pages._with_apostrophes(caption)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_parameters_of_a_notebook_are_the_books(path: Path) -> None:
    assert of_ones_own(default_parameters(path.stem, jupytext.read(path))) == {}


def test_recorded_verdicts_stand_only_beside_the_books_own_rows() -> None:
    languages = list(LANGUAGES[1:])
    book = listing.of_chapter(opened("01_data_size", "controlled", languages, 1, "none"), languages=["ru"])
    assert book is not None and {"controlled", "natural"} == set(book["scale"]) and "Russian" in book
    assert book["recorded"].notna().any()
    for scale, read in (("controlled", ["sw"]), ("controlled", languages[::-1]), ("natural", languages)):
        own = opened("03_overlap", scale, read, 1, "none")
        assert not own.of_the_book and listing.of_chapter(own) is None
        assert bool(len(own.recorded)) == (read != ["sw"]), "records of other languages stay away"
        assert own.on_real_text.of_the_book


def test_a_page_of_ones_own_shows_what_was_measured_for_it() -> None:
    book = opened("05_language_means", "controlled", list(LANGUAGES[1:]), 1, "none")
    measured = book.recorded.head(3).assign(value=0.4321)
    assert replace(book, measured=measured).both is book.recorded, "whose findings its sentences tell"
    own = opened("05_language_means", "controlled", ["fr", "de"], 1, "none")
    assert own.both is own.recorded and len(own.recorded)
    assert replace(own, measured=measured).both is measured


def test_a_figure_says_where_its_numbers_come_from() -> None:
    def cell(*shown: str | None, **other: str) -> dict:
        rows = [{"value": 1.0, **other} | ({"shown": each} if each else {}) for each in shown]
        return {"outputs": [{"data": {VEGALITE: {"datasets": {"a": rows, "b": [{"name": "chance"}]}}}}]}

    said = chapter_pages._sources
    assert said(cell("this machine", "recorded", "paper E"), "recorded") == {"live", "recorded", "paper"}
    assert said(cell(None), "live") == {"live"}
    assert said(cell("French"), "recorded") == {"recorded"}
    assert said(cell("French", origin="this machine"), "recorded") == {"live"}
    assert said({"outputs": []}, "recorded") == set()
    stuck = "\N{NO-BREAK SPACE}"
    assert chapter_pages._badges({"paper", "live"}) == f"{stuck}[live]{{.badge-live}}{stuck}[paper]{{.badge-paper}}"


@pytest.mark.parametrize(
    ("given", "beside"),
    [({"languages": ["sw"]}, False), ({"languages": ["sw", "hi"]}, True), ({}, True), ({"aligned": "mine"}, False)],
)
def test_what_is_recorded_of_other_languages_is_not_said_to_stand_beside(given: dict, beside: bool) -> None:
    assert chapter_pages._is_beside("03_overlap", "controlled", given) is beside


def test_a_command_that_is_long_is_told_once_a_page() -> None:
    notebook = jupytext.read(CHAPTERS[3])  # of twenty seeds that take partners in turn
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":  # as executed; the first figure shows nothing
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "drawn"}]
            figure = cell["metadata"].get("mystnb", {}).get("figure", {})
            if figure.get("name") == "fig-depth":
                cell["outputs"] = []
    origins = {scale: chapter_pages._origin(ROOT, CHAPTERS[3].stem, scale) for scale in ("controlled", "natural")}
    chapter_pages._make_public(origins, CHAPTERS[3].stem, notebook)
    figures = [cell["metadata"].get("mystnb", {}).get("figure") for cell in notebook["cells"]]
    drawn = [figure for figure in figures if figure and figure["name"] != "fig-depth"]
    at_length = [figure["name"] for figure in drawn if "--records-only" in figure["caption"]]
    first, *others = [figure for figure in drawn if "natural" not in figure["name"]]
    assert at_length.count(first["name"]) == 1 and len(at_length) <= 2  # one a world
    assert others and all(f"made as those of {{numref}}`{first['name']}`." in each["caption"] for each in others)


def test_apostrophes_of_captions_are_set_and_commands_are_not() -> None:
    set_ = chapter_pages._with_apostrophes("The languages' means, Dufter's: `run -p languages '[de]'`.")
    assert set_ == "The languages’ means, Dufter’s: `run -p languages '[de]'`."


def test_a_figure_of_both_worlds_names_the_rows_of_both() -> None:
    def caption(*shown: str) -> str:
        notebook = jupytext.read(CHAPTERS[7])
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                rows = [{"value": 1.0, "shown": each} for each in shown]
                cell["outputs"] = [{"data": {VEGALITE: {"datasets": {"a": rows}}}}]
        chapter_pages._make_public({"controlled": ("C", "by `c`"), "natural": ("N", "by `n`")}, "08_minimult", notebook)
        figures = [cell["metadata"].get("mystnb", {}).get("figure") for cell in notebook["cells"]]
        return str(next(filter(None, figures))["caption"])

    assert caption("controlled world").endswith("C, made by `c`.")
    assert caption("controlled world", chapter_pages.REAL).endswith("C, made by `c`. On real text: N, made by `n`.")
    assert chapter_pages.REAL == minimult.plan.REAL


SPEC = '{"recipes": []}'


@pytest.mark.parametrize(
    ("rows", "specs", "said"),
    [
        ("31,en,fr", None, r"runs\.csv is missing"),
        ("31,en,fr", "x", r"runs\.csv: what stands in column 'spec'"),
        ("31,en,fr", '{"recipes": {"ab": 1}}', r"runs\.csv: what stands in column 'spec'"),
        ("31x,en,fr", SPEC, r"controlled\.csv: '31x' in column 'seed' is no number"),
        ("31.5,en,fr", SPEC, r"controlled\.csv: a seed that is no whole number"),
        (",en,fr", SPEC, r"controlled\.csv: a seed that is no whole number"),
    ],
)
def test_damaged_records_are_named_and_not_the_notebook(
    tmp_path: Path, rows: str, specs: str | None, said: str
) -> None:
    path = laid_out(tmp_path, f"seed,source,target\n{rows}\n")
    if specs is not None:
        path.with_suffix(".runs.csv").write_text(pd.DataFrame({"spec": [specs]}).to_csv(index=False), encoding="utf-8")
    with pytest.raises(UserError, match=said) as error:
        chapter_pages.published(tmp_path, tmp_path / "01_sample.ipynb")
    assert "notebook" not in str(error.value)


def test_records_without_seeds_or_rows(tmp_path: Path) -> None:
    path = laid_out(tmp_path, "seed,source,target\n")
    assert chapter_pages._origin(tmp_path, "01_sample", "controlled") == ("", "")
    path.write_text("source,target\nen,fr\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"controlled\.csv: no column 'seed'"):
        chapter_pages.published(tmp_path, tmp_path / "01_sample.ipynb")


def laid_out(root: Path, rows: str) -> Path:
    """Recorded rows of a chapter, and where they lie."""
    path = root / "book/records/01_sample.controlled.csv"
    path.parent.mkdir(parents=True)
    path.write_text(rows, encoding="utf-8")
    return path
