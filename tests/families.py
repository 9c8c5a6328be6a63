"""Masked language models of four families, made on the spot: tiny, untrained, saved as anyone would save them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    DistilBertConfig,
    DistilBertForMaskedLM,
    ModernBertConfig,
    ModernBertForMaskedLM,
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
)

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
FAMILIES = ("BERT", "XLM-R", "DistilBERT", "ModernBERT")
LAYERS, WIDTH, LENGTH = 2, 16, 64


def tokenizer(texts: Iterable[str], size: int = 400) -> PreTrainedTokenizerFast:
    """Word pieces of ``texts`` with BERT's special tokens, ids 0 to 4."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=size, special_tokens=SPECIAL))
    return wrapped(made)


def wrapped(made: Tokenizer, length: int = LENGTH) -> PreTrainedTokenizerFast:
    """As ``transformers`` takes it, with BERT's special tokens."""
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=length,
    )  # fmt: skip


def masked_language_model(family: str, size: int, layers: int = LAYERS, length: int = LENGTH) -> Any:
    """An untrained model of ``family`` that knows ``size`` tokens and reads ``length`` of them."""
    shared: dict[str, Any] = {"vocab_size": size, "pad_token_id": 0}
    shape: dict[str, Any] = {"hidden_size": WIDTH, "num_hidden_layers": layers, "num_attention_heads": 2}
    torch.manual_seed(7)
    if family == "BERT":
        return BertForMaskedLM(BertConfig(**shared, **shape, intermediate_size=32, max_position_embeddings=length))
    if family == "XLM-R":
        positions = {"max_position_embeddings": length + 8, "type_vocab_size": 1}
        return XLMRobertaForMaskedLM(XLMRobertaConfig(**shared, **shape, **positions, intermediate_size=32))
    if family == "DistilBERT":
        shape = {"dim": WIDTH, "n_layers": layers, "n_heads": 2, "hidden_dim": 32}
        return DistilBertForMaskedLM(DistilBertConfig(**shared, **shape, max_position_embeddings=length))
    ends = {"cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3}
    return ModernBertForMaskedLM(
        ModernBertConfig(**shared, **shape, **ends, intermediate_size=32, max_position_embeddings=length)
    )


def saved(folder: Path, family: str, texts: Iterable[str]) -> Path:
    """A model of ``family`` with its tokenizer, in ``folder``."""
    pieces = tokenizer(texts)
    masked_language_model(family, len(pieces)).save_pretrained(folder)
    pieces.save_pretrained(folder)
    return folder
