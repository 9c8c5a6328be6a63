"""Products of bfloat16 on a processor that has no instructions for them."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from xling_utils.core.specs import EncoderSpec, TrainingSpec
from xling_utils.models import optimizers, precision
from xling_utils.models.encoder import Encoders

SPEC = EncoderSpec(layers=2, width=16, heads=2, intermediate=64, positions=8)
CPU = torch.device("cpu")


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def test_products_are_those_of_single_precision_rounded() -> None:
    left, right, bias = drawn(5, 7).bfloat16(), drawn(3, 7).bfloat16(), drawn(3).bfloat16()
    wanted = F.linear(left.float(), right.float(), bias.float()).bfloat16()
    with precision.Emulation():
        assert torch.equal(F.linear(left, right, bias), wanted)
        assert F.linear(left.double(), right.double()).dtype is torch.float64


def test_gradients_are_rounded_alike() -> None:
    left, right = drawn(64, 32).requires_grad_(), drawn(8, 32).requires_grad_()
    with precision.Emulation(), precision.casting(torch.bfloat16, CPU):
        F.linear(left, right).float().square().sum().backward()
    output = (left.bfloat16().float() @ right.bfloat16().float().T).bfloat16().float()
    assert torch.equal(left.grad, ((2 * output).bfloat16().float() @ right.bfloat16().float()).bfloat16().float())


@pytest.mark.parametrize("native", [True, False])
def test_a_machine_without_instructions_emulates(native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "is_native", lambda asked: native)
    assert isinstance(precision.emulating(torch.bfloat16), precision.Emulation) is not native


def test_training_goes_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with PyTorch's own products of bfloat16, whatever machine this is."""
    training = TrainingSpec(steps=20, learning_rate=0.01, hidden_rate=0.02, precision="bf16")

    def losses(native: bool, products: torch.dtype) -> torch.Tensor:
        monkeypatch.setattr(precision, "is_native", lambda asked: native)
        torch.manual_seed(1)
        model = Encoders(SPEC, 50, ("en", "fr"))
        several = optimizers.build(model.parameters(), model.matrices(), training)
        ids = torch.arange(160).reshape(20, 8) % 50
        places = torch.tensor([[1, 4, 6]]).expand(20, -1)
        batch = {"ids": ids, "positions": places, "labels": ids.gather(1, places)}
        found = []
        for _ in range(20):
            with precision.emulating(products):
                with precision.casting(products, CPU):
                    loss = model(torch.zeros(20, dtype=torch.int64), **batch)
                loss.backward()
            for optimizer in several:
                optimizer.step()
                optimizer.zero_grad()
            found.append(loss.detach())
        return torch.stack(found)

    theirs, ours = losses(True, torch.bfloat16), losses(False, torch.bfloat16)
    assert theirs[-1] < theirs[0] - 0.5
    torch.testing.assert_close(ours, theirs, atol=0.05, rtol=0)  # of 1.9 that are learned
