"""Pages of reference that are written from the program itself: its command line, and the columns of its rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typer import Typer

KIND = re.compile(r" <[^>]*>$")
"""What the help says of the type of an argument, in Python's words."""

OPTION = re.compile(r"(?<![\w`-])--[a-z][a-z-]*")
"""One that a sentence names."""

MEANINGS = {
    "experiment": "the experiment of the papers, `R01` to `R33`, or of the appendix",
    "scale": "`smoke`, `controlled`, `natural` or `paper`",
    "seed": "of the run: of its text and of its first weights",
    "task": "what was measured, such as word retrieval, `NLI` or `NER`",
    "metric": "which number of the task, such as `mrr` or `accuracy`",
    "source": "the language that is known, or learned from",
    "target": "the language that is asked",
    "layer": "0 is the output of the embeddings, *l* that of block *l*",
    "step": "of a row of a training curve; empty for a finished model",
    "value": "the measurement; scores are between 0 and 1, BLEU between 0 and 100",
    "low": "lower end of its 95 % interval over the items, where there is one",
    "high": "upper end",
    "n": "how many items it is over",
    "run": "key of the run in the store",
    "model": "`BERT`, `word2vec`, `GloVe` or `untrained`; of the encoder of all languages `pretrained` or `untrained`",
    "sentences": "of text, a language",
    "part_of_speech": "of the dictionary's words; empty for all",
    "window": "tokens of an input, or of the context of static vectors",
    "text": "seed of the text; that of the first weights is `seed`",
    "order": "seed of the order of batches and masks",
    "condition": "what the languages share, or what was changed",
    "factor": "what was varied in the encoder or its training",
    "level": "the factor's value",
    "method": "what was done with the languages' means",
    "unit": "what a mean is over: tokens or sentences",
    "weight": "of the shift",
    "encoders": "who reads the two languages",
    "beside": "key of the run that reads the other language, where that is another one",
    "spec": "the run's specification, JSON",
    "commit": "of the code that made it",
    "processor": "of the machine, and the largest set of instructions that it has for products",
    "threads": "that it was trained with",
    "python": "version",
    "torch": "version",
    "tokens": "trained on",
    "seconds": "that training took",
    "tokens_per_second": "while training",
    "finished": "when, UTC",
}
"""What the columns of the tables mean."""


def columns() -> str:
    """Markdown: the columns of the rows of all chapters, of single chapters, and of the table of runs."""
    from xling_utils import chapters
    from xling_utils.chapters import records

    every = {chapter: chapters.columns(chapter) for chapter in chapters.MODULES}
    common = [name for name in next(iter(every.values())) if all(name in there for there in every.values())]
    own = [(chapter, name) for chapter, there in every.items() for name in there if name not in common]
    sections = (
        ("## Columns of every chapter", ("column", "meaning"), [(f"`{n}`", MEANINGS[n]) for n in common]),
        (
            "## Columns of single chapters",
            ("chapter", "column", "meaning"),
            [(f"`{chapter}`", f"`{name}`", MEANINGS[name]) for chapter, name in own],
        ),
        (
            "## Columns of the table of runs",
            ("column", "meaning"),
            [(f"`{n}`", MEANINGS[n]) for n in ("run", "spec", *records.PROVENANCE)],
        ),
    )
    return "\n\n".join(f"{heading}\n\n{_table(head, rows)}" for heading, head, rows in sections)


def commands(app: Typer) -> str:
    """Markdown: every command of ``app`` with its arguments and options, as its ``--help`` has them."""
    from typer.main import get_command

    return "\n\n".join(_commands("xling", get_command(app)))


def _commands(path: str, command: Any) -> Iterator[str]:
    if inner := getattr(command, "commands", None):
        for name, each in inner.items():
            yield from _commands(f"{path} {name}", each)
        return
    context = command.context_class(command, info_name=path)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"## {path}\n\n`{path} {usage}`\n\n{command.help}"
    said = [parameter.get_help_record(context) for parameter in command.params]
    rows = [(f"`{KIND.sub('', name)}`", OPTION.sub(r"`\g<0>`", words).replace("|", "\\|")) for name, words in said]
    if rows:
        yield _table(("argument or option", "meaning"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """One of more than two columns is stacked on a narrow page."""
    lines = [head, ["---"] * len(head), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"```{{table}}\n:class: stacked\n\n{table}\n```" if len(head) > 2 else table
