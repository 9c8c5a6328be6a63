"""The chapters: which runs each one asks for, and what it measures on them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xling_utils.chapters import needs
from xling_utils.chapters.sized import sized
from xling_utils.core.errors import UserError
from xling_utils.core.scales import Scale
from xling_utils.core.specs import LANGUAGES, EncoderSpec, RunSpec, StaticSpec, written_language
from xling_utils.models.parameters import parameter_count
from xling_utils.models.tokenization import id_count

MODULES = {
    "01_data_size": "data_size",
    "02_window_size": "window_size",
    "03_overlap": "overlap",
    "04_architecture": "architecture",
    "05_language_means": "language_means",
    "06_mds": "mds",
    "07_cka": "cka",
    "08_minimult": "minimult",
    "09_scatter": "scatter",
    "10_distance": "distance",
}
"""Chapter -> its package."""

ALL_SEEDS = 5
SEEDS = ("text", "order")
"""What names a seed in the condition of a run."""
PARTS_OF_SPEECH = "parts of speech"
"""A task within a task: what is lacking for it leaves the rest of it."""


@dataclass(frozen=True)
class Planned:
    """One run that a chapter asks for. ``condition`` names the varied factors; ``headline`` says that it belongs
    to the chapter's main contrast, which is trained live by default; ``beside`` is the run it is compared with,
    where a measure takes two."""

    condition: tuple[tuple[str, Any], ...]
    spec: RunSpec
    headline: bool
    beside: RunSpec | None = None

    @property
    def specs(self) -> tuple[RunSpec, ...]:
        """Its run, and the one beside it."""
        return (self.spec, self.beside) if self.beside else (self.spec,)

    @property
    def target(self) -> str:
        """The language measured against English; English itself where no run reads another."""
        languages = (language for spec in self.specs for language in spec.corpus.languages)
        return next((language for language in languages if language != "en"), "en")

    def moved(self, seeds: int) -> Planned:
        """The same with ``seeds`` added to every seed: of the text, of the weights, of the order, of the run beside it,
        and to those that its condition names."""
        condition = tuple((name, value + seeds if name in SEEDS else value) for name, value in self.condition)
        beside = _moved(self.beside, seeds) if self.beside else None
        return replace(self, condition=condition, spec=_moved(self.spec, seeds), beside=beside)


def _moved(spec: RunSpec, seeds: int) -> RunSpec:
    corpus, training = replace(spec.corpus, seed=spec.corpus.seed + seeds), spec.training
    if training and training.order_seed:
        training = replace(training, order_seed=training.order_seed + seeds)
    return replace(spec, corpus=corpus, training=training, seed=spec.seed + seeds)


@dataclass(frozen=True)
class Chapter:
    """What a chapter's ``plan`` declares.

    ``columns`` are those that its rows have beside those of all chapters: one a varied factor. ``grid(scale, languages,
    seeds, live)`` are its runs, base language first, ``tasks`` what one of them is measured at, and ``experiment`` says
    which experiment a row of a condition belongs to; none: the chapter does not show it.
    """

    name: str
    columns: tuple[str, ...]
    grid: Callable[[Scale, Sequence[str], int, str], list[Planned]]
    tasks: Callable[[Planned], tuple[str, ...]]
    experiment: Callable[[dict[str, Any], dict[str, Any]], str | None]


def declared(chapter: str) -> Chapter:
    """What ``chapter`` declares. Raises :class:`UserError` naming the known ones."""
    if chapter not in MODULES:
        raise UserError(f"unknown chapter {chapter!r}; known: {', '.join(MODULES)}")
    found: Chapter = importlib.import_module(f"xling_utils.chapters.{MODULES[chapter]}.plan").DECLARED
    return found


def possible(planned: Sequence[Planned], data: Path | None) -> list[Planned]:
    """Those of ``planned`` whose domains of real text the directory ``data`` has; one line on standard error names the
    files that the others would read."""
    lacking = {each: lacking_text(each, data) for each in planned}
    if missing := sorted({name for names in lacking.values() for name in names}):
        left_out = dict.fromkeys(str(dict(each.condition)) for each, names in lacking.items() if names)
        print(f"xling: no {', '.join(missing)} in {data}; left out: {', '.join(left_out)}", file=sys.stderr)
    return [each for each in planned if not lacking[each]]


def measurable(
    chapter: str, planned: Sequence[Planned], data: Path | None, aligned: str | None = None
) -> dict[Planned, tuple[str, ...]]:
    """What each run is measured on: the chapter's tasks, those left out whose files of real text the directory ``data``
    lacks, unless ``aligned`` text of one's own stands in for them; one line on standard error names these, and the
    treebank that parts of speech are read from. Raises :class:`UserError` where nothing is left of all."""
    found, absent = {}, missed(chapter, planned, None if aligned else data)
    for each in planned:
        lacks = absent.get(each, {})
        found[each] = tuple(task for task in declared(chapter).tasks(each) if task not in lacks)
    files = {(name, task) for lacks in absent.values() for task, names in lacks.items() for name in names}
    named = ", ".join(sorted({name for name, _ in files}))
    if planned and not any(found.values()):
        raise UserError(f"{chapter}: nothing can be measured: no {named} in {data}")
    if files:
        left_out = ", ".join(sorted({task for _, task in files}))
        print(f"xling: {chapter}: no {named} in {data}; not measured: {left_out}", file=sys.stderr)
    return found


def missed(chapter: str, planned: Sequence[Planned], data: Path | None) -> dict[Planned, dict[str, list[str]]]:
    """Run -> task -> the files of real text that the task reads of it and the directory ``data`` lacks."""
    found = {}
    for each in planned if data is not None else ():
        if each.spec.corpus.source == "directory":
            assert data is not None
            languages = [language for spec in each.specs for language in spec.corpus.languages]
            lacks = {task: needs.lacking(task, languages, data) for task in declared(chapter).tasks(each)}
            if "part_of_speech" in declared(chapter).columns and not needs.is_tagged(data):
                lacks[PARTS_OF_SPEECH] = [needs.TAGGED]
            found[each] = {task: names for task, names in lacks.items() if names}
    return found


def lacking_text(planned: Planned, data: Path | None) -> list[str]:
    """The files of the domains that a run reads and the directory ``data`` does not have."""
    if data is None:
        return []
    return [
        f"text/{language}/{domain}.txt"
        for spec in planned.specs
        if spec.corpus.source == "directory"
        for language, domain in zip(map(written_language, spec.corpus.languages), spec.corpus.domains, strict=False)
        if not any((data / "text" / language).glob(f"{domain}.txt*"))
    ]


def plan(
    chapter: str,
    scale: str,
    *,
    languages: Sequence[str] = LANGUAGES[1:],
    seeds: int = ALL_SEEDS,
    sentences: int | None = None,
    data: Path | None = None,
) -> list[dict[str, Any]]:
    """Every run of a chapter at a scale, without running it: one dictionary a run, under the first condition that asks
    for it. ``sentences`` as :func:`sized` takes them.

    Keys: ``condition``, ``languages``, ``seed``, ``parameters`` (``None`` where the vocabulary is whatever characters
    the text has), ``tokens`` (positions trained on; ``None`` for static vectors, whose tokens depend on the text),
    ``operations`` (multiply-adds times two, by 6 per parameter and token for the blocks plus attention), ``stored``
    (``None`` where the data is not at hand) and ``headline``.
    """
    from xling_utils.runs import RunStore, key_of

    store = RunStore()
    rows = []
    every = possible(declared(chapter).grid(sized(scale, sentences, data), languages, seeds, "all"), data)
    of: dict[RunSpec, Planned] = {}
    for each in every:
        for spec in each.specs:
            of.setdefault(spec, each)
    for spec, planned in of.items():
        stored = None
        if spec.corpus.source == "controlled" or data is not None:
            stored = store.get(key_of(spec, data)) is not None
        rows.append(
            {
                "condition": " ".join(f"{name}={value}" for name, value in planned.condition),
                "languages": "-".join(spec.corpus.languages),
                "seed": spec.seed,
                **size_of(spec),
                "stored": stored,
                "headline": planned.headline,
            }
        )
    return rows


def size_of(spec: RunSpec) -> dict[str, Any]:
    """``parameters``, ``tokens`` and ``operations`` of a run, as :func:`plan` has them."""
    languages = len(spec.corpus.languages)
    vocabulary, training = _vocabulary(spec), spec.training
    tokens = training.steps * training.batch * training.length if training else 0
    if vocabulary is None:
        return {"parameters": None, "tokens": tokens, "operations": None}
    if isinstance(spec.model, StaticSpec):
        return {"parameters": vocabulary * spec.model.width, "tokens": None, "operations": None}
    return {
        "parameters": parameter_count(spec.model, vocabulary, languages),
        "tokens": tokens,
        "operations": tokens * operations(spec.model, spec, vocabulary) if training else 0,
    }


def core_hours(specs: Iterable[RunSpec]) -> float:
    """What training the encoders of ``specs`` takes, in hours of a core; to the factor of two that cores differ by."""
    return hours_of(sum(size_of(spec)["operations"] or 0 for spec in specs))


def hours_of(operations: int) -> float:
    """Hours of a core that so many floating point operations of training take."""
    return operations / OPERATIONS_A_SECOND / 3600


OPERATIONS_A_SECOND = 6e10
"""Of one core with bfloat16, in the base run of the controlled world."""
MBERT_PIECES = 119_547
"""Lines of multilingual BERT's vocabulary file."""


def _vocabulary(spec: RunSpec) -> int | None:
    if spec.tokenizer.kind == "characters":
        return None
    return id_count(spec.tokenizer.size or MBERT_PIECES, spec.tokenizer, len(spec.corpus.languages))


def operations(model: EncoderSpec, spec: RunSpec, vocabulary: int) -> int:
    """Floating point operations a token, forward and backward: 6 a weight, attention, head on masked places."""
    assert spec.training is not None
    blocks = model.layers * (4 * model.width**2 + 2 * model.width * model.intermediate)
    attention = model.layers * 2 * spec.training.length * model.width
    head = spec.training.mask_rate * (model.width**2 + model.width * vocabulary)
    return round(6 * (blocks + attention + head))
