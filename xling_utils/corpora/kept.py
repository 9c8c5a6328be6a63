"""Text that was drawn once, kept on disk: a sample of real text is drawn from all text of its language, and the
controlled world makes its sentences word by word. Either takes longer than using them.

It lies in the cache of ``datasets`` (``HF_DATASETS_CACHE``), under the identity of everything that decides it: the
files, the arguments, and the sources of the rooms that read and normalise, or of the controlled world; its name also
has the sha256 of what was written. Removing it costs time only, and what is damaged is drawn again.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from xling_utils.core import identity, sources
from xling_utils.core.specs import Form
from xling_utils.core.writing import held, sha256, sync, writable
from xling_utils.corpora import directory

if TYPE_CHECKING:
    from datasets import Dataset
    from pyarrow import Table

SETTING = "HF_DATASETS_CACHE"


def sample(
    data: Path, language: str, sentences: int, seed: int, *, form: Form, held_out: bool, domain: str | None
) -> Dataset:
    """What :func:`directory.sample` draws, read back if it was drawn before. Raises what that raises, and
    :class:`UserError` on a full disk and where the text changes meanwhile."""
    read = directory.fingerprint(data, (language,), (domain,))

    def draw() -> Dataset:
        drawn = directory.sample(data, language, sentences, seed, form=form, held_out=held_out, domain=domain)
        if directory.fingerprint(data, (language,), (domain,)) != read:
            raise directory.changed(data, f"text of {language}")
        return drawn

    return _kept([read, language, sentences, seed, form, held_out, domain, _reading()], draw)


def controlled(what: str, arguments: Sequence[object], draw: Callable[[], Dataset]) -> Dataset:
    """``what`` the controlled world gives for ``arguments``: as ``draw`` draws it, or read back if it was drawn before.
    Raises what that raises, and :class:`UserError` on a full disk."""
    return _kept([what, *arguments, _world()], draw)


def _kept(made_of: Sequence[object], draw: Callable[[], Dataset]) -> Dataset:
    import datasets
    from pyarrow import feather

    name = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:20]
    place = Path(datasets.config.HF_DATASETS_CACHE) / "xling_utils" / name
    table = _table(place)
    if table is None:
        with ExitStack() as stack:
            with writable(place, SETTING):
                place.parent.mkdir(parents=True, exist_ok=True)
                # Whoever wants the same meanwhile waits instead of drawing it too.
                stack.enter_context(held(place.with_suffix(".lock")))
            table = _table(place)
            if table is None:
                drawn = draw()
                draft = place.with_suffix(".draft")  # under the lock: one that a killed process left is written over
                try:
                    with writable(place, SETTING):
                        # What is packed cannot be mapped.
                        feather.write_feather(drawn.data.table, draft, compression="uncompressed")
                        sync(draft)
                        draft.replace(path := place.with_name(f"{name}-{sha256(draft)}.arrow"))
                finally:
                    draft.unlink(missing_ok=True)
                table = feather.read_table(path, memory_map=True)
    return datasets.Dataset(table, fingerprint=name)


def _table(place: Path) -> Table | None:
    """What is kept at ``place``; what is damaged, or cannot be read, counts as absent, since it can be drawn again."""
    from pyarrow import ArrowInvalid, feather

    for path in place.parent.glob(f"{place.name}-*.arrow"):
        try:
            state = path.stat()
            if _is_whole(path, state.st_size, state.st_mtime_ns):
                return feather.read_table(path, memory_map=True)
        except (ArrowInvalid, OSError):  # such as a place that is no file
            continue
    return None


@cache
def _is_whole(path: Path, size: int, changed: int) -> bool:
    """Whether a file of that size, changed at that time, is the one that was written; looked at once a process."""
    return path.stem.endswith(f"-{sha256(path)}")


@cache
def _reading() -> str:
    return sources.digest(directory.__name__)


@cache
def _world() -> str:
    """Of the sources and tables of the controlled world and of what labels its text, and of what draws numbers."""
    import numpy as np

    drawing = sources.digest(*(f"{__package__}.{room}" for room in ("loading", "labelled", "treebanks", "parallel")))
    return drawing + identity.tables() + platform.python_version() + np.__version__
