"""Products of bfloat16 on a processor that has no instructions for them."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from torch.nn import functional as F

from xling_utils.core.specs import EncoderSpec, TrainingSpec
from xling_utils.models import optimizers, precision
from xling_utils.models.encoder import Encoders
from xling_utils.models.precision import linear

SPEC = EncoderSpec(layers=2, width=16, heads=2, intermediate=64, positions=8)
CPU = torch.device("cpu")


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def test_products_are_those_of_single_precision_rounded() -> None:
    left, right, bias = drawn(5, 7).bfloat16(), drawn(3, 7).bfloat16(), drawn(3).bfloat16()
    wanted = F.linear(left.float(), right.float(), bias.float()).bfloat16()
    with torch.autocast("cpu", torch.bfloat16), precision.emulation():
        assert torch.equal(linear(left, right, bias), wanted)
        assert torch.equal(linear(left.float(), right, bias=bias.float()), wanted)
    assert linear(left.float(), right.float()).dtype is torch.float32


def test_gradients_are_rounded_alike() -> None:
    left, right = drawn(64, 32).requires_grad_(), drawn(8, 32).requires_grad_()
    with torch.autocast("cpu", torch.bfloat16), precision.emulation():
        linear(left, right).float().square().sum().backward()
    output = (left.bfloat16().float() @ right.bfloat16().float().T).bfloat16().float()
    assert torch.equal(left.grad, ((2 * output).bfloat16().float() @ right.bfloat16().float()).bfloat16().float())


def test_gradients_of_a_weight_are_added_as_autocast_adds_them() -> None:
    """In bfloat16, before they are cast back; whole numbers, so that the order of sums does not matter."""

    def gradient(emulated: bool) -> torch.Tensor:
        weight = (8 * drawn(3, 4)).round().requires_grad_()
        with torch.autocast("cpu", torch.bfloat16), precision.emulation() if emulated else nullcontext():
            outputs = [linear((8 * drawn(several, 4)).round(), weight) for several in (5, 6, 7)]
            (97 * torch.cat(outputs).float()).sum().backward()
        assert weight.grad is not None
        return weight.grad

    assert torch.equal(gradient(True), gradient(False))


def test_several_at_once_are_as_one_by_one() -> None:
    weights, inputs = drawn(2, 3, 7).requires_grad_(), drawn(2, 5, 7)
    with torch.autocast("cpu", torch.bfloat16), precision.emulation():
        together = torch.vmap(linear)(inputs, weights)
        apart = torch.stack([linear(each, weight) for each, weight in zip(inputs, weights, strict=True)])
    assert together.dtype is torch.bfloat16 and torch.equal(together, apart)
    found, wanted = (torch.autograd.grad(products.float().square().sum(), weights)[0] for products in (together, apart))
    assert torch.equal(found, wanted)


@pytest.mark.parametrize("native", [True, False])
def test_a_machine_without_instructions_emulates(native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    entered: list[bool] = []
    monkeypatch.setattr(precision, "is_native", lambda *_: native)
    monkeypatch.setattr(precision, "emulation", lambda: nullcontext(entered.append(True)))
    with precision.casting(torch.bfloat16, CPU):
        assert torch.is_autocast_enabled("cpu")
    assert bool(entered) is not native


def test_training_goes_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with PyTorch's own products of bfloat16, whatever machine this is."""
    training = TrainingSpec(steps=20, learning_rate=0.01, hidden_rate=0.02, precision="bf16")

    def losses(native: bool, products: torch.dtype) -> torch.Tensor:
        monkeypatch.setattr(precision, "is_native", lambda *_: native)
        torch.manual_seed(1)
        model = Encoders(SPEC, 50, ("en", "fr"))
        several = optimizers.build(model.parameters(), model.matrices(), training)
        ids = torch.arange(160).reshape(20, 8) % 50
        places = torch.tensor([[1, 4, 6]]).expand(20, -1)
        batch = {"ids": ids, "positions": places, "labels": ids.gather(1, places)}
        found = []
        for _ in range(20):
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
