"""The control of transfer: inference learned from labels that were dealt out anew, which only chance can match."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from xling_utils.core.scales import Scale
from xling_utils.measures.transfer import zero_shot
from xling_utils.runs import Run


class Shuffled(zero_shot.Source):
    """Labelled data in English whose labels changed places, in training and in the dev data that choose the epoch.
    Tests keep theirs."""

    def columns(self, kind: str, language: str, split: str, count: int | None) -> tuple[list[Any], ...]:
        *texts, labels = super().columns(kind, language, split, count)
        if split == "test":
            return (*texts, labels)
        order = np.random.default_rng(zero_shot.LABELLED_SEED).permutation(len(labels))
        return (*texts, [labels[place] for place in order])


def rows(run: Run, scale: Scale, data: Path | None) -> Iterator[dict[str, Any]]:
    """Tidy rows as of :func:`transfer.inference_rows`, with the one metric ``accuracy_random_labels``.

    Raises :class:`UserError` on a run without English, and mistakes in the labelled data.
    """
    for row in zero_shot.rows(run, scale, data, "NLI", Shuffled):
        if row["metric"] == "accuracy":
            yield row | {"metric": "accuracy_random_labels"}
