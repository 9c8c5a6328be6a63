"""Chapter 1's figures and verdicts: from tidy rows, live and recorded, to charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from xling_utils import charts
from xling_utils.chapters.data_size import EQUAL_EPOCHS, MODELS, headline_layer, headline_rows, summary
from xling_utils.retrieval import Interval, over_seeds
from xling_utils.scales import Scale
from xling_utils.verdicts import Verdict, all_of, direction, paired

LATIN = ("fr", "es", "de", "tr", "vi", "sw")
POS_GROUPS = ("closed", "open", "NOUN", "VERB", "ADV", "ADJ")


def size_name(sentences: float) -> str:
    """``15000`` -> ``"15,000 sentences"``."""
    return f"{int(sentences):,} sentences"


def with_sources(live: pd.DataFrame, recorded: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The tables that have rows, with the name they are shown under."""
    return [(name, rows) for name, rows in (("this machine", live), ("recorded", recorded)) if len(rows)]


def headline(live: pd.DataFrame, recorded: pd.DataFrame, scale: Scale, targets: Sequence[str]) -> Any:
    """Figure: retrieval of every model at both data sizes with intervals over seeds, a language at a time."""
    frames = []
    for shown, table in with_sources(live, recorded):
        rows = headline_rows(table, scale)
        rows = rows[rows["target"].isin(targets) & rows["model"].isin(MODELS)]
        if len(rows):
            frames.append(summary(rows, ["model", "sentences", "target"]).assign(shown=shown))
    rows = pd.concat(frames, ignore_index=True).assign(
        size=lambda r: r["sentences"].map(size_name), language=lambda r: r["target"].map(_name)
    )
    rows = rows.sort_values("target", key=lambda column: column.map(list(targets).index), kind="stable")
    return charts.intervals(
        rows,
        x="size",
        x_order=[size_name(s) for s in sorted(rows["sentences"].unique())],
        models=[m for m in MODELS if m in set(rows["model"])],
        y_title="mean reciprocal rank",
        chance=pd.concat([chance([live, recorded], target) for target in targets], ignore_index=True),
        description="Mean reciprocal rank of word retrieval from English, by model and data size.",
    )


def _name(language: str) -> str:
    return charts.LANGUAGE_NAMES.get(language, language)


def chance_level(tables: Sequence[pd.DataFrame], language: str) -> float:
    """Mean chance level of the English-``language`` dictionary over the seeds of the first table that has it."""
    for table in tables:
        rows = table[
            (table["metric"] == "chance") & (table["target"] == language) & table["part_of_speech"].isna()
        ]
        if len(rows):
            return float(rows["value"].mean())
    return float("nan")


def chance(tables: Sequence[pd.DataFrame], language: str) -> pd.DataFrame:
    """The chance level as charts take it: ``language, value``."""
    return pd.DataFrame({"language": [_name(language)], "value": [chance_level(tables, language)]})


def natural_static(table: pd.DataFrame) -> Any:
    """Figure: the joint static models on real text, without and with pairs of identical strings."""
    joint = table[table["model"].str.endswith(", joint")]
    joint = joint[joint["sentences"] == joint["sentences"].max()]
    frames = []
    for metric, suffix in (("mrr", ""), ("mrr_identical", ", with identical pairs")):
        rows = summary(joint[joint["metric"] == metric], ["model", "target"])
        frames.append(rows.assign(shown=rows["model"].str.removesuffix(", joint") + suffix))
    rows = pd.concat(frames, ignore_index=True).assign(group=lambda r: r["target"].map(_name))
    best = rows.groupby("group")["value"].max().sort_values(ascending=False)
    return charts.grouped_bars(
        rows,
        groups=best.index.tolist(),
        description="Mean reciprocal rank of static vectors trained on fifteen languages, English with each other.",
    )


def over_training(table: pd.DataFrame, scale: Scale, language: str) -> pd.DataFrame:
    """Centred retrieval over training steps at the headline layer, with both controls: ``step, seed, series,
    value``. Step 0 is the untrained encoder."""
    layer = headline_layer(scale)
    here = table[(table["target"] == language) & (table["layer"] == layer) & (table["experiment"] == "R01")]
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
    return pd.concat(parts, ignore_index=True)[["step", "seed", "series", "value"]]


def training_curve(table: pd.DataFrame, scale: Scale, language: str) -> Any:
    """Figure: alignment over training steps against the untrained and the shuffled-dictionary control."""
    return charts.curves(
        over_training(table, scale, language),
        y_title="mean reciprocal rank, centred",
        chance=chance([table], language),
        description="Retrieval over training steps: at chance first, then a steady rise; both controls stay flat.",
    )


def layers(table: pd.DataFrame, scale: Scale) -> Any:
    """Figure: retrieval of every language at the layer that the slider picks."""
    rows = table[
        (table["model"] == "BERT")
        & (table["metric"] == "mrr")
        & table["part_of_speech"].isna()
        & table["step"].isna()
    ]
    rows = rows[rows["sentences"] == rows["sentences"].max()]
    found = summary(rows, ["target", "layer"]).assign(
        language=lambda r: r["target"].map(charts.LANGUAGE_NAMES)
    )
    middle = found[found["layer"] == headline_layer(scale)].sort_values("value", ascending=False)
    return charts.by_layer(
        found,
        languages=middle["language"].tolist(),
        layers=scale.encoder.layers,
        description="Mean reciprocal rank of English with each language, at a layer chosen by a slider.",
    )


def parts_of_speech(live: pd.DataFrame, recorded: pd.DataFrame, published: pd.DataFrame, scale: Scale) -> Any:
    """Figure: retrieval by part of speech, beside the average of the paper's table."""
    frames = []
    for shown, table in with_sources(live, recorded):
        rows = pos_rows(table, scale)
        if len(rows):
            frames.append(
                summary(rows, ["part_of_speech"])
                .rename(columns={"part_of_speech": "group"})
                .assign(shown=shown)
            )
    paper = published[published["language"] == "avg"].rename(columns={"mrr": "value"})
    frames.append(
        paper.assign(shown="paper", low=paper["value"], high=paper["value"], seeds=1).drop(columns="language")
    )
    return charts.grouped_bars(
        pd.concat(frames, ignore_index=True),
        groups=POS_GROUPS,
        description="Mean reciprocal rank by part of speech, measured here and in the paper's Table 1.",
    )


def pos_rows(table: pd.DataFrame, scale: Scale) -> pd.DataFrame:
    """Rows of R05 at the headline layer: BERT on the large corpus."""
    rows = table[
        (table["experiment"] == "R05")
        & (table["model"] == "BERT")
        & (table["layer"] == headline_layer(scale))
    ]
    return rows[rows["sentences"] == rows["sentences"].max()]


def distance_rows(table: pd.DataFrame, scale: Scale) -> pd.DataFrame:
    """Retrieval a language beside its word-order distance from English: ``target, language, distance, script,
    value, low, high, seeds``."""
    from xling_utils.corpora.controlled import word_order_distance

    rows = headline_rows(table, scale)
    rows = rows[(rows["model"] == "BERT") & (rows["sentences"] == rows["sentences"].max())]
    found = summary(rows, ["target"])
    return found.assign(
        language=found["target"].map(charts.LANGUAGE_NAMES),
        distance=[word_order_distance("en", target) for target in found["target"]],
        script=["Latin" if target in LATIN else "other" for target in found["target"]],
    )


def distances(table: pd.DataFrame, scale: Scale) -> Any:
    """Figure: retrieval against word-order distance."""
    return charts.distances(
        distance_rows(table, scale),
        description="Mean reciprocal rank of English with fourteen languages against word order distance.",
    )


def distance_correlation(table: pd.DataFrame, scale: Scale) -> Interval:
    """Spearman's correlation of retrieval and distance over languages, a value a seed; interval over seeds."""
    rows = headline_rows(table, scale)
    rows = rows[(rows["model"] == "BERT") & (rows["sentences"] == rows["sentences"].max())]
    distance = distance_rows(table, scale).set_index("target")["distance"]
    values = []
    for _, group in rows.groupby("seed"):
        found = group.groupby("target")["value"].mean()
        if len(found) == len(distance) > 2:
            values.append(float(found.corr(distance[found.index], method="spearman")))
    return over_seeds(values) if values else Interval(float("nan"), float("nan"), float("nan"), 0)


def verdicts(table: pd.DataFrame, scale: Scale, language: str) -> list[Verdict]:
    """What the papers claim about data size, tested on the base pair's rows."""
    rows = headline_rows(table, scale)
    rows = rows[rows["target"] == language]
    small, large = sorted(rows["sentences"].unique())[0], sorted(rows["sentences"].unique())[-1]

    def of(model: str, sentences: float, metric: str = "mrr") -> pd.DataFrame:
        chosen = headline_rows(table, scale, metric)
        return chosen[
            (chosen["model"] == model) & (chosen["sentences"] == sentences) & (chosen["target"] == language)
        ]

    def beats(first: str, second: str, size: float, where: str) -> Verdict:
        gap = paired(of(first, size), of(second, size))
        return direction(
            f"{first} beats {second} at {size_name(size)}", where, f"{first} - {second}, MRR", gap
        )

    figure1, figure3 = "A Fig. 1; B Fig. 1a", "A Fig. 3; B Fig. 1b"
    gains = {m: paired(of(m, large), of(m, small)) for m in ("BERT", "word2vec", "GloVe")}
    found = [
        all_of("With little data static vectors align better than BERT (as many updates as with much)", figure1,
               [beats("word2vec", "BERT", small, figure1), beats("GloVe", "BERT", small, figure1)]),
        all_of("With little data static vectors align better than BERT (as many epochs as with much)", figure1,
               [beats("word2vec", EQUAL_EPOCHS, small, figure1), beats("GloVe", EQUAL_EPOCHS, small, figure1)]),
        all_of("With much data BERT aligns better than static vectors", figure3,
               [beats("BERT", "word2vec", large, figure3), beats("BERT", "GloVe", large, figure3)]),
        direction("More data improves BERT's alignment", "A sec. 3.2.2", "gain, MRR", gains["BERT"]),
        all_of("More data improves BERT more than it improves static vectors", "A sec. 3.2.2", [
            direction("", "", "BERT's gain - word2vec's, MRR", paired(_gain(of, "BERT", small, large), _gain(of, "word2vec", small, large))),
            direction("", "", "BERT's gain - GloVe's, MRR", paired(_gain(of, "BERT", small, large), _gain(of, "GloVe", small, large))),
        ]),
        all_of("Control: BERT lies above the untrained encoder and the shuffled dictionary", "ours", [
            direction("", "", "BERT - untrained, MRR", paired(of("BERT", large), of("untrained", large))),
            direction("", "", "BERT - shuffled dictionary, MRR",
                      paired(of("BERT", large, "mrr_centred"), of("BERT", large, "mrr_shuffled"))),
        ]),
    ]  # fmt: skip
    pos = pos_rows(table, scale)
    pos = pos[pos["target"] == language]
    if len(pos):
        groups = {name: group for name, group in pos.groupby("part_of_speech")}
        found.append(
            direction(
                "Open-class words align better than closed-class words",
                "B Table 1",
                "open - closed, MRR",
                paired(groups["open"], groups["closed"]),
            )  # fmt: skip
        )
        found.append(
            all_of(
                "Adjectives align best, then nouns, adverbs, verbs",
                "B Table 1",
                [
                    direction("", "", f"{a} - {b}, MRR", paired(groups[a], groups[b]))
                    for a, b in (("ADJ", "NOUN"), ("NOUN", "ADV"), ("ADV", "VERB"))
                    if a in groups and b in groups
                ],
            )  # fmt: skip
        )
    if rows["target"].nunique() and headline_rows(table, scale)["target"].nunique() > 2:
        correlation = distance_correlation(table, scale)
        flipped = Interval(-correlation.value, -correlation.high, -correlation.low, correlation.n)
        found.append(
            direction(
                "Distant languages align worse", "C sec. 4.4", "- Spearman correlation with distance", flipped
            )
        )
    return found


def _gain(of: Any, model: str, small: float, large: float) -> pd.DataFrame:
    before, after = (of(model, size).groupby("seed")["value"].mean() for size in (small, large))
    return (after - before).dropna().rename("value").reset_index()
