"""A chapter as its notebook sees it: the parameters, the rows measured here and those recorded, and what is done at the
end with both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from xling_utils.chapters import planning, records
from xling_utils.chapters.parameters import check_parameters, of_ones_own
from xling_utils.chapters.planning import Planned
from xling_utils.chapters.rows import empty, table
from xling_utils.chapters.shared.contrasts import targets
from xling_utils.chapters.sized import sized
from xling_utils.core.scales import Scale
from xling_utils.runs import Compute


@dataclass(frozen=True)
class Opened:
    """A chapter at a scale. ``measured`` are the rows of this machine, ``recorded`` the committed ones; of a ``model``
    from elsewhere, on text of one's own, of another number of ``sentences`` and of languages that are not recorded
    there are none of the latter."""

    name: str
    scale: str
    languages: tuple[str, ...]
    seeds: int
    live: str
    data: Path | None
    model: str | None
    aligned: str | None
    sentences: int | None
    measured: pd.DataFrame
    recorded: pd.DataFrame
    of_the_book: bool
    """Whether what is shown is the book's own run, of which its claims and verdicts speak."""

    @property
    def base(self) -> str:
        """The language that headlines are about: the first beside English."""
        return self.languages[0]

    @property
    def sizes(self) -> Scale:
        """Those of the scale, or what was asked for in their place."""
        return sized(self.scale, self.sentences, self.data)

    @property
    def both(self) -> pd.DataFrame:
        """The recorded rows, or the measured ones where nothing is recorded and on a page of one's own: for figures
        that show one of them."""
        own = len(self.measured) and not self.of_the_book
        return self.measured if own or self.recorded.empty else self.recorded

    @property
    def beyond_records(self) -> bool:
        """Whether the rows are of a model, on translations or of sizes that the book's records and claims do not speak
        of."""
        return any((self.model, self.aligned, self.sentences))

    @property
    def record_of_real_text(self) -> bool:
        """Whether what there is to show are the recorded rows of real text, a language each."""
        return self.scale == "natural" and self.measured.empty

    @property
    def of_earlier_recipe(self) -> bool:
        """Whether recorded runs were trained in another way than today's."""
        return not self.beyond_records and records.of_earlier_recipe(self.name, self.scale)

    @cached_property
    def shown(self) -> pd.DataFrame:
        """The measured rows that stand beside the recorded ones in a figure."""
        return records.beside(self.measured, self.recorded, self.name, self.scale)

    @cached_property
    def plan(self) -> list[Planned]:
        """The runs of this machine."""
        return planning.declared(self.name).grid(self.sizes, self.languages, self.seeds, self.live)

    @cached_property
    def on_real_text(self) -> Opened:
        """The chapter's records of real text."""
        none, recorded = empty(self.name), records.load(self.name, "natural")
        return Opened(
            self.name, "natural", self.languages, self.seeds, "none", None, None, None, None, none, recorded, True
        )

    @property
    def targets(self) -> list[str]:
        """The languages beside English that the recorded rows measure."""
        return targets(self.recorded)

    def record(self) -> pd.DataFrame | None:
        """Writes the measured rows to ``_build/records``, beside those of other seeds that are there, and those
        :attr:`beyond_records` under a name of their own.
        Returns where the recorded ones were made, as :func:`records.hardware` does."""
        place = self.scale + records.OWN * self.beyond_records
        records.write(self.name, place, self.measured, model=self.model, add=not self.beyond_records)
        return records.hardware(self.name, self.scale) if len(self.recorded) else None


def opened(
    name: str,
    scale: str,
    languages: Sequence[str],
    seeds: int,
    live: str,
    data: str | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    jobs: int | None = None,
    model: str | None = None,
    aligned: str | None = None,
    sentences: int | None = None,
) -> Opened:
    """The chapter ``name`` with a notebook's parameters: its runs trained where missing and measured where not yet, or
    ``model`` measured in their place, on translations of one's own (:func:`parallel.aligned`) where such are named, and
    with so many ``sentences`` a language where that is not as the scale has it.

    Raises as :func:`rows.table` and :func:`probes.table` do.
    """
    folder = Path(data) if data else None
    given = {"scale": scale, "languages": languages, "seeds": seeds, "live": live, "data": data, "engine": engine}
    given |= {"scheduler": scheduler, "jobs": jobs, "model": model, "aligned": aligned, "sentences": sentences}
    check_parameters(given)
    if model:
        from xling_utils.chapters import probes

        measured = probes.table(name, model, scale, languages, folder, aligned, sentences)
    else:
        compute = Compute(folder, engine, scheduler, jobs)
        measured = table(name, scale, languages, seeds, live, compute, aligned=aligned, sentences=sentences)
    alone = model or aligned or sentences
    recorded = empty(name) if alone else records.of_languages(records.load(name, scale), languages)
    books = not of_ones_own(given | {"languages": list(languages)})
    return Opened(
        name, scale, tuple(languages), seeds, live, folder, model, aligned, sentences, measured, recorded, books
    )
