"""Chapters 5 to 7 on any masked language model: the same measures, without a run of this book."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from xling_utils.chapters.cka import plan as cka
from xling_utils.chapters.planning import declared
from xling_utils.chapters.rows import labelled
from xling_utils.chapters.shared import joint
from xling_utils.core.errors import UserError
from xling_utils.core.progress import bar
from xling_utils.core.scales import FIRST_REPORTED_SEED, Scale
from xling_utils.core.scales import scale as scale_of
from xling_utils.corpora import fingerprint
from xling_utils.measures import Subject, bundled, kept_rows, names, pool, registry, sentence_similarity
from xling_utils.runs import Compute, RunStore, ensure

TASKS = {
    "05_language_means": names.LANGUAGE_MEANS,
    "06_mds": names.TOKEN_TRANSLATION,
    "07_cka": names.SIMILARITY,
}
"""Chapter -> what is measured on a model from elsewhere."""
SENTENCES = 2_000
"""Of text a language, for the languages' means and sets of tokens."""


def table(
    chapter: str,
    model: str,
    scale: str,
    languages: Sequence[str],
    data: Path | None,
    aligned: str | None = None,
    sentences: int | None = None,
) -> pd.DataFrame:
    """What ``chapter`` shows of ``model``, a folder or a name on the Hub, as the chapter's tidy rows, its untrained
    twin beside it; on the translations ``aligned`` of one's own where such are named (:func:`parallel.aligned`), and on
    so many ``sentences`` of text a language. Kept beside the store of runs, and read back as long as model, text and
    measures are the same.

    Raises :class:`UserError` on a chapter that takes no model, on a model that cannot be measured, and on mistakes in
    the data.
    """
    if chapter not in TASKS:
        raise UserError(f"{chapter} takes no model; these chapters do: {', '.join(TASKS)}")
    subject = _opened(model, ("en", *languages), data, aligned, sentences or SENTENCES)
    own = (str(sentences),) if sentences else ()
    read = (subject.form, subject.pooling)
    seen = (subject.key, fingerprint(subject.corpus, data), scale, *read, *own, *subject.languages)
    name = hashlib.sha256(" ".join(seen).encode()).hexdigest()[:20]
    task = TASKS[chapter] + (f"{names.ON}{aligned}" if aligned else "")
    tests = pool.tested_with(pool.real_languages(subject.corpus), data)
    path = RunStore().folder(".measures") / pool.file_name((name,), task, scale_of(scale), tests)
    if not kept_rows.is_kept(path):
        kept_rows.keep(path, registry.arranged(_rows(chapter, subject, scale_of(scale))))
    found = kept_rows.load(path)
    varied = next(column for column in ("model", "encoders") if column in declared(chapter).columns)
    parts = [
        labelled(chapter, {varied: kind}, subject.seed, rows, scale) for kind, rows in found.groupby(varied, sort=False)
    ]
    return pd.concat(parts, ignore_index=True)


def explored(scale: Scale, languages: Sequence[str], live: str, data: Path | None, model: str | None) -> Subject | None:
    """What the live parts of a chapter look into: ``model``, or the encoder of all ``languages`` that this machine has
    trained; ``None`` where it has trained none."""
    if model:
        return _opened(model, ("en", *languages), data)
    if live == "none":
        return None
    spec = scale.joint(("en", *languages), FIRST_REPORTED_SEED)
    return Subject.of_run(ensure([spec], store=RunStore(), compute=Compute(data), progress=False)[spec], data)


def tried(languages: Sequence[str], data: Path | None, model: str | None) -> Subject:
    """What a reader may try in the widgets: ``model``, or the encoder of real text that comes with the book."""
    return _opened(model, ("en", *languages), data) if model else bundled.load()


def _rows(chapter: str, subject: Subject, scale: Scale) -> pd.DataFrame:
    """Of the model and of its twin, with a bar in languages of each."""
    twin = subject.untrained()
    with bar(2 * len(subject.others), f"{chapter}: languages") as progress:
        if chapter != cka.CHAPTER:
            task, models = registry.task(TASKS[chapter]), {joint.TRAINED: subject, joint.UNTRAINED: twin}
            frames = [
                pd.DataFrame(_counted(task.each(each, scale), each.others, progress)).assign(run=each.key, model=name)
                for name, each in models.items()
            ]
            return pd.concat(frames, ignore_index=True)
        return pd.DataFrame(
            row | {"run": subject.key, "beside": beside.key, "encoders": name}
            for target in subject.others
            for name, beside in ((cka.BILINGUAL, subject), (cka.RANDOM, twin))
            for row in _counted(sentence_similarity.of_models(subject, beside, scale, target), (target,), progress)
        )


def _counted(rows: Iterable[dict[str, Any]], languages: Sequence[str], progress: Any) -> Iterator[dict[str, Any]]:
    """The ``rows``, which tell of one of ``languages`` after the other; ``progress`` counts each when it is through."""
    through = 0
    for row in rows:
        for place, language in enumerate(languages):
            if language in (row["source"], row["target"]) and place > through and row["layer"] is not None:
                progress.update(place - through)  # what has no layer is told of all languages at first
                through = place
        yield row
    progress.update(len(languages) - through)


@lru_cache(maxsize=1)
def _opened(
    model: str, languages: tuple[str, ...], data: Path | None, aligned: str | None = None, sentences: int = SENTENCES
) -> Subject:
    return Subject.of_model(model, languages, data, sentences, aligned)
