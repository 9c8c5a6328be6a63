"""The ledger as HTML: its page of all claims, bars on the front page, and what a further seed says."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import groupby
from typing import Any

from xling_utils.charts import tables
from xling_utils.claims import ledger, replication
from xling_utils.claims import power as planning
from xling_utils.claims.listing import remarks, value, verdict
from xling_utils.claims.testing import Finding
from xling_utils.claims.verdicts import CRITERIA, DECIDED, DECIDES, FAILS, HOLDS, OPEN, VERDICTS
from xling_utils.core.templates import rendered

PLACES = {"controlled": "in the controlled world", "natural": "on real text"}
LEFT_OUT = {
    "controlled": "each fourth seed left out, so that of every partner there is one among them",
    "natural": "one seed left out at a time",
}
SHOWN = tuple(PLACES)
"""The scales on the page; what the papers' scale would take is said once, above them."""
PAPERS, OTHERS = ("A", "B", "C", "D", "E"), ("peer", "control")
COUNTED = (*DECIDED, OPEN)
"""The verdicts on which criteria may differ."""
NUMBER = re.compile(r"[+\N{MINUS SIGN}]?[\d.,]+")
COUNTS = (3, 5, 10, 20, 40)
"""Numbers of seeds that are planned for."""
KINDS = {
    "verdict-holds": "holds",
    "verdict-holds-in-part": "holds in part",
    "verdict-cannot-tell-for": "cannot tell, leans for",
    "verdict-cannot-tell": "cannot tell",
    "verdict-cannot-tell-against": "cannot tell, leans against",
    "verdict-does-not-hold": "does not hold",
    "verdict-not-testable-at-this-size": "not testable at this size",
    "verdict-not-tested": "not tested",
}
"""Class of a piece of a bar, in the order of the bar -> its name."""


def summary(number: int = 1) -> str:
    """HTML: the figure of that number, for each paper and scale a bar of its claims by verdict, with a legend, readable
    without colour."""
    rows, decided = [], {}
    for scale in SHOWN:
        found = ledger.findings(scale)
        decided[scale] = sum(each.verdict in DECIDED for each in found)
        rows.append(f"<p>{_scale(scale).capitalize()}</p>")
        for name, papers in {**{p: [p] for p in PAPERS}, "A to E": PAPERS, **{o: [o] for o in OTHERS}}.items():
            rows.append(_bar(name, Counter(_kind(each) for each in found if each.claim.paper in papers)))
    keys = "".join(f'<li class="{slug}"><span></span>{words}</li>' for slug, words in KINDS.items())
    counts = " and ".join(f"{count} {PLACES[scale]}" for scale, count in decided.items())
    told = f"Of {len(ledger.load().claims)} claims, {counts.replace(' ', ' are decided ', 1)}."
    return (
        f'<figure id="fig-verdicts"><div class="ledger-bars"><ul>{keys}</ul>{"".join(rows)}</div><figcaption><p>'
        f'<span class="caption-number">Figure {number} </span><span class="caption-text">{told}</span></p>'
        "</figcaption></figure>"
    )


def _kind(finding: Finding) -> str:
    slug = _slug(finding.verdict)
    return f"{slug}-{finding.lean.split()[-1]}" if finding.verdict == OPEN and finding.lean else slug


def _bar(name: str, counts: Mapping[str, int]) -> str:
    said = ", ".join(f"{counts[slug]} {words}" for slug, words in KINDS.items() if counts.get(slug))
    pieces = "".join(
        f'<span class="{slug}" style="flex:{counts[slug]}">{counts[slug]}</span>' for slug in KINDS if counts.get(slug)
    )
    return (
        f'<div class="ledger-row"><b>{html.escape(name)}</b>'
        f'<div class="ledger-bar" role="img" aria-label="{html.escape(f"{name}: {said}")}">{pieces}</div></div>'
    )


def in_both_worlds() -> dict[str, list[str]]:
    """Of the papers' claims those ``decided`` in both worlds, by their ids; those of them with the same verdict
    (``alike``); and those that hold in one and not in the other (``opposed``)."""
    both = [(one.claim, {one.verdict, other.verdict}) for one, other in zip(*map(ledger.findings, SHOWN), strict=True)]
    decided = [(claim.id, said) for claim, said in both if claim.paper in PAPERS and said <= {*DECIDED}]
    return {
        "decided": [name for name, _ in decided],
        "alike": [name for name, said in decided if len(said) == 1],
        "opposed": [name for name, said in decided if said == {HOLDS, FAILS}],
    }


def criteria() -> str:
    """HTML: how many claims each criterion decides, at each scale."""
    rows = []
    for scale in SHOWN:
        found = [finding for finding in ledger.findings(scale) if finding.criteria]
        for name in CRITERIA:
            counts = Counter(finding.criteria[name] for finding in found)
            shown = f"<b>{name}</b>" if name == DECIDES else name
            rows.append((_scale(scale), shown, *(counts[verdict] for verdict in COUNTED)))
    return _table(("scale", "criterion", *COUNTED), rows)


def power() -> str:
    """HTML: how many of the claims that are tested over seeds would be decided by so many of them."""
    rows = []
    for scale in SHOWN:
        tested = [finding for finding in ledger.findings(scale) if any(part.interval.n > 1 for part in finding.parts)]
        needed = [planning.seeds(finding) for finding in tested]
        decided = (sum(n is not None and n <= count for n in needed) for count in COUNTS)
        rows.append((_scale(scale), len(tested), *decided))
    return _table(("scale", "claims", *(f"{n} seeds" for n in COUNTS)), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """HTML of cells that are HTML already; columns of numbers stand to the right."""
    numbers = [all(NUMBER.fullmatch(str(cell)) for cell in column) for column in zip(*rows, strict=True)]

    def line(kind: str, cells: Sequence[object]) -> str:
        right = (' class="number"' if number else "" for number in numbers)
        return "".join(f"<{kind}{to}>{cell}</{kind}>" for to, cell in zip(right, cells, strict=True))

    names, body = line("th", head), "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    return (
        '<div class="pst-scrollable-table-container"><table class="dataframe">'
        f"<thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def check() -> str:
    """HTML: what a seed that was never used says, as it is committed."""
    found = replication.committed()
    if found.empty:
        return "<p>No further seed has been recorded yet.</p>"
    repeated, of = replication.share(found)
    seed = int(found["seed"].iloc[0])
    listed = {claim.id for claim in ledger.load().claims}
    rows = [_checked(row, listed) for row in found.to_dict("records")]
    head = ("claim", "test", "verdict", "recorded", f"seed {seed}", "repeated", "by recorded seeds")
    names = (replication.fragile(found), replication.contradicted(found))
    fragile, contradicted = (", ".join(_named(name, listed) for name in each) or "none" for each in names)
    return (
        f"<p>Seed {seed} was drawn at random, after the plan was frozen. It repeats "
        f"<b>{repeated} of {of}</b> decided verdicts ({100 * repeated / of:.0f} %). A recorded seed repeats "
        f"{100 * replication.expected(found):.0f} % of them by itself, on average. Not repeated: {fragile}. "
        f"Contradicted, as the seed does not lie where the recorded ones predict it either: {contradicted} "
        f"({len(names[1])} of {of}).</p>"
        f"<details><summary>Every test</summary>{_table(head, rows)}</details>"
    )


def left_out() -> str:
    """HTML: how often seeds repeat verdicts that were decided without them."""
    listed = {claim.id for claim in ledger.load().claims}
    told = []
    for scale, leaving in LEFT_OUT.items():
        if not (found := replication.left_out(scale)):
            continue
        repeated, of = (sum(counts) for counts in zip(*found.values(), strict=True))
        fragile = ", ".join(_named(name, listed) for name, (again, times) in found.items() if again < times) or "none"
        share = f"<b>{repeated} of {of}</b> decided verdicts ({100 * repeated / of:.0f} %)"
        told.append(f"<p>{PLACES[scale].capitalize()}, {leaving}: {share} are repeated. Not always: {fragile}.</p>")
    return "".join(told) or "<p>No verdict is recorded that seeds could be left out of.</p>"


def _checked(row: Mapping[str, Any], listed: Set[str]) -> tuple[str, ...]:
    values = (tables.typeset(f"{row[name]:+.3f}") for name in ("value", "new"))
    repeated = "yes" if row["repeated"] else "no"
    alone = f"{100 * row['alone']:.0f}\N{NO-BREAK SPACE}%"
    return (
        _named(row["claim"], listed),
        html.escape(tables.formula(row["test"])),
        row["verdict"],
        *values,
        repeated,
        alone,
    )


def _named(claim: str, listed: Set[str]) -> str:
    return link(claim, "") if claim in listed else html.escape(claim)


def link(claim: str, page: str = "ledger.html") -> str:
    """To the line of a claim; on the ledger's own ``page``, which is then empty, or from one beside it."""
    name = html.escape(claim)
    return f'<a href="{page}#claim-{name}">{name}</a>'


def page() -> str:
    """HTML: every claim with its verdicts, what they rest on folded below them, and what filters them."""
    by_scale = [ledger.findings(scale) for scale in SHOWN]
    listed = ledger.load().claims
    choices = {
        "paper": {paper: paper for paper in (*PAPERS, *OTHERS)},
        "chapter": {claim.chapter: _number(claim) for claim in listed},
        "scale": {scale: _scale(scale) for scale in SHOWN},
        "verdict": {_slug(name): name for name in VERDICTS},
    }
    claims = groupby(zip(listed, *by_scale, strict=True), lambda found: _part(found[0]))
    parts = [(part, [_claim(*each) for each in found]) for part, found in claims]
    return rendered("book", "ledger.html", choices=choices, parts=parts)


def _part(claim: ledger.Claim) -> str:
    return "Controls" if claim.paper == tables.GATE else f"Chapter {_number(claim)}"


def _claim(claim: ledger.Claim, *found: Finding) -> dict[str, Any]:
    """What the template shows of a claim."""
    known = {name: getattr(claim, name) for name in ("id", "paper", "chapter", "claim", "where", "theirs", "changed")}
    scales = [
        {
            "scale": finding.scale,
            "name": _scale(finding.scale),
            "kind": _kind(finding),
            "slug": _slug(finding.verdict),
            "verdict": verdict(finding),
            "figure": f"../notebooks/{claim.chapter}.html#{ledger.load().figure(claim, finding.scale)}",
            "tests": [
                {"text": tables.formula(part.text), "value": tables.typeset(value(part))} for part in finding.parts
            ],
            "remarks": [tables.formula(tables.quotes(remark)) for remark in remarks(finding)],
            "reason": tables.formula(tables.quotes(finding.reason)),
        }
        for finding in found
    ]
    known |= {name: tables.quotes(known[name]) for name in ("where", "theirs", "changed")}
    known["claim"] = tables.prose(claim.claim)
    return {**known, "number": _number(claim), "experiments": ", ".join(claim.experiments), "scales": scales}


def _number(claim: ledger.Claim) -> str:
    return claim.chapter.split("_", 1)[0].lstrip("0")


def _scale(name: str) -> str:
    return tables.SCALE_NAMES.get(name, name)


def _slug(name: str) -> str:
    return "verdict-" + name.replace(" ", "-")
