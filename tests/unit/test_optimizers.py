"""Muon and AdamW: which weights each takes, and that Muon is what ``torch.optim.Muon`` is."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from xling_utils.core.specs import EncoderSpec, TrainingSpec
from xling_utils.models import optimizers
from xling_utils.models.encoder import Encoders
from xling_utils.models.optimizers import Muon, orthogonal

SPEC = EncoderSpec(layers=2, width=16, heads=2, intermediate=64, positions=8, next_sentence=True)
TRAINING = TrainingSpec(steps=10, hidden_rate=0.02, weight_decay=0.1)


@pytest.mark.parametrize("shape", [(16, 16), (16, 64), (64, 16), (5, 3, 8, 24)])
def test_all_directions_of_a_matrix_become_about_equally_long(shape):
    values = torch.linalg.svdvals(orthogonal(torch.randn(shape, generator=torch.Generator().manual_seed(1))))
    assert float(values.min()) > 0.6 and float(values.max()) < 1.3


def test_matrices_are_made_orthogonal_each_by_itself():
    several = torch.randn(3, 8, 24, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(orthogonal(several), torch.stack([orthogonal(one) for one in several]))


@pytest.mark.parametrize("shape", [(16, 16), (64, 16), (16, 64)])
def test_muon_is_the_one_of_torch(shape):
    """Which computes in bfloat16."""
    generator = torch.Generator().manual_seed(3)
    start = torch.randn(shape, generator=generator)
    ours, theirs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    mine = Muon([{"params": [ours]}], 0.02, 0.1, torch.bfloat16)
    peer = torch.optim.Muon([theirs], lr=0.02, weight_decay=0.1)
    for _ in range(5):
        gradient = torch.randn(shape, generator=generator)
        ours.grad, theirs.grad = gradient.clone(), gradient.clone()
        mine.step()
        peer.step()
    assert float((ours.detach() - start).abs().max()) > 0.02
    torch.testing.assert_close(ours.data, theirs.data, atol=2e-3, rtol=0)


def test_queries_keys_and_values_are_three_matrices():
    generator = torch.Generator().manual_seed(4)
    together = nn.Parameter(torch.randn(48, 16, generator=generator))
    apart = [nn.Parameter(part.clone()) for part in together.detach().chunk(3)]
    together.grad = torch.randn(48, 16, generator=generator)
    for parameter, gradient in zip(apart, together.grad.chunk(3), strict=True):
        parameter.grad = gradient.clone()
    Muon([{"params": [together], "parts": 3}], 0.02, 0.1, torch.float32).step()
    Muon([{"params": apart}], 0.02, 0.1, torch.float32).step()
    torch.testing.assert_close(together.data, torch.cat([part.data for part in apart]))


@pytest.mark.parametrize("changes", [{}, {"separate_embeddings": True}, {"separate_blocks": 1}])
def test_every_weight_has_one_optimizer(changes):
    model = Encoders(replace(SPEC, **changes), 40, ("en", "fr"))
    muon, adamw = optimizers.build(model.parameters(), model.matrices(), TRAINING)
    taken = [[id(p) for group in each.param_groups for p in group["params"]] for each in (muon, adamw)]
    assert sorted(taken[0] + taken[1]) == sorted(id(parameter) for parameter in model.parameters())
    hidden = {name for name, parameter in model.named_parameters() if id(parameter) in taken[0]}
    copies = 2 if changes else 1
    own = copies if changes.get("separate_blocks") else 1
    assert len(hidden) == 4 * (own + 1) + 2  # two blocks, the head's transformation, the pooler
    assert not any(word in name for name in hidden for word in ("words", "positions", "norm", "bias", "order"))


def test_without_a_rate_for_matrices_adamw_takes_all():
    model = Encoders(SPEC, 40, ("en", "fr"))
    (adamw,) = optimizers.build(model.parameters(), model.matrices(), replace(TRAINING, hidden_rate=0.0))
    assert isinstance(adamw, torch.optim.AdamW)
    assert len(adamw.param_groups[0]["params"]) == len(list(model.parameters()))


def test_rates_rise_once_and_fall_to_nothing():
    shares = [optimizers.one_cycle(0.1, 100, step) for step in range(100)]
    assert shares[0] == pytest.approx(0.1) and shares[9] == pytest.approx(1) == max(shares)
    assert shares[54] == pytest.approx(46 / 90) and shares[-1] == pytest.approx(1 / 90)
    assert shares == sorted(shares[:10]) + sorted(shares[10:], reverse=True)
    assert optimizers.one_cycle(0.0, 100, 0) == optimizers.one_cycle(0.0, 100, 1) == 1
    assert optimizers.one_cycle(1.0, 100, 99) == pytest.approx(1)


def test_rates_of_all_optimizers_move_together():
    model = Encoders(SPEC, 40, ("en", "fr"))
    both = optimizers.build(model.parameters(), model.matrices(), TRAINING)
    for share in (0.5, 1.0, 0.25):
        optimizers.set_rates(both, share)
        assert [group["lr"] for group in both[0].param_groups] == pytest.approx([0.02 * share] * 2)
        assert both[1].param_groups[0]["lr"] == pytest.approx(TRAINING.learning_rate * share)
