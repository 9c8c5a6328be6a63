"""Freezes the plan: writes ``book/plan.yml``, a hash of what each claim asks now.

Run once, before a seed is trained."""

from xling_utils.claims import ledger, plan

if __name__ == "__main__":
    path = ledger.root() / "book" / plan.FILE
    lines = [f"{claim.id}: {plan.asked(ledger.load(), claim)!r}" for claim in ledger.load().claims]
    head = (
        "# What each claim of claims.yml asked when the plan was frozen (see plan.md); checked whenever they are read."
    )
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    print(f"{len(lines)} claims frozen")
