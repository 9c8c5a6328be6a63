"""Chapter 6's figures and tables."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from xling_utils.chapters.shared import published
from xling_utils.chapters.shared.contrast_figures import paired
from xling_utils.chapters.shared.contrasts import targets
from xling_utils.chapters.shared.joint import A_LAYER, TRAINED, UNTRAINED, by_seed, layer_at, summary
from xling_utils.charts import LANGUAGE_NAMES, layer_shapes, shift_shapes, tables
from xling_utils.measures.names import METHODS, MOVED, PARSING, POS, TOKEN_TRANSLATION, UPPER, WHOLE
from xling_utils.measures.names import SHIFTED_INFERENCE as NLI

if TYPE_CHECKING:
    from xling_utils.chapters.mds.widget import TranslationWidget

MEASURES = {"convert rate": "convert_rate", "BLEU-1": "bleu1", "third languages": "third_rate"}
INFERENCE = {"inference (accuracy)": (NLI, "accuracy")}
SYNTAX = {
    "parsing, labelled (LAS)": (PARSING, "las"),
    "parsing, unlabelled (UAS)": (PARSING, "uas"),
    "parts of speech (accuracy)": (POS, "accuracy"),
}
INFERENCE_KINDS, GUESS = (WHOLE, UPPER, MOVED), "commonest label"
SYNTAX_KINDS = METHODS
EVERY = "all languages"
FROM, TO = "from English", "to English"


def over_weights(table: pd.DataFrame) -> Any:
    """Figure: convert rate and BLEU-1 over weights, by direction, at the layer that is chosen."""
    table = table[table["task"] == TOKEN_TRANSLATION]
    kinds = {FROM: (TRAINED, True), TO: (TRAINED, False), f"{FROM}, {UNTRAINED}": (UNTRAINED, True)}
    models, metrics = table["model"].unique(), table["metric"].unique()
    kinds = {kind: which for kind, which in kinds.items() if which[0] in models}
    measures = {shown: metric for shown, metric in MEASURES.items() if metric in metrics}
    there = targets(table)
    frames = []
    for kind, (model, english_first) in kinds.items():
        rows = table[(table["model"] == model) & ((table["source"] == "en") == english_first)]
        frames.append(
            rows.assign(kind=kind, language=rows["target" if english_first else "source"].map(LANGUAGE_NAMES))
        )
    rows = pd.concat(frames, ignore_index=True)
    rows = rows[rows["metric"].isin(measures.values()) & rows["language"].notna()]
    rows = rows.assign(measure=rows["metric"].map({metric: shown for shown, metric in measures.items()}))
    every = [rows.assign(language=EVERY)] if len(there) > 1 else []
    means = summary(pd.concat([*every, rows], ignore_index=True), ["kind", "measure", "language", "layer", "weight"])
    languages = [EVERY] * len(every) + [LANGUAGE_NAMES[language] for language in there]
    return shift_shapes.over_weights(
        means.astype({"layer": int}), kinds=list(kinds), measures=list(measures),
        languages=languages, layers=int(table["layer"].max()), layer=layer_at(A_LAYER, table),
        description="Convert rate, BLEU-1 and tokens of third languages over the weight of the shift, at a layer.",
    )  # fmt: skip


def deep(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Rows of token translation by the trained encoder at A's layer; none where the metric was not measured."""
    rows = table[(table["model"] == TRAINED) & (table["metric"] == metric)]
    return rows if rows.empty else rows[rows["layer"] == layer_at(A_LAYER, rows)]


def _direction(source: str, target: str) -> str:
    return f"{LANGUAGE_NAMES[source]} to {LANGUAGE_NAMES[target]}"


def directions(rows: pd.DataFrame) -> Any:
    """Figure for the front page: one measure, ``rows`` of one layer, over weights by direction."""
    kinds = {FROM: rows["source"] == "en", TO: rows["source"] != "en"}
    means = [summary(rows[here], ["weight"]).assign(kind=kind) for kind, here in kinds.items()]
    return shift_shapes.over_weights_only(
        pd.concat(means, ignore_index=True), kinds=list(kinds), y_title="tokens of the other language",
        description="Share of tokens of the other language over the weight of the shift, from English and to it.",
    )  # fmt: skip


def grid_of(table: pd.DataFrame) -> Any:
    """Figure: the mean of all languages and both directions at every layer and weight."""
    rows = table[(table["model"] == TRAINED) & (table["task"] == TOKEN_TRANSLATION)]
    name = {weight: tables.typeset(f"{weight:g}") for weight in sorted(rows["weight"].unique())}
    frames = []
    for shown, metric in MEASURES.items():
        found = rows[rows["metric"] == metric]
        means = by_seed(found.assign(kind=found["weight"].map(name)), ["kind", "layer"])
        if metric == "bleu1":
            means[["value", "low", "high"]] /= 100
        frames.append(means.assign(measure=shown if metric == "convert_rate" else f"{shown} (share)"))
    rows = pd.concat(frames, ignore_index=True).astype({"layer": int})
    description = "Convert rate, BLEU-1 and tokens of third languages at each layer and weight, on average."
    measures = list(rows["measure"].unique())
    return layer_shapes.heat_map(
        rows, columns=list(name.values()), measures=measures, description=description, x_title="weight of the shift"
    )


def best(table: pd.DataFrame) -> pd.DataFrame:
    """A's Table 2: the best BLEU-1 of each direction, where it is, and what doing nothing gets."""
    printed = published.table("A_table_2_token_translation")
    printed = printed[printed["metric"] == "best_bleu1"].set_index(["source", "target"])
    rows = table[(table["model"] == TRAINED) & (table["metric"] == "bleu1")]
    means = rows.groupby(["source", "target", "layer", "weight"], sort=False)["value"].mean().reset_index()
    found = []
    for (source, target), group in means.groupby(["source", "target"], sort=False):
        top = group.loc[group["value"].idxmax()]
        theirs = printed.loc[(source, target)] if (source, target) in printed.index else None
        found.append(
            {
                "direction": _direction(source, target),
                "best BLEU-1": top["value"],
                "layer": int(top["layer"]),
                "weight": int(top["weight"]),
                "unmoved": group[group["weight"] == 0]["value"].mean(),
                "best, paper": float("nan") if theirs is None else theirs["value"],
            }
        )
    return pd.DataFrame(found)


def strayed(table: pd.DataFrame, most: int = 5) -> pd.DataFrame:
    """Where the model answers in a third language: the directions with the largest share of such tokens at A's layer,
    by weight (D, sec. 3.3)."""
    rows = deep(table, "third_rate")
    if rows.empty:
        return pd.DataFrame(columns=["direction"])
    rows = rows[rows["weight"] >= 0]
    named = rows.assign(direction=list(map(_direction, rows["source"], rows["target"])))
    wide = named.pivot_table("value", "direction", "weight", "mean")
    wide = wide.rename(columns=lambda weight: f"weight {weight:g}").rename_axis(columns=None)
    return wide.sort_values(wide.columns[-1], ascending=False).head(most).reset_index()


def transfer(
    table: pd.DataFrame, measures: Mapping[str, tuple[str, str]], kinds: Sequence[str], *, gain: tuple[str, str],
    floor: str | None = None,
) -> Any:  # fmt: skip
    """Figure: ``measures``, name -> task and metric, in each language by method (``kinds``), what the second of
    ``gain`` has more than the first, and on average over languages the method ``floor``, which learned nothing; none
    where nothing was measured."""
    frames, floors = [], []
    for shown, (task, metric) in measures.items():
        measured = table[(table["task"] == task) & (table["metric"] == metric)]
        rows, nothing = measured[measured["method"].isin(list(kinds))], measured[measured["method"] == floor]
        if len(nothing):
            floors.append({"measure": shown, "name": floor, "value": nothing["value"].mean()})
        of = {method: rows[rows["method"] == method] for method in gain}
        gained = {
            language: paired(*(of[method][of[method]["target"] == language] for method in gain[::-1])).value
            for language in set(of[gain[0]]["target"]) & set(of[gain[1]]["target"])
        }
        found = summary(rows, ["method", "target"]).assign(measure=shown)
        frames.append(found.assign(gained=found["target"].map(gained).where(found["method"] == gain[1])))
    found = pd.concat(frames, ignore_index=True).rename(columns={"method": "kind"})
    if found.empty:
        return None
    named = found.assign(language=[LANGUAGE_NAMES[language] for language in found["target"]])
    return shift_shapes.by_language(
        named, pd.DataFrame(floors, columns=["measure", "name", "value"]), kinds=list(kinds),
        measures=list(named["measure"].unique()), gain="gain",
        description="Transfer to each language by what was done with the languages' means.",
    )  # fmt: skip


def inference(table: pd.DataFrame) -> Any:
    """Figure: :func:`transfer` of inference, by what is fine-tuned and whether it is then moved, above a guess."""
    return transfer(table, INFERENCE, INFERENCE_KINDS, gain=(UPPER, MOVED), floor=GUESS)


def syntax(table: pd.DataFrame) -> Any:
    """Figure: :func:`transfer` of tagging and parsing, by what was done with the means."""
    return transfer(table, SYNTAX, SYNTAX_KINDS, gain=(METHODS[0], METHODS[-1]))


def inference_beside_paper(table: pd.DataFrame) -> pd.DataFrame:
    """A's Table 4: accuracy in percent and the weight that dev data chose, here and in the paper."""
    names = dict(zip((WHOLE, UPPER, MOVED), ("all layers", "last 6 layers", "last 6 layers, shifted"), strict=True))
    printed = published.table("A_table_4_inference")
    rows = table[table["task"] == NLI]
    found = []
    for language in rows["target"].unique():
        row: dict[str, Any] = {"language": LANGUAGE_NAMES[language]}
        for method in names:
            ours = rows[(rows["target"] == language) & (rows["method"] == method)]
            row[method] = 100 * ours["value"].mean()
        row["weight"] = ours["weight"].mean()
        for name in names.values():
            theirs = printed[(printed["language"] == language) & (printed["fine_tuned"] == name)]
            row[f"{name}, paper"] = theirs["value"].mean()
        row["weight, paper"] = theirs["weight"].mean()
        found.append(row)
    return pd.DataFrame(found)


def samples(
    widget: TranslationWidget,
    sentences: Mapping[str, Sequence[str]],
    source: str,
    target: str,
    weights: Sequence[float] = (1, 2, 3),
) -> str:
    """A's Table 1 as HTML: sentences of ``source`` moved to ``target`` at A's depth, with each weight."""
    layer = round(A_LAYER * widget.subject.layers)
    parts = [
        f"<p>Moved at layer {layer} of {widget.subject.layers}. Above, each token that the encoder reads; below, the "
        "one that it predicts there.</p>"
    ]
    for number, sentence in enumerate(sentences[source]):
        said = sentences[target][number]
        parts.append(
            f"<p><b>{html.escape(sentence)}</b> {html.escape(LANGUAGE_NAMES[target])}: {html.escape(said)}</p>"
        )
        for weight in weights:
            parts.append(f"<p>Weight {weight:g}</p>{widget.to_html(sentence, source, target, layer, weight)}")
    return "".join(parts)
