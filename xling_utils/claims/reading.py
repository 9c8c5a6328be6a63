"""``book/claims.yml``, read: every part of the type that it must be, and every name one that is known."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from xling_utils.chapters import MODULES
from xling_utils.claims.predicates import Predicate, names_in
from xling_utils.claims.testing import Claim, Ledger
from xling_utils.core import files, typed
from xling_utils.core.errors import UserError
from xling_utils.core.specs import SCALES


def claims(path: Path) -> dict[str, Any]:
    """What stands in ``path``, as :class:`Ledger` takes it. Raises :class:`UserError` with the claim that cannot be
    read, or that names what is not there."""
    try:
        plain = json.loads(json.dumps(files.yaml_mapping(path), default=str))
        read = typed.read(Ledger, (Ledger, Claim, Predicate), plain)
    except TypeError as error:  # a key that is none
        raise UserError(f"{path}: {error}") from None
    except typed.Mistyped as error:
        raise UserError(f"{path}: {_said(error, plain)}") from None
    if twice := [name for name, count in Counter(claim.id for claim in read.claims).items() if count > 1]:
        raise UserError(f"{path}: two claims have the id {twice[0]}")
    for claim in read.claims:
        try:
            _check(read, claim)
        except UserError as error:
            raise UserError(f"{path}: claim {claim.id}: {error}") from None
    return plain


def _said(error: typed.Mistyped, plain: dict[str, Any]) -> str:
    """The first mistake, of a claim by its id."""
    wrong = error.wrong[0]
    if wrong["loc"][:1] != ("claims",) or len(wrong["loc"]) == 1:
        return typed.said(wrong)
    entry = plain["claims"][wrong["loc"][1]]
    name = entry.get("id", wrong["loc"][1]) if isinstance(entry, dict) else entry
    return f"claim {name!s:.80}: {typed.said(wrong, 2)}"


def _check(read: Ledger, claim: Claim) -> None:
    """Raises :class:`UserError` where ``claim`` names a chapter, a measure or a claim that is not there, or has a test
    that is none, or of a metric of which nobody says what matters."""
    chapters = [str(where["chapter"]) for where in claim.of.values() if "chapter" in where]
    _known("chapter", [claim.chapter, *chapters], MODULES)
    _known("measure", claim.measured, read.measures)
    needed = [name for measure in claim.measured for name in read.needs.get(measure, ())]
    for need in (*claim.needs, *needed):
        if isinstance(need, str) and need not in [other.id for other in read.claims]:
            raise UserError(f"it needs {need!r:.80}, which is no claim")
    needs = [need for need in claim.needs if isinstance(need, Predicate)]
    for measure, test in product(claim.measured or ("",), (*claim.tests, *needs)):
        if sum(bound is not None for bound in (test.above, test.below, test.within)) != 1:
            raise UserError("a test takes one of above, below and within")
        if unknown := names_in(test) - {*read.selections(claim, measure)}:
            raise UserError(f"{test.quantity!r:.80}: no selection is named {min(unknown)!r}")
    for measure, test, scale in product(claim.measured or ("",), claim.tests, SCALES):
        try:
            read.matter(claim, test, measure, scale)
        except (KeyError, ValueError) as error:
            raise UserError(
                f"{test.quantity!r:.80}: what matters in {error} is not said; add it to 'matters', or to the test"
            ) from None


def _known(kind: str, given: Sequence[str], known: Collection[str]) -> None:
    if unknown := [value for value in given if value not in known]:
        raise UserError(f"unknown {kind} {unknown[0]!r}; known: {', '.join(known)}")
