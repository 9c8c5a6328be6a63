"""Under which keys the store holds runs: a key says what is trained, and on which text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from xling_utils.core.specs import CorpusSpec, RunSpec, run_key


def keys_of(specs: Iterable[RunSpec], data: Path | None = None) -> dict[RunSpec, str]:
    """The key of each of ``specs``, trained on the text that it reads now."""
    reads = {spec: (spec.corpus, spec.tokenizer.kind) for spec in specs}
    texts = {what: _fingerprint(*what, data) for what in dict.fromkeys(reads.values())}
    return {spec: run_key(spec, texts[what]) for spec, what in reads.items()}


def key_of(spec: RunSpec, data: Path | None = None) -> str:
    """The key under which the store holds ``spec`` trained on the text that it reads now."""
    return keys_of([spec], data)[spec]


def check(key: str, spec: RunSpec, data: Path | None) -> None:
    """Raises :class:`UserError` where ``spec`` was asked for by ``key`` and files that it has read since changed."""
    from xling_utils.corpora import directory

    if data is not None and key_of(spec, data) != key:
        raise directory.changed(data, f"text of {', '.join(spec.corpus.languages)}")


def _fingerprint(corpus: CorpusSpec, tokenizer: str, data: Path | None) -> str:
    """Identity of the text, and of the vocabulary where that is read too."""
    from xling_utils import corpora
    from xling_utils.corpora.directory import mbert_vocabulary

    found = corpora.fingerprint(corpus, data)
    if tokenizer == "mbert" and data is not None:
        found = hashlib.sha256(found.encode() + mbert_vocabulary(data).read_bytes()).hexdigest()
    return found
