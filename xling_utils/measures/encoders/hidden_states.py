"""Any language model of ``transformers``, opened: text in, states of all layers out.

Nothing is known of a model by name. Its blocks are the module list as long as its configuration has layers; layer 0 is
what the first block takes in, layer l what block l gives out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from xling_utils.core.errors import UserError

POSITIONS = 512
"""Tokens that are read where a model does not say how many it takes."""
BATCH = 64
"""Texts that are read at a time where each is read many times over."""
PLACES = 4096
"""Places that are read at a time, those of padding included."""
CHUNK = 4096
"""Texts that are sorted by length together."""
POOLINGS = "mean", "weighted", "last", "first"
"""What stands for a sentence: the mean of its tokens; the same with weights 1, 2, 3, ..., since a decoder's later
tokens have read more (Muennighoff 2022, SGPT); its last token, or its first. What a tokenizer adds counts as first and
last (``[CLS]``), and in no mean."""


def device() -> torch.device:
    """What models are read and fine-tuned on: the GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def blocks_of(model: Any) -> nn.ModuleList:
    """The transformer blocks of a ``PreTrainedModel``, first to last.

    Raises :class:`UserError` if there is not exactly one list of as many modules as its configuration has layers, or if
    that tells of none.
    """
    count = getattr(model.config, "num_hidden_layers", None)
    if count is None:
        raise UserError(f"{type(model).__name__}: its configuration tells of no layers; use a model of text alone")
    lists = [module for module in model.modules() if isinstance(module, nn.ModuleList) and len(module) == count]
    outer = [found for found in lists if not any(found in other.modules() for other in lists if other is not found)]
    if len(outer) != 1:
        raise UserError(
            f"{type(model).__name__}: {len(outer)} lists of {count} modules, so its layers cannot be told; "
            "use an encoder whose blocks stand in one list"
        )
    return outer[0]


def known_ids(model: Any) -> int:
    """How many tokens a ``PreTrainedModel`` has embeddings of. Raises :class:`UserError` if it has none."""
    try:
        return int(model.get_input_embeddings().num_embeddings)
    except (NotImplementedError, AttributeError):
        raise UserError(f"{type(model).__name__}: it has no embedding for each token; use another model") from None


@dataclass(frozen=True)
class States:
    """States of a batch: ``rows`` of it are the numbers of texts; ``layers`` float32 (layers + 1, batch, length, d);
    ``tokens`` and ``special`` bool (batch, length): which places hold a token, and which of these hold one that the
    tokenizer added; ``ids`` int64."""

    rows: list[int]
    layers: Tensor
    tokens: Tensor
    special: Tensor
    ids: Tensor

    def weights(self, pooling: str) -> Tensor:
        """How much each token counts in what stands for its text by one of :data:`POOLINGS`: float32 (batch, length),
        of sum 1; zero where a text has no token. Raises :class:`UserError` on another."""
        if pooling not in POOLINGS:
            raise UserError(f"pooling {pooling!r:.80}: known are {', '.join(POOLINGS)}")
        inner = (self.tokens & ~self.special).float()
        places = torch.arange(inner.shape[1], device=inner.device)
        if pooling == "first":
            inner = (self.tokens & (places == 0)).float()
        elif pooling == "last":
            inner = (self.tokens & (places == self.tokens.sum(dim=1, keepdim=True) - 1)).float()
        elif pooling == "weighted":
            inner = inner * inner.cumsum(dim=1)
        return inner / inner.sum(dim=1, keepdim=True).clamp(min=1)

    def pooled(self, pooling: str) -> Tensor:
        """What stands for each text at every layer, float32 (layers + 1, batch, d); see :meth:`weights`."""
        return (self.weights(pooling)[None, :, None] @ self.layers)[:, :, 0]


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """``model``, a language model of ``transformers`` or its encoder, with its ``tokenizer``; ``pooling`` says what
    stands for a sentence. Everything that reads text with one reads it through this."""

    model: Any
    tokenizer: Any
    pooling: str = field(default="mean", kw_only=True)

    @property
    def predicts(self) -> bool:
        """Whether it has a head that predicts tokens at every place, as a masked language model does. Of others the
        states alone are read, and no head is loaded."""
        return self.model.base_model is not self.model

    @property
    def layers(self) -> int:
        """Its blocks; layer 0, the embedding output, is not counted."""
        return len(blocks_of(self.model))

    @property
    def limit(self) -> int:
        """The tokens that it takes at most."""
        positions = int(getattr(self.model.config, "max_position_embeddings", POSITIONS))
        positions = positions if positions > 0 else POSITIONS  # XLNet's for "any"
        words = self.model.get_input_embeddings()
        unused = [  # RoBERTa's family counts positions from behind that of padding
            part.padding_idx + 1
            for part in self.model.modules()
            if isinstance(part, nn.Embedding) and part.num_embeddings == positions and part is not words
            if part.padding_idx is not None
        ]
        return min(positions - max(unused, default=0), int(self.tokenizer.model_max_length))

    @torch.inference_mode()
    def states(self, texts: Sequence[str], places: int = PLACES) -> Iterator[States]:
        """States of ``texts`` at every layer, as many texts at a time as fill so many ``places``, and one at least.
        Texts of about the same length are read together, so the batches are in no order; texts longer than the model
        takes are cut, and a batch of none that has a token has no place. Raises :class:`UserError` if the tokenizer has
        ids that the model does not know."""
        blocks = blocks_of(self.model)
        for start in range(0, len(texts), CHUNK):
            encoded = self._encoded(texts[start : start + CHUNK])
            lengths = [len(ids) for ids in encoded["input_ids"]]
            for rows in _by_length(lengths, places):
                if not any(lengths[row] for row in rows):
                    yield self._nothing([start + row for row in rows])
                    continue
                inputs = self._padded({name: [of[row] for row in rows] for name, of in encoded.items()})
                special = inputs.pop("special_tokens_mask").bool()
                with recording(blocks) as kept:
                    self.model.base_model.eval()(**inputs)  # without its prediction head, which costs most
                tokens = inputs["attention_mask"].bool()
                layers = torch.stack([state_of(output) for output in kept]).float()
                yield States([start + row for row in rows], layers, tokens, special & tokens, inputs["input_ids"])

    def _nothing(self, rows: list[int]) -> States:
        device, no = self.model.device, (len(rows), 0)
        layers = torch.zeros(self.layers + 1, *no, int(self.model.config.hidden_size), device=device)
        none = torch.zeros(no, dtype=torch.bool, device=device)
        return States(rows, layers, none, none, torch.zeros(no, dtype=torch.int64, device=device))

    def encode(self, texts: Sequence[str]) -> dict[str, Tensor]:
        """``texts`` as inputs and ``special_tokens_mask``, padded on the right and cut to what the model takes."""
        return self._padded(self._encoded(texts))

    def _encoded(self, texts: Sequence[str]) -> dict[str, list[list[int]]]:
        """The same as lists of numbers, without padding."""
        encoded = dict(
            self.tokenizer(list(texts), truncation=True, max_length=self.limit, return_special_tokens_mask=True)
        )
        known = known_ids(self.model)
        highest = max((max(ids, default=0) for ids in encoded["input_ids"]), default=0)
        if highest >= known:
            raise UserError(f"the tokenizer does not fit the model: id {highest} of {known}")
        return encoded

    def _padded(self, encoded: Mapping[str, Sequence[Sequence[int]]]) -> dict[str, Tensor]:
        padding = {"input_ids": self.tokenizer.pad_token_id or 0, "token_type_ids": self.tokenizer.pad_token_type_id}
        rows = next(iter(encoded.values()))
        inputs = {}
        for name, lists in encoded.items():
            grid = np.full((len(rows), max(map(len, rows))), padding.get(name, 0), dtype=np.int64)
            for row, numbers in enumerate(lists):
                grid[row, : len(numbers)] = numbers
            inputs[name] = torch.from_numpy(grid).to(self.model.device)
        return inputs


def _by_length(lengths: Sequence[int], places: int) -> Iterator[list[int]]:
    """The numbers of all texts, those of about the same length together; within a batch in their order."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[row] > places:
            yield sorted(batch)
            batch = []
        batch.append(row)
    if batch:
        yield sorted(batch)


@contextmanager
def recording(blocks: nn.ModuleList) -> Iterator[list[Any]]:
    """Within it, a pass of the model leaves what the first block takes in and what every block gives out: a state, or
    a tuple that begins with one (see :func:`state_of`)."""
    kept: list[Any] = []
    with ExitStack() as hooks:
        first = blocks[0].register_forward_pre_hook(lambda _, inputs: kept.append(inputs[0]))
        hooks.callback(first.remove)
        for block in blocks:
            each = block.register_forward_hook(lambda _, __, output: kept.append(output))
            hooks.callback(each.remove)
        yield kept


def state_of(output: Any) -> Tensor:
    """The state in what a block gives out."""
    return output[0] if isinstance(output, tuple) else output


@contextmanager
def silently() -> Iterator[None]:
    """No bar of transformers' for a model that loads in a moment, and no table of weights that are not read."""
    from transformers.utils import logging

    shown, told = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity(logging.CRITICAL)
    try:
        yield
    finally:
        logging.set_verbosity(told)
        if shown:
            logging.enable_progress_bar()
