"""Does an encoder find every English word and sentence in English's double? (Dufter & Schütze 2020)

Fake-English says sentence for sentence what English says, so the translation of everything is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from xling_utils import corpora
from xling_utils.core.errors import UserError
from xling_utils.core.scales import Scale
from xling_utils.core.specs import DOUBLE
from xling_utils.measures.encoders.stored_run import Reading, masked_lm
from xling_utils.measures.metrics.retrieval import ranks
from xling_utils.measures.names import DOUBLES, RETRIEVAL, TRANSLATION
from xling_utils.measures.rows import row
from xling_utils.measures.tasks.sentence_retrieval import sentence_vectors
from xling_utils.measures.tasks.word_retrieval import MINIMUM_COUNT
from xling_utils.runs import Run


def rows(run: Run, scale: Scale, data: Path | None) -> Iterator[dict[str, Any]]:
    """Tidy rows ``task, metric, source, target, layer, value, low, high, n`` of an encoder of English and its double.

    Words are those that stand often enough in the text, each read alone between ``[CLS]`` and ``[SEP]``, as each side
    spells it; sentences are held-out ones, each once, and in the order that the run's text has them in. Either is the
    mean of its tokens. Metrics at every layer: ``p_at_1``, for how many the nearest by cosine is their double, the mean
    of both directions; ``p_at_1_shuffled``, the same with doubles dealt out anew; ``chance``. ``low`` and ``high``
    bound a 95 % bootstrap interval over words or sentences. Raises :class:`UserError` on a run of other languages.
    """
    corpus = run.spec.corpus
    languages = corpus.languages
    if languages != ("en", DOUBLE):
        raise UserError(f"{DOUBLES}: run {run.key} reads {' '.join(languages)}, not en {DOUBLE}")
    plain = replace(run, spec=replace(run.spec, corpus=replace(corpus, changes=())))  # words before they are respelled
    counts = Reading(plain, scale, data).counts["en"]
    words = sorted(word for word, count in counts.items() if count >= MINIMUM_COUNT)
    spelt = [list(map(corpora.respelled(corpus, language), words)) for language in languages]
    held_out = corpora.load(corpus, data, form=run.spec.tokenizer.form, held_out=True)
    pairs = dict(zip(*(held_out[language]["text"][:] for language in languages), strict=True))
    asked = {TRANSLATION: spelt, RETRIEVAL: [list(pairs), list(pairs.values())]}
    models = [masked_lm(run, language) for language in languages]
    for task, texts in asked.items():
        vectors = [sentence_vectors(lm, text) for lm, text in zip(models, texts, strict=True)]
        count = len(texts[0])
        own = np.arange(count)
        shuffled = np.random.default_rng(run.spec.seed).permutation(count)
        for layer, (x, y) in enumerate(zip(*vectors, strict=True)):
            for metric, gold in (("p_at_1", own), ("p_at_1_shuffled", shuffled)):
                there, back = [{other} for other in gold.tolist()], [{one} for one in np.argsort(gold).tolist()]
                right = ((ranks(x, y, there) == 1) + 0.0 + (ranks(y, x, back) == 1)) / 2
                yield row(task, metric, "en", DOUBLE, layer, right)
            yield row(task, "chance", "en", DOUBLE, layer, 1 / count, n=count)
