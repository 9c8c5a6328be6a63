"""``xling probe``: the report card of any language model from the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from xling_utils.book import languages_of
from xling_utils.cli.output import DataDirectory, reported, root, say
from xling_utils.cli.parameters import on_the_line
from xling_utils.core.errors import UserError
from xling_utils.core.specs import LANGUAGES


def probe(
    ctx: typer.Context,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A folder, a run's key, or NAME@REVISION on the Hub.")],
    data: DataDirectory = None,
    languages: Annotated[str, typer.Option(metavar="L,L,...", help="Languages beside English.")] = ",".join(
        LANGUAGES[1:]
    ),
    text: Annotated[
        str | None, typer.Option("--aligned", metavar="NAME", help="Translations of your own: DIR/parallel/NAME/*.txt.")
    ] = None,
    pooling: Annotated[
        str | None, typer.Option(metavar="P", help="What stands for a sentence: mean, weighted, last or first.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Another model whose layers are compared with its own.")
    ] = None,
    chapters: Annotated[
        bool, typer.Option("--chapters", help="Then execute chapters 5 to 7 on it, as a small book of its own.")
    ] = False,
) -> int:
    """Make the report card of any language model: page, JSON and a line for a table, in _build/probe."""
    from xling_utils import book
    from xling_utils.measures import POOLINGS

    if pooling is not None and pooling not in POOLINGS:
        raise UserError(f"--pooling {pooling!r:.80}: known are {', '.join(POOLINGS)}")
    if chapters and pooling is not None:
        raise UserError("--pooling is for the card; chapters read a model as it is meant to be read")
    place, asked = root(), languages_of(languages)
    if (own := book.own_languages(model)) and not on_the_line(ctx, "data"):
        data, others = None, [language for language in own if language != "en"]
        if on_the_line(ctx, "languages") and asked != others:
            raise UserError(f"{model}: reads {' '.join(own)}; leave --languages out, or name a directory (--data DIR)")
        asked = others
    card = book.probe(place, model, asked, data, say, text, pooling, against, chapters)
    say(book.as_line(card))
    say(str(book.folder_of(place, model) / "card.html"))
    if not chapters:
        return 0
    pages, failures = book.probe_chapters(place, model, asked, data, say, text, card.predicts)
    if not failures:
        say(str(pages))
    return reported(failures)
