"""Which files of real text the tasks of a chapter read, and which of them a directory lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from xling_utils.core.errors import UserError
from xling_utils.core.specs import written_language
from xling_utils.corpora import directory, labelled, treebanks
from xling_utils.measures import names

DICTIONARY, TRANSLATED, TATOEBA = "dictionaries/muse/en-{}.{}.txt", "nli/xnli/test.{}.tsv", "tatoeba/{}-en.{}"
TREES = "ud/UD_*/{}_*-ud-{}.conllu"
TAGGED = TREES.format("en", "train")
"""What the words of real text have their parts of speech from."""
Lacking = Callable[[Sequence[str], Path], list[str]]
"""(languages beside English, directory) -> names of files."""


def lacking(task: str, languages: Iterable[str], data: Path) -> list[str]:
    """The files that ``task`` reads of a run, or of two, of ``languages``, and that the directory ``data`` does not
    have."""
    others = [language for language in dict.fromkeys(map(written_language, languages)) if language != "en"]
    return TASKS[task][0](others, data) if task in TASKS else []


def read_of(tasks: Iterable[str]) -> tuple[str, ...]:
    """What the names of the files begin with that ``tasks`` and their runs read."""
    return (*TEXT, *dict.fromkeys(start for task in tasks if task in TASKS for start in TASKS[task][1]))


def is_tagged(data: Path) -> bool:
    """Whether there is what parts of speech are known from."""
    return "en" in treebanks.languages_with_trees(data, "train")


def _absent(files: Iterable[str], data: Path) -> list[str]:
    return [name for name in files if not directory.existing(data / name)]


def _dictionaries(others: Sequence[str], data: Path) -> list[str]:
    return [name for language in others if not _has_dictionary(language, data) for name in _muse(language, data)]


def _has_dictionary(language: str, data: Path) -> bool:
    try:
        return bool(directory.dictionary_files(data, language))
    except UserError:
        return False


def _muse(language: str, data: Path) -> list[str]:
    return _absent((DICTIONARY.format(language, part) for part in ("train", "test")), data)


def _learned(kind: str) -> Lacking:
    return lambda others, data: labelled.lacking(kind, ("en", *others), data)


def _said(others: Sequence[str], data: Path) -> list[str]:
    return _absent((TRANSLATED.format(language) for language in ("en", *others)), data)


def _said_and_paired(others: Sequence[str], data: Path) -> list[str]:
    pairs = (TATOEBA.format(language, side) for language in others for side in ("en", language))
    return [*_said(others, data), *_absent(pairs, data)]


def _moved_inference(others: Sequence[str], data: Path) -> list[str]:
    """Learned in English, tested in those of the others that can be."""
    english = labelled.lacking("NLI", ("en",), data)
    of = {x: _absent((f"nli/xnli/{part}.{x}.tsv" for part in ("dev", "test")), data) for x in others}
    return english if not all(of.values()) else [*english, *(name for files in of.values() for name in files)]


def _trees(others: Sequence[str], data: Path, low: Sequence[str] = ()) -> list[str]:
    there = {split: treebanks.languages_with_trees(data, split) for split in labelled.SPLITS}
    english = [str(TREES.format("en", split)) for split in labelled.SPLITS if "en" not in there[split]]
    tested = {*others, *low} & {*there["test"]}
    return english if tested else [*english, *(TREES.format(language, "test") for language in others)]


def _contextual(others: Sequence[str], data: Path) -> list[str]:
    return [*dict.fromkeys([*_said(others, data), *labelled.lacking("NER", ("en", *others), data)])]


TASKS: dict[str, tuple[Lacking, tuple[str, ...]]] = {
    names.WORDS: (_dictionaries, ("dictionaries/",)),
    names.WORD_ALIGNMENT: (_dictionaries, ("dictionaries/",)),
    names.INFERENCE: (_learned("NLI"), ("nli/",)),
    names.RANDOM_LABELS: (_learned("NLI"), ("nli/",)),
    names.ENTITIES: (_learned("NER"), ("ner/panx/",)),
    names.LANGUAGE_MEANS: (_said_and_paired, ("nli/xnli/test",)),
    names.TOKEN_TRANSLATION: (_said, ("nli/xnli/test",)),
    names.SIMILARITY: (_said_and_paired, ("nli/xnli/test",)),
    names.SHIFTED_INFERENCE: (_moved_inference, ("nli/",)),
    names.POS: (_trees, ("ud/",)),
    names.PARSING: (lambda others, data: _trees(others, data, treebanks.LOW_RESOURCE), ("ud/",)),
    names.CONTEXTUAL: (_contextual, ("nli/xnli/test", "ner/panx/", "ud/")),
}
"""Task -> the files that it lacks, and what the names of those begin with that it reads."""
TEXT = ("text/", "tatoeba/", "bucc2018/", "parallel/")
"""What is read of any run: text, and what is kept out of it."""
