"""What a run of a chapter on a directory of real text would miss, before anything is trained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from xling_utils.chapters import needs
from xling_utils.chapters.planning import MODULES, PARTS_OF_SPEECH, Planned, declared, lacking_text, missed
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale as scale_of
from xling_utils.core.specs import written_language
from xling_utils.corpora import directory

SCALE = "natural"


@dataclass(frozen=True)
class Readiness:
    """``lines`` say of each task whether it can be measured, and of the text whether it is enough; ``reads`` is what
    the names of the files begin with that the chapter reads."""

    lines: tuple[str, ...]
    reads: tuple[str, ...]


def named(chapter: str) -> str:
    """The chapter of that name, or of that number. Raises :class:`UserError` naming the known ones."""
    of_number = {str(int(name[:2])): name for name in MODULES}
    return declared(of_number.get(chapter, chapter)).name


def ready(chapter: str, languages: Sequence[str], data: Path) -> Readiness:
    """Of a run of ``chapter`` on all that ``data`` has of English and ``languages``, with every condition. Raises
    :class:`UserError` where no language is named or one has no text, and on text that cannot be read."""
    if not languages:
        raise UserError(f"{data / 'text'}: no language beside English has text; name one with --languages, or add one")
    planned = declared(chapter).grid(scale_of(SCALE), languages, 1, "all")
    tasks = list(dict.fromkeys(task for each in planned for task in declared(chapter).tasks(each)))
    possible = [each for each in planned if not lacking_text(each, data)]
    lines = [*_of_tasks(chapter, possible, data), *_of_domains(planned, data), *_of_text(possible, data)]
    tagged = ("ud/",) if "part_of_speech" in declared(chapter).columns else ()
    return Readiness(tuple(lines), (*needs.read_of(tasks), *tagged))


def _of_tasks(chapter: str, planned: Sequence[Planned], data: Path) -> Iterator[str]:
    tasks = dict.fromkeys(task for each in planned for task in declared(chapter).tasks(each))
    lacks: dict[str, dict[str, None]] = {}
    for of in missed(chapter, planned, data).values():
        for task, files in of.items():
            lacks.setdefault(task, {}).update(dict.fromkeys(files))
    for task in [*tasks, *lacks.keys() & {PARTS_OF_SPEECH}]:
        yield f"left out: {task}, for want of {', '.join(lacks[task])}" if task in lacks else f"measured: {task}"


def _of_domains(planned: Sequence[Planned], data: Path) -> Iterator[str]:
    for_want: dict[str, list[str]] = {}
    for each in planned:
        if files := dict.fromkeys(lacking_text(each, data)):
            for_want.setdefault(", ".join(files), []).append(" ".join(str(value) for _, value in each.condition))
    for wanting, conditions in for_want.items():
        yield f"left out: {', '.join(conditions)}, for want of {wanting}"


def _of_text(planned: Sequence[Planned], data: Path) -> Iterator[str]:
    corpora = [spec.corpus for each in planned for spec in each.specs if not spec.corpus.domains]
    if not corpora:
        return
    asked = max(corpus.sentences for corpus in corpora)
    spoken = dict.fromkeys(written_language(language) for corpus in corpora for language in corpus.languages)
    there = {language: sum(1 for _ in directory.sentences(data, language)) for language in spoken}
    if empty := [language for language, count in there.items() if not count]:
        raise UserError(f"{data / 'text'}: nothing to train on in {' '.join(empty)}")
    counts = ", ".join(f"{language} {count:,}" for language, count in there.items())
    told = f"text: sentences to train on: {counts}; the scale {SCALE} reads {asked:,} of a language"
    least = min(there.values())
    yield told if least >= asked else f"{told}, so add -p sentences {least} or fewer"
