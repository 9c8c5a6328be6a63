"""Word pieces: one tokenizer a run, the same five special tokens in all, and the stream that models read.

Text arrives with its words separated by spaces (``corpora.text`` sees to scripts that write none), so
splitting is on white space (and before and after ``[``, so that "[MASK]" in a text is never the mask) and a
tokenizer knows nothing of languages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from xling_utils.core import memory_mapped
from xling_utils.core.errors import UserError
from xling_utils.core.specs import TokenizerSpec

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
    """A language's text as ids, every sentence closed by its separator.

    ``ids`` int32 (tokens,); ``starts`` int64 (sentences,), where each sentence begins; ``documents`` int64
    (sentences,), the number of its document; ``inside`` bool (tokens,), True where a piece continues a word.
    ``ordinary`` bounds the language's ids but the special ones (the second excluded). ``special`` is what its special
    tokens are moved by.
    """

    ids: np.ndarray
    starts: np.ndarray
    documents: np.ndarray
    inside: np.ndarray
    ordinary: tuple[int, int]
    separator: int = SEP
    special: int = 0

    @property
    def start(self) -> int:
        """The id of the language's ``[CLS]``."""
        return CLS + self.special

    @property
    def mask(self) -> int:
        """The id of the language's ``[MASK]``."""
        return MASK + self.special


def without_inner_separators(stream: TokenStream) -> np.ndarray:
    """The stream's ids, int32, with separators at the ends of documents only."""
    ends = np.append(stream.starts[1:], len(stream.ids)) - 1
    inner = ends[:-1][stream.documents[1:] == stream.documents[:-1]]
    return np.delete(stream.ids, inner)


KINDS = ("wordpiece", "characters", "words", "mbert")


def build(spec: TokenizerSpec, corpora: dict[str, Dataset], data: Path | None = None) -> Tokenizer:
    """The tokenizer of a run: one vocabulary for all its languages together, or multilingual BERT's.

    All kinds are WordPiece tokenizers and differ in their vocabulary: trained pieces, single characters, or whole
    words (then a word outside the vocabulary is ``[UNK]``). Multilingual BERT's vocabulary keeps its pieces; its
    five special tokens move to ids 0 to 4 as everywhere here. The same text gives the same tokenizer in every
    process. Raises :class:`UserError` on an unknown kind or a size too small for the characters or any word.
    """
    if spec.kind not in KINDS:
        raise UserError(f"tokenizer: unknown kind {spec.kind!r}; known: {', '.join(KINDS)}")
    if spec.kind == "wordpiece":
        return _tokenizer(_trained_pieces(spec.size, corpora))
    if spec.kind == "characters":
        return _tokenizer([*SPECIAL, *_characters(_word_counts(corpora))])
    if spec.kind == "words":
        if spec.size <= FIRST:
            raise UserError(f"tokenizer: size {spec.size} leaves no word beside {FIRST} special tokens; give more")
        frequent = sorted(_word_counts(corpora).items(), key=lambda item: (-item[1], item[0]))
        return _tokenizer([*SPECIAL, *(word for word, _ in frequent[: spec.size - FIRST])])
    from xling_utils.corpora.directory import mbert_vocabulary
    from xling_utils.corpora.lines import read_lines

    if data is None or spec.size:
        raise UserError("tokenizer: mbert takes its vocabulary from the data directory, and size 0")
    lines = (line for _, line in read_lines(mbert_vocabulary(data)))
    return _tokenizer(list(dict.fromkeys([*SPECIAL, *filter(None, lines)])))


def _lines(corpora: dict[str, Dataset]) -> Iterator[str]:
    return (line for text in corpora.values() for batch in text.iter(2000) for line in batch["text"])


def _word_counts(corpora: dict[str, Dataset]) -> Counter[str]:
    return Counter(word for line in _lines(corpora) for word in line.replace("[", " [ ").split())


def _characters(words: Iterable[str]) -> list[str]:
    """Every character that begins a word, then every one that continues one, marked."""
    words = list(words)
    inside = {character for word in words for character in word[1:]}
    return [*sorted({word[0] for word in words}), *sorted(CONTINUES + character for character in inside)]


def _trained_pieces(size: int, corpora: dict[str, Dataset]) -> list[str]:
    """WordPiece pieces of the text, in the order of their ids."""
    from tokenizers import Tokenizer, models, trainers

    # The trainer would number these in an order that differs in every process, and numbers break its ties.
    continuing = [piece for piece in _characters(_word_counts(corpora)) if piece.startswith(CONTINUES)]
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=MINIMUM_PIECE_FREQUENCY,
        special_tokens=[*SPECIAL, *continuing],
        show_progress=False,
    )
    tokenizer = Tokenizer(models.WordPiece(unk_token=SPECIAL[UNK]))
    tokenizer.pre_tokenizer = _splitting()
    tokenizer.train_from_iterator(_lines(corpora), trainer)
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
    return _of_vocabulary({piece: number for number, piece in enumerate(pieces)})


def _of_vocabulary(ids: dict[str, int]) -> Tokenizer:
    from tokenizers import Tokenizer, models

    tokenizer = Tokenizer(models.WordPiece(ids, unk_token=SPECIAL[UNK]))
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


def vocabulary_size(tokenizer: Tokenizer, spec: TokenizerSpec, languages: Sequence[str]) -> int:
    """Ids that a run's languages use between them."""
    return id_count(tokenizer.get_vocab_size(), spec, len(languages))


def id_count(pieces: int, spec: TokenizerSpec, languages: int) -> int:
    """Ids that so many languages use between them with a vocabulary of ``pieces``."""
    size = FIRST + (pieces - FIRST) * languages if spec.separate else pieces
    return size + languages * spec.markers + FIRST * (languages - 1) * spec.specials


@dataclass(frozen=True)
class Coder:
    """How the text of one language becomes ids: ``shift`` is added to those of ordinary tokens, ``special`` to those of
    special ones, ``separator`` closes a sentence."""

    tokenizer: Tokenizer
    shift: int = 0
    separator: int = SEP
    special: int = 0

    def own_tokenizer(self) -> Tokenizer:
        """The tokenizer with the language's own ids in place of the usual ones."""
        if not (self.shift or self.special):
            return self.tokenizer
        return _of_vocabulary({piece: self._own(i) for piece, i in self.tokenizer.get_vocab().items()})

    def _own(self, usual: int) -> int:
        return usual + (self.shift if usual >= FIRST else self.special)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text, without special tokens."""
        encoded = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        if not (self.shift or self.special):
            return [encoding.ids for encoding in encoded]
        return [[self._own(i) for i in encoding.ids] for encoding in encoded]

    def stream(self, dataset: Dataset) -> TokenStream:
        """Encodes a corpus (columns ``text``, ``document``); a sentence without tokens is left out. The arrays are
        mapped from disk. Raises :class:`UserError` if no token is left."""
        vocabulary = self.tokenizer.get_vocab()
        continuing = [i + self.shift for piece, i in vocabulary.items() if piece.startswith(CONTINUES)]
        ids, starts, documents, inside = (
            memory_mapped.Growing(kind) for kind in (np.int32, np.int64, np.int64, np.bool_)
        )
        for batch in dataset.iter(batch_size=memory_mapped.ROWS):
            encoded = zip(self.encode(batch["text"]), batch["document"], strict=True)
            kept = [([*sentence, self.separator], document) for sentence, document in encoded if sentence]
            if not kept:
                continue
            lengths = [0, *(len(sentence) for sentence, _ in kept)]
            starts.extend(ids.length + np.cumsum(lengths)[:-1])
            documents.extend([document for _, document in kept])
            added = np.concatenate([np.array(sentence, dtype=np.int32) for sentence, _ in kept])
            ids.extend(added)
            inside.extend(np.isin(added, continuing))
        if not ids.length:
            raise UserError("tokenizer: the corpus holds no tokens")
        ordinary = (FIRST + self.shift, len(vocabulary) + self.shift)
        arrays = ids.mapped(), starts.mapped(), documents.mapped(), inside.mapped()
        return TokenStream(*arrays, ordinary, self.separator, self.special)


def coders(tokenizer: Tokenizer, spec: TokenizerSpec, languages: Sequence[str]) -> dict[str, Coder]:
    """A coder for each of a run's languages, in its order: the vocabulary shared, or blocks of ids side by side. After
    all ordinary ids come separators of their own, and last special tokens of their own: the first language keeps the
    usual ones."""
    block = tokenizer.get_vocab_size() - FIRST if spec.separate else 0
    markers = tokenizer.get_vocab_size() + block * (len(languages) - 1)
    specials = markers + len(languages) * spec.markers - FIRST
    found = {}
    for number, language in enumerate(languages):
        special = specials + number * FIRST if spec.specials and number else 0
        separator = markers + number if spec.markers else SEP + special
        found[language] = Coder(tokenizer, number * block, separator, special)
    return found
