"""What reads labelled data: this book's encoders, any masked language model of ``transformers``, or static vectors.

A reader turns text into ids, and ids into one vector a token, the last layer's. A task puts its head on these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from xling_utils.core.errors import UserError
from xling_utils.measures.encoders.hidden_states import LanguageModel
from xling_utils.models.encoder import Encoders
from xling_utils.models.optimizers import Matrices
from xling_utils.models.tokenization import CLS, PAD, UNK, Coder


class Reader(nn.Module):
    """A model with its languages. ``width`` of its vectors; ``limit``, the tokens an input has at most; the ids
    that begin (``start``) and fill (``padding``) an input, and ``unknown``; ``mixes`` tells whether one input may
    hold two languages. Parameters that fine-tuning leaves alone have ``requires_grad`` off."""

    width: int
    limit: int
    start: int = CLS
    padding: int = PAD
    unknown: int = UNK
    mixes: bool = False

    def encode(self, language: str, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text, without special tokens."""
        raise NotImplementedError

    def separator(self, language: str) -> int:
        """The id that closes a sentence of ``language``."""
        raise NotImplementedError

    def matrices(self) -> Matrices:
        """The weights between its layers that Muon may train, see :func:`optimizers.build`: none."""
        return {}

    def states(self, language: str, ids: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """``ids``, ``mask`` (1 = token) and ``segments`` (0 or 1), all int64 (batch, length), padded on the right
        -> the last layer, (batch, length, width)."""
        raise NotImplementedError


class CodedReader(Reader):
    """A reader of a run: its text becomes ids as in pretraining. Raises :class:`UserError` on languages with special
    tokens of their own: an input begins alike in all."""

    def __init__(self, coders: Mapping[str, Coder]) -> None:
        super().__init__()
        if any(coder.special for coder in coders.values()):
            raise UserError("transfer: takes languages that share their special tokens")
        self.coders = dict(coders)

    def encode(self, language: str, texts: Sequence[str]) -> list[list[int]]:
        return self.coders[language].encode(texts)

    def separator(self, language: str) -> int:
        return self.coders[language].separator


class EncoderReader(CodedReader):
    """The encoders of a run. Word embeddings are frozen, and so is every parameter of the English encoder that
    the encoder of another language does not have: C freezes the parts that languages do not share (sec. 4.3).

    The second segment is used only by encoders that met it, in next sentence prediction; to the others it is noise.
    """

    def __init__(self, encoders: Encoders, coders: Mapping[str, Coder]) -> None:
        super().__init__(coders)
        self.encoders = encoders
        english = encoders.of("en")
        self.width, self.limit = english.spec.width, english.spec.positions
        self.mixes = len(encoders.members) == 1
        shared = set.intersection(*({id(p) for p in encoders.of(lang).parameters()} for lang in encoders.languages))
        for parameter in encoders.parameters():
            parameter.requires_grad_(id(parameter) in shared)
        english.words.requires_grad_(False)

    def matrices(self) -> Matrices:
        return {
            parts: [parameter for parameter in several if parameter.requires_grad]
            for parts, several in self.encoders.matrices().items()
        }

    def states(self, language: str, ids: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        encoder = self.encoders.of(language)
        return encoder.hidden_states(ids, mask, segments if encoder.spec.next_sentence else None)[-1]


class TransformersReader(Reader):
    """Any masked language model of ``transformers``; one for all languages. Word embeddings are frozen."""

    mixes = True

    def __init__(self, lm: LanguageModel) -> None:
        super().__init__()
        self.body, self.tokenizer = lm.model.base_model, (tokenizer := lm.tokenizer)
        self.width, self.limit = int(lm.model.config.hidden_size), lm.limit
        self.start, self.end = tokenizer.cls_token_id, tokenizer.sep_token_id
        if None in (self.start, self.end):
            raise UserError("the tokenizer lacks a token that begins or ends an input; fine-tuning needs both")
        self.padding, self.unknown = tokenizer.pad_token_id, tokenizer.unk_token_id
        self.types = "token_type_ids" in tokenizer.model_input_names
        self.body.get_input_embeddings().requires_grad_(False)

    def encode(self, language: str, texts: Sequence[str]) -> list[list[int]]:
        return self.tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]

    def separator(self, language: str) -> int:
        return self.end

    def states(self, language: str, ids: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        types = {"token_type_ids": segments} if self.types else {}
        return self.body(input_ids=ids, attention_mask=mask, **types).last_hidden_state


class StaticReader(CodedReader):
    """Frozen word vectors under one bidirectional LSTM as wide as they are, the same for word2vec and GloVe and
    for every amount of text. A and B do not say what they put on theirs; this is what XNLI's authors put on word
    vectors (X-BiLSTM, Conneau et al. 2018, sec. 4.2), and E on features for named entities, without its CRF.

    ``vectors`` float (vocabulary, width); they are scaled to a mean square of 1, so that methods whose vectors
    differ in length start alike.
    """

    def __init__(self, vectors: npt.NDArray[np.float32], coders: Mapping[str, Coder], limit: int) -> None:
        super().__init__(coders)
        self.width, self.limit = vectors.shape[1], limit
        scaled = torch.from_numpy(vectors) / float(np.sqrt((vectors[vectors.any(axis=1)] ** 2).mean()))
        self.vectors = nn.Embedding.from_pretrained(scaled, freeze=True)
        self.lstm = nn.LSTM(self.width, self.width // 2, batch_first=True, bidirectional=True)

    def states(self, language: str, ids: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        lengths = mask.sum(dim=1).cpu()
        packed = pack_padded_sequence(self.vectors(ids), lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=ids.shape[1])[0]
