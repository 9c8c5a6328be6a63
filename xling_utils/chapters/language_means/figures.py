"""Chapter 5's figures and tables."""

from __future__ import annotations

from typing import Any

import pandas as pd

from xling_utils.chapters.language_means.plan import ORIGINAL, languages, of
from xling_utils.chapters.shared import published
from xling_utils.chapters.shared.joint import D_LAYER, TRAINED, UNTRAINED, by_seed, layer_at
from xling_utils.charts import LANGUAGE_NAMES, layer_shapes
from xling_utils.measures.names import METHODS

IDENTITY = {"accuracy of a linear probe": "probe_accuracy", "share of variance": "variance_between"}
EVERY = "all languages"


def identity(table: pd.DataFrame) -> Any:
    """Figure: how much language each layer holds, with and without the languages' means."""
    kinds = {f"{model}, {method}": (model, method) for model in (TRAINED, UNTRAINED) for method in METHODS[:2]}
    frames = [
        by_seed(of(table, metric, method, model), ["layer"]).assign(kind=kind, measure=shown)
        for shown, metric in IDENTITY.items()
        for kind, (model, method) in kinds.items()
    ]
    rows = pd.concat(frames, ignore_index=True).astype({"layer": int})
    description = "How well the language of a token can be told at each layer, with and without the language's mean."
    return layer_shapes.profiles(
        rows, kinds=[kind for kind in kinds if kind in rows["kind"].unique()], measures=list(IDENTITY),
        y_title="share of tokens, or of variance", description=description,
    )  # fmt: skip


def by_method(table: pd.DataFrame, metric: str, y_title: str, description: str) -> Any:
    """Figure: ``metric`` at each layer by what was done with the means, on average and for each language; none where
    nothing was measured."""
    found = table[table["metric"] == metric]
    if found.empty:
        return None
    there = [language for language in languages(table) if language in found["source"].unique()]
    rows = pd.concat([of(table, metric, method).assign(kind=method) for method in METHODS], ignore_index=True)
    rows = rows[rows["source"].isin(there)]
    frames = [rows.assign(measure=EVERY)] if len(there) > 1 else []
    frames.append(rows.assign(measure=rows["source"].map(LANGUAGE_NAMES)))
    shown = [EVERY] * (len(there) > 1) + [LANGUAGE_NAMES[language] for language in there]
    rows = by_seed(pd.concat(frames, ignore_index=True), ["kind", "measure", "layer"]).astype({"layer": int})
    return layer_shapes.profiles(
        rows, kinds=METHODS, measures=shown, y_title=y_title, description=description, choice="Language "
    )


def retrieval(table: pd.DataFrame, name: str = "Sentence retrieval") -> Any:
    """Figure: :func:`by_method` of retrieving sentences."""
    told = f"{name} at each layer by what was done with the languages' means."
    return by_method(table, "p_at_1", "precision at 1", told)


def mining(table: pd.DataFrame) -> Any:
    """Figure: :func:`by_method` of mining translations."""
    return by_method(table, "mined_f1", "F1", "Mining at each layer by what was done with the languages' means.")


def beside_paper(table: pd.DataFrame, metric: str, paper: str, **which: str) -> pd.DataFrame:
    """A row a language: each method in percent at D's depth, here and in the paper's table ``paper``."""
    printed = published.table(paper)
    for column, value in which.items():
        printed = printed[printed[column] == value]
    layer, rows = layer_at(D_LAYER, table), []
    for language in languages(table):
        row: dict[str, Any] = {"language": LANGUAGE_NAMES[language]}
        for method in METHODS:
            ours = of(table, metric, method)
            ours = ours[(ours["source"] == language) & (ours["layer"] == layer)]["value"]
            row[f"{method}, layer {layer} here"] = 100 * ours.mean()
        for method in METHODS:
            theirs = printed[(printed["language"] == language) & (printed["method"] == method)]["value"]
            row[f"{method}, paper"] = theirs.mean()
        rows.append(row)
    frame = pd.DataFrame(rows)
    return frame[frame.iloc[:, 1:4].notna().any(axis=1)]


def units(table: pd.DataFrame) -> pd.DataFrame:
    """Retrieval on average over languages at every layer, by what the means are means of."""
    rows = []
    for layer in sorted(table["layer"].dropna().astype(int).unique()):
        row: dict[str, Any] = {"layer": layer}
        for method in METHODS:
            for unit in ("token", "sentence") if method != ORIGINAL else ("token",):
                found = of(table, "p_at_1", method, unit=unit)
                name = method if method == ORIGINAL else f"{method}, means of {unit}s"
                row[name] = found[found["layer"] == layer]["value"].mean()
        rows.append(row)
    return pd.DataFrame(rows)


def token_sets(table: pd.DataFrame) -> pd.DataFrame:
    """Sizes of the sets of tokens, and of what they share with English's; here and in A's Table 3."""
    printed = published.table("A_table_3_token_sets").set_index("language")
    rows = table[(table["model"] == TRAINED) & table["metric"].isin(["tokens", "shared_tokens"])]
    found = rows.groupby(["target", "metric"], sort=False)["value"].mean().unstack().round().astype(int)
    return pd.DataFrame(
        {
            "language": [LANGUAGE_NAMES[language] for language in found.index],
            "tokens": found["tokens"].to_numpy(),
            "shared with English": found["shared_tokens"].to_numpy(),
            "tokens, paper": printed["tokens"].reindex(found.index).astype("Int64").array,
            "shared with English, paper": printed["shared_with_en"].reindex(found.index).astype("Int64").array,
        }
    )
