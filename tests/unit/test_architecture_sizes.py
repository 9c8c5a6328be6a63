"""The sizes of chapter 4's encoders: E's Tables 4 to 7, and encoders of as many parameters as another."""

from dataclasses import replace

import pytest
import torch
from transformers import BertConfig, BertForPreTraining

from xling_utils.chapters.architecture import sizes
from xling_utils.core.errors import UserError
from xling_utils.core.specs import EncoderSpec
from xling_utils.models.encoder import Encoder
from xling_utils.models.parameters import parameter_count

PAPER = EncoderSpec(12, 768, 12, 3072, 512)
TABLES = sizes.sizes()


def transformers_count(spec: EncoderSpec, vocabulary: int) -> int:
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=spec.width,
        num_hidden_layers=spec.layers,
        num_attention_heads=spec.heads,
        intermediate_size=spec.intermediate,
        max_position_embeddings=spec.positions,
    )
    with torch.device("meta"):
        return BertForPreTraining(config).num_parameters()


@pytest.mark.parametrize(
    ("spec", "vocabulary"),
    [(EncoderSpec(2, 32, 2, 100, 16), 77), (EncoderSpec(3, 12, 3, 48, 9, next_sentence=True), 31), (PAPER, 60_000)],
)
def test_counts_are_those_of_bert_for_pretraining(spec: EncoderSpec, vocabulary: int) -> None:
    assert sizes.pretraining_parameters(spec, vocabulary) == transformers_count(spec, vocabulary)


def test_the_paper_s_base_has_132_78_million() -> None:
    assert sizes.pretraining_parameters(PAPER, sizes.VOCABULARY) == 132_775_010


def test_separate_parts_are_not_counted_as_bert() -> None:
    for spec in (replace(PAPER, separate_blocks=3), replace(PAPER, separate_embeddings=True)):
        with pytest.raises(UserError, match="no separate parts"):
            sizes.pretraining_parameters(spec, 60_000)


def test_the_tables_have_every_printed_run() -> None:
    printed = {4: 7, 5: 7, 6: 11, 7: 7}
    assert {table: sum(size.table == table for size in TABLES) for table in printed} == printed
    assert len(TABLES) == sum(printed.values())


@pytest.mark.parametrize("size", TABLES, ids=lambda s: f"{s.table}-{s.encoder.layers}-{s.encoder.heads}-{s.published}")
def test_counts_are_the_printed_ones_or_named_and_near(size: sizes.Size) -> None:
    assert size.encoder.width % size.encoder.heads == 0
    if round(size.parameters / 1e6, 2) != size.published:
        assert (size.table, size.encoder.layers) in sizes.EXCEPTIONS
        assert abs(size.difference) <= 1e-4, "far inside the 0.3 % that DESIGN section 8 allows"


def test_exceptions_are_named_exactly_where_the_rule_of_four_does_not_give_the_count() -> None:
    found = {
        (size.table, size.encoder.layers)
        for size in TABLES
        if size.encoder.intermediate != 4 * size.encoder.width or round(size.parameters / 1e6, 2) != size.published
    }
    assert found == set(sizes.EXCEPTIONS)


def test_no_other_pair_of_widths_gives_the_counts_of_table_7() -> None:
    deep = {s.encoder.layers: s.published for s in TABLES if s.table == 7 and s.encoder.layers > 12}
    fits = [
        (width, wide)
        for width in range(3, 331, 3)  # wider ones have too many in their word embeddings alone
        for wide in range(width, 8 * width)
        if all(
            round(sizes.pretraining_parameters(EncoderSpec(layers, width, 3, wide, 512), 60_000) / 1e6, 2) == published
            for layers, published in deep.items()
        )
    ]
    assert fits == [(192, 960)]


@pytest.mark.parametrize("parameters", [5_000, 40_000, 1_234_567])
@pytest.mark.parametrize("heads", [1, 3, 8])
def test_no_other_width_comes_nearer(parameters: int, heads: int) -> None:
    width, intermediate = sizes.width_for(parameters, 2, heads, 50, 16, ratio=2.5)
    assert intermediate == round(2.5 * width) and width % heads == 0

    def off(candidate: int) -> int:
        spec = EncoderSpec(2, candidate, heads, round(2.5 * candidate), 16)
        return abs(sizes.pretraining_parameters(spec, 50) - parameters)

    assert min(range(heads, 600, heads), key=off) == width


def test_a_solved_feed_forward_comes_nearest() -> None:
    target = 1_000_000
    found = sizes.intermediate_for(target, 3, 48, 1_000, 64)

    def off(intermediate: int) -> int:
        return abs(sizes.pretraining_parameters(EncoderSpec(3, 48, 4, intermediate, 64), 1_000) - target)

    assert off(found) < min(off(found - 1), off(found + 1))


def test_too_few_parameters_are_refused() -> None:
    with pytest.raises(UserError, match=r"2 layers with 12 heads over 60000 pieces have at least \d+ .* asked for 999"):
        sizes.width_for(999, 2, 12, 60_000, 512)
    with pytest.raises(UserError, match="without any feed-forward"):
        sizes.intermediate_for(999, 2, 12, 60_000, 512)


@pytest.mark.parametrize("layers", [1, 2, 3, 6, 12])
def test_another_depth_keeps_the_parameters_the_heads_and_the_rest(layers: int) -> None:
    base = EncoderSpec(3, 64, 4, 256, 32)
    found = sizes.fixed_parameters(base, 1_600, layers=layers)
    assert found == replace(base, layers=layers, width=found.width, intermediate=4 * found.width)
    Encoder(found, 1_600)
    step = replace(found, width=found.width + 4, intermediate=4 * (found.width + 4))
    grain = parameter_count(step, 1_600) - parameter_count(found, 1_600)
    assert abs(parameter_count(found, 1_600) - parameter_count(base, 1_600)) <= grain / 2


def test_the_same_depth_is_the_same_encoder() -> None:
    base = EncoderSpec(3, 64, 4, 256, 32)
    assert sizes.fixed_parameters(base, 1_600, layers=3) == base
