"""The claims of the papers, and what the rows say of them.

In: ``book/claims.yml``, and tidy rows, recorded and measured here. Out: verdicts, and the ledger of all.
"""

from typing import TYPE_CHECKING

from xling_utils.core.doors import late

if TYPE_CHECKING:
    from xling_utils.claims import ledger, listing, power, predicates, replication, rows, shares, testing, verdicts
    from xling_utils.claims.listing import of_chapter, table
else:
    __getattr__, __all__ = late(__file__)
