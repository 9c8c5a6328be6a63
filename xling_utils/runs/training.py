"""One encoder of one's own, in a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from xling_utils.core.errors import UserError
from xling_utils.core.scales import FIRST_REPORTED_SEED
from xling_utils.core.scales import scale as scale_of
from xling_utils.core.specs import run_from_dict, to_dict
from xling_utils.runs.compute import Compute
from xling_utils.runs.ensuring import ensure
from xling_utils.runs.store import Run, RunStore

PARTS = ("corpus", "tokenizer", "model", "training")
"""Of a run, whose fields are settings."""
GIVEN = ("source", "languages", "seed")
"""Fields that scale, languages and seed decide."""


def train(
    languages: Sequence[str],
    *,
    scale: str = "controlled",
    seed: int = FIRST_REPORTED_SEED,
    data: Path | str | None = None,
    **settings: Any,
) -> Run:
    """The base encoder of a ``scale``, pretrained on text of ``languages``: read from the store of runs where that has
    it, else trained now and kept there.

    ``settings`` replace the scale's: fields of :class:`CorpusSpec`, :class:`TokenizerSpec`, :class:`EncoderSpec` and
    :class:`TrainingSpec`, as in ``train(["en", "tr"], layers=3, steps=300)``. Numbers may be NumPy's. ``data`` is the
    directory of real text.

    Raises :class:`UserError` on an unknown setting, a value of another type, ``data`` that would not be read, and as
    :func:`ensure` does.
    """
    seed, settings = _plain(seed), {name: _plain(value) for name, value in settings.items()}
    sizes = scale_of(scale)
    spec = sizes.bert(languages, sizes.sentences[-1], seed)
    part_of = {field.name: part for part in PARTS for field in fields(getattr(spec, part)) if field.name not in GIVEN}
    if unknown := sorted(set(settings) - set(part_of)):
        raise UserError(f"unknown setting {unknown[0]!r}; known: {', '.join(sorted(part_of))}")
    changed = {
        part: replace(getattr(spec, part), **{name: settings[name] for name in settings if part_of[name] == part})
        for part in PARTS
    }
    try:
        spec = run_from_dict(to_dict(replace(spec, **changed)))  # which looks at the types
    except TypeError as error:
        raise UserError(f"seed or setting: {error}; give numbers, texts and lists") from None
    if data and spec.corpus.source != "directory" and spec.tokenizer.kind != "mbert":
        raise UserError(f"data: scale {scale!r} reads none; give scale='natural' with it, or leave it out")
    return ensure([spec], store=RunStore(), compute=Compute(Path(data) if data else None))[spec]


def _plain(value: Any) -> Any:
    """A number of NumPy as Python's, which JSON knows."""
    return value.item() if isinstance(value, np.generic) else value
