"""How large the encoders of chapter 4 are: those of E's Tables 4 to 7, and others of as many parameters.

K et al. (2020) count BERT with a vocabulary of 60,000 pieces, 512 positions, the pooler and both pretraining
heads, and print millions with two decimals. They print no widths; these are solved from the counts. The feed-forward
is four times as wide as the model (their sec. 3.3.1), except where :data:`EXCEPTIONS` says otherwise.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace

from xling_utils.core.errors import UserError
from xling_utils.core.specs import EncoderSpec
from xling_utils.models.parameters import parameter_count

VOCABULARY, POSITIONS = 60_000, 512
RATIO = 4.0
TOLERANCE = 0.003
"""A solved width whose count is further off than this is paired with a feed-forward solved for the rest."""

TABLES = {4: "E_table_4_depth", 5: "E_table_5_heads", 6: "E_table_6_parameters", 7: "E_table_7_four_languages"}
"""Table of K et al. (2020) -> its file under ``book/published``."""

FIVE_TIMES = ((7, 16), (7, 24), (7, 36))
"""(table, layers) of the runs with a feed-forward of five times the width."""
EXCEPTIONS = {
    (4, 1): "1,656 x 6,624 has 138.70 M, printed 138.69: 0.006 % off, the next widths 0.9 %",
    (4, 18): "no width that 12 heads divide is nearer than 0.7 %: feed-forward solved (4.06 times the width)",
    (4, 24): "no width that 12 heads divide is nearer than 1.1 %: 596 x 2,384 would fit, 12 heads do not divide it; "
    "feed-forward solved (3.9 times the width)",
    **dict.fromkeys(FIVE_TIMES, "192 x 960 is the one pair of widths that gives the counts of all three depths"),
}
"""(table, layers) -> why the run is not, to the printed digit, BERT with a feed-forward of four times its width."""


@dataclass(frozen=True)
class Size:
    """One run of ``table`` of K et al. (2020): its encoder, and the ``published`` count in millions."""

    table: int
    encoder: EncoderSpec
    published: float

    @property
    def parameters(self) -> int:
        """What our encoder of that size has, counted as the paper counts."""
        return pretraining_parameters(self.encoder, VOCABULARY)

    @property
    def difference(self) -> float:
        """Ours less theirs, as a share of theirs."""
        return self.parameters / (self.published * 1e6) - 1


def pretraining_parameters(spec: EncoderSpec, vocabulary: int) -> int:
    """Parameters of ``transformers``' ``BertForPreTraining``: two segments, pooler, masked language modelling head
    with tied decoder and bias, next sentence head; whatever ``spec.next_sentence`` says.

    Raises :class:`UserError` for an encoder with separate parts, which that class cannot express.
    """
    if spec.separate:
        raise UserError("architecture sizes: BertForPreTraining has no separate parts; count the shared encoder")
    return parameter_count(replace(spec, next_sentence=True), vocabulary)


def width_for(
    parameters: int, layers: int, heads: int, vocabulary: int, positions: int, ratio: float = RATIO
) -> tuple[int, int]:
    """(width, feed-forward width): the width divisible by ``heads`` whose :func:`pretraining_parameters` come
    nearest to ``parameters``, with a feed-forward ``ratio`` times as wide.

    Raises :class:`UserError` when even the narrowest such encoder has more.
    """
    base = EncoderSpec(layers, heads, heads, heads, positions)
    found = _nearest(base, parameters, vocabulary, ratio, pretraining_parameters)
    return found.width, found.intermediate


def intermediate_for(parameters: int, layers: int, width: int, vocabulary: int, positions: int) -> int:
    """The feed-forward width that brings :func:`pretraining_parameters` nearest to ``parameters``.

    Raises :class:`UserError` when the rest of the encoder has more.
    """
    without = EncoderSpec(layers, width, 1, 0, positions)
    rest = parameters - pretraining_parameters(without, vocabulary)
    # A hidden unit of a block has one weight in, one out a dimension, and a bias.
    intermediate = round(rest / (layers * (2 * width + 1)))
    if intermediate < 1:
        raise UserError(
            f"architecture sizes: {layers} layers of width {width} over {vocabulary} pieces have more than "
            f"{parameters} parameters without any feed-forward; ask for more, or a smaller width"
        )
    return intermediate


def fixed_parameters(base: EncoderSpec, vocabulary: int, *, layers: int) -> EncoderSpec:
    """``base`` with another depth and as many parameters, as near as a width that its heads divide can come.

    Heads and positions stay, the feed-forward is four times the width. Counted is what is trained here
    (:func:`xling_utils.models.parameters.parameter_count`). Raises :class:`UserError` when no width is small enough.
    """
    target = parameter_count(base, vocabulary)
    return _nearest(replace(base, layers=layers), target, vocabulary, RATIO, parameter_count)


def _nearest(
    base: EncoderSpec, target: int, vocabulary: int, ratio: float, count: Callable[[EncoderSpec, int], int]
) -> EncoderSpec:
    def of(width: int) -> EncoderSpec:
        return replace(base, width=width, intermediate=round(ratio * width))

    # The word embeddings alone bound the width; the count rises with it.
    widths = range(base.heads, target // vocabulary + 2 * base.heads, base.heads)
    least = count(of(base.heads), vocabulary)
    if target < least:
        raise UserError(
            f"architecture sizes: {base.layers} layers with {base.heads} heads over {vocabulary} pieces have at least "
            f"{least} parameters, asked for {target}; ask for more, or fewer layers, heads or pieces"
        )
    above = bisect_left(widths, target, key=lambda width: count(of(width), vocabulary))
    near = [of(width) for width in widths[max(above - 1, 0) : above + 1]]
    return min(near, key=lambda spec: abs(count(spec, vocabulary) - target))


def sizes() -> list[Size]:
    """Every run of Tables 4 to 7, in the order printed; the counts are read from ``book/published``."""
    from xling_utils.chapters.shared import published

    rows = []
    for table, name in TABLES.items():
        columns = ["parameters", "layers", "heads"]
        for millions, layers, heads in published.table(name)[columns].drop_duplicates().itertuples(index=False):
            rows.append(Size(table, _encoder(table, float(millions), int(layers), int(heads)), float(millions)))
    return rows


def _encoder(table: int, millions: float, layers: int, heads: int) -> EncoderSpec:
    parameters = round(millions * 1e6)
    ratio = 5.0 if (table, layers) in FIVE_TIMES else RATIO
    width, intermediate = width_for(parameters, layers, heads, VOCABULARY, POSITIONS, ratio)
    spec = EncoderSpec(layers, width, heads, intermediate, POSITIONS, next_sentence=True)
    if abs(pretraining_parameters(spec, VOCABULARY) / parameters - 1) <= TOLERANCE:
        return spec
    return replace(spec, intermediate=intermediate_for(parameters, layers, width, VOCABULARY, POSITIONS))
