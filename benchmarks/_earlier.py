"""The recipe of before 23 November 2026, for comparisons: the committed records of recipe 1 were trained by it."""

from __future__ import annotations

from dataclasses import replace

from xling_utils.core.scales import Multilingual, Scale
from xling_utils.core.specs import EncoderSpec, TrainingSpec

STEPS = {"smoke": (20, 20), "controlled": (2_000, 12_000), "natural": (2_000, 16_000)}
"""Of a pair's encoder, and of the one of all languages."""
FIRST_SEED = 11
"""Of its records."""
LONGER = {"natural": 4}
"""Scale -> how many times as long as other encoders those of chapter 8 were trained."""
REAL_TEXT = {"sentences": (3_500, 35_000), "pieces": (1_000, 1_000)}
"""The sizes that real text had."""


def earlier(scale: Scale) -> Scale:
    """``scale`` as it was then: AdamW for all weights, single precision, 15 % of the tokens masked, more steps; on real
    text fewer sentences and word pieces."""
    pair, joint = STEPS[scale.name]
    training = TrainingSpec(steps=pair, batch=scale.training.batch, length=24)
    together = replace(training, steps=joint, batch=scale.multilingual.training.batch)
    encoder = EncoderSpec(layers=4, width=64, heads=4, intermediate=256, positions=64)
    then = replace(scale, training=training, multilingual=replace(scale.multilingual, training=together))
    if scale.name != "natural":
        return then
    of_all = Multilingual(35_000, encoder, together, REAL_TEXT["pieces"])
    return replace(then, sentences=REAL_TEXT["sentences"], pieces=REAL_TEXT["pieces"], multilingual=of_all)
