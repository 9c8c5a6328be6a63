"""Chapter 1's figures: from tidy rows, live and recorded, to charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from xling_utils.chapters.data_size.plan import MODELS, STATIC, headline_layer, headline_rows, summary, with_sources
from xling_utils.chapters.shared.contrast_figures import paired
from xling_utils.chapters.shared.languages import beside_english
from xling_utils.charts import bar_shapes, shapes
from xling_utils.core.scales import Scale

LATIN = ("fr", "es", "de", "tr", "vi", "sw")
POS_GROUPS = {
    "closed": "function words", "open": "open classes", "NOUN": "nouns", "VERB": "verbs", "ADV": "adverbs",
    "ADJ": "adjectives",
}  # fmt: skip
"""Part of speech, or class of them -> its name in figures."""
REAL_POS = ("BERT", "untrained")


def size_name(sentences: float) -> str:
    """``15000`` -> ``"15,000 sentences"``."""
    return f"{int(sentences):,} sentences"


def headline(live: pd.DataFrame, recorded: pd.DataFrame, scale: Scale, targets: Sequence[str]) -> Any:
    """Figure: retrieval of every model at both data sizes, a language at a time: the recorded seeds' means with
    intervals, and each seed of this machine (too few of them for an interval)."""
    rows = _by_model([(name, headline_rows(t, scale)) for name, t in with_sources(live, recorded)], targets)
    floor = pd.concat([chance([live, recorded], target) for target in targets], ignore_index=True)
    description = "Mean reciprocal rank of word retrieval from English, by model and data size."
    return _at_sizes(rows, "mean reciprocal rank", floor, description)


def inference(live: pd.DataFrame, recorded: pd.DataFrame, targets: Sequence[str]) -> Any:
    """Figure: zero-shot inference of every model at both data sizes, beside the accuracy in English itself, as it was
    read with the first of ``targets``; ``None`` where inference was not measured."""
    sources = []
    for name, table in with_sources(live, recorded):
        others = (table["target"] == "en") & (beside_english(table) != targets[0])
        sources.append((name, table[(table["experiment"] == "R02") & ~others]))
    both = pd.concat([t for _, t in sources])
    if both.empty:
        return None
    rows = _by_model([(name, t[t["metric"] == "accuracy"]) for name, t in sources], targets)
    majority = both[(both["metric"] == "majority") & both["target"].isin(targets)]
    floor = majority.groupby("target")["value"].mean().rename_axis("language").reset_index()
    floor = floor.assign(language=floor["language"].map(_name))
    description = "Accuracy of zero-shot natural language inference, by model and data size."
    return _at_sizes(rows, "accuracy", floor, description)


def _by_model(sources: Sequence[tuple[str, pd.DataFrame]], targets: Sequence[str]) -> pd.DataFrame:
    frames = []
    for shown, table in sources:
        rows = table[table["target"].isin(targets) & table["model"].isin(MODELS)]
        if len(rows):
            by = ["model", "sentences", "target"]
            each = summary(rows, by if shown == "recorded" else [*by, "seed"])
            frames.append(each.assign(shown=shown))
    rows = pd.concat(frames, ignore_index=True).assign(
        size=lambda r: r["sentences"].map(size_name), language=lambda r: r["target"].map(_name)
    )
    return rows.sort_values("target", key=lambda column: column.map(list(targets).index), kind="stable")


def _at_sizes(rows: pd.DataFrame, y_title: str, floor: pd.DataFrame, description: str) -> Any:
    return shapes.intervals(
        rows,
        x="size",
        x_order=[size_name(s) for s in sorted(rows["sentences"].unique())],
        models=[m for m in MODELS if m in rows["model"].unique()],
        y_title=y_title,
        chance=floor,
        description=description,
    )


def _name(language: str) -> str:
    return shapes.LANGUAGE_NAMES[language]


def chance_level(tables: Sequence[pd.DataFrame], language: str) -> float:
    """Mean chance level of the English-``language`` dictionary over the seeds of the first table that has it."""
    for table in tables:
        rows = table[(table["metric"] == "chance") & (table["target"] == language) & table["part_of_speech"].isna()]
        if len(rows):
            return float(rows["value"].mean())
    return float("nan")


def chance(tables: Sequence[pd.DataFrame], language: str) -> pd.DataFrame:
    """The chance level as charts take it: ``language, value``."""
    return pd.DataFrame({"language": [_name(language)], "value": [chance_level(tables, language)]})


def natural_static(table: pd.DataFrame) -> Any:
    """Figure: static vectors on real text in every language, without and with pairs of identical strings."""
    large = table[
        table["model"].isin(STATIC) & (table["sentences"] == table["sentences"].max()) & table["part_of_speech"].isna()
    ]
    frames = []
    for metric, suffix in (("mrr", ""), ("mrr_identical", ", with identical pairs")):
        rows = summary(large[large["metric"] == metric], ["model", "target"])
        frames.append(rows.assign(shown=rows["model"] + suffix))
    rows = pd.concat(frames, ignore_index=True).assign(group=lambda r: r["target"].map(_name))
    best = rows.groupby("group")["value"].max().sort_values(ascending=False)
    return bar_shapes.grouped_bars(
        rows,
        groups=best.index.tolist(),
        description="Mean reciprocal rank of static vectors, English with each other language of the data.",
    )


def over_training(table: pd.DataFrame, language: str) -> pd.DataFrame:
    """Centred retrieval over training steps at every layer, with both controls: ``step, seed, series, layer, value``.
    Step 0 is the untrained encoder."""
    here = table[(table["target"] == language) & table["layer"].notna() & (table["experiment"] == "R01")]
    large = here[here["sentences"] == here["sentences"].max()]
    curve = large[(large["model"] == "BERT") & large["step"].notna()].assign(series="BERT")
    start = large[(large["model"] == "untrained") & (large["metric"] == "mrr_centred")].assign(step=0.0)
    last = curve["step"].max()
    shuffled = large[(large["model"] == "BERT") & (large["metric"] == "mrr_shuffled")]
    parts = [
        start.assign(series="BERT"),
        curve,
        *(start.assign(step=step, series="untrained") for step in (0.0, last)),
        *(shuffled.assign(step=step, series="shuffled dictionary") for step in (0.0, last)),
    ]
    return pd.concat(parts, ignore_index=True)[["step", "seed", "series", "layer", "value"]]


def training_curve(table: pd.DataFrame, scale: Scale, language: str, every_layer: bool = True) -> Any:
    """Figure: alignment over training steps against the untrained and the shuffled-dictionary control; at the layer
    that the reader picks, or at the headline's alone."""
    rows, layer = over_training(table, language), headline_layer(scale)
    if not every_layer:
        rows = rows[rows["layer"] == layer]
    return shapes.curves(
        rows,
        layer=layer,
        y_title="mean reciprocal rank, centred",
        chance=chance([table], language),
        description="Retrieval over training steps, and two controls: an untrained encoder and a shuffled dictionary.",
    )


def layers(table: pd.DataFrame, scale: Scale) -> Any:
    """Figure: retrieval of every language at the layer that the slider picks."""
    rows = table[
        (table["model"] == "BERT") & (table["metric"] == "mrr") & table["part_of_speech"].isna() & table["step"].isna()
    ]
    rows = rows[rows["sentences"] == rows["sentences"].max()]
    found = summary(rows, ["target", "layer"]).assign(language=lambda r: r["target"].map(shapes.LANGUAGE_NAMES))
    middle = found[found["layer"] == headline_layer(scale)].sort_values("value", ascending=False)
    return bar_shapes.by_layer(
        found,
        languages=middle["language"].tolist(),
        layers=scale.encoder.layers,
        description="Mean reciprocal rank of English with each language, at a layer chosen by a slider.",
    )


def parts_of_speech(
    live: pd.DataFrame, recorded: pd.DataFrame, published: pd.DataFrame, scale: Scale, target: str
) -> Any:
    """Figure: retrieval of words of ``target`` by part of speech, beside the paper's, or the average of its languages
    where ``target`` is none of them."""
    frames = []
    for shown, table in with_sources(live, recorded):
        rows = pos_rows(table[table["target"] == target], scale)
        if len(rows):
            found = summary(rows, ["part_of_speech"]).rename(columns={"part_of_speech": "group"})
            frames.append(found.assign(shown=shown))
    printed = target if target in set(published["language"]) else "avg"
    paper = published[published["language"] == printed].rename(columns={"mrr": "value"})
    frames.append(paper.assign(shown="paper", low=float("nan"), high=float("nan"), seeds=1).drop(columns="language"))
    return bar_shapes.grouped_bars(
        pd.concat(frames, ignore_index=True).replace({"group": POS_GROUPS}),
        groups=list(POS_GROUPS.values()),
        description="Mean reciprocal rank by part of speech, measured here and in the paper's Table 1.",
    )


def real_parts_of_speech(table: pd.DataFrame, scale: Scale, target: str) -> Any:
    """Figure: retrieval of real words of ``target`` by part of speech, trained and not."""
    rows = {model: pos_rows(table[table["target"] == target], scale, model) for model in REAL_POS}
    frames = [summary(of, ["part_of_speech"]).assign(shown=model) for model, of in rows.items()]
    return bar_shapes.grouped_bars(
        pd.concat(frames, ignore_index=True).rename(columns={"part_of_speech": "group"}).replace({"group": POS_GROUPS}),
        groups=list(POS_GROUPS.values()),
        description="Mean reciprocal rank of real words by part of speech, of a trained and of an untrained encoder.",
    )


def classes_by_language(table: pd.DataFrame, scale: Scale) -> pd.DataFrame:
    """Retrieval of closed and of open classes, a row a language: means over seeds, and the difference with its 95 %
    interval."""
    found = []
    for target, rows in pos_rows(table, scale).groupby("target", sort=False):
        closed, opened = (rows[rows["part_of_speech"] == group] for group in ("closed", "open"))
        more = paired(closed, opened).drawn()
        found.append(
            {
                "language": _name(str(target)),
                "closed classes": f"{closed['value'].mean():.3f}",
                "open classes": f"{opened['value'].mean():.3f}",
                "difference": f"{more.value:+.3f} ({more.low:+.3f} to {more.high:+.3f})",
                "seeds": more.n,
            }
        )
    return pd.DataFrame(found)


def pos_rows(table: pd.DataFrame, scale: Scale, model: str = "BERT") -> pd.DataFrame:
    """Rows of R05 of an encoder at the headline layer, on the large corpus."""
    rows = table[(table["experiment"] == "R05") & (table["model"] == model) & (table["layer"] == headline_layer(scale))]
    return rows[rows["sentences"] == rows["sentences"].max()]


def distance_rows(table: pd.DataFrame, scale: Scale) -> pd.DataFrame:
    """Retrieval a language beside its word-order distance from English: ``target, language, distance, script,
    value, low, high, seeds``."""
    from xling_utils.corpora.controlled import word_order_distance

    rows = headline_rows(table, scale)
    rows = rows[(rows["model"] == "BERT") & (rows["sentences"] == rows["sentences"].max())]
    found = summary(rows, ["target"])
    return found.assign(
        language=found["target"].map(shapes.LANGUAGE_NAMES),
        distance=[word_order_distance("en", target) for target in found["target"]],
        script=["Latin" if target in LATIN else "other" for target in found["target"]],
    )


def distances(table: pd.DataFrame, scale: Scale) -> Any:
    """Figure: retrieval against word-order distance."""
    return shapes.distances(
        distance_rows(table, scale),
        description="Mean reciprocal rank of English with other languages against word order distance.",
    )
