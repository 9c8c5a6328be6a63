"""What comes with the book of its encoder's text: means, sets of tokens and the states of some tokens, which widgets
read without the encoder, whose libraries take seconds to import.

``book/models/`` holds one run as the store keeps it, its weights in half precision, and these beside it. The text
itself stays where it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file

from xling_utils.core.errors import UserError
from xling_utils.core.files import json_object
from xling_utils.core.project import checkout
from xling_utils.core.specs import EncoderSpec
from xling_utils.runs import Run, RunStore

FOLDER = Path("book") / "models"
STATES, TOKENS = "languages.safetensors", "tokens.json"


@dataclass(frozen=True)
class BundledText:
    """What was kept in ``folder`` of the text of its ``run``; methods are those of
    :class:`xling_utils.measures.encoders.subject.Subject`, whatever number of sentences is asked for."""

    folder: Path
    run: Run

    @property
    def key(self) -> str:
        return self.run.key

    @property
    def languages(self) -> tuple[str, ...]:
        return self.run.spec.corpus.languages

    @property
    def layers(self) -> int:
        assert isinstance(self.run.spec.model, EncoderSpec)
        return self.run.spec.model.layers

    def means(self, language: str, sentences: int, unit: str = "token") -> npt.NDArray[np.float32]:
        return self._states[f"{unit}.{language}"]

    def ids(self, language: str) -> list[int]:
        """Of the tokens of a language's text."""
        return json_object(self.folder / TOKENS)[language]

    def apart(
        self, language: str, sentences: int, count: int
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        return self._states[f"states.{language}"][:, :count].astype(np.float32), self.means(language, sentences)

    @cached_property
    def _states(self) -> dict[str, npt.NDArray[np.float32]]:
        try:
            return load_file(self.folder / STATES)
        except (OSError, SafetensorError) as error:
            raise UserError(f"{self.folder / STATES}: {error}; restore the one that is committed") from None


def load(folder: Path | None = None) -> BundledText:
    """What comes with the book (in ``folder``, if that is not the book's), the files of its encoder checked.

    Raises :class:`UserError` outside of a checkout, and if the files are not what they were.
    """
    if folder is None:
        folder = checkout("bundled encoder") / FOLDER
    store = RunStore(folder)
    keys = store.keys()
    runs = [run for key in keys if (run := store.get(key))]
    if len(runs) != 1:
        raise UserError(f"{folder}: {len(runs)} sound runs; restore the one that is committed")
    return BundledText(folder, runs[0])
