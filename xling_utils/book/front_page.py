"""The figures of the front page: what the records say, in sentences and charts."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from xling_utils.chapters import records
from xling_utils.chapters.architecture.plan import BASE, BOTH
from xling_utils.chapters.data_size import figures as data_size_figures
from xling_utils.chapters.data_size import word_map
from xling_utils.chapters.mds import figures as mds_figures
from xling_utils.chapters.overlap.plan import DEFAULT, FAKE, PERMUTED, SEPARATE, UNIGRAMS
from xling_utils.charts import offline, share_shapes, tables
from xling_utils.claims.rows import Rows
from xling_utils.claims.shares import share
from xling_utils.core.scales import scale as scale_of
from xling_utils.measures import Interval

SCALES = ("controlled", "natural")
ALIGNMENT = {"task": "word retrieval", "metric": "mrr_centred", "layer": "middle"}
LETTERS, PIECES, ORDER, SENTENCES = "shared letters", "shared word pieces", "word order", "sentences"
LITTLE_TEXT, LITTLE_TRAINING, PARAMETERS = "9/10 of the text", "9/10 of the training", "shared parameters"


@dataclass(frozen=True)
class Lesson:
    """Something that is taken away: in words, the chapter, and what the rows with it and without it have."""

    taken: str
    chapter: str
    without: dict[str, Any]
    whole: dict[str, Any]


LESSONS = (
    Lesson(
        LITTLE_TEXT, "01_data_size", {"model": "BERT", "sentences": "least"},
        {"model": "BERT", "sentences": "most"},
    ),
    Lesson(
        LITTLE_TRAINING, "01_data_size", {"model": "BERT, equal epochs"},
        {"model": "BERT", "sentences": "most"},
    ),
    Lesson(
        "long inputs", "02_window_size", {"model": "BERT", "sentences": "most", "window": "least"},
        {"model": "BERT", "sentences": "most", "window": "most"},
    ),
    Lesson(LETTERS, "03_overlap", {"condition": FAKE}, {"condition": DEFAULT}),
    Lesson(PIECES, "03_overlap", {"condition": SEPARATE}, {"condition": DEFAULT}),
    Lesson(ORDER, "03_overlap", {"condition": PERMUTED[1.0]}, {"condition": FAKE}),
    Lesson(SENTENCES, "03_overlap", {"condition": UNIGRAMS}, {"condition": FAKE}),
    Lesson("all layers but one", "04_architecture", {"level": "1 layer"}, {"factor": BASE}),
    Lesson("all heads but one", "04_architecture", {"level": "1 head"}, {"factor": BASE}),
    Lesson(PARAMETERS, "04_architecture", {"level": BOTH}, {"factor": BASE}),
)  # fmt: skip


def left(scale: str) -> list[tuple[Lesson, Interval]]:
    """Of each lesson that is recorded: the share of alignment above chance that is left, with its interval over
    seeds as charts show it."""
    chapters = {lesson.chapter for lesson in LESSONS}
    rows = Rows(records.of_one_recipe(chapters, scale), scale_of(scale).encoder.layers // 2)
    found = []
    for lesson in LESSONS:
        common = {"chapter": lesson.chapter, **ALIGNMENT}
        of = {"without": lesson.without, "whole": lesson.whole}
        selections = {name: common | where for name, where in of.items()}
        selections["chance"] = common | lesson.whole | {"metric": "chance"}
        if left_of_it := share("without - chance", "whole - chance", selections, rows):
            found.append((lesson, left_of_it.drawn()))
    return found


def taken_away() -> Any:
    """Figure: what is left of alignment when one thing is taken away, in each world."""
    found = pd.DataFrame(
        {
            "taken": lesson.taken,
            "world": word_map.WORLDS[scale],
            "left": kept.value,
            "low": kept.low,
            "high": kept.high,
            "seeds": kept.n,
        }
        for scale in SCALES
        for lesson, kept in left(scale)
    )
    worlds = list(found["world"].unique())
    order = found[found["world"] == worlds[0]].sort_values("left", ascending=False)["taken"]
    return share_shapes.shares(
        found, order=list(order), groups=worlds, x_title="alignment that is left",
        description="Share of alignment that is left without each thing: most of it without shared letters or "
        "pieces, little without word order, next to nothing without sentences or shared parameters.",
    )  # fmt: skip


def values() -> dict[str, str]:
    """The numbers in the text of the front page, by the name of their mark: ``left shared letters``, what is left
    without them in the controlled world, ``left shared letters low`` and ``high``, the ends of its interval, and the
    same after ``left natural`` of real text."""
    found: dict[str, str] = {}
    for scale, prefix in zip(SCALES, ("left", "left natural"), strict=True):
        for lesson, kept in left(scale):
            ends = zip(("", " low", " high"), (kept.value, kept.low, kept.high), strict=True)
            found |= {f"{prefix} {lesson.taken}{end}": _percent(at) for end, at in ends if not math.isnan(at)}
    return found


def _percent(value: float) -> str:
    return tables.typeset(f"{round(100 * value)}\N{NO-BREAK SPACE}%")


def training_curve() -> Any:
    """Figure: alignment over the training of the base run, as in chapter 1."""
    table = records.load("01_data_size", SCALES[0])
    return data_size_figures.training_curve(table, scale_of(SCALES[0]), "fr", every_layer=False)


def one_vector() -> Any:
    """Figure: convert rate over weights, on average over languages, at the layer that chapter 6 reads."""
    return mds_figures.directions(_one_vector())


def _one_vector() -> pd.DataFrame:
    return mds_figures.deep(records.load("06_mds", SCALES[0]), "convert_rate")


FIGURES: dict[str, tuple[Callable[[], Any], str, str]] = {
    "map": (
        word_map.figure,
        "Words of two languages find each other while one encoder reads both.",
        "Some fifty words of English and of French, each joined to its translation; the encoder is never told which "
        "belong together. Pull <i>Training</i> to its beginning, and choose real text below the chart. One run (seed "
        "31), in the two directions in which pairs differ most from each other in the last frame, the languages' means "
        "taken out; so much is lost of 64 dimensions that neighbours here need not be neighbours there. "
        "<i>Alignment</i> is retrieval of all words, in all dimensions.",
    ),
    "taken away": (
        taken_away,
        "In both worlds least is left without shared parameters, training or sentences.",
        "What is left of alignment (retrieval of words above chance, the languages' means taken out) when one thing is "
        "taken away, of the same run with it. Bars are 95 % intervals over seeds. In the controlled world English with "
        "French, German, Russian, Hindi and Chinese in turn, but with French alone where text or training is taken "
        "away; on real text with French, Russian, Hindi and Chinese in turn, but with six languages where text or "
        "training is. Without long inputs 6 tokens are left; without sentences, words in no order, drawn by their "
        "frequency; without shared parameters, only those of the top are shared; a tenth of the training is of a "
        "tenth of the text. From "
        '<a href="../notebooks/01_data_size.html">chapters 1</a> to <a href="../notebooks/04_architecture.html">4</a>.',
    ),
    "training curve": (
        training_curve,
        "Nobody tells the encoder what to align with what; alignment grows while it trains, in every seed.",
        "Retrieval of French words for English ones while the base run trains; thin lines are seeds. A shuffled "
        "dictionary stays at chance, and an untrained encoder near it. From "
        '<a href="../notebooks/01_data_size.html">chapter 1</a>.',
    ),
    "one vector": (
        one_vector,
        "Yet the language stays a place of its own: one vector moves a sentence from one language to the other.",
        "Share of predicted tokens, those of both languages left out, that are of the other language when so many "
        "times the difference of the two languages' means is added inside the encoder, on average over 14 languages. "
        'From <a href="../notebooks/06_mds.html">chapter 6</a>.',
    ),
}
"""Mark on the page -> its chart, its finding, and its small print."""


def figure(name: str) -> str:
    """HTML of one of :data:`FIGURES`, with the scripts that draw it."""
    make, *texts = FIGURES[name]
    finding, small = map(tables.apostrophes, texts)
    spec = make().to_dict()
    number = list(FIGURES).index(name) + 1
    caption = (
        f'<span class="caption-number">Figure {number} </span><span class="caption-text">{html.escape(finding)}</span>'
    )
    scripts = "".join(f'<script src="../_static/{file}" defer></script>' for file in (offline.BUNDLE, "charts.js"))
    return (
        f'<figure id="front-{name.replace(" ", "-")}">{offline.chart_html(spec, offline.describe(spec))}'
        f'<figcaption><p>{caption}</p><div class="legend"><p>{small}</p></div></figcaption></figure>'
        + (scripts if number == 1 else "")
    )
