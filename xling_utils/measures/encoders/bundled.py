"""The encoder of real text that comes with the book, so that its widgets speak real languages without any data."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file, save_file

from xling_utils.core.scales import scale
from xling_utils.measures.encoders import bundled_text, stored_run
from xling_utils.measures.encoders.bundled_text import STATES, TOKENS, BundledText
from xling_utils.measures.encoders.representations import UNITS
from xling_utils.measures.encoders.subject import Subject
from xling_utils.models.transformers_format import CONFIG_FILE, WEIGHTS_FILE
from xling_utils.runs import Run, RunStore
from xling_utils.runs.store import TOKENIZER_FILE

SHOWN = 100
"""Tokens a language whose states are kept."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Bundled(Subject):
    """A subject without text: it has the ``means``, ``tokens`` and :meth:`apart` that were ``kept`` of its own."""

    kept: BundledText

    def means(self, language: str, sentences: int, unit: str = "token") -> npt.NDArray[np.float32]:
        return self.kept.means(language, sentences, unit)

    def tokens(self, language: str, sentences: int) -> set[str]:
        return set(self.tokenizer.convert_ids_to_tokens(self.kept.ids(language)))

    def apart(
        self, language: str, sentences: int, count: int
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        return self.kept.apart(language, sentences, count)


def load(folder: Path | None = None) -> Bundled:
    """The encoder that comes with the book (in ``folder``, if that is not the book's). Raises what
    :func:`bundled_text.load` raises."""
    kept = bundled_text.load(folder)
    run = kept.run
    lm, spec = stored_run.masked_lm(run), run.spec
    return Bundled(lm.model, lm.tokenizer, run.key, spec.corpus, None, spec.tokenizer.form, spec.seed, kept=kept)


def write(run: Run, data: Path | None, folder: Path) -> None:
    """Puts a stored ``run`` into ``folder`` for :func:`load`, with means, tokens and states of its text in ``data``, in
    place of what is there. CONTRIBUTING says when."""
    shutil.rmtree(folder, ignore_errors=True)
    with RunStore(folder).writing(run.key, run.spec) as draft:
        shutil.copy(run.path / TOKENIZER_FILE, draft.path)
        shutil.copy(run.path / CONFIG_FILE, draft.path)
        weights = load_file(run.path / WEIGHTS_FILE)
        # the one thing that transformers asks of a file's metadata is where its tensors come from
        save_file({n: w.astype(np.float16) for n, w in weights.items()}, draft.path / WEIGHTS_FILE, {"format": "pt"})
        draft.provenance.update(run.provenance)
    for left in folder.glob(".*"):
        shutil.rmtree(left)
    subject = Subject.of_run(replace(run, path=folder / run.key), data)
    count = scale("natural").mean_sentences
    kept, tokens = {}, {}
    for language in subject.languages:
        for unit in UNITS:
            kept[f"{unit}.{language}"] = subject.means(language, count, unit)
        kept[f"states.{language}"] = subject.apart(language, count, SHOWN)[0].astype(np.float16)
        tokens[language] = sorted(subject.tokenizer.convert_tokens_to_ids(list(subject.tokens(language, count))))
    whole = {name: np.ascontiguousarray(array) for name, array in kept.items()}  # safetensors writes no other right
    save_file(whole, folder / STATES)
    (folder / TOKENS).write_text(json.dumps(tokens, separators=(",", ":")), encoding="utf-8")
