"""The page *The experiments*: what each of the papers' experiments asks (typed, ``book/experiments.yml``), and which
chapter and which claims answer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xling_utils.book import ledger_page
from xling_utils.book.typed_facts import entries
from xling_utils.chapters import MODULES
from xling_utils.claims import ledger
from xling_utils.claims.testing import Claim

HEAD = ("number", "what it asks", "where", "repeated in", "claims")


@dataclass(frozen=True)
class Experiment:
    """What an experiment ``asks``, in words, and ``where`` in the papers it stands."""

    asks: str
    where: str


def experiments(path: Path) -> dict[str, Experiment]:
    """By number, such as ``R01``. Raises what :func:`entries` raises."""
    return entries(path, Experiment)


def page() -> str:
    """Markdown: a table with a line for each experiment."""
    every = sorted(ledger.load().claims, key=lambda claim: claim.id)
    known = experiments(ledger.root() / "book" / "experiments.yml")
    lines = [_line(number, each, [c for c in every if number in c.experiments]) for number, each in known.items()]
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in (HEAD, ["---"] * len(HEAD), *lines))
    return f"```{{table}}\n:class: stacked questions\n\n{table}\n```"


def _line(number: str, experiment: Experiment, claims: Sequence[Claim]) -> Sequence[str]:
    chapters = [chapter for chapter in MODULES if any(claim.chapter == chapter for claim in claims)]
    answered = ", ".join(f"[chapter {int(chapter[:2])}](/notebooks/{chapter})" for chapter in chapters)
    named = ", ".join(ledger_page.link(claim.id) for claim in claims)
    return number, experiment.asks, experiment.where, answered, named
