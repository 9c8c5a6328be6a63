"""A stored run opened for measuring: its text, its words, its pieces and its models, each loaded once; and its encoder
as ``transformers`` has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

from xling_utils import corpora
from xling_utils.core.errors import UserError
from xling_utils.core.scales import Scale
from xling_utils.core.specs import EncoderSpec
from xling_utils.measures.encoders import hidden_states, hub
from xling_utils.measures.encoders.hidden_states import LanguageModel
from xling_utils.measures.encoders.representations import contextual_words, static_words
from xling_utils.models import tokenization, transformers_format
from xling_utils.models.encoder import Encoder, Encoders
from xling_utils.models.tokenization import UNK, Coder, TokenStream
from xling_utils.runs import Run
from xling_utils.runs.store import SNAPSHOTS, TOKENIZER_FILE, VECTORS_FILE

if TYPE_CHECKING:
    from datasets import Dataset

WRITTEN = ("fake", "reversed")
"""Changes that make another language of a language; the others spoil the text that is learned from."""


class Reading:
    """A stored run with what is needed to measure it at ``scale``: ``coders``, which turn text into pieces, by
    language; ``data`` is the directory of real text."""

    def __init__(self, run: Run, scale: Scale, data: Path | None = None) -> None:
        self.run, self.scale, self.data = run, scale, data
        self.coders = _coders(run)
        self._streams: dict[str, TokenStream] = {}

    @cached_property
    def texts(self) -> dict[str, Dataset]:
        """The text that words are looked up in, by language: the run's own, in its letters and its word order, but with
        no word moved, drawn anew or switched, so that all conditions meet the same words in the same contexts; but each
        domain its own."""
        spec = self.run.spec
        kept = tuple(change for change in spec.corpus.changes if change.kind in WRITTEN)
        return corpora.load(replace(spec.corpus, changes=kept), self.data, form=spec.tokenizer.form)

    @property
    def others(self) -> tuple[str, ...]:
        """See :func:`other_languages`."""
        return other_languages(self.run.key, tuple(self.texts))

    @cached_property
    def counts(self) -> dict[str, Counter[str]]:
        """How often each word stands in the first rows of a language's text: as many as the scale's small corpus
        has, whatever the run's, so that runs on much and on little text are asked for the same words."""
        first = range(min(self.run.spec.corpus.sentences, self.scale.sentences[0]))
        return {language: counted_words(text.select(first)) for language, text in self.texts.items()}

    @cached_property
    def model(self) -> Encoders | npt.NDArray[np.float32]:
        """The run's encoders, on the GPU where there is one, or its static vectors (pieces, d)."""
        spec = self.run.spec
        if isinstance(spec.model, EncoderSpec):
            encoders = transformers_format.load_all(self.run.path, spec.model, spec.corpus.languages)
            return encoders.to(hidden_states.device())
        return load_file(self.run.path / VECTORS_FILE)["vectors"]

    def snapshots(self) -> Iterator[tuple[int, Encoder]]:
        """The encoder at the steps of its training that the run kept, (step, encoder) in their order."""
        for path in sorted((self.run.path / SNAPSHOTS).glob("*.safetensors")):
            encoder = transformers_format.load(self.run.path, f"{SNAPSHOTS}/{path.name}")
            yield int(path.stem), encoder.to(hidden_states.device())

    def vectors(self, language: str, words: Sequence[str], snapshot: Encoder | None = None) -> npt.NDArray[np.float32]:
        """Vectors of words of ``language``, float32 (layers + 1, words, d); static vectors are one layer.

        A word that the text does not hold in full, or all of whose pieces are ``[UNK]``, has a zero vector. With a
        ``snapshot``, its vectors. The text is encoded at every call.
        """
        coder = self.coders[language]
        encoded = [tuple(ids) for ids in coder.encode(words)]
        pieces = [() if set(ids) == {UNK + coder.special} else ids for ids in encoded]
        if not isinstance(self.model, Encoders):
            return static_words(self.model, pieces)[None]
        length = (self.run.spec.training or self.scale.training).length
        encoder = snapshot or self.model.of(language)
        return contextual_words(encoder, self._stream(language), pieces, length, self.scale.context_tokens).vectors

    def _stream(self, language: str) -> TokenStream:
        """The beginning of the text: a word has at least one piece, and a sentence a separator, so as many sentences
        as hold ``context_tokens`` words and separators are enough."""
        if language not in self._streams:
            text = self.texts[language]
            words = np.array([len(line.split()) for line in text["text"][:]])
            enough = np.searchsorted(np.cumsum(words + (words > 0)), self.scale.context_tokens) + 1
            beginning = text.select(range(min(int(enough), len(text))))
            self._streams[language] = self.coders[language].stream(beginning)
        return self._streams[language]


def masked_lm(run: Run, language: str | None = None) -> LanguageModel:
    """A stored encoder as ``transformers`` has it: a ``BertForMaskedLM``, and a tokenizer that puts ``[CLS]`` before
    and ``[SEP]`` behind a text, as in pretraining. On the GPU where there is one. Where languages have parts or ids of
    their own, those of ``language``.

    Raises :class:`UserError` on static vectors, and on encoders with parts or ids of their own if no language is named.
    """
    from tokenizers.processors import TemplateProcessing
    from transformers import BertForMaskedLM, PreTrainedTokenizerFast

    model_spec, tokenizer_spec = run.spec.model, run.spec.tokenizer
    if not isinstance(model_spec, EncoderSpec):
        raise UserError(f"run {run.key}: takes an encoder, not static vectors")
    if language is None and (model_spec.separate or tokenizer_spec.own_ids):
        raise UserError(f"run {run.key}: its languages have parts or ids of their own; name one of them")
    spoken = language or run.spec.corpus.languages[0]
    coder = _coders(run)[spoken]
    inner = coder.own_tokenizer()
    names = tokenization.SPECIAL
    first, last = names[tokenization.CLS], names[tokenization.SEP]
    inner.post_processor = TemplateProcessing(
        single=f"{first} $A {last}",
        special_tokens=[(first, tokenization.CLS + coder.special), (last, coder.separator)],
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, model_max_length=model_spec.positions, pad_token=names[tokenization.PAD],
        unk_token=names[tokenization.UNK], cls_token=first, sep_token=last, mask_token=names[tokenization.MASK],
        split_special_tokens=True,  # "[MASK]" written in the text is text
        model_input_names=["input_ids", "attention_mask", *["token_type_ids"] * model_spec.next_sentence],
    )  # fmt: skip
    folder = run.path / spoken if model_spec.separate else run.path
    model, missing = hub.weights(str(folder), BertForMaskedLM)
    if missing:
        raise UserError(f"{folder}: the weights lack {missing[0]}; copy the run again")
    return LanguageModel(model.to(hidden_states.device()).eval(), tokenizer)


def _coders(run: Run) -> dict[str, Coder]:
    """What turns text into pieces, by language."""
    return tokenization.coders(
        tokenization.load(run.path / TOKENIZER_FILE), run.spec.tokenizer, run.spec.corpus.languages
    )


def counted_words(text: Dataset) -> Counter[str]:
    """How often each space-separated word stands in a dataset's ``text`` column."""
    return Counter(word for batch in text.iter(batch_size=5000) for line in batch["text"] for word in line.split())


def other_languages(key: str, languages: Sequence[str]) -> tuple[str, ...]:
    """Those of ``languages`` that are not English. Raises :class:`UserError`, with the ``key`` of what reads them, if
    English is not among them, or nothing else."""
    found = tuple(language for language in languages if language != "en")
    if "en" not in languages or not found:
        raise UserError(f"{key}: reads {' '.join(languages)}; English and another language are needed")
    return found


def other_language(task: str, run: Run, beside: Run) -> str:
    """The first language beside English of ``beside``. Raises :class:`UserError`, with the name of the ``task``, if it
    has none, or if ``run`` does not read English."""
    found = next((language for language in beside.spec.corpus.languages if language != "en"), None)
    if "en" not in run.spec.corpus.languages or found is None:
        raise UserError(f"{task}: takes a run that reads English and one that reads another language")
    return found


def check_same_shape(task: str, run: Run, beside: Run) -> None:
    """Raises :class:`UserError`, with the name of the ``task``, where two runs differ in width or depth."""
    models = run.spec.model, beside.spec.model
    if len({(model.width, getattr(model, "layers", 0)) for model in models}) > 1:
        raise UserError(f"{task}: {run.key} and {beside.key} differ in width or number of layers")
