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

from xling_utils.core.errors import UserError
from xling_utils.measures.encoders.hidden_states import BATCH, LanguageModel, blocks_of, recording, state_of

Array = npt.NDArray[np.floating]

PLACES = 1024
"""Places that are predicted at once: the scores of a vocabulary of 120,000 then take half a gigabyte."""


@torch.inference_mode()
def predicted(
    lm: LanguageModel,
    texts: Sequence[str],
    difference: Array,
    layers: Sequence[int],
    weights: Sequence[float],
    batch: int = BATCH,
) -> npt.NDArray[np.object_]:
    """The ids that the model predicts where each text has its tokens, special ones left out: an object array
    (layers, weights, texts) of int64 arrays.

    ``difference`` (layers + 1, d) is the target language's mean less the source's; at each of ``layers`` (0 is the
    embedding output) each of ``weights`` times it is added. Texts of about the same length are read together, the
    blocks below a layer are computed once, whatever the number of layers and weights, those above it for all weights
    at once (at most ``batch`` pairs of text and weight, or one text), and the prediction head reads the places that
    are answered for and no others. Raises :class:`UserError` on a layer that the model does not have, a difference of
    another shape, no layer or weight, and a model that predicts no tokens.
    """
    model = lm.model
    blocks, width = blocks_of(model), int(model.config.hidden_size)
    if any(not 0 <= layer <= len(blocks) for layer in layers):
        raise UserError(f"layers {list(layers)}: the model has layers 0 to {len(blocks)}")
    if difference.shape != (len(blocks) + 1, width):
        raise UserError(f"difference of shape {difference.shape}: the model takes {(len(blocks) + 1, width)}")
    if not len(layers) or not len(weights):
        raise UserError("token translation: no layer, or no weight of the difference; give at least one of each")
    moves = torch.as_tensor(difference, dtype=model.dtype, device=model.device)
    found = np.empty((len(layers), len(weights), len(texts)), dtype=object)
    model.eval()
    for rows in _by_length(lm.tokenizer, texts, max(1, batch // len(weights))):
        inputs = lm.encode([texts[row] for row in rows])
        inner = inputs["attention_mask"].bool() & ~inputs.pop("special_tokens_mask").bool()
        with recording(blocks) as kept, _one_place(blocks):
            output = model(**inputs)
        if "logits" not in output or output.logits.shape[:-1] != (1, 1):
            raise UserError(f"{type(model).__name__} predicts no tokens: a masked language model is needed")
        many = {name: values.repeat(len(weights), 1) for name, values in inputs.items()}
        reached = []
        for layer in layers:
            moved = torch.cat([state_of(kept[layer]) + weight * moves[layer] for weight in weights])
            if layer < len(blocks):
                with _resumed(blocks, layer, kept, moved), recording(blocks) as above, _one_place(blocks):
                    model(**many)
                moved = state_of(above[-1])
            reached.append(moved[inner.repeat(len(weights), 1)])
        best = _best(model, blocks, inputs, kept, torch.cat(reached)).cpu().numpy()
        ends = inner.sum(dim=1).repeat(len(layers) * len(weights)).cumsum(dim=0).tolist()
        every = np.ndindex(len(layers), len(weights), len(rows))
        for (i, j, row), ids in zip(every, np.split(best, ends[:-1]), strict=True):
            found[i, j, rows[row]] = ids
    return found


def _by_length(tokenizer: Any, texts: Sequence[str], group: int) -> Iterator[list[int]]:
    """The numbers of ``texts``, at most ``group`` at a time and so that little is padded."""
    lengths = [len(ids) for ids in tokenizer(list(texts), verbose=False)["input_ids"]] if texts else []
    order = sorted(range(len(texts)), key=lengths.__getitem__)
    return (order[start : start + group] for start in range(0, len(order), group))


def _best(model: Any, blocks: nn.ModuleList, inputs: dict[str, Tensor], kept: Sequence[Any], states: Tensor) -> Tensor:
    """What is predicted at the last layer's ``states`` (places, d), int64 (places,): what comes after the last block
    takes each place for itself, so it can be given those of many texts as if they were one."""
    first = {name: values[:1, :1] for name, values in inputs.items()}
    found = []
    for some in states.split(PLACES):
        with _resumed(blocks, len(blocks), kept, some[None]):
            found.append(model(**first).logits[0].argmax(dim=-1))
    return torch.cat(found)


@contextmanager
def _one_place(blocks: nn.ModuleList) -> Iterator[None]:
    """What comes after the last block gets the first place of the first text only: its predictions are not used."""
    hook = blocks[-1].register_forward_hook(lambda _, __, output: _with_state(output, state_of(output)[:1, :1]))
    try:
        yield
    finally:
        hook.remove()


@contextmanager
def _resumed(blocks: nn.ModuleList, layer: int, kept: Sequence[Any], state: Tensor) -> Iterator[None]:
    """The model goes on from ``state`` at ``layer``: blocks up to it compute nothing and give it out."""
    with ExitStack() as undone:
        for block in blocks[:layer]:
            output = _with_state(kept[layer], state)
            undone.enter_context(patch.object(block, "forward", lambda *_, given=output, **__: given))
        if layer == 0:
            hook = blocks[0].register_forward_pre_hook(lambda _, inputs: (state, *inputs[1:]))
            undone.callback(hook.remove)
        yield


def _with_state(output: Any, state: Tensor) -> Any:
    return (state, *output[1:]) if isinstance(output, tuple) else state
