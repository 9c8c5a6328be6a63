"""Samples of real text, kept on disk: drawing one reads all text of its language, which takes longer than using it.

They lie in the cache of ``datasets`` (``HF_DATASETS_CACHE``), under the identity of everything that decides them: the
files, the arguments, and the sources of the rooms that read and normalise. Removing them costs time only.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from xling_utils.corpora import directory, text
from xling_utils.specs import Form
from xling_utils.writing import enough_space

if TYPE_CHECKING:
    from datasets import Dataset


def sample(
    data: Path, language: str, sentences: int, seed: int, *, form: Form, held_out: bool, domain: str | None
) -> Dataset:
    """What :func:`directory.sample` draws, read back if it was drawn before. Raises what that raises, and
    :class:`UserError` on a full disk."""
    import datasets
    from pyarrow import feather

    read = directory.fingerprint(data, (language,), (domain,))
    arguments = [read, language, sentences, seed, form, held_out, domain, _sources()]
    identity = hashlib.sha256(json.dumps(arguments).encode()).hexdigest()[:20]
    path = Path(datasets.config.HF_DATASETS_CACHE) / "xling_utils" / f"{identity}.arrow"
    if not path.exists():
        drawn = directory.sample(data, language, sentences, seed, form=form, held_out=held_out, domain=domain)
        with enough_space(path, setting="HF_DATASETS_CACHE"):
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_suffix(f".{os.getpid()}")
            feather.write_feather(
                drawn.data.table, draft, compression="uncompressed"
            )  # what is packed cannot be mapped
            draft.replace(path)
    return datasets.Dataset(feather.read_table(path, memory_map=True), fingerprint=identity)


@cache
def _sources() -> str:
    files = [Path(room.__file__) for room in (directory, text) if room.__file__]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
