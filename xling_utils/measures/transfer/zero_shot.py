"""Zero-shot transfer: a task is learned in English and tested in every language, with no further training.

Natural language inference (NLI) and named entity recognition (NER). The epoch is chosen on English dev data; no
text of another language is seen before the test. Labelled data are the same for every run, as XNLI's are; the
run's seed decides on the head's first weights and on the order of the items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from xling_utils import corpora
from xling_utils.core.errors import UserError
from xling_utils.core.scales import Scale
from xling_utils.core.specs import Form
from xling_utils.corpora import labelled, treebanks
from xling_utils.corpora.controlled.inference import LABELS
from xling_utils.corpora.label_files import TAGS
from xling_utils.measures.encoders import hidden_states
from xling_utils.measures.encoders.stored_run import Reading
from xling_utils.measures.names import LEARNED as TASKS
from xling_utils.measures.rows import row
from xling_utils.measures.transfer import scores
from xling_utils.measures.transfer.inputs import Input, paired, tagged
from xling_utils.measures.transfer.readers import EncoderReader, Reader, StaticReader
from xling_utils.measures.transfer.tuning import Classifier, Recipe, Tagger, answers, fine_tune
from xling_utils.models.encoder import Encoders
from xling_utils.runs import Run

LABELLED_SEED = 0
LOADED = {"NLI": labelled.inference, "NER": labelled.named_entities, "trees": treebanks.treebank}

RECIPES = {
    ("smoke", "NLI"): Recipe(120, 1, batch=32, learning_rate=1e-3, held_out=60, hidden_rate=0.01),
    ("smoke", "NER"): Recipe(120, 1, batch=32, learning_rate=1e-3, held_out=60, hidden_rate=0.01),
    ("controlled", "NLI"): Recipe(
        items=15_000, epochs=1, batch=64, learning_rate=2e-3, held_out=1_500, hidden_rate=0.01
    ),
    ("controlled", "NER"): Recipe(
        items=3_000, epochs=3, batch=32, learning_rate=1e-3, held_out=1_500, hidden_rate=0.01
    ),
    ("natural", "NLI"): Recipe(items=None, epochs=2, batch=64, learning_rate=2e-3, held_out=None, hidden_rate=0.01),
    ("natural", "NER"): Recipe(items=None, epochs=3, batch=32, learning_rate=1e-3, held_out=None),
    ("paper", "NLI"): Recipe(items=None, epochs=3, batch=32, learning_rate=3e-5, held_out=None),
    ("paper", "NER"): Recipe(items=None, epochs=10, batch=32, learning_rate=3e-5, held_out=None),
}
"""By scale and task. Fixed on development seeds; the papers' scale has BERT's own values (C, sec. 3.2, for NER)."""

Spelling = Callable[[str], str]


def rows(
    run: Run, scale: Scale, data: Path | None, task: str, labels: type[Source] | None = None
) -> Iterator[dict[str, Any]]:
    """Tidy rows of one run: ``task, metric, source, target, layer, value, low, high, n``; see
    :func:`inference_rows` and :func:`entity_rows`. ``labels`` may come from elsewhere than :class:`Source`.

    Raises :class:`UserError` on an unknown task, a run without English, and mistakes in the labelled data.
    """
    if task not in TASKS:
        raise UserError(f"transfer: unknown task {task!r}; known: {', '.join(TASKS)}")
    spec = run.spec
    spelling = {language: corpora.respelled(spec.corpus, language) for language in spec.corpus.languages}
    measure = inference_rows if task == "NLI" else entity_rows
    source = (labels or Source)(spec.corpus.source, data, spec.tokenizer.form)
    yield from measure(reader(run, scale), source, spelling, RECIPES[scale.name, task], spec.seed)


class Source:
    """Where labelled data come from: ``name`` (``"controlled"`` or ``"directory"``), the ``data`` directory, and
    the ``form`` of real text that the reader's tokenizer wants."""

    def __init__(self, name: str, data: Path | None = None, form: Form = "lower") -> None:
        self.name, self.data, self.form = name, data, form

    def columns(self, kind: str, language: str, split: str, count: int | None) -> tuple[list[Any], ...]:
        """The columns of :func:`labelled.inference` (``kind`` "NLI"), :func:`labelled.named_entities` ("NER") or
        :func:`treebanks.treebank` ("trees")."""
        return _columns(kind, self.name, language, split, count, self.data, self.form)


@lru_cache(maxsize=24)
def _columns(
    kind: str, source: str, language: str, split: str, count: int | None, data: Path | None, form: Form
) -> tuple[list[Any], ...]:
    found = LOADED[kind](source, language, split, count=count, seed=LABELLED_SEED, data=data, form=form)
    return tuple(found[name][:] for name in found.column_names)


def reader(run: Run, scale: Scale) -> Reader:
    """What reads for a stored run: its encoders, or its static vectors under an untrained LSTM. Weights are fresh
    from the store, on the GPU where there is one. Raises :class:`UserError` if English is not among its languages."""
    spec = run.spec
    if "en" not in spec.corpus.languages:
        raise UserError(f"transfer: run {run.key} does not know English, which tasks are learned in")
    reading = Reading(run, scale)
    model = reading.model
    if isinstance(model, Encoders):
        return EncoderReader(model, reading.coders)
    with torch.random.fork_rng():
        torch.manual_seed(spec.seed)
        return StaticReader(model, reading.coders, scale.encoder.positions)


def inference_rows(
    reader: Reader, source: Source, spelling: Mapping[str, Spelling], recipe: Recipe, seed: int
) -> Iterator[dict[str, Any]]:
    """Natural language inference in the languages of ``spelling`` (how each spells its words; English first read).

    Metrics: ``accuracy`` on the test of every language, English included; ``accuracy_dev`` in English, by which
    the epoch was chosen; for readers of mixed inputs ``accuracy_mixed`` (E, Table 11), ``source`` the language of
    the premise and ``target`` that of the hypothesis; ``majority``, the accuracy of the training data's commonest
    label, and ``random``, that of a label drawn from them all. Bounds are of a 95 % bootstrap over items.
    """

    def load(language: str, split: str, count: int | None) -> tuple[list[str], list[str], list[int]]:
        premises, hypotheses, labels = source.columns("NLI", language, split, count)
        spell = spelling[language]
        return [spell(p) for p in premises], [spell(h) for h in hypotheses], [LABELS.index(x) for x in labels]

    english = ("en", "en")
    train, dev = load("en", "train", recipe.items), load("en", "dev", recipe.held_out)
    dev_inputs = paired(reader, *dev, english)
    model = _with_head(Classifier, reader, len(LABELS), seed)

    def right(inputs: Any, labels: Sequence[int], language: str) -> np.ndarray:
        return np.array(answers(model, inputs, language))[:, 0] == np.array(labels)

    on_dev: list[np.ndarray] = []

    def accuracy() -> float:
        on_dev.append(right(dev_inputs, dev[2], "en"))
        return float(on_dev[-1].mean())

    scored = fine_tune(model, paired(reader, *train, english), accuracy, recipe, seed)
    yield row("NLI", "accuracy_dev", "en", "en", None, on_dev[scored.index(max(scored))])
    commonest = Counter(train[2]).most_common(1)[0][0]
    tests = {language: load(language, "test", recipe.held_out) for language in spelling}
    for language, test in tests.items():
        inputs = paired(reader, *test, (language, language))
        yield row("NLI", "accuracy", "en", language, None, right(inputs, test[2], language))
        yield row("NLI", "majority", "en", language, None, np.array(test[2]) == commonest)
        yield row("NLI", "random", "en", language, None, 1 / len(LABELS))
        if language == "en" or not reader.mixes:
            continue
        for first, second in (("en", language), (language, "en")):
            inputs = paired(reader, tests[first][0], tests[second][1], test[2], (first, second))
            yield row("NLI", "accuracy_mixed", first, second, None, right(inputs, test[2], "en"))


def entity_rows(
    reader: Reader, source: Source, spelling: Mapping[str, Spelling], recipe: Recipe, seed: int
) -> Iterator[dict[str, Any]]:
    """Named entities in the languages of ``spelling``: span F1, predicted tags repaired as C does.

    Metrics: ``f1`` on the test of every language, English included; ``f1_dev`` in English; ``f1_new_names``, over
    the spans that are spelt as no entity of the English training data is, where there are any; ``lookup``, the F1
    of every word's commonest tag in that data; ``random``, that of tags drawn by their frequency there. (The
    commonest tag alone finds nothing: its F1 is 0.) Bounds are of a 95 % bootstrap over sentences, ``n`` counts
    gold spans.
    """

    def load(language: str, split: str, count: int | None) -> tuple[list[list[str]], list[list[str]]]:
        sentences, tags = source.columns("NER", language, split, count)
        return [[spelling[language](word) for word in words] for words in sentences], tags

    model = _with_head(Tagger, reader, len(TAGS), seed)

    train, dev = load("en", "train", recipe.items), load("en", "dev", recipe.held_out)
    dev_inputs = entity_inputs(reader, *dev, "en")

    on_dev: list[scores.Counts] = []

    def f1() -> float:
        on_dev.append(scores.spans(*dev, entities(model, dev_inputs, dev[0], "en")))
        return scores.f1_value(on_dev[-1])

    scored = fine_tune(model, entity_inputs(reader, *train, "en"), f1, recipe, seed)
    yield row("NER", "f1_dev", "en", "en", None, scores.f1(on_dev[scored.index(max(scored))]))
    usual, known = scores.usual_tags(*train), scores.names(*train)
    for language in spelling:
        sentences, gold = load(language, "test", recipe.held_out)
        guesses = {
            "f1": entities(model, entity_inputs(reader, sentences, gold, language), sentences, language),
            "lookup": [[usual.get(word, "O") for word in words] for words in sentences],
            "random": scores.random_tags(sentences, train[1], seed),
        }
        for metric, tags in guesses.items():
            yield row("NER", metric, "en", language, None, scores.f1(scores.spans(sentences, gold, tags)))
        new = scores.spans(sentences, gold, guesses["f1"], known)
        if new[:, 2].any():
            yield row("NER", "f1_new_names", "en", language, None, scores.f1(new))


def entity_inputs(reader: Reader, sentences: scores.Tags, tags: scores.Tags, language: str) -> list[Input]:
    """Sentences with BIO ``tags`` as inputs."""
    return tagged(reader, sentences, [[TAGS.index(tag) for tag in line] for line in tags], language)


def entities(model: Tagger, inputs: Sequence[Input], sentences: scores.Tags, language: str) -> list[list[str]]:
    """The tags that ``model`` gives to ``sentences``, of which ``inputs`` hold what fits: the rest is no entity."""
    found = zip(answers(model, inputs, language), sentences, strict=True)
    return [[TAGS[i] for i in line] + ["O"] * (len(words) - len(line)) for line, words in found]


def _with_head(kind: Any, reader: Reader, labels: int, seed: int) -> Any:
    torch.manual_seed(seed)
    return kind(reader, labels).to(hidden_states.device())
