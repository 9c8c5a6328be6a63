"""Language models of many families, made on the spot: tiny, untrained, saved as anyone would save them. A family is
imported when one of it is made, which takes longer than making it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
FAMILIES = ("BERT", "XLM-R", "DistilBERT", "ModernBERT")
OTHERS = ("GPT-2", "Llama", "Qwen", "T5")
"""Those that fill nothing in: decoders, and an encoder-decoder."""
LAYERS, WIDTH, LENGTH = 2, 16, 64


def tokenizer(texts: Iterable[str], size: int = 400) -> transformers.PreTrainedTokenizerFast:
    """Word pieces of ``texts`` with BERT's special tokens, ids 0 to 4."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=size, special_tokens=SPECIAL))
    return wrapped(made)


def wrapped(made: Tokenizer, length: int = LENGTH) -> transformers.PreTrainedTokenizerFast:
    """As ``transformers`` takes it, with BERT's special tokens."""
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=length,
    )  # fmt: skip


def masked_language_model(family: str, size: int, layers: int = LAYERS, length: int = LENGTH) -> Any:
    """An untrained model of ``family`` that knows ``size`` tokens and reads ``length`` of them."""
    shared: dict[str, Any] = {"vocab_size": size, "pad_token_id": 0}
    shape: dict[str, Any] = {"hidden_size": WIDTH, "num_hidden_layers": layers, "num_attention_heads": 2}
    torch.manual_seed(7)
    if family == "BERT":
        return transformers.BertForMaskedLM(
            transformers.BertConfig(**shared, **shape, intermediate_size=32, max_position_embeddings=length)
        )
    if family == "XLM-R":
        positions = {"max_position_embeddings": length + 8, "type_vocab_size": 1}
        return transformers.XLMRobertaForMaskedLM(
            transformers.XLMRobertaConfig(**shared, **shape, **positions, intermediate_size=32)
        )
    if family == "DistilBERT":
        shape = {"dim": WIDTH, "n_layers": layers, "n_heads": 2, "hidden_dim": 32}
        return transformers.DistilBertForMaskedLM(
            transformers.DistilBertConfig(**shared, **shape, max_position_embeddings=length)
        )
    ends = {"cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3}
    return transformers.ModernBertForMaskedLM(
        transformers.ModernBertConfig(**shared, **shape, **ends, intermediate_size=32, max_position_embeddings=length)
    )


def other_model(family: str, size: int) -> Any:
    """An untrained model of one of :data:`OTHERS`."""
    torch.manual_seed(7)
    if family == "GPT-2":
        return transformers.GPT2LMHeadModel(
            transformers.GPT2Config(vocab_size=size, n_embd=WIDTH, n_layer=LAYERS, n_head=2, n_positions=LENGTH)
        )
    if family == "T5":
        shape = {"d_model": WIDTH, "d_kv": 8, "d_ff": 32, "num_layers": LAYERS, "num_heads": 2}
        return transformers.T5ForConditionalGeneration(
            transformers.T5Config(vocab_size=size, **shape, pad_token_id=0, decoder_start_token_id=0)
        )
    shape = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": 2, "intermediate_size": 32}
    shared = {"vocab_size": size, "num_key_value_heads": 1, "head_dim": 8, "max_position_embeddings": LENGTH}
    if family == "Llama":
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(**shape, **shared))
    return transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**shape, **shared))


def plain_tokenizer(family: str, texts: Iterable[str]) -> transformers.PreTrainedTokenizerFast:
    """Pieces of ``texts`` as models of :data:`OTHERS` have them: Llama begins a text with ``<s>``, T5 ends one with
    ``</s>``, the others add nothing."""
    made = Tokenizer(models.WordPiece(unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["<pad>", "<unk>", "<s>", "</s>"]
    made.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special))
    added = {"Llama": ("<s> $A", [("<s>", 2)]), "T5": ("$A </s>", [("</s>", 3)])}
    if family in added:
        single, tokens = added[family]
        made.post_processor = processors.TemplateProcessing(single=single, special_tokens=tokens)
    names = {"eos_token": "</s>", "unk_token": "<unk>"}
    names |= {"bos_token": "<s>"} if family == "Llama" else {}
    names |= {"pad_token": "<pad>"} if family == "T5" else {}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, model_max_length=LENGTH, model_input_names=["input_ids", "attention_mask"], **names
    )


def saved(folder: Path, family: str, texts: Iterable[str]) -> Path:
    """A model of ``family`` with its tokenizer, in ``folder``."""
    pieces = plain_tokenizer(family, texts) if family in OTHERS else tokenizer(texts)
    model = other_model if family in OTHERS else masked_language_model
    model(family, len(pieces)).save_pretrained(folder)
    pieces.save_pretrained(folder)
    return folder


def states(model: Any, tokenizer: Any, lines: Iterable[str]) -> list[list[torch.Tensor]]:
    """The states of each line's tokens, special ones left out, by ``transformers`` alone: a line at a time, nothing
    padded; (layers + 1) tensors (tokens, d). The last is what the last block gives out, before any norm after it."""
    found: list[list[torch.Tensor]] = []
    last: list[torch.Tensor] = []
    blocks = next(module for module in model.modules() if isinstance(module, torch.nn.ModuleList))
    hook = blocks[-1].register_forward_hook(
        lambda _, __, output: last.append(output[0] if isinstance(output, tuple) else output)
    )
    for line in lines:
        encoded = tokenizer(line, return_tensors="pt", return_special_tokens_mask=True)
        inner = encoded.pop("special_tokens_mask")[0] == 0
        with torch.no_grad():
            given = model(**encoded, output_hidden_states=True).hidden_states
        found.append([state[0, inner] for state in (*given[:-1], last.pop())])
    hook.remove()
    return found
