"""Unsupervised token translation: add a language difference to every token at one layer, and read off what the model
then predicts, token by token, with nothing masked (A, sec. 4.2; D, sec. 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from xling_utils.errors import UserError
from xling_utils.lens import BATCH, blocks_of, encode, recording, state_of

Array = npt.NDArray[np.floating]


@torch.inference_mode()
def predicted(
    model: Any,
    tokenizer: Any,
    texts: Sequence[str],
    difference: Array,
    layers: Sequence[int],
    weights: Sequence[float],
    batch: int = BATCH,
) -> npt.NDArray[np.object_]:
    """The ids that the model predicts where each text has its tokens, special ones left out: an object array
    (layers, weights, texts) of int64 arrays.

    ``difference`` (layers + 1, d) is the target language's mean less the source's; at each of ``layers`` (0 is the
    embedding output) each of ``weights`` times it is added. The blocks below a layer are computed once, whatever the
    number of layers and weights. Raises :class:`UserError` on a layer that the model does not have, a difference of
    another shape, and a model that predicts no tokens.
    """
    blocks, width = blocks_of(model), int(model.config.hidden_size)
    if any(not 0 <= layer <= len(blocks) for layer in layers):
        raise UserError(f"layers {list(layers)}: the model has layers 0 to {len(blocks)}")
    if difference.shape != (len(blocks) + 1, width):
        raise UserError(f"difference of shape {difference.shape}: the model takes {(len(blocks) + 1, width)}")
    moves = torch.as_tensor(difference, dtype=model.dtype, device=model.device)
    found = np.empty((len(layers), len(weights), len(texts)), dtype=object)
    for start in range(0, len(texts), batch):
        inputs = encode(model, tokenizer, texts[start : start + batch])
        inner = inputs["attention_mask"].bool() & ~inputs.pop("special_tokens_mask").bool()
        with recording(blocks) as kept:
            output = model.eval()(**inputs)
        if "logits" not in output or output.logits.shape[:2] != inner.shape:
            raise UserError(f"{type(model).__name__} predicts no tokens: a masked language model is needed")
        for i, layer in enumerate(layers):
            for j, weight in enumerate(weights):
                with _resumed(blocks, layer, kept, state_of(kept[layer]) + weight * moves[layer]):
                    best = model(**inputs).logits.argmax(dim=-1)
                for row in range(len(best)):
                    found[i, j, start + row] = best[row][inner[row]].cpu().numpy()
    return found


@contextmanager
def _resumed(blocks: nn.ModuleList, layer: int, kept: Sequence[Any], state: Tensor) -> Iterator[None]:
    """The model goes on from ``state`` at ``layer``: blocks up to it give out at once what they gave before."""
    with ExitStack() as undone:
        for number, block in enumerate(blocks[:layer], 1):
            output = _with_state(kept[number], state) if number == layer else kept[number]
            undone.enter_context(patch.object(block, "forward", lambda *_, given=output, **__: given))
        if layer == 0:
            hook = blocks[0].register_forward_pre_hook(lambda _, inputs: (state, *inputs[1:]))
            undone.callback(hook.remove)
        yield


def _with_state(output: Any, state: Tensor) -> Any:
    return (state, *output[1:]) if isinstance(output, tuple) else state
