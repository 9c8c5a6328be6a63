"""The recipe of before 23 November 2026, for comparisons: the committed records of recipe 1 were trained by it."""

from __future__ import annotations

from dataclasses import replace

from xling_utils.core.scales import Scale
from xling_utils.core.specs import TrainingSpec

STEPS = {"smoke": (20, 20), "controlled": (2_000, 12_000), "natural": (2_000, 16_000)}
"""Of a pair's encoder, and of the one of all languages."""


def earlier(scale: Scale) -> Scale:
    """``scale`` as it was then: AdamW for all weights, single precision, 15 % of the tokens masked, more steps."""
    pair, joint = STEPS[scale.name]
    training = TrainingSpec(steps=pair, batch=scale.training.batch, length=24)
    together = replace(training, steps=joint, batch=scale.multilingual.training.batch)
    return replace(scale, training=training, multilingual=replace(scale.multilingual, training=together))
