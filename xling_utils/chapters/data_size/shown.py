"""What chapter 1's notebook shows, of the chapter as it was opened."""

from __future__ import annotations

from typing import Any

import pandas as pd

from xling_utils.chapters import records
from xling_utils.chapters.data_size import explorer, figures
from xling_utils.chapters.data_size.explorer import Explorer
from xling_utils.chapters.data_size.plan import headline_layer, headline_rows, summary
from xling_utils.chapters.opening import Opened
from xling_utils.chapters.shared import layer_by_layer, published
from xling_utils.chapters.shared.contrasts import NATURAL_LANGUAGES
from xling_utils.chapters.shared.in_page import Everywhere
from xling_utils.runs import Compute, RunStore, ensure

NOTHING_TRAINED = "Nothing was trained on this machine (live = 'none'), so there is no encoder to explore."


def _languages(chapter: Opened) -> list[str]:
    return list(NATURAL_LANGUAGES) if chapter.record_of_real_text else [chapter.base]


def runs(chapter: Opened) -> pd.DataFrame:
    """How many runs of each model and size are of this machine."""
    planned = [dict(each.condition) | {"runs": 1} for each in chapter.plan]
    rows = pd.DataFrame(planned, columns=["model", "sentences", "runs"])
    return rows.groupby(["sentences", "model"], sort=False).sum().reset_index()


def headline(chapter: Opened) -> Any:
    """Figure: retrieval of every model at both sizes of text."""
    return figures.headline(chapter.shown, chapter.recorded, chapter.sizes, _languages(chapter))


def headline_table(chapter: Opened) -> pd.DataFrame:
    """The numbers of :func:`headline`."""
    rows = headline_rows(chapter.both, chapter.sizes)
    return summary(rows[rows["target"] == chapter.base], ["sentences", "model"])


def inference(chapter: Opened) -> Any:
    """Figure: zero-shot inference of every model at both sizes, and in English itself."""
    return figures.inference(chapter.shown, chapter.recorded, [*_languages(chapter), "en"])


def training_curve(chapter: Opened) -> Any:
    """Figure: retrieval over training, at a layer that the reader picks."""
    return figures.training_curve(chapter.both, chapter.sizes, chapter.base)


def ends_of_training(chapter: Opened) -> pd.DataFrame:
    """Where the curves of :func:`training_curve` end."""
    curve = figures.over_training(chapter.both, chapter.base)
    curve = curve[curve["layer"] == headline_layer(chapter.sizes)]
    ends = summary(curve[curve["step"] == curve["step"].max()], ["series"])
    return ends.assign(times_chance=ends["value"] / figures.chance_level([chapter.both], chapter.base))


def layers(chapter: Opened) -> Any:
    """Figure: retrieval of each language at a layer that the reader picks."""
    return figures.layers(chapter.both, chapter.sizes)


def any_two(chapter: Opened) -> Any:
    """Figure: any two models beside each other, layer by layer, BERT of both sizes first; static vectors have layer 0
    alone."""
    table = chapter.both
    table = table[table["part_of_speech"].isna()].sort_values("sentences", ascending=False, kind="stable")
    table = table.sort_values("model", key=lambda models: models != "BERT", kind="stable")
    sizes = table["sentences"].map("{:,} sentences".format)
    return layer_by_layer.figure(table.assign(condition=table["model"] + ", " + sizes), chapter.base)


def parts_of_speech(chapter: Opened) -> Any:
    """Figure: retrieval by part of speech, beside the paper's; of real words beside those of an untrained encoder."""
    if chapter.record_of_real_text:
        return figures.real_parts_of_speech(chapter.recorded, chapter.sizes, NATURAL_LANGUAGES[0])
    paper = published.table("B_table_1_pos")
    return figures.parts_of_speech(chapter.shown, chapter.recorded, paper, chapter.sizes, chapter.base)


def classes_by_language(chapter: Opened) -> pd.DataFrame | None:
    """Closed and open classes of the recorded runs."""
    return figures.classes_by_language(chapter.recorded, chapter.sizes) if len(chapter.recorded) else None


def distances(chapter: Opened) -> Any:
    """Figure: retrieval against the distance of word orders."""
    return figures.distances(chapter.both, chapter.sizes)


def static_vectors(chapter: Opened) -> Any:
    """Figure: static vectors in every language."""
    return figures.natural_static(chapter.recorded)


def explored(chapter: Opened) -> Explorer | None:
    """The words of the base run of this machine, if it was trained; else a line says so."""
    base = {"model": "BERT", "sentences": chapter.sizes.sentences[-1]}
    spec = next((each.spec for each in chapter.plan if dict(each.condition) == base), None)
    if spec is None:
        print(NOTHING_TRAINED)
        return None
    run = ensure([spec], store=RunStore(), compute=Compute(chapter.data), progress=False)[spec]
    return Explorer.of(run, chapter.sizes, chapter.data)


def explorer_widget(words: Explorer | None) -> Any:
    """Widget: the nearest translations of any word, which pages answer, too; none without words."""
    return Everywhere(explorer.widget(words), explorer.page(words)) if words else None


def compared(chapter: Opened) -> pd.DataFrame:
    """How far the rows of this machine are from the recorded ones of the same runs."""
    same = records.compare(chapter.measured, chapter.recorded)
    gap = (same["live"] - same["recorded"]).abs().max() if len(same) else float("nan")
    return pd.DataFrame(
        {
            "measurements both live and recorded": [len(same)],
            "largest difference": [gap],
            "recorded runs": [chapter.recorded["run"].nunique()],
        }
    )
