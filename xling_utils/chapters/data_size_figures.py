"""Chapter 1's figures and verdicts: from tidy rows, live and recorded, to charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from xling_utils import charts
from xling_utils.chapters.data_size import EQUAL_EPOCHS, MODELS, STATIC, headline_layer, headline_rows, summary
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
    """Figure: retrieval of every model at both data sizes, a language at a time: the recorded seeds' means with
    intervals, and each seed of this machine (too few of them for an interval)."""
    frames = []
    for shown, table in with_sources(live, recorded):
        rows = headline_rows(table, scale)
        rows = rows[rows["target"].isin(targets) & rows["model"].isin(MODELS)]
        if len(rows):
            by = ["model", "sentences", "target"]
            each = summary(rows, by if shown == "recorded" else [*by, "seed"])
            frames.append(each.assign(shown=shown))
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
        rows = table[(table["metric"] == "chance") & (table["target"] == language) & table["part_of_speech"].isna()]
        if len(rows):
            return float(rows["value"].mean())
    return float("nan")


def chance(tables: Sequence[pd.DataFrame], language: str) -> pd.DataFrame:
    """The chance level as charts take it: ``language, value``."""
    return pd.DataFrame({"language": [_name(language)], "value": [chance_level(tables, language)]})


def natural_static(table: pd.DataFrame) -> Any:
    """Figure: static vectors on real text in every language, without and with pairs of identical strings."""
    large = table[table["model"].isin(STATIC) & (table["sentences"] == table["sentences"].max())]
    frames = []
    for metric, suffix in (("mrr", ""), ("mrr_identical", ", with identical pairs")):
        rows = summary(large[large["metric"] == metric], ["model", "target"])
        frames.append(rows.assign(shown=rows["model"] + suffix))
    rows = pd.concat(frames, ignore_index=True).assign(group=lambda r: r["target"].map(_name))
    best = rows.groupby("group")["value"].max().sort_values(ascending=False)
    return charts.grouped_bars(
        rows,
        groups=best.index.tolist(),
        description="Mean reciprocal rank of static vectors, English with each other language of the data.",
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
        (table["model"] == "BERT") & (table["metric"] == "mrr") & table["part_of_speech"].isna() & table["step"].isna()
    ]
    rows = rows[rows["sentences"] == rows["sentences"].max()]
    found = summary(rows, ["target", "layer"]).assign(language=lambda r: r["target"].map(charts.LANGUAGE_NAMES))
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
            found = summary(rows, ["part_of_speech"]).rename(columns={"part_of_speech": "group"})
            if shown != "recorded":
                found[["low", "high"]] = float("nan")  # too few seeds
            frames.append(found.assign(shown=shown))
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
        (table["experiment"] == "R05") & (table["model"] == "BERT") & (table["layer"] == headline_layer(scale))
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
    """What the papers claim about data size, tested on the rows of English with ``language``."""
    rows = headline_rows(table, scale)
    sizes = sorted(rows[(rows["target"] == language) & rows["model"].isin(MODELS)]["sentences"].unique())
    small, large = sizes[0], sizes[-1]

    def of(model: str, sentences: float, metric: str = "mrr") -> pd.DataFrame:
        found = headline_rows(table, scale, metric)
        return found[(found["model"] == model) & (found["sentences"] == sentences) & (found["target"] == language)]

    def beats(first: str, second: str, size: float) -> Verdict:
        return _part(f"{first} - {second}", paired(of(first, size), of(second, size)))

    def gain(model: str) -> pd.DataFrame:
        before, after = (of(model, size).groupby("seed")["value"].mean() for size in sizes[:: len(sizes) - 1])
        return (after - before).dropna().rename("value").reset_index()

    def gains_more(model: str) -> Verdict:
        return _part(f"BERT's gain - {model}'s", paired(gain("BERT"), gain(model)))

    def control(name: str, first: pd.DataFrame, second: pd.DataFrame) -> Verdict:
        return _part(f"BERT - {name}", paired(first, second))

    little, much = "A Fig. 1; B Fig. 1a", "A Fig. 3; B Fig. 1b"
    found = [
        all_of(
            "With little data static vectors align better than BERT (given as many updates as with much)",
            little,
            [beats(static, "BERT", small) for static in STATIC],
        ),
        all_of(
            "With little data static vectors align better than BERT (given as many passes as with much)",
            little,
            [beats(static, EQUAL_EPOCHS, small) for static in STATIC],
        ),
        all_of(
            "With much data BERT aligns better than static vectors",
            much,
            [beats("BERT", static, large) for static in STATIC],
        ),
        direction("More data improves BERT's alignment", "A sec. 3.2.2", "BERT's gain", over(gain("BERT"))),
        all_of(
            "More data improves BERT more than static vectors",
            "A sec. 3.2.2",
            [gains_more(static) for static in STATIC],
        ),
        all_of(
            "Control: BERT lies above the untrained encoder and the shuffled dictionary",
            "ours",
            [
                control("untrained", of("BERT", large), of("untrained", large)),
                control("shuffled", of("BERT", large, "mrr_centred"), of("BERT", large, "mrr_shuffled")),
            ],
        ),
    ]
    pos = pos_rows(table, scale)
    groups = dict(list(pos[pos["target"] == language].groupby("part_of_speech")))
    if groups:
        order = [(a, b) for a, b in (("ADJ", "NOUN"), ("NOUN", "ADV"), ("ADV", "VERB")) if {a, b} <= set(groups)]
        found += [
            direction(
                "Open-class words align better than closed-class words",
                "B Table 1",
                "open - closed",
                paired(groups["open"], groups["closed"]),
            ),
            all_of(
                "Adjectives align best, then nouns, adverbs, verbs",
                "B Table 1",
                [_part(f"{a} - {b}", paired(groups[a], groups[b])) for a, b in order],
            ),
        ]
    correlation = distance_correlation(table, scale)
    if correlation.n:
        flipped = Interval(-correlation.value, -correlation.high, -correlation.low, correlation.n)
        found.append(
            direction("Distant languages align worse", "C sec. 4.4", "- Spearman correlation with distance", flipped)
        )
    return found


def _part(quantity: str, interval: Interval) -> Verdict:
    return direction("", "", quantity, interval)


def over(values: pd.DataFrame) -> Interval:
    """Interval over seeds of one value a seed."""
    return over_seeds(values["value"].tolist()) if len(values) else paired(values, values)
