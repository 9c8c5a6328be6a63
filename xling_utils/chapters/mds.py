"""Chapter 6: can one vector move a sentence to another language? (R24 to R27)"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pandas as pd

from xling_utils import moved_transfer
from xling_utils.chapters import Planned
from xling_utils.chapters.joint import A_LAYER, TRAINED, UNTRAINED, grid, interval, layer_at
from xling_utils.language_shift import TOKEN_TRANSLATION
from xling_utils.moved_transfer import MOVED, NLI, ORIGINAL, PARSING, POS, SHIFT, UPPER, WHOLE, ZERO_MEAN
from xling_utils.verdicts import Verdict, all_of, direction

__all__ = ["CHAPTER", "COLUMNS", "experiment", "grid", "tasks"]

CHAPTER = "06_mds"
COLUMNS = ("model", "method", "weight")
"""``method`` of transfer, and the ``weight`` of the difference of means that is added."""
EXPERIMENTS = {TOKEN_TRANSLATION: "R24", NLI: "R25", POS: "R26", PARSING: "R27"}
NEVER = 0.02
"""The convert rate up to which a text counts as one that has not left its language."""


def tasks(planned: Planned) -> tuple[str, ...]:
    """Token translation, and of the trained encoder transfer with a shift."""
    trained = dict(planned.condition)["model"] == TRAINED
    return (TOKEN_TRANSLATION, *moved_transfer.TASKS) if trained else (TOKEN_TRANSLATION,)


def experiment(condition: dict[str, Any], row: dict[str, Any]) -> str | None:
    """An experiment a task."""
    return EXPERIMENTS.get(row["task"])


def values(table: pd.DataFrame, metric: str, weight: float, layer: int, model: str = TRAINED) -> pd.Series:
    """Values by seed and language, the mean of both directions."""
    rows = table[(table["metric"] == metric) & (table["model"] == model)]
    rows = rows[(rows["weight"] == weight) & (rows["layer"] == layer)]
    return rows.assign(language=rows["source"].where(rows["source"] != "en", rows["target"])).groupby(
        ["seed", "language"]
    )["value"].mean()  # fmt: skip


def transferred(table: pd.DataFrame, task: str, metric: str, method: str) -> pd.Series:
    """Values of transfer by seed and language, English left out."""
    rows = table[(table["task"] == task) & (table["metric"] == metric) & (table["method"] == method)]
    return rows[rows["target"] != "en"].groupby(["seed", "target"])["value"].mean()


def verdicts(table: pd.DataFrame) -> list[Verdict]:
    """What A and D claim, of claims that were tested."""
    found = [*_translation_verdicts(table[table["task"] == TOKEN_TRANSLATION]), *_transfer_verdicts(table)]
    return [verdict for verdict in found if verdict.interval.n]


def _transfer_verdicts(table: pd.DataFrame) -> list[Verdict]:
    claims = [
        ("Fine-tuning the upper half alone transfers better", "A Table 4", NLI, "accuracy", UPPER, WHOLE),
        ("Inference gains by the shift", "A Table 4", NLI, "accuracy", MOVED, UPPER),
        ("Tagging gains by zero-mean", "D Table 4", POS, "accuracy", ZERO_MEAN, ORIGINAL),
        ("Tagging gains by the shift", "D Table 4", POS, "accuracy", SHIFT, ORIGINAL),
        ("Parsing does not gain by zero-mean", "D Table 5", PARSING, "las", ORIGINAL, ZERO_MEAN),
        ("Parsing gains by the shift", "D Table 5", PARSING, "las", SHIFT, ORIGINAL),
    ]
    return [
        direction(
            text, where, f"{metric if metric == 'accuracy' else metric.upper()}, {better} - {worse}",
            interval(transferred(table, task, metric, better) - transferred(table, task, metric, worse)),
        )
        for text, where, task, metric, better, worse in claims
    ]  # fmt: skip


def _translation_verdicts(table: pd.DataFrame) -> list[Verdict]:
    """Tested at A's depth where a layer must be chosen."""
    if table.empty:
        return []
    layer, last = layer_at(A_LAYER, table), int(table["layer"].max())
    weights = sorted(table["weight"].unique())
    positive = [weight for weight in weights if weight >= 0]

    def change(metric: str, weight: float, less: float) -> Any:
        return interval(values(table, metric, weight, layer) - values(table, metric, less, layer))

    steps = [
        direction("", "", f"convert rate at layer {layer}, weight {b:g} - {a:g}", change("convert_rate", b, a))
        for a, b in pairwise(positive)
    ]
    stays = [
        direction(
            "", "", f"{NEVER} - convert rate at layer {at}, weight {weight:g}",
            interval(NEVER - values(table, "convert_rate", weight, at)),
        )
        for at in range(last + 1) for weight in weights if weight < 0
    ]  # fmt: skip
    gain = values(table, "bleu1", 1, layer) - values(table, "bleu1", 0, layer)
    control = values(table, "bleu1", 1, layer, UNTRAINED) - values(table, "bleu1", 0, layer, UNTRAINED)
    found = [
        all_of("The more weight, the more tokens convert", "A Fig. 7", steps),
        all_of("A negative weight never leaves the source language", "A sec. 4.2", stays),
        direction("The shift brings a text nearer to its translation", "A Table 2",
                  f"BLEU-1 at layer {layer}, weight 1 - 0", interval(gain)),
        direction("The last layers are the best to shift at", "A Fig. 8",
                  f"BLEU-1 at weight 1, layer {last} - 0",
                  interval(values(table, "bleu1", 1, last) - values(table, "bleu1", 1, 0))),
    ]  # fmt: skip
    if len(control):
        quantity = f"BLEU-1 at layer {layer}, weight 1 - 0, {TRAINED} - {UNTRAINED}"
        found.append(direction("The gain is learned (control)", "–", quantity, interval(gain - control)))
    return found
