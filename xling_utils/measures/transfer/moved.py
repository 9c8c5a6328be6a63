"""A masked language model whose states are moved, at one layer, by a vector of the language that it reads."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from xling_utils.core.errors import UserError
from xling_utils.measures.encoders import hidden_states
from xling_utils.measures.encoders.hidden_states import LanguageModel
from xling_utils.measures.encoders.representations import shifted
from xling_utils.measures.transfer.readers import TransformersReader


class MovedReader(TransformersReader):
    """Reads with a model of any family, in training and in testing alike.

    ``moves[language]`` (d,) is added to every token's state at ``layer`` (0 is the embedding output) while the reader
    reads that language; a language without one is read as the model has it. The second segment is used where the
    model has one. Raises :class:`UserError` on a layer that the model does not have.
    """

    def __init__(self, lm: LanguageModel, layer: int) -> None:
        super().__init__(lm)
        if not 0 <= layer <= lm.layers:
            raise UserError(f"layer {layer}: the model has layers 0 to {lm.layers}")
        self.layer = layer
        self.moves: Mapping[str, npt.NDArray[np.floating]] = {}
        self.types = self.types and getattr(lm.model.config, "type_vocab_size", 0) > 1

    def states(self, language: str, ids: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        if language not in self.moves:
            return super().states(language, ids, mask, segments)
        with shifted(self.body, self.layer, self.moves[language]):
            return super().states(language, ids, mask, segments)

    def freeze_below(self, layer: int) -> None:
        """From now on fine-tuning leaves alone every weight that the states at ``layer`` depend on: the embeddings
        and the blocks up to it, whatever the family calls them."""
        trained = [parameter for parameter in self.body.parameters() if parameter.requires_grad]
        ids = torch.tensor([[self.start, self.end]], device=trained[0].device)
        with hidden_states.recording(hidden_states.blocks_of(self.body)) as kept:
            self.body.eval()(input_ids=ids, attention_mask=torch.ones_like(ids))
        state = hidden_states.state_of(kept[layer])
        if not state.requires_grad:
            return
        slopes = torch.autograd.grad(state.sum(), trained, allow_unused=True)
        for parameter, slope in zip(trained, slopes, strict=True):
            if slope is not None:
                parameter.requires_grad_(False)
