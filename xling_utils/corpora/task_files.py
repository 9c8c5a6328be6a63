"""Which files of a directory tasks are learned and tested on, and words looked up in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from xling_utils.core.errors import UserError
from xling_utils.corpora import directory
from xling_utils.corpora.labelled import ENTITY_FILES, INFERENCE_FILES
from xling_utils.corpora.treebanks import LOW_RESOURCE

LEARNED = (
    f"{INFERENCE_FILES['train']}.en.tsv",
    f"{ENTITY_FILES['train']}.en.tsv",
    "ud/UD_*/en_*-ud-train*.conllu",
    "ud/UD_*/en_*-ud-dev*.conllu",
)
"""What tasks are learned on: English."""
TREES = "ud/UD_*/{}_*-ud-test*.conllu"
TESTED = (*(f"{INFERENCE_FILES[split]}.{{}}.tsv" for split in ("dev", "test")), TREES, "bucc2018/{}-en.dev.gold")
"""What a language is tested on, beside the tests that are kept out of its text."""
OF_ALL = (f"{ENTITY_FILES['test']}.*.tsv", *(TREES.format(language) for language in LOW_RESOURCE))
"""Whatever the languages: no test sentence of any is among the entities learned from, so all tests are read."""


def task_files(data: Path, languages: Iterable[str]) -> Iterator[Path]:
    """Those of ``languages`` and English that ``data`` has, whatever the task."""
    patterns = [*LEARNED, *OF_ALL]
    for language in dict.fromkeys(("en", *languages)):
        yield from directory.protected_files(data, language)
        with suppress(UserError):  # a language without a dictionary can be trained on
            yield from directory.dictionary_files(data, language)
        patterns += [pattern.format(language) for pattern in TESTED]
    yield from (path for pattern in patterns for end in ("", ".xz") for path in data.glob(pattern + end))


def fingerprint(data: Path, languages: Iterable[str]) -> str:
    """sha256 over names, sizes and contents of :func:`task_files`: a packed directory has that of its original."""
    return directory.fingerprint_of(task_files(data, languages), data)
