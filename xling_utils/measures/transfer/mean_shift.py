"""Zero-shot transfer with means subtracted or shifted, for any masked language model (A, sec. 4.3; D, sec. 5).

Natural language inference as A has it: fine-tuned on English as a whole, or above the middle layer only, and then with
the difference of the language means added there at test time, its weight chosen on dev data of the language.
Part-of-speech tagging and dependency parsing as D has them: as they are; with the language's mean subtracted in
training and in testing; and with the difference of the fine-tuned model's means added in testing. D does not say at
which layer: here it is the middle one, as A's is. Labelled data are the same for every model; the subject's seed
decides on a head's first weights and on the order of the items.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from xling_utils import corpora
from xling_utils.core.errors import UserError
from xling_utils.core.scales import Scale
from xling_utils.corpora.controlled.inference import LABELS
from xling_utils.corpora.directory import existing, given
from xling_utils.corpora.labelled import INFERENCE_FILES
from xling_utils.corpora.treebanks import LOW_RESOURCE, UPOS, languages_with_trees
from xling_utils.measures.encoders.hidden_states import LanguageModel
from xling_utils.measures.encoders.representations import language_means
from xling_utils.measures.encoders.subject import Subject
from xling_utils.measures.metrics.intervals import Interval
from xling_utils.measures.names import METHODS, MOVED, PARSING, POS, UPPER, WHOLE
from xling_utils.measures.names import SHIFTED as TASKS
from xling_utils.measures.names import SHIFTED_INFERENCE as NLI
from xling_utils.measures.rows import row
from xling_utils.measures.transfer.inputs import Input, paired, tagged
from xling_utils.measures.transfer.moved import MovedReader
from xling_utils.measures.transfer.parsing import Parser, attachment_scores, parse, parsed, share
from xling_utils.measures.transfer.readers import Reader
from xling_utils.measures.transfer.scores import Counts, usual_tags
from xling_utils.measures.transfer.tuning import Classifier, Model, Recipe, Tagger, answers, fine_tune
from xling_utils.measures.transfer.zero_shot import Source

ORIGINAL, ZERO_MEAN, SHIFT = METHODS
"""The methods of the other two."""
METRICS = {POS: ("accuracy",), PARSING: ("uas", "las")}
WEIGHTS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
"""Of the shift in ``NLI``, to choose from. Zero is not among them, as it was not in A: its shift made Spanish worse."""

RECIPES = {
    ("smoke", NLI): Recipe(items=60, epochs=1, batch=32, learning_rate=1e-3, held_out=30),
    ("smoke", POS): Recipe(items=60, epochs=1, batch=16, learning_rate=2e-3, held_out=20),
    ("smoke", PARSING): Recipe(items=60, epochs=1, batch=16, learning_rate=2e-3, held_out=20),
    ("controlled", NLI): Recipe(items=12_000, epochs=1, batch=16, learning_rate=1e-3, held_out=200),
    ("controlled", POS): Recipe(items=1_000, epochs=3, batch=16, learning_rate=2e-3, held_out=300),
    ("controlled", PARSING): Recipe(items=1_000, epochs=3, batch=16, learning_rate=2e-3, held_out=150),
    ("natural", NLI): Recipe(items=None, epochs=2, batch=32, learning_rate=1e-3, held_out=None),
    ("natural", POS): Recipe(items=None, epochs=3, batch=16, learning_rate=2e-3, held_out=None),
    ("natural", PARSING): Recipe(items=None, epochs=5, batch=16, learning_rate=2e-3, held_out=None),
    ("paper", NLI): Recipe(items=None, epochs=3, batch=32, learning_rate=3e-5, held_out=None),
    ("paper", POS): Recipe(items=None, epochs=10, batch=32, learning_rate=3e-5, held_out=None),
    ("paper", PARSING): Recipe(items=None, epochs=10, batch=32, learning_rate=3e-5, held_out=None),
}
"""By scale and task. Fixed on development seeds; the papers' scale has values that C searches (sec. 3.2)."""

Vector = npt.NDArray[np.float32]
Found = Iterator[tuple[str, str, str, Interval | npt.NDArray[Any], float | None]]
"""Method, metric, target, value, and what the difference of the means is multiplied by."""


class Trees(NamedTuple):
    """The columns of :func:`treebanks.treebank`."""

    words: list[list[str]]
    tags: list[list[str]]
    heads: list[list[int]]
    relations: list[list[str]]


def rows(subject: Subject, scale: Scale, task: str) -> Iterator[dict[str, Any]]:
    """Tidy rows ``task, metric, source, target, layer, value, low, high, n, method, weight`` of one of ``TASKS``, for
    English and every language of :func:`languages_with`.

    Metrics: ``accuracy`` (NLI, POS); ``uas`` and ``las`` (parsing), by the definition of CoNLL 2018. ``layer`` is the
    middle one, above which ``UPPER`` is fine-tuned and at which states are moved, and ``weight`` what the difference of
    the means is multiplied by, each where it applies. Methods beside those above are floors: the commonest label of
    the training data, every word's commonest tag there, and every word attached to the word before it or behind it,
    whichever is better on English dev data. Bounds are of a 95 % bootstrap over items or sentences; ``n`` counts items
    or words.

    A language of ``LOW_RESOURCE`` has no text here: each half of its sentences is tested with the mean of the other.
    The subject's model stays as it is. Raises :class:`UserError` on an unknown task and what :func:`languages_with`
    and the labelled data raise.
    """
    languages = languages_with(task, subject)
    measure = _inference_rows if task == NLI else _tree_rows
    for method, metric, target, found, weight in measure(subject, scale, task, languages):
        layer = subject.layers // 2 if method in (UPPER, MOVED, ZERO_MEAN, SHIFT) else None
        yield row(task, metric, "en", target, layer, found, method=method, weight=weight)


def languages_with(task: str, subject: Subject) -> tuple[str, ...]:
    """The languages beside English that ``task`` is tested in: those of the subject that its source has test data of
    (for NLI, dev data too), and, for parsing real text, those of ``LOW_RESOURCE`` that have a treebank.

    Raises :class:`UserError` on an unknown task, where no language is left, and on real data that are not named.
    """
    if task not in TASKS:
        raise UserError(f"moved transfer: unknown task {task!r}; known: {', '.join(TASKS)}")
    if subject.corpus.source == "controlled":
        return subject.others
    data = given(subject.data)
    if task == NLI:
        files = [data / INFERENCE_FILES[split] for split in ("dev", "test")]
        there = [x for x in subject.others if all(existing(file.with_name(f"{file.name}.{x}.tsv")) for file in files)]
    else:
        known = languages_with_trees(data, "test")
        low = [x for x in LOW_RESOURCE if task == PARSING and x not in subject.languages]
        there = [x for x in (*subject.others, *low) if x in known]
    if not there:
        raise UserError(f"{data}: no test data of {task} in {' '.join(subject.others)}; add some or other languages")
    return tuple(there)


def _inference_rows(subject: Subject, scale: Scale, task: str, languages: Sequence[str]) -> Found:
    recipe, source = RECIPES[scale.name, task], _source(subject)
    whole, upper = _reader(subject), _reader(subject)
    upper.freeze_below(upper.layer)

    def load(language: str, split: str, count: int | None) -> list[Input]:
        premises, hypotheses, labels = source.columns("NLI", language, split, count)
        spell = corpora.respelled(subject.corpus, language)
        both = [spell(text) for text in premises], [spell(text) for text in hypotheses]
        return paired(upper, *both, [LABELS.index(label) for label in labels], (language, language))

    def right(model: Any, inputs: Sequence[Input], language: str) -> npt.NDArray[np.float64]:
        pairs = zip(answers(model, inputs, language), inputs, strict=True)
        return np.array([float(found == item.labels) for found, item in pairs])

    train, dev = load("en", "train", recipe.items), load("en", "dev", recipe.held_out)
    tests = {language: load(language, "test", recipe.held_out) for language in ("en", *languages)}
    commonest = Counter(item.labels[0] for item in train).most_common(1)[0][0]
    for language, test in tests.items():
        gold = np.array([item.labels[0] for item in test])
        yield "commonest label", "accuracy", language, gold == commonest, None
    for method, reader in ((WHOLE, whole), (UPPER, upper)):
        head, on_dev = partial(Classifier, labels=len(LABELS)), partial(right, inputs=dev, language="en")
        model = _tuned(subject, reader, head, train, on_dev, recipe)
        for language, test in tests.items():
            yield method, "accuracy", language, right(model, test, language), None
    # Nothing below this layer was fine-tuned, so the means are still those of the subject.
    means = {x: subject.means(x, scale.mean_sentences)[upper.layer] for x in tests}
    for language in languages:
        dev, accuracy = load(language, "dev", recipe.held_out), []
        for weight in WEIGHTS:
            upper.moves = {language: weight * (means["en"] - means[language])}
            accuracy.append(right(model, dev, language).mean())
        weight = WEIGHTS[int(np.argmax(accuracy))]
        upper.moves = {language: weight * (means["en"] - means[language])}
        yield MOVED, "accuracy", language, right(model, tests[language], language), weight


def _tree_rows(subject: Subject, scale: Scale, task: str, languages: Sequence[str]) -> Found:
    recipe = RECIPES[scale.name, task]
    train, dev = _trees(subject, "en", "train", recipe.items), _trees(subject, "en", "dev", recipe.held_out)
    tests = {language: _trees(subject, language, "test", recipe.held_out) for language in ("en", *languages)}

    def results(method: str, counts: Mapping[str, Counts]) -> Found:
        for language, of in counts.items():
            for column, metric in enumerate(METRICS[task]):
                yield method, metric, language, share(of, column), 1.0 if method == SHIFT else None

    yield from results(*(_usual_tags(train, tests) if task == POS else _neighbours(train, dev, tests)))
    for method in (ORIGINAL, SHIFT, ZERO_MEAN):
        if method != SHIFT:  # which tests what was fine-tuned as it is
            reader = _reader(subject)
        parts = {
            language: _parts(reader, subject, scale, language, test)
            if method != ORIGINAL
            else [(range(len(test.words)), np.zeros(1, dtype=np.float32))]
            for language, test in tests.items()
        }
        english = parts["en"][0][1]
        if method != SHIFT:
            reader.moves = {"en": -english} if method == ZERO_MEAN else {}
            inputs = _inputs(reader, task, train, "en")
            model = _tuned(subject, reader, partial(_model, task), inputs, partial(_right, task, dev), recipe)
        counts = {}
        for language, test in tests.items():
            if method == SHIFT and language == "en":
                continue
            found = []
            for numbers, mean in parts[language]:
                reader.moves = {} if method == ORIGINAL else {language: (method == SHIFT) * english - mean}
                part: Any = ([column[number] for number in numbers] for column in test)
                found.append(_counts(model, task, Trees(*part), language))
            counts[language] = np.concatenate(found)
        yield from results(method, counts)


def _reader(subject: Subject) -> MovedReader:
    """Of a copy of the subject's model, to be moved at its middle layer."""
    return MovedReader(LanguageModel(copy.deepcopy(subject.model), subject.tokenizer), subject.layers // 2)


def _tuned(
    subject: Subject,
    reader: MovedReader,
    head: Callable[[MovedReader], Model],
    train: Sequence[Input],
    on_dev: Callable[[Model], npt.NDArray[Any]],
    recipe: Recipe,
) -> Model:
    """The reader under a head of its own, after the epoch with the most right answers ``on_dev``."""
    device = subject.model.device
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(subject.seed)
        model = head(reader).to(device)
        fine_tune(model, train, lambda: float(on_dev(model).sum()), recipe, subject.seed)
    return model


def _mean(reader: MovedReader, text: Sequence[str]) -> Vector:
    """At the layer where the reader moves states, of the model as it is now, nothing moved."""
    return language_means(reader.body, reader.tokenizer, text)[reader.layer]


def _parts(
    reader: MovedReader, subject: Subject, scale: Scale, language: str, test: Trees
) -> list[tuple[range, Vector]]:
    """The sentences to test, by number, with the language's mean: all, or one half with the other's, and that one."""
    total = len(test.words)
    if language in subject.languages:
        return [(range(total), _mean(reader, subject.text(language, scale.mean_sentences)))]
    lines = [" ".join(words) for words in test.words]
    return [(range(half, total, 2), _mean(reader, lines[1 - half :: 2])) for half in (0, 1)]


def _source(subject: Subject) -> Source:
    return Source(subject.corpus.source, subject.data, subject.form)


def _trees(subject: Subject, language: str, split: str, count: int | None) -> Trees:
    trees = Trees(*_source(subject).columns("trees", language, split, count))
    spell = corpora.respelled(subject.corpus, language)
    return trees._replace(words=[[spell(word) for word in words] for words in trees.words])


def _model(task: str, reader: MovedReader) -> Model:
    return Tagger(reader, len(UPOS)) if task == POS else Parser(reader)


def _inputs(reader: Reader, task: str, trees: Trees, language: str) -> list[Input]:
    if task == PARSING:
        return parsed(reader, trees.words, trees.heads, trees.relations, language)
    return tagged(reader, trees.words, [[UPOS.index(tag) for tag in tags] for tags in trees.tags], language)


def _right(task: str, dev: Trees, model: Model) -> npt.NDArray[np.int64]:
    """The last of the task's metrics, not yet divided."""
    return _counts(model, task, dev, "en")[:, -2]


def _counts(model: Any, task: str, trees: Trees, language: str) -> Counts:
    """What is right, a column for each of the task's metrics, and the words, int64 (sentences, metrics + 1)."""
    inputs = _inputs(model.reader, task, trees, language)
    if task == PARSING:
        return attachment_scores(trees.heads, trees.relations, *parse(model, inputs, language))
    return _tag_counts(trees, [[UPOS[i] for i in line] for line in answers(model, inputs, language)])


def _tag_counts(trees: Trees, guesses: Sequence[Sequence[str]]) -> Counts:
    """Words that did not fit have no guess, and so none that is right."""
    right = [sum(map(str.__eq__, tags, guess)) for tags, guess in zip(trees.tags, guesses, strict=True)]
    return np.array([right, [len(tags) for tags in trees.tags]], dtype=np.int64).T


def _usual_tags(train: Trees, tests: Mapping[str, Trees]) -> tuple[str, dict[str, Counts]]:
    usual = usual_tags(train.words, train.tags)
    commonest = Counter(tag for tags in train.tags for tag in tags).most_common(1)[0][0]
    guesses = {x: [[usual.get(word, commonest) for word in words] for words in test.words] for x, test in tests.items()}
    return "commonest tag of the word", {x: _tag_counts(tests[x], guess) for x, guess in guesses.items()}


def _neighbours(train: Trees, dev: Trees, tests: Mapping[str, Trees]) -> tuple[str, dict[str, Counts]]:
    commonest = Counter(name for names in train.relations for name in names).most_common(1)[0][0]

    def counts(trees: Trees, step: int) -> Counts:
        sizes = [len(words) for words in trees.words]
        heads = [[head % (size + 1) for head in range(1 + step, size + 1 + step)] for size in sizes]
        relations = [[commonest if head else "root" for head in line] for line in heads]
        return attachment_scores(trees.heads, trees.relations, heads, relations)

    step = max((-1, 1), key=lambda step: counts(dev, step)[:, 0].sum())
    side = "before" if step == -1 else "behind"
    return f"attached to the word {side}", {x: counts(test, step) for x, test in tests.items()}
