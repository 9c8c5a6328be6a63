"""What was planned before the seeds that decide were trained: ``book/plan.yml`` holds a hash of what each claim asked
then, so that a claim that asks something else now is seen to."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from xling_utils.core import files
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale as scale_of
from xling_utils.core.specs import canonical_json

if TYPE_CHECKING:
    from xling_utils.claims.predicates import Predicate
    from xling_utils.claims.testing import Claim, Ledger

FILE = "plan.yml"
SCALES = ("controlled", "natural")
"""The scales whose seeds are planned."""
DIGITS = 12


def asked(ledger: Ledger, claim: Claim) -> str:
    """A hash of all that a verdict on ``claim`` hangs on beside the rows: its words, its tests with what they select,
    what it needs, and what matters."""
    measures = claim.measured or ("",)
    whole = {
        "said": [claim.id, claim.paper, claim.where, claim.claim, claim.theirs],
        "tests": [_plain(test) for test in claim.tests],
        "needs": [need if isinstance(need, str) else _plain(need) for need in claim.needs],
        "untested": claim.untested,
        "measures": {
            measure: {
                "selections": ledger.selections(claim, measure),
                "needs": list(ledger.needs.get(measure, ())),
                "matters": [[ledger.matter(claim, test, measure, scale) for scale in SCALES] for test in claim.tests],
            }
            for measure in measures
        },
        "middle": [scale_of(scale).encoder.layers // 2 for scale in SCALES],
    }
    return hashlib.sha256(canonical_json(whole).encode()).hexdigest()[:DIGITS]


def _plain(test: Predicate) -> dict[str, object]:
    """0 is a bound."""
    return {name: value for name, value in vars(test).items() if value is not None and value is not False}


def check(ledger: Ledger, path: Path) -> None:
    """Raises :class:`UserError` where a claim asks something else than ``path`` froze, or was not planned, and does not
    say so in ``changed``. One that was frozen anew, for runs of its own, has a list of hashes there: its last counts,
    whatever ``changed`` says. Without that file nothing was planned."""
    if not path.exists():
        return
    planned = files.yaml_mapping(path)
    for claim in ledger.claims:
        frozen = planned.get(claim.id)
        last = frozen[-1] if isinstance(frozen, list) else frozen
        if (isinstance(frozen, list) or not claim.changed) and last != asked(ledger, claim):
            where = path.with_name("claims.yml")
            raise UserError(f"{where}: claim {claim.id} is not what {FILE} froze; say in 'changed' when and why")
