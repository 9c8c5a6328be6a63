"""Word pieces: one tokenizer a run, the same five special tokens in all, and the flat stream that models read.

Text arrives with its words separated by spaces (``corpora.text`` sees to scripts that write none), so
splitting is on white space alone and a tokenizer knows nothing of languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from xling_utils.errors import UserError
from xling_utils.specs import TokenizerSpec

if TYPE_CHECKING:
    from datasets import Dataset
    from tokenizers import Tokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(5)
FIRST = 5
"""Lowest id of an ordinary token."""
MINIMUM_PIECE_FREQUENCY = 2


@dataclass(frozen=True)
class TokenStream:
    """A language's text as ids, every sentence closed by ``[SEP]``.

    ``ids`` int32 (tokens,); ``starts`` int64 (sentences,), where each sentence begins; ``documents`` int64
    (sentences,), the number of its document.
    """

    ids: np.ndarray
    starts: np.ndarray
    documents: np.ndarray


def build(spec: TokenizerSpec, corpora: dict[str, Dataset], data: Path | None = None) -> Tokenizer:
    """The tokenizer of a run: WordPiece trained on all its languages together, or multilingual BERT's.

    Multilingual BERT's vocabulary keeps its pieces; its five special tokens move to ids 0 to 4 as everywhere
    here. Deterministic. Raises :class:`UserError` on an unknown kind or a size too small for the characters.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    if spec.kind == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece(unk_token=SPECIAL[UNK], max_input_chars_per_word=100))
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        trainer = trainers.WordPieceTrainer(
            vocab_size=spec.size,
            min_frequency=MINIMUM_PIECE_FREQUENCY,
            special_tokens=list(SPECIAL),
            show_progress=False,
        )
        tokenizer.train_from_iterator(chain.from_iterable(d["text"] for d in corpora.values()), trainer)
        if tokenizer.get_vocab_size() > spec.size:
            raise UserError(
                f"tokenizer: {spec.size} pieces are fewer than the characters of this text; "
                f"give at least {tokenizer.get_vocab_size()}"
            )
    elif spec.kind == "mbert":
        from xling_utils.corpora.directory import mbert_vocabulary

        if data is None or spec.size:
            raise UserError("tokenizer: mbert takes its vocabulary from the data directory, and size 0")
        lines = mbert_vocabulary(data).read_text(encoding="utf-8").split("\n")
        pieces = [*SPECIAL, *(line for line in lines if line and line not in SPECIAL)]
        model = models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token=SPECIAL[UNK])
        tokenizer = Tokenizer(model)
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        tokenizer.add_special_tokens(list(SPECIAL))
    else:
        raise UserError(f"tokenizer: unknown kind {spec.kind!r}; known: wordpiece, mbert")
    tokenizer.encode_special_tokens = True  # "[MASK]" written in the text is text
    return tokenizer


def load(path: Path) -> Tokenizer:
    """Reads a ``tokenizer.json``; special tokens written in text stay text."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.encode_special_tokens = True
    return tokenizer


def encode_words(tokenizer: Tokenizer, words: Sequence[str]) -> list[tuple[int, ...]]:
    """The pieces of each word, as ids."""
    return [tuple(e.ids) for e in tokenizer.encode_batch_fast(list(words), add_special_tokens=False)]


def stream(tokenizer: Tokenizer, dataset: Dataset) -> TokenStream:
    """Encodes a corpus (columns ``text``, ``document``); a sentence without tokens is left out."""
    encoded: Iterable[list[int]] = (
        encoding.ids
        for batch in dataset.iter(batch_size=2000)
        for encoding in tokenizer.encode_batch_fast(batch["text"], add_special_tokens=False)
    )
    pieces, lengths, documents = [], [], []
    for ids, document in zip(encoded, dataset["document"], strict=True):
        if ids:
            pieces.append(np.array([*ids, SEP], dtype=np.int32))
            lengths.append(len(ids) + 1)
            documents.append(document)
    if not pieces:
        raise UserError("tokenizer: the corpus holds no tokens")
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    return TokenStream(np.concatenate(pieces), starts, np.array(documents, dtype=np.int64))
