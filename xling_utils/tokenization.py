"""Word pieces: one tokenizer a run, the same five special tokens in all, and the stream that models read.

Text arrives with its words separated by spaces (``corpora.text`` sees to scripts that write none), so
splitting is on white space (and before and after ``[``, so that "[MASK]" in a text is never the mask) and a
tokenizer knows nothing of languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from xling_utils.errors import UserError
from xling_utils.specs import TokenizerSpec

if TYPE_CHECKING:
    from datasets import Dataset
    from tokenizers import Tokenizer
    from tokenizers.pre_tokenizers import PreTokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(5)
FIRST = 5
"""Lowest id of an ordinary token."""
MINIMUM_PIECE_FREQUENCY = 2
CONTINUES = "##"
"""Prefix of a piece that continues a word."""


@dataclass(frozen=True)
class TokenStream:
    """A language's text as ids, every sentence closed by ``[SEP]``.

    ``ids`` int32 (tokens,); ``starts`` int64 (sentences,), where each sentence begins; ``documents`` int64
    (sentences,), the number of its document; ``inside`` bool (tokens,), True where a piece continues a word.
    """

    ids: np.ndarray
    starts: np.ndarray
    documents: np.ndarray
    inside: np.ndarray


def build(spec: TokenizerSpec, corpora: dict[str, Dataset], data: Path | None = None) -> Tokenizer:
    """The tokenizer of a run: WordPiece trained on all its languages together, or multilingual BERT's.

    Multilingual BERT's vocabulary keeps its pieces; its five special tokens move to ids 0 to 4 as everywhere
    here. The same text gives the same tokenizer in every process. Raises :class:`UserError` on an unknown
    kind or a size too small for the characters.
    """
    if spec.kind == "wordpiece":
        return _tokenizer(_trained_pieces(spec.size, corpora))
    if spec.kind != "mbert":
        raise UserError(f"tokenizer: unknown kind {spec.kind!r}; known: wordpiece, mbert")
    from xling_utils.corpora.directory import mbert_vocabulary

    if data is None or spec.size:
        raise UserError("tokenizer: mbert takes its vocabulary from the data directory, and size 0")
    lines = mbert_vocabulary(data).read_text(encoding="utf-8").split("\n")
    return _tokenizer(list(dict.fromkeys([*SPECIAL, *filter(None, lines)])))


def _trained_pieces(size: int, corpora: dict[str, Dataset]) -> list[str]:
    """WordPiece pieces of the text, in the order of their ids."""
    from tokenizers import Tokenizer, models, trainers

    def lines() -> Iterator[str]:
        return (line for text in corpora.values() for batch in text.iter(2000) for line in batch["text"])

    words = {word for line in lines() for word in line.replace("[", " [ ").split()}
    # The trainer would number these in an order that differs in every process, and numbers break its ties.
    continuing = sorted({CONTINUES + character for word in words for character in word[1:]})
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=MINIMUM_PIECE_FREQUENCY,
        special_tokens=[*SPECIAL, *continuing],
        show_progress=False,
    )
    tokenizer = Tokenizer(models.WordPiece(unk_token=SPECIAL[UNK]))
    tokenizer.pre_tokenizer = _splitting()
    tokenizer.train_from_iterator(lines(), trainer)
    vocabulary = tokenizer.get_vocab()
    if len(vocabulary) > size:
        raise UserError(
            f"tokenizer: {size} pieces are fewer than the characters of this text; give at least {len(vocabulary)}"
        )
    return sorted(vocabulary, key=vocabulary.__getitem__)


def _splitting() -> PreTokenizer:
    from tokenizers import pre_tokenizers

    return pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split("[", "isolated")])


def _tokenizer(pieces: Sequence[str]) -> Tokenizer:
    from tokenizers import Tokenizer, models

    tokenizer = Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token=SPECIAL[UNK]))
    tokenizer.pre_tokenizer = _splitting()
    tokenizer.add_special_tokens(list(SPECIAL))
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
    for sentence, document in zip(encoded, dataset["document"], strict=True):
        if sentence:
            pieces.append(np.array([*sentence, SEP], dtype=np.int32))
            lengths.append(len(sentence) + 1)
            documents.append(document)
    if not pieces:
        raise UserError("tokenizer: the corpus holds no tokens")
    ids = np.concatenate(pieces)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    vocabulary = tokenizer.get_vocab()
    continuing = [piece.startswith(CONTINUES) for piece in sorted(vocabulary, key=vocabulary.__getitem__)]
    return TokenStream(ids, starts, np.array(documents, dtype=np.int64), np.array(continuing)[ids])
