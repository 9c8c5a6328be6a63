"""What a page shows in place of a live widget, and the script that it computes with."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from xling_utils.book import chapter_pages, encoder_script
from xling_utils.chapters.mds import in_page
from xling_utils.chapters.mds.shown import Translator
from xling_utils.chapters.mds.widget import TranslationWidget
from xling_utils.core import identity
from xling_utils.core.errors import UserError
from xling_utils.measures import Subject, bundled, bundled_text

HOSTILE = '</script><img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def kept() -> bundled.Bundled:
    return bundled.load()


def output(data: dict[str, str]) -> dict[str, object]:
    return {"cell_type": "code", "outputs": [{"output_type": "display_data", "data": data}]}


def test_a_page_takes_the_html_of_a_widget_and_forgets_its_state(kept: bundled.Bundled) -> None:
    both = Translator(kept).widget("ru", 2.0)._repr_mimebundle_()
    assert chapter_pages.WIDGET in both, "in a notebook it is live"
    alone = {chapter_pages.WIDGET: "view", "text/plain": "VBox"}
    for cells, state in (([both, alone], True), ([both], False)):
        notebook = {"cells": [output(dict(data)) for data in cells], "metadata": {"widgets": {}}}
        chapter_pages._without_kernel(notebook)
        shown = [cell["outputs"][0]["data"] for cell in notebook["cells"]]
        assert chapter_pages.WIDGET not in shown[0] and 'class="in-page translation"' in shown[0][chapter_pages.HTML]
        assert shown[1:] == cells[1:]
        assert ("widgets" in notebook["metadata"]) == state


def test_a_model_of_ones_own_answers_in_a_notebook_only(kept: bundled.Bundled) -> None:
    own = Subject(kept.model, kept.tokenizer, kept.key, kept.corpus, None, kept.form, kept.seed)
    assert chapter_pages.HTML not in Translator(own).widget("ru", 2.0)._repr_mimebundle_()


def test_an_example_cannot_become_markup(kept: bundled.Bundled) -> None:
    widget = TranslationWidget(kept, {"en": HOSTILE})
    page = in_page.page(widget, widget.start())
    assert "<img" not in page and page.count("<script") == page.count("</script>") == 2 + len(in_page.SCRIPTS)
    data = page.partition('<script type="application/json">')[2].partition("</script>")[0]
    assert json.loads(data)["examples"] == {"en": HOSTILE}


def test_an_encoder_that_the_pages_do_not_compute_is_refused(kept: bundled.Bundled, tmp_path: Path) -> None:
    run = kept.kept.run
    shutil.copytree(run.path, tmp_path / "run")
    config = {**kept.model.config.to_dict(), "hidden_act": "relu"}
    (tmp_path / "run/config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(UserError, match="hidden_act is 'relu'; the pages compute with 'gelu'"):
        encoder_script.script(replace(kept.kept, run=replace(run, path=tmp_path / "run")))


def test_scripts_are_made_again_by_other_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / bundled_text.FOLDER).mkdir(parents=True)
    made: list[str] = []
    for name in ("_encoder", "_layers"):
        monkeypatch.setattr(encoder_script, name, lambda _, name=name: made.append(name) or name)
    for code, times in (("one", 1), ("one", 1), ("another", 2)):
        monkeypatch.setattr(identity, "package", lambda code=code: code)
        encoder_script.of_book(tmp_path)
        assert made == ["_encoder", "_layers"] * times


def test_a_book_without_an_encoder_has_no_script(tmp_path) -> None:
    assert encoder_script.of_book(tmp_path) == {}
