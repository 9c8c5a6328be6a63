"""The text of a run, as tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xling_utils import corpora
from xling_utils.core.specs import RunSpec
from xling_utils.models import tokenization
from xling_utils.runs import keys


class Text:
    """What a run reads, as tokens: its ``tokenizer`` and its ``streams`` by language. ``key`` is that by which it was
    asked for, if there was one."""

    def __init__(self, spec: RunSpec, data: Path | None, key: str | None = None) -> None:
        self._spec, self._data, self._key = spec, data, key
        texts = corpora.load(spec.corpus, data, form=spec.tokenizer.form)
        self.tokenizer = tokenization.build(spec.tokenizer, texts, data)
        self._coders = tokenization.coders(self.tokenizer, spec.tokenizer, spec.corpus.languages)
        self.streams = self._encoded(texts)
        self.size = tokenization.vocabulary_size(self.tokenizer, spec.tokenizer, spec.corpus.languages)
        counts = {lang: len(stream.ids) for lang, stream in self.streams.items()}
        self.extras: dict[str, Any] = {"vocabulary": self.size, "corpus_tokens": counts}

    def held_out(self) -> dict[str, tokenization.TokenStream]:
        """The streams of the text that is not trained on."""
        spec = self._spec
        return self._encoded(corpora.load(spec.corpus, self._data, form=spec.tokenizer.form, held_out=True))

    def check(self) -> None:
        """Once all is read: raises :class:`UserError` if it is not what was asked for."""
        if self._key:
            keys.check(self._key, self._spec, self._data)

    def _encoded(self, texts: Any) -> dict[str, tokenization.TokenStream]:
        return {lang: self._coders[lang].stream(text) for lang, text in texts.items()}
