"""What a run is: frozen dataclasses, their canonical JSON, and the key they hash to.

A run is *data + tokenizer + model + training + seed*. Two runs with the same key are the same run, so
chapters share them and the store never holds one twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge, Le

from xling_utils.core import typed
from xling_utils.core.errors import UserError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Some = Annotated[int, Ge(1)]
Number = Annotated[int, Ge(0)]
Seed = Annotated[int, Ge(0), Le(2**32 - 1)]
Amount = Annotated[float, Ge(0)]
Share = Annotated[float, Ge(0), Le(1)]
"""What :func:`run_from_dict` takes for a field."""
REAL = ("Amount", "Share")
"""The names of those that may be written without a point: 1 is 1.0, and the same run."""

LANGUAGES = ("en", "fr", "es", "de", "el", "bg", "ru", "tr", "ar", "vi", "th", "zh", "hi", "sw", "ur")
"""The fifteen languages of the book, in the papers' order (ISO 639-1)."""

DOUBLE = "enfake"
"""Fake-English as a language beside English: its text is English text, sentence for sentence. What tells them apart are
the ids of its tokens (``TokenizerSpec.separate``), or a ``"fake"`` change."""

SCALES = ("smoke", "controlled", "natural", "paper")

LIVE = ("headline", "all", "none")
"""What of a chapter is trained on this machine."""
RECIPES = {"corpus": 1, "tokenizer": 1, "encoder": 2, "static": 1, "training": 2}
"""Versions of the rooms that define what a spec means; raise one when its room changes a result."""


def written_language(language: str) -> str:
    """The language whose text it is: a double reads English sentences."""
    return "en" if language == DOUBLE else language


def listed(languages: Sequence[str]) -> tuple[str, ...]:
    """The languages of a list. Raises :class:`UserError` on a text, each of whose letters would be one."""
    if isinstance(languages, str):
        raise UserError(f"languages {languages!r:.80}: name them in a list, as in ['en', 'tr']")
    return tuple(languages)


@dataclass(frozen=True)
class Change:
    """What is done to the text of ``languages`` before anyone reads it (see ``corpora.transforms``).

    ``kind``: ``"fake"`` (every character shifted to one no language uses), ``"permuted"`` (``amount``, from 0 to
    1, of the word pairs of a sentence swapped), ``"reversed"`` (the words of a sentence, last first), ``"unigrams"``
    (words drawn anew by their frequency), ``"code_switched"`` (in ``amount`` of the sentences, words replaced by their
    translations).
    """

    kind: str
    languages: tuple[str, ...]
    amount: Share = 1.0


@dataclass(frozen=True)
class CorpusSpec:
    """Text to train on: ``sentences`` sentences of each of ``languages``.

    ``source`` is ``"controlled"`` (the embedded world) or ``"directory"`` (real text under a data directory).
    ``seed`` draws the controlled documents, or the sample of real ones; languages draw independently.
    ``changes`` are applied in order. ``domains`` names, where it is not empty, the domain of each language's
    text, in the order of ``languages``: of real text, the one file to read, without its ending.
    """

    source: str
    languages: tuple[str, ...]
    sentences: Some
    seed: Seed = 0
    changes: tuple[Change, ...] = ()
    domains: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        listed(self.languages)


Form = Literal["lower", "cased", "raw"]
"""How real text is read: in units and lower case, in units, or as it is written (see :mod:`corpora.text`)."""


@dataclass(frozen=True)
class TokenizerSpec:
    """``kind`` is ``"wordpiece"`` (trained on the corpus, ``size`` pieces), ``"characters"``, ``"words"`` (the
    ``size`` most frequent) or ``"mbert"`` (the multilingual BERT vocabulary of the data directory; ``size`` is
    then ignored and must be 0).

    ``separate`` gives each language ids of its own for every token but the special ones; ``markers`` gives each
    language a sentence separator of its own, ``specials`` all five special tokens.
    """

    kind: str = "wordpiece"
    size: Number = 1500
    separate: bool = False
    markers: bool = False
    specials: bool = False

    @property
    def own_ids(self) -> bool:
        """Whether a language has ids that the others lack."""
        return self.separate or self.markers or self.specials

    @property
    def form(self) -> Form:
        """How it reads real text."""
        return "cased" if self.kind == "mbert" else "lower"


@dataclass(frozen=True)
class EncoderSpec:
    """A BERT encoder: ``layers`` blocks of ``width``, ``heads`` attention heads, feed-forward of
    ``intermediate``, ``positions`` learned positions.

    ``separate_embeddings`` gives every language an embedding layer (and a softmax) of its own, whose positions begin
    alike, ``separate_blocks`` as many bottom blocks, ``separate_positions`` position and segment embeddings that begin
    apart. ``next_sentence`` adds BERT's second objective, with its pooler.
    """

    layers: Some = 3
    width: Some = 64
    heads: Some = 4
    intermediate: Some = 256
    positions: Some = 64
    separate_embeddings: bool = False
    separate_blocks: Number = 0
    next_sentence: bool = False
    separate_positions: bool = False

    @property
    def separate(self) -> bool:
        """Whether a language has parts of its own."""
        return self.separate_embeddings or self.separate_blocks > 0 or self.separate_positions


@dataclass(frozen=True)
class StaticSpec:
    """Static word vectors: ``method`` is ``"word2vec"`` (skip-gram with negative sampling) or ``"glove"``;
    ``width`` dimensions, a context of ``window`` tokens on each side, ``epochs`` passes. Contexts end with the
    sentence, or, ``across_sentences``, with the document."""

    method: Literal["word2vec", "glove"]
    width: Some = 64
    window: Some = 5
    epochs: Some = 10
    across_sentences: bool = False


RandomWords = Literal["", "any", "none"]
"""What replaces one chosen token in ten: a random one of those that the row's language has ids for, which are all where
languages share them; one of any language of the run; or no random word but ``[MASK]`` again."""

Precision = Literal["", "bf16"]
"""Of the products in training: single, or bfloat16, where sums and all weights stay in single precision."""


@dataclass(frozen=True)
class TrainingSpec:
    """Masked language modelling: ``steps`` updates on batches of ``batch`` inputs of ``length`` tokens.

    One-cycle learning rate: linear rise to ``learning_rate`` over ``warmup`` (a share of the steps), linear
    fall to zero. It is AdamW's; where ``hidden_rate`` is given, Muon takes the matrices between layers, at that rate
    (see :mod:`optimizers`). ``precision``: see :data:`Precision`. ``snapshots`` weights are kept at evenly spaced
    steps for curves over training. Inputs begin at sentences; with ``sliced`` the text is cut into consecutive
    inputs instead, so that every token is kept.
    ``random_words``: see :data:`RandomWords`. ``order_seed`` is that of batches and masks, where it is not the run's.
    """

    steps: Some
    batch: Some = 64
    length: Annotated[int, Ge(2)] = 24
    learning_rate: Amount = 3e-3
    warmup: Share = 0.1
    weight_decay: Amount = 0.01
    mask_rate: Share = 0.15
    snapshots: Number = 0
    sliced: bool = False
    random_words: RandomWords = ""
    hidden_rate: Amount = 0.0
    precision: Precision = ""
    order_seed: Seed = 0


@dataclass(frozen=True)
class RunSpec:
    """One trained model. ``training`` is ``None`` for static vectors (their epochs are in the model) and for
    the untrained encoder, the negative control. ``recipes`` are those of the rooms that the run passes through."""

    corpus: CorpusSpec
    tokenizer: TokenizerSpec
    model: EncoderSpec | StaticSpec
    training: TrainingSpec | None
    seed: Seed
    recipes: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        if not self.recipes:
            rooms = ("static",) if isinstance(self.model, StaticSpec) else ("encoder", "training")
            recipes = tuple((name, RECIPES[name]) for name in sorted(("corpus", "tokenizer", *rooms)))
            object.__setattr__(self, "recipes", recipes)

    @property
    def kind(self) -> str:
        """``"bert"``, ``"untrained"``, ``"word2vec"`` or ``"glove"``."""
        if isinstance(self.model, StaticSpec):
            return self.model.method
        return "bert" if self.training else "untrained"


def to_dict(spec: Any) -> dict[str, Any]:
    """The spec as plain JSON data; inverse of :func:`run_from_dict`."""
    return json.loads(canonical_json(spec))


def canonical_json(spec: Any) -> str:
    """One line of JSON with sorted keys: equal specs give equal text. A field that switches something off, which
    is its default, is left out, so that a new possibility changes no key of the runs that do without it."""
    return json.dumps(_plain(spec), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if not is_dataclass(value):
        return value
    found = {f: getattr(value, f.name) for f in fields(value)}
    return {
        f.name: float(now) if f.type in REAL and isinstance(now, int) else _plain(now)
        for f, now in found.items()
        if now or now is None or now != f.default
    }


def run_key(spec: RunSpec, fingerprint: str) -> str:
    """20 hexadecimal digits: sha256 of the canonical JSON and of ``fingerprint``, the identity of the data
    the run reads (see ``corpora.fingerprint``)."""
    return hashlib.sha256(f"{canonical_json(spec)}\n{fingerprint}".encode()).hexdigest()[:20]


def of_earlier_recipe(specs: Iterable[str]) -> bool:
    """Whether any of ``specs``, as canonical JSON, was trained in another way than today's (:data:`RECIPES`)."""
    return any(RECIPES[name] != version for spec in specs for name, version in json.loads(spec)["recipes"])


def run_from_dict(data: dict[str, Any]) -> RunSpec:
    """Rebuilds a run from :func:`to_dict`'s output; raises :class:`UserError` on unknown and missing fields
    of the run, and on values of another type."""
    if missing := sorted({f.name for f in fields(RunSpec)} - set(data)):
        raise UserError(f"RunSpec: field {missing[0]!r} is missing")
    try:
        return typed.read(RunSpec, (RunSpec, *PARTS.values()), data)
    except typed.Mistyped as error:
        static = isinstance(data["model"], dict) and "method" in data["model"]
        other = "EncoderSpec" if static else "StaticSpec"
        raise UserError(_said(next(found for found in error.wrong if other not in found["loc"]))) from None


PARTS = {
    "corpus": CorpusSpec, "changes": Change, "tokenizer": TokenizerSpec, "training": TrainingSpec,
    "EncoderSpec": EncoderSpec, "StaticSpec": StaticSpec,
}  # fmt: skip
"""Of a run: by field, those of the model by their own names."""


def _said(wrong: ErrorDetails) -> str:
    """Of which part something is wrong, and what."""
    steps = [str(step) for step in wrong["loc"]]
    inner = max((place for place, step in enumerate(steps[:-1], 1) if step in PARTS), default=0)
    part, said = PARTS[steps[inner - 1]] if inner else RunSpec, typed.said(wrong, inner)
    if wrong["type"] == typed.UNKNOWN:
        said += f"; known: {', '.join(sorted(f.name for f in fields(part)))}"
    return f"{part.__name__}: {said}"
