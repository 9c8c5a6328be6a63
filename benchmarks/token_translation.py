"""Token translation over a grid of layers and weights: this package beside the model run anew for each of them.

    python benchmarks/token_translation.py

The model is a ``BertForMaskedLM`` of 12 layers with random weights, small, with a prediction head that is a fifth of
the work as at width 256 with 10,000 pieces; the grid is every layer from 1 to 12 with three weights. Texts are as
unequal in length as XNLI's premises are: lognormal, about 20 tokens. The other side is what
one would write: a hook that adds the weighted difference to the layer's output, then for each layer and weight all
texts in their order, 64 at a time, through the whole model, and the best of all scores at every place.

Both sides run in turn in one process and the median of each counts. Their predictions have to be the same, all of them.
Sharing the blocks below a layer is worth at most 12 x 36 / (12 + 3 x 66) = 2.06; the rest comes from reading texts of
one length together, from one pass for the three weights, and from a prediction head that reads the places that are
answered for and not the padding.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from _machine import machine
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from xling_utils.measures.encoders.hidden_states import BATCH, LanguageModel
from xling_utils.measures.encoders.predictions import predicted
from xling_utils.measures.encoders.representations import shifted

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WEIGHTS = (1.0, 2.0, 3.0)
LENGTHS = (2.85, 0.5)
"""Mean and deviation of the logarithm of the number of tokens."""


def main() -> None:
    """Prints one markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tiny model, two texts, once")
    args = parser.parse_args()
    size, count, repeats = ((3, 32, 200), 2, 1) if args.quick else ((12, 128, 5_000), 384, 3)
    layers, width, vocabulary = size
    lm = made(layers, width, vocabulary)
    texts = drawn(count, vocabulary)
    difference = np.random.default_rng(1).normal(size=(layers + 1, width)).astype(np.float32)
    grid = range(1, layers + 1)
    sides: dict[str, Callable[[], Any]] = {
        "anew": lambda: anew(lm, texts, difference, grid),
        "here": lambda: predicted(lm, texts, difference, grid, WEIGHTS),
    }
    load, answers = os.getloadavg()[0], {}
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, side in sides.items():
            began = time.perf_counter()
            answers[name] = side()
            seconds[name].append(time.perf_counter() - began)
    same, tokens = agreement(*answers.values())
    mean = tokens / answers["here"].size
    print(f"{machine()}; {torch.get_num_threads()} threads; load average before: {load:.1f}.\n")
    print(
        f"{layers} layers x {width}, {vocabulary:,} pieces, {count} texts of {mean:.1f} tokens, {len(grid)} layers x "
        f"{len(WEIGHTS)} weights; median of {repeats}.\n"
    )
    print("| anew for each, s | here, s | ratio | predictions | of them the same |\n|---|---|---|---|---|")
    theirs, ours = (statistics.median(found) for found in seconds.values())
    print(f"| {theirs:.3g} | {ours:.3g} | {theirs / ours:.2f} | {tokens:,} | {same:,} |")


def made(layers: int, width: int, vocabulary: int) -> LanguageModel:
    """A model with random weights, and a tokenizer whose words are numbers."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=vocabulary, hidden_size=width, num_hidden_layers=layers, num_attention_heads=width // 16,
        intermediate_size=4 * width, max_position_embeddings=128,
    )  # fmt: skip
    words = {word: i for i, word in enumerate([*SPECIAL, *(str(i) for i in range(len(SPECIAL), vocabulary))])}
    inner = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", words["[CLS]"]), ("[SEP]", words["[SEP]"])]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]", model_max_length=128,
    )  # fmt: skip
    return LanguageModel(BertForMaskedLM(config).eval(), tokenizer)


def drawn(count: int, vocabulary: int) -> list[str]:
    """``count`` texts of random words, as unequal in length as sentences are."""
    rng = np.random.default_rng(0)
    lengths = np.clip(np.exp(rng.normal(*LENGTHS, size=count)), 3, 80).astype(int)
    return [" ".join(map(str, rng.integers(len(SPECIAL), vocabulary, size=length))) for length in lengths]


@torch.inference_mode()
def anew(lm: LanguageModel, texts: list[str], difference: np.ndarray, layers: range) -> np.ndarray:
    """The same predictions as those of ``predicted``, by the whole model for each layer and weight."""
    found = np.empty((len(layers), len(WEIGHTS), len(texts)), dtype=object)
    for i, layer in enumerate(layers):
        for j, weight in enumerate(WEIGHTS):
            with shifted(lm.model, layer, weight * difference[layer]):
                for start in range(0, len(texts), BATCH):
                    inputs = lm.encode(texts[start : start + BATCH])
                    inner = inputs["attention_mask"].bool() & ~inputs.pop("special_tokens_mask").bool()
                    best = lm.model(**inputs).logits.argmax(dim=-1)
                    for row in range(len(best)):
                        found[i, j, start + row] = best[row][inner[row]].numpy()
    return found


def agreement(first: np.ndarray, second: np.ndarray) -> tuple[int, int]:
    """How many predictions are the same, and how many there are."""
    pairs = list(zip(first.ravel(), second.ravel(), strict=True))
    return sum(int((a == b).sum()) for a, b in pairs), sum(len(a) for a, _ in pairs)


if __name__ == "__main__":
    main()
