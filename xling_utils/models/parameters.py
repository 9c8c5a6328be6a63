"""How many parameters an encoder has, without building it: planning imports no library that computes."""

from __future__ import annotations

from xling_utils.core.specs import EncoderSpec


def parameter_count(spec: EncoderSpec, vocabulary_size: int, languages: int = 1) -> int:
    """Trainable parameters of :class:`~xling_utils.models.encoder.Encoders`, the tied decoder counted once."""
    d, f = spec.width, spec.intermediate
    places = (spec.positions + 2) * d
    embeddings = vocabulary_size * d + vocabulary_size + places + 2 * d
    block = 3 * d * d + 3 * d + d * d + d + 2 * d + 2 * d * f + f + d + 2 * d
    heads = d * d + d + 2 * d + (d * d + d + 2 * d + 2 if spec.next_sentence else 0)
    once = embeddings + spec.layers * block + heads
    own = embeddings if spec.separate_embeddings else places * spec.separate_positions
    again = own + spec.separate_blocks * block
    return once + (languages - 1) * again
