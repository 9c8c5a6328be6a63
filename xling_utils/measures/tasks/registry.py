"""What runs are measured at: every task by its name, with where its rows are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pandas as pd

from xling_utils.core.errors import UserError
from xling_utils.core.scales import Scale
from xling_utils.core.scales import scale as scale_of
from xling_utils.measures import names
from xling_utils.runs import Run

ROW = ("task", "metric", "source", "target", "layer", "step", "value", "low", "high", "n", "run")
"""The columns of a row that no chapter has labelled yet."""
RUN, PAIR, MODEL = "a run", "a run and another beside it", "any language model"
"""What a task takes."""


@dataclass(frozen=True)
class Task:
    """``module`` of the package has the ``function``, imported when it is called: what measures takes seconds to
    import. It gives tidy rows, dictionaries of :data:`ROW` without ``run``, of

    - a stored :class:`Run`: ``function(run, scale, data)``,
    - a run and the one ``beside`` it, if any: ``function(run, beside, scale, data)``,
    - an opened model: ``function(subject, scale)``,

    as it ``takes``. Tasks that one function measures are told apart by ``named``. Those that are ``long`` begin first.
    Those that take a stored run ``opened`` read it as ``transformers`` has it, as those of any model do.
    """

    name: str
    module: str
    takes: str = RUN
    named: bool = False
    long: bool = False
    opened: bool = False
    function: str = "rows"

    @property
    def imports(self) -> tuple[str, ...]:
        """The modules that are imported before it measures."""
        opening = ("transformers.models.bert.modeling_bert",) if self.opened or self.takes == MODEL else ()
        spans = ("seqeval.metrics.sequence_labeling",) if self.name == names.ENTITIES else ()
        return (f"xling_utils.measures.{self.module}", "datasets", *opening, *spans)

    def each(self, *asked: Any) -> Iterator[dict[str, Any]]:
        """The rows of what the task takes, one by one as they are measured."""
        function = resolve_name(f"xling_utils.measures.{self.module}:{self.function}")
        found: Iterator[dict[str, Any]] = function(*asked, **({"task": self.name} if self.named else {}))
        return found

    def of(self, *asked: Any) -> pd.DataFrame:
        """The same as a table."""
        return pd.DataFrame(list(self.each(*asked)))


TASKS = {
    task.name: task
    for task in (
        Task(names.WORDS, "tasks.word_retrieval"),
        Task(names.DOUBLES, "tasks.multilinguality_score", opened=True),
        Task(names.WORD_ALIGNMENT, "tasks.lexicon_induction", PAIR),
        Task(names.SIMILARITY, "tasks.sentence_similarity", PAIR, opened=True),
        Task(names.LANGUAGE_MEANS, "tasks.language_neutrality", MODEL, long=True),
        Task(names.TOKEN_TRANSLATION, "tasks.token_translation", MODEL, long=True),
        Task(names.REPORT_CARD, "tasks.report_card", MODEL, function="of_model"),
        Task(names.RANDOM_LABELS, "transfer.random_labels"),
        *(Task(name, "transfer.zero_shot", named=True) for name in names.LEARNED),
        *(Task(name, "transfer.mean_shift", MODEL, named=True, long=True) for name in names.SHIFTED),
        Task(names.CONTEXTUAL, "transfer.contextual_alignment", PAIR, long=True),
    )
}


def task(name: str) -> Task:
    """The task of that name, wherever it is measured on. Raises :class:`KeyError`: names come from :mod:`names`."""
    return TASKS[name.partition(names.ON)[0]]


def rows(name: str, runs: Sequence[Run], scale: Scale, data: Path | None) -> pd.DataFrame:
    """What a run does at a task, with ``run``, its key, and that of the run ``beside`` it. A task of any
    language model may be named with aligned text of one's own (``names.ON``). Raises :class:`UserError` on mistakes in
    the data."""
    asked, (run, *beside) = task(name), runs
    if asked.takes == MODEL:
        from xling_utils.measures.encoders.subject import Subject

        frame = asked.of(Subject.of_run(run, data, name.partition(names.ON)[2] or None), scale)
    elif asked.takes == PAIR:
        frame = asked.of(run, beside[0] if beside else None, scale, data)
    else:
        frame = asked.of(run, scale, data)
    frame = frame.assign(run=run.key)
    if beside:
        frame = frame.assign(beside=beside[0].key)
    return arranged(frame)


def arranged(rows: pd.DataFrame) -> pd.DataFrame:
    """``rows`` with the columns of :data:`ROW` first, and all others after them."""
    return rows.reindex(columns=list(dict.fromkeys([*ROW, *rows])))


def measure(
    task: str, run: Run, beside: Run | None = None, *, scale: str = "controlled", data: Path | str | None = None
) -> pd.DataFrame:
    """What ``run`` does at a task, a key of ``registry.TASKS`` such as ``"word retrieval"``: tidy rows, a line a metric
    and layer, with the columns of :data:`ROW` and those of the task.

    Tasks that compare take English from ``run`` and the other language from the run ``beside`` it, or from the same.
    ``scale`` is that of the run: it says how much text is read. ``data`` is the directory of real text. Nothing is
    kept: a chapter's rows are made by :func:`ensure_rows`.

    Raises :class:`UserError` on an unknown task, on a second run or aligned text of one's own for a task that takes
    none, and on mistakes in the data.
    """
    if (known := TASKS.get(task.partition(names.ON)[0])) is None:
        raise UserError(f"unknown task {task!r:.80}; known: {'; '.join(TASKS)}")
    if names.ON in task and known.takes != MODEL:
        others = "; ".join(name for name, each in TASKS.items() if each.takes == MODEL)
        raise UserError(f"{task:.80} does not read aligned text of one's own; those that do: {others}")
    if beside is not None and known.takes != PAIR:
        pairs = "; ".join(name for name, each in TASKS.items() if each.takes == PAIR)
        raise UserError(f"{task} takes one run; those that take another beside it: {pairs}")
    return rows(task, [run, beside] if beside else [run], scale_of(scale), Path(data) if data else None)
