"""What chapters 5 to 7 look into: a language model with its tokenizer, and the text it is measured on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from xling_utils import corpora
from xling_utils.core.errors import UserError
from xling_utils.core.specs import CorpusSpec, Form
from xling_utils.corpora import parallel
from xling_utils.measures.encoders import hub, language_identity, stored_run
from xling_utils.measures.encoders.hidden_states import LanguageModel
from xling_utils.measures.encoders.representations import means_by_unit
from xling_utils.runs import Run

TEXT_SEED = 0
"""Draws the text that a model from elsewhere is measured on."""
FOLDERS = ("/", "./", "../", "runs/")
"""What the name of a folder begins with, and no name on the Hub does."""


@dataclass(frozen=True, eq=False)
class Subject(LanguageModel):
    """``key`` identifies the weights; ``corpus`` says where its languages' text comes from, and ``data`` is the
    directory of real text.

    ``form`` is that of real text (see :mod:`corpora.text`); ``seed`` draws whatever is drawn in measuring. ``aligned``
    names text of one's own (:func:`parallel.aligned`) that translations are taken of, in place of the usual tests.
    """

    key: str
    corpus: CorpusSpec
    data: Path | None
    form: Form
    seed: int
    aligned: str | None = None
    _texts: dict[tuple[str, int], Sequence[str]] = field(default_factory=dict, repr=False)
    _tokens: dict[tuple[str, int], set[str]] = field(default_factory=dict, repr=False)
    _means: dict[tuple[str, int], dict[str, npt.NDArray[np.float32]]] = field(
        default_factory=dict, init=False, repr=False
    )

    @classmethod
    def of_run(cls, run: Run, data: Path | None = None, aligned: str | None = None) -> Subject:
        """A stored encoder and the text that it was trained on. Raises what :func:`stored_run.masked_lm` raises."""
        lm, spec = stored_run.masked_lm(run), run.spec
        return cls(lm.model, lm.tokenizer, run.key, spec.corpus, data, spec.tokenizer.form, spec.seed, aligned)

    @classmethod
    def of_model(
        cls,
        name: str,
        languages: Sequence[str],
        data: Path | None,
        sentences: int,
        aligned: str | None = None,
        pooling: str | None = None,
    ) -> Subject:
        """A model of ``transformers`` in a local folder or on the Hub, and ``sentences`` of real text a language;
        ``pooling`` as :func:`hub.load` takes it.

        The folder of a stored run brings its own text, unless ``data`` is given. Raises :class:`UserError` if there is
        no text, and what :func:`hub.load` raises.
        """
        if name.startswith(FOLDERS) and not Path(name).exists():
            raise UserError(f"{name}: no such folder; xling runs list shows what the store has")
        run = hub.run_in(Path(name))
        if run and data is None:
            own = cls.of_run(run, aligned=aligned)
            return replace(own, key=hub.key(own), pooling=pooling or "mean")  # folders of one name hold other weights
        if data is None:
            raise UserError(f"{name}: there is no text to measure it on; name a directory of real text (--data DIR)")
        lm = replace(stored_run.masked_lm(run), pooling=pooling or "mean") if run else hub.load(name, pooling)
        corpus = CorpusSpec("directory", tuple(languages), sentences, TEXT_SEED)
        form: Form = run.spec.tokenizer.form if run else "raw"
        key = hub.key(lm)
        return cls(lm.model, lm.tokenizer, key, corpus, data, form, TEXT_SEED, aligned, pooling=lm.pooling)

    def untrained(self) -> Subject:
        """The same with weights drawn anew, the negative control; what was read of its text serves both."""
        return replace(self, key=f"{self.key}-untrained", model=hub.drawn_anew(self.model, self.seed))

    @property
    def languages(self) -> tuple[str, ...]:
        """Of its text, in their order."""
        return self.corpus.languages

    @property
    def others(self) -> tuple[str, ...]:
        """See :func:`xling_utils.measures.encoders.stored_run.other_languages`."""
        return stored_run.other_languages(self.key, self.languages)

    def text(self, language: str, sentences: int) -> Sequence[str]:
        """The first ``sentences`` of a language's text, or as many as there are. No test holds any of them."""
        if (language, sentences) not in self._texts:
            spec = self.corpus
            if not spec.changes:  # then each language stands for itself
                domains = spec.domains and (spec.domains[spec.languages.index(language)],)
                spec = replace(spec, languages=(language,), domains=domains)
            found = corpora.load(spec, self.data, form=self.form)[language]
            self._texts[language, sentences] = found[:sentences]["text"]
        return self._texts[language, sentences]

    def said(self, count: int, *languages: str) -> dict[str, list[str]]:
        """The same sentences in ``languages``, or in all: ``count`` of them, or as many as there are. Raises what
        :func:`parallel.multiway` and :func:`parallel.aligned` raise."""
        asked = languages or self.languages
        if self.aligned is None:
            return parallel.multiway(self.corpus.source, asked, count, data=self.data, form=self.form)
        own = parallel.aligned(self.aligned, asked, data=self.data, form=self.form)
        return {language: lines[:count] for language, lines in own.items()}

    def pairs(self, language: str, count: int) -> tuple[list[str], list[str]]:
        """English sentences and their translations: ``count`` of them, or as many as there are. Of
        :attr:`aligned` they are those of :meth:`said`. Raises what :func:`parallel.pairs` raises, too."""
        if self.aligned is None:
            return parallel.pairs(self.corpus.source, language, count, data=self.data, form=self.form)
        own = self.said(count, "en", language)
        return own["en"], own[language]

    def means(self, language: str, sentences: int, unit: str = "token") -> npt.NDArray[np.float32]:
        """The mean state at every layer of the first ``sentences`` of a language's text, float32 (layers + 1, d), over
        ``unit``: one of :data:`representations.UNITS`. Computed once. Raises what
        :func:`representations.language_means` raises."""
        found = self._means.get((language, sentences))
        if found is None:
            found = means_by_unit(self, self.text(language, sentences))
            self._means[language, sentences] = found
        return found[unit]

    def tokens(self, language: str, sentences: int) -> set[str]:
        """The tokens that occur in the first ``sentences`` of a language's text, special ones left out. Found
        once."""
        if (language, sentences) not in self._tokens:
            text = {language: self.text(language, sentences)}
            self._tokens[language, sentences] = language_identity.token_sets(self.tokenizer, text)[language]
        return self._tokens[language, sentences]

    def apart(
        self, language: str, sentences: int, count: int
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """States of the first ``count`` tokens of a language's text beyond its first ``sentences`` sentences, float32
        (layers + 1, count, d), and its mean state (layers + 1, d) over those. A shorter text is halved."""
        text = self.text(language, 2 * sentences)
        half = len(text) // 2
        states = language_identity.token_states(self, text[half:], count)
        return states, self.means(language, half)
