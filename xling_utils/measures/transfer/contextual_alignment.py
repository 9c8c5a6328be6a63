"""Can a rotation carry a task from an encoder of English to one of another language, word by word? (C, sec. 5.1.2)

The first layers of an encoder of English are left as they are, a few Transformer layers and a task's own layer are
learned on top of them, and the other language comes in through the first layers of its own encoder and a rotation.
The rotation is fitted on words in context that translate each other, as aligned in parallel sentences.

C normalises both sides before the rotation is fitted and does not say how a state gets back to where English lies;
here it is taken from the mean of its language to that of English, and its length stays. A word is read at its first
piece, where the task reads it too. C puts four Transformer layers on top; the smaller scales have fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from xling_utils.core.errors import UserError
from xling_utils.core.scales import Scale
from xling_utils.corpora import parallel, treebanks
from xling_utils.corpora.label_files import TAGS
from xling_utils.measures.encoders import hidden_states
from xling_utils.measures.encoders.stored_run import Reading, check_same_shape, other_language
from xling_utils.measures.metrics.fast_align import align
from xling_utils.measures.metrics.intervals import Interval
from xling_utils.measures.metrics.procrustes import iterative_normalization, procrustes
from xling_utils.measures.names import CONTEXTUAL
from xling_utils.measures.rows import row
from xling_utils.measures.tasks.sentence_similarity import SENTENCES
from xling_utils.measures.transfer import scores
from xling_utils.measures.transfer.inputs import Input, batches, tagged
from xling_utils.measures.transfer.parsing import Parser, attachment_scores, parse, parsed, share
from xling_utils.measures.transfer.readers import CodedReader
from xling_utils.measures.transfer.tuning import TEST_BATCH, Model, Recipe, Tagger, fine_tune
from xling_utils.measures.transfer.zero_shot import Source, entities, entity_inputs
from xling_utils.models.encoder import Encoder, Encoders
from xling_utils.models.tokenization import Coder
from xling_utils.runs import Run

STACK = {"smoke": 1, "controlled": 1, "natural": 2, "paper": 4}
"""By scale: Transformer layers that are learned with the task."""
RECIPES = {
    ("smoke", "NER"): Recipe(items=60, epochs=1, batch=32, learning_rate=1e-3, held_out=10),
    ("smoke", "parsing"): Recipe(items=60, epochs=1, batch=32, learning_rate=1e-3, held_out=10),
    ("controlled", "NER"): Recipe(items=1_500, epochs=4, batch=16, learning_rate=2e-3, held_out=1_000),
    ("controlled", "parsing"): Recipe(items=1_200, epochs=3, batch=16, learning_rate=2e-3, held_out=300),
    ("natural", "NER"): Recipe(items=None, epochs=3, batch=32, learning_rate=1e-3, held_out=None),
    ("natural", "parsing"): Recipe(items=None, epochs=3, batch=32, learning_rate=1e-3, held_out=None),
    ("paper", "NER"): Recipe(items=None, epochs=10, batch=32, learning_rate=1e-4, held_out=None),
    ("paper", "parsing"): Recipe(items=None, epochs=10, batch=32, learning_rate=1e-4, held_out=None),
}
"""By scale and task. What is learned starts from nothing, so it takes larger steps than fine-tuning."""
Array = npt.NDArray[np.floating]


def rows(run: Run, beside: Run | None, scale: Scale, data: Path | None) -> Iterator[dict[str, Any]]:
    """Tidy rows ``task, metric, source, target, layer, value, low, high, n`` of an encoder that reads English, ``run``,
    and one that reads another language, ``beside`` (``None``: the same), at every layer whose states are carried over.

    ``f1`` of named entities and ``las`` of dependency trees, learned in English and tested in the other language: after
    the rotation that was fitted on parallel words, or as the states are where one encoder reads both languages (C, Fig.
    5); ``f1_aligned``, ``las_aligned``: for such an encoder, after the rotation too (C, Fig. 8); ``f1_random``,
    ``las_random``: after a random rotation about the same means; and ``f1``, ``las`` in English itself (``target``
    "en"), the most that can be carried over. Languages without a treebank have no ``las``. Bounds are of a 95 %
    bootstrap over sentences, ``n`` counts gold spans or words.

    Raises :class:`UserError` if ``run`` does not read English or nothing reads another language, on static vectors, on
    encoders of different width or depth, and on mistakes in the data.
    """
    readings = Reading(run, scale, data), Reading(beside or run, scale, data)
    target = other_language(CONTEXTUAL, run, readings[1].run)
    encoders = dict(zip(("en", target), map(_encoder, readings, ("en", target)), strict=True))
    check_same_shape(CONTEXTUAL, run, readings[1].run)
    coders = {language: reading.coders[language] for language, reading in zip(encoders, readings, strict=True)}
    source = Source(run.spec.corpus.source, data, run.spec.tokenizer.form)
    with torch.random.fork_rng():
        torch.manual_seed(run.spec.seed)
        reader = CarryingReader(encoders, coders, STACK[scale.name])
        reader.to(hidden_states.device())
        pairs = Parallel.read(reader, source, target, SENTENCES[scale.name][0])
        tasks: list[Task] = [Entities(reader, source, RECIPES[scale.name, "NER"])]
        if source.name == "controlled" or (data and target in treebanks.languages_with_trees(data, "test")):
            tasks.append(Trees(reader, source, RECIPES[scale.name, "parsing"]))
        turned = _random_rotation(reader.width, run.spec.seed)
        for layer in range(encoders["en"].spec.layers + 1):
            reader.layer, reader.carries = layer, {}
            fitted = pairs.carry(reader)
            carried: dict[str, Carry | None] = {"": fitted, "_random": Carry(fitted.start, turned, fitted.end)}
            if beside is None:
                carried |= {"": None, "_aligned": fitted}
            for task in tasks:
                reader.restart()
                tested = task.learned(run.spec.seed)
                yield row(CONTEXTUAL, task.metric, "en", "en", layer, tested("en"))
                for ending, carry in carried.items():
                    reader.carries = {} if carry is None else {target: carry}
                    yield row(CONTEXTUAL, task.metric + ending, "en", target, layer, tested(target))


def _encoder(reading: Reading, language: str) -> Encoder:
    if not isinstance(reading.model, Encoders):
        raise UserError(f"{CONTEXTUAL}: run {reading.run.key} has static vectors; takes encoders")
    return reading.model.of(language)


@dataclass(frozen=True)
class Carry:
    """A rotation about the means of two languages: ``start`` (d,), ``rotation`` (d, d), ``end`` (d,)."""

    start: Array
    rotation: Array
    end: Array

    def __call__(self, states: Tensor) -> Tensor:
        """``states`` (..., d) of the one language among those of the other."""
        start, rotation, end = (torch.as_tensor(part).to(states) for part in (self.start, self.rotation, self.end))
        return (states - start) @ rotation + end


class CarryingReader(CodedReader):
    """The first ``layer`` blocks of each language's own encoder, which nothing trains, then the language's carry, if it
    has one, then ``blocks`` new Transformer layers without dropout, the same for all languages."""

    def __init__(self, encoders: Mapping[str, Encoder], coders: Mapping[str, Coder], blocks: int) -> None:
        super().__init__(coders)
        self.encoders = nn.ModuleDict(encoders).requires_grad_(False)
        self.spec, self.blocks = encoders["en"].spec, blocks
        self.width = self.spec.width
        self.limit = min(encoder.spec.positions for encoder in encoders.values())
        self.layer, self.carries = 0, dict[str, Carry]()
        self.restart()

    def restart(self) -> None:
        """Reads with new Transformer layers, of which nothing is learned yet, and no carry."""
        device = next(self.encoders.parameters()).device
        block = nn.TransformerEncoderLayer(
            self.width, self.spec.heads, self.spec.intermediate, dropout=0.0, activation="gelu", batch_first=True
        )
        self.stack = nn.TransformerEncoder(block, self.blocks, enable_nested_tensor=False).to(device)
        self.carries = {}

    @torch.no_grad()
    def below(self, language: str, ids: Tensor, mask: Tensor) -> Tensor:
        """The states that the new layers start from, (batch, length, width)."""
        encoder = self.encoders[language]
        assert isinstance(encoder, Encoder)
        states = encoder.embed(ids)
        for block in encoder.blocks[: self.layer]:
            states = block(states, mask.bool()[:, None, None, :])
        return self.carries[language](states) if language in self.carries else states

    def states(self, language: str, ids: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        return self.stack(self.below(language, ids, mask), src_key_padding_mask=~mask.bool())


@dataclass(frozen=True)
class Parallel:
    """Parallel sentences of English and ``target`` as ``inputs``, and their words that translate each other: ``links``
    (2, pairs) int64 number the words of each side, one sentence after another."""

    target: str
    inputs: tuple[list[Input], list[Input]]
    links: npt.NDArray[np.int64]

    @classmethod
    def read(cls, reader: CarryingReader, source: Source, target: str, count: int) -> Parallel:
        """``count`` sentences (C: 10,000 of XNLI). Raises :class:`UserError` if no words are aligned in them."""
        both = ("en", target)
        said = parallel.multiway(source.name, both, count, data=source.data, form=source.form)
        words = [[line.split() for line in said[language]] for language in both]
        inputs = [
            tagged(reader, lines, [[0] * len(line) for line in lines], language)
            for language, lines in zip(both, words, strict=True)
        ]
        first = [np.cumsum([0, *(len(item.places) for item in items)]) for items in inputs]
        links = [
            (first[0][number] + i, first[1][number] + j)
            for number, found in enumerate(align(*words))
            for i, j in found
            if i < len(inputs[0][number].places) and j < len(inputs[1][number].places)  # the rest was cut off
        ]
        if not links:
            raise UserError(f"{CONTEXTUAL}: no word of {count} parallel sentences of en and {target} could be aligned")
        return cls(target, (inputs[0], inputs[1]), np.array(links).T)

    def carry(self, reader: CarryingReader) -> Carry:
        """From the states of ``target`` that ``reader`` starts from to those of English."""
        y, x = (
            first_pieces(reader, inputs, language)[chosen]
            for inputs, language, chosen in zip(self.inputs, ("en", self.target), self.links, strict=True)
        )
        rotation = procrustes(iterative_normalization(x), iterative_normalization(y))
        return Carry(x.mean(axis=0), rotation, y.mean(axis=0))


def first_pieces(reader: CarryingReader, inputs: Sequence[Input], language: str) -> npt.NDArray[np.float32]:
    """The state of every word at its first piece, before the new layers: float32 (words, width), in order."""
    first = np.cumsum([0, *(len(item.places) for item in inputs)])
    found = np.empty((first[-1], reader.width), dtype=np.float32)
    device = next(reader.parameters()).device
    for batch in batches(inputs, TEST_BATCH, reader.padding, device):
        states = reader.below(language, batch.ids, batch.mask)[batch.rows, batch.places]
        found[np.concatenate([np.arange(first[n], first[n + 1]) for n in batch.numbers])] = states.cpu().numpy()
    return found


class Task:
    """A task with its labelled text, as ``reader`` reads it, and how it is learned."""

    metric: str

    def __init__(self, reader: CarryingReader, source: Source, recipe: Recipe) -> None:
        self.reader, self.source, self.recipe = reader, source, recipe
        self._loaded: dict[tuple[str, str], tuple[list[Input], tuple[Any, Any]]] = {}

    def learned(self, seed: int) -> Callable[[str], Interval]:
        """Learns it in English on top of the reader; returns what tells its score on the test of a language."""
        model = self.model().to(next(self.reader.parameters()).device)

        def scored(language: str, split: str) -> Interval:
            return self.score(model, language, *self.load(language, split))

        train = self.load("en", "train")[0]
        fine_tune(model, train, lambda: scored("en", "dev").value, self.recipe, seed)
        return lambda language: scored(language, "test")

    def load(self, language: str, split: str) -> tuple[list[Input], tuple[Any, Any]]:
        """A split's inputs and what :meth:`score` needs beside them."""
        if (language, split) not in self._loaded:
            count = self.recipe.items if split == "train" else self.recipe.held_out
            self._loaded[language, split] = self.read(language, split, count)
        return self._loaded[language, split]

    def read(self, language: str, split: str, count: int | None) -> tuple[list[Input], tuple[Any, Any]]:
        raise NotImplementedError

    def model(self) -> Model:
        raise NotImplementedError

    def score(self, model: Any, language: str, inputs: list[Input], gold: tuple[Any, Any]) -> Interval:
        raise NotImplementedError


class Entities(Task):
    """Named entities, by a linear layer; its score is span F1."""

    metric = "f1"

    def read(self, language: str, split: str, count: int | None) -> tuple[list[Input], tuple[Any, Any]]:
        sentences, tags = self.source.columns("NER", language, split, count)
        return entity_inputs(self.reader, sentences, tags, language), (sentences, tags)

    def model(self) -> Tagger:
        return Tagger(self.reader, len(TAGS))

    def score(self, model: Tagger, language: str, inputs: list[Input], gold: tuple[Any, Any]) -> Interval:
        return scores.f1(scores.spans(*gold, entities(model, inputs, gold[0], language)))


class Trees(Task):
    """Dependency parsing, by a deep biaffine head; its score is LAS."""

    metric = "las"

    def read(self, language: str, split: str, count: int | None) -> tuple[list[Input], tuple[Any, Any]]:
        words, _, heads, relations = self.source.columns("trees", language, split, count)
        return parsed(self.reader, words, heads, relations, language), (heads, relations)

    def model(self) -> Parser:
        return Parser(self.reader)

    def score(self, model: Parser, language: str, inputs: list[Input], gold: tuple[Any, Any]) -> Interval:
        return share(attachment_scores(*gold, *parse(model, inputs, language)), 1)


def _random_rotation(width: int, seed: int) -> Array:
    from scipy.stats import ortho_group

    return ortho_group.rvs(width, random_state=seed)
