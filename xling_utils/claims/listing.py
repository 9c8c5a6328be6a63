"""The ledger as data and as the table of a chapter; its page is in :mod:`ledger_page`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from xling_utils.chapters import Opened
from xling_utils.claims import ledger, power
from xling_utils.claims.testing import Finding
from xling_utils.claims.verdicts import (
    DECIDED,
    DECIDES,
    MARKS,
    OPEN,
    UNTESTED,
    VERDICTS,
    Part,
)

DECISIVE = ("recorded", "this machine")
"""Columns that a verdict is made of, the first that has one."""


def table(
    chapter: str, scale: str, live: pd.DataFrame, *, recorded: bool = True, languages: Sequence[str] = ()
) -> pd.DataFrame:
    """The claims of a chapter, a row a test, on the committed rows of ``scale`` and, where there are any, on ``live``
    ones; the committed decided with all claims of the ledger, the live ones with the chapter's.

    Columns ``id, paper, claim, test``, then ``recorded``, one for each of ``languages`` alone, ``this machine``,
    ``effect`` and ``verdict``; the last two are on the recorded rows if those are asked for, and ``effect`` is of the
    test that the verdict rests on, with its measure where the claim is asked of several. What a claim has once stands
    in its first row. A claim without a test has one row, whose ``test`` says why; what nobody recorded is left out.
    """
    from xling_utils.charts import LANGUAGE_NAMES

    found: dict[str, list[Finding]] = {}
    if recorded:
        found[DECISIVE[0]] = ledger.findings(scale)
    for language in languages if recorded else ():
        found[LANGUAGE_NAMES[language]] = ledger.findings_of_language(language, chapter, scale)
    if len(live):
        found[DECISIVE[1]] = ledger.load().test({chapter: live}, scale, alone=True)
    shown: list[dict[str, str | None]] = []
    for place, claim in enumerate(ledger.load().claims if found else ()):
        if claim.chapter != chapter:
            continue
        own = {name: findings[place] for name, findings in found.items()}
        leading = next((own[name] for name in DECISIVE if name in own and own[name].verdict != UNTESTED), None)
        if leading is None:
            continue
        # What a single language has of a claim on its floor is no result, and has no row.
        tests = [part.text for part in leading.parts] or [leading.reason]
        for number, text in enumerate(tests):
            once = {"id": claim.id, "paper": claim.paper, "claim": claim.claim}
            row: dict[str, str | None] = dict.fromkeys(once, "") if number else {**once}
            row["test"] = text
            for name, finding in own.items():
                row[name] = next((short(part) for part in finding.parts if part.text == text), None)
            rests_on = None if number else leading.rests_on
            row["effect"] = _effect(rests_on, leading) if rests_on else ""
            row["verdict"] = "" if number else verdict(leading)
            shown.append(row)
    return pd.DataFrame(shown, columns=["id", "paper", "claim", "test", *found, "effect", "verdict"])


def _effect(part: Part, finding: Finding) -> str:
    """Of the test that a verdict rests on, with its measure where the claim is asked of several."""
    return f"{part.measure} {short(part)}" if len(finding.claim.measured) > 1 else short(part)


def of_chapter(chapter: Opened, *, languages: Sequence[str] = ()) -> pd.DataFrame | None:
    """:func:`table` of a chapter as it was opened, with a column ``scale`` before the others; of the book's own run
    those of real text follow, with ``languages``, and of any other run the book's verdicts are left out. None where
    nothing was measured."""
    scales = {chapter.scale: table(chapter.name, chapter.scale, chapter.measured, recorded=chapter.of_the_book)}
    if chapter.of_the_book:
        real = chapter.on_real_text
        scales[real.scale] = table(chapter.name, real.scale, real.measured, languages=languages)
    shown = [found.assign(scale=scale) for scale, found in scales.items() if len(found)]
    return pd.concat(shown, ignore_index=True) if shown else None


def short(part: Part) -> str:
    """``"0.123 ± 0.022 (5)"``: mean, half of its 95 % interval, and what that is over."""
    at, unit = part.interval, "" if part.unit == "seeds" else f" {part.unit}"
    told = _rounded(at.value)
    return f"{told(at.value)} (1)" if at.n < 2 else f"{told(at.value)} ± {told(at.high - at.value)} ({at.n}{unit})"


def value(part: Part) -> str:
    """``"0.123 (0.101 to 0.145; 5 seeds)"``."""
    at = part.interval
    told = _rounded(at.value)
    if at.n < 2:
        return f"{told(at.value)} (one {part.unit[:-1]})"
    by = "; ".join(f"{language} {told(mean)}" for language, mean in part.means.items())
    return f"{told(at.value)} ({told(at.low)} to {told(at.high)}; {at.n} {part.unit}{f' of {by}' if by else ''})"


def _rounded(mean: float) -> Callable[[float], str]:
    """What writes ``mean`` and its interval: of shares three decimals, of large counts none."""
    return f"{{:,.{3 if abs(mean) < 10 else 1 if abs(mean) < 100 else 0}f}}".format


def verdict(finding: Finding) -> str:
    """The verdict in words; of one that cannot tell, where its tests lean; of one that lacks tests, how many it has;
    and which controls of other chapters its rows cannot show."""
    words = finding.verdict
    if finding.verdict == OPEN and finding.lean:
        words += f"; leans {finding.lean}"
    if finding.parts and finding.without:
        words += f" ({len(finding.parts)} of {len(finding.parts) + len(finding.without)} tests)"
    if finding.parts and finding.unasked:
        words += f"; {', '.join(finding.unasked)} not asked"
    return words


def remarks(finding: Finding) -> list[str]:
    """What a reader should know of a verdict beside its numbers: whether the strictest criterion says the same, where
    others differ, what could have been seen, and which tests could not be made."""
    said = []
    if finding.verdict in DECIDED:
        items = [f"{part.test.over}s" for part in finding.parts if part.test.over]
        if items:
            said.append(f"p = {finding.p:.3f}, corrected, over seeds: of these {items[0]}, and not of others.")
        elif finding.criteria[MARKS] == finding.verdict:
            said.append("Beyond doubt: Holm's correction says the same.")
        else:
            said.append(f"p = {finding.p:.3f}, corrected.")
    if differing := {name: word for name, word in finding.criteria.items() if word != finding.verdict}:
        by = "; ".join(f"{name}: {word}" for name, word in differing.items())
        said.append(f"Other criteria than {DECIDES}: {by}.")
    if finding.verdict == OPEN:
        seen = [(_seen(part, finding), part.text) for part in finding.parts]
        known = [f"{distance:.3f} beyond the bound of {text}" for distance, text in seen if distance > 0]
        if known:
            said.append(f"Would have been seen, four times of five: {'; '.join(known)}.")
        needed = power.seeds(finding)
        if any(part.interval.n > 1 for part in finding.parts):
            many = f"about {needed}" if needed else f"more than {power.MOST:,}"
            said.append(f"If these effects are the true ones, {many} seeds would decide it.")
    if finding.parts:
        said += [f"Not tested: {text}." for text in finding.without]
    return said


def _seen(part: Part, finding: Finding) -> float:
    """The distance beyond its bound at which one test alone would have decided the claim: as holding, and beyond a
    bound on either side as broken."""
    return part.seen(finding.levels[part.test.within is not None] / len(finding.parts))


def as_json(scales: Sequence[str] = ledger.SCALES) -> list[dict[str, Any]]:
    """Every claim with its finding at each scale, as plain data; NaN becomes ``None``."""
    by_scale = {scale: ledger.findings(scale) for scale in scales}
    listed = []
    shown = ("id", "paper", "where", "chapter", "claim", "theirs", "changed")
    for place, claim in enumerate(ledger.load().claims):
        known = {name: getattr(claim, name) for name in shown}
        found = {scale: _plain(findings[place]) for scale, findings in by_scale.items()}
        listed.append({**known, "experiments": list(claim.experiments), "scales": found})
    return listed


def summary(listed: Sequence[Mapping[str, Any]]) -> list[str]:
    """What :func:`as_json` returns as one line a scale: how many claims have which verdict."""
    verdicts: dict[str, Counter[str]] = {}
    for claim in listed:
        for scale, found in claim["scales"].items():
            verdicts.setdefault(scale, Counter())[found["verdict"]] += 1
    return [
        f"{scale}: {', '.join(f'{verdict} {counts[verdict]}' for verdict in VERDICTS if counts[verdict])}"
        for scale, counts in verdicts.items()
    ]


def lines(listed: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What :func:`as_json` returns as one row a claim, scale and test, for a terminal."""
    rows = []
    for claim in listed:
        for scale, found in claim["scales"].items():
            leans = f"; leans {found['leans']}" if found["verdict"] == OPEN and found["leans"] else ""
            known = {"id": claim["id"], "where": claim["where"], "scale": scale, "verdict": found["verdict"] + leans}
            for test in found.get("tests", ()):
                interval = "" if test["low"] is None else f"{test['low']:.3f} to {test['high']:.3f}"
                found_here = {
                    "value": f"{test['value']:.3f}",
                    "interval": interval,
                    "n": test["n"],
                    "test": test["test"],
                }
                rows.append(known | found_here)
            if "tests" not in found:
                rows.append(known | {"value": "", "interval": "", "n": "", "test": found["reason"]})
    return rows


def _plain(finding: Finding) -> dict[str, Any]:
    if not finding.parts:
        return {"verdict": finding.verdict, "reason": finding.reason, "without": list(finding.without)}
    parts = [
        {
            "test": part.text,
            "value": part.interval.value,
            "low": _number(part.interval.low),
            "high": _number(part.interval.high),
            "n": part.interval.n,
            "over": part.unit,
            "p": [_number(p) for p in part.p],
            "matters": part.matters,
            "seen": _number(_seen(part, finding)),
        }
        for part in finding.parts
    ]
    return {
        "verdict": finding.verdict,
        "leans": finding.lean,
        "p": finding.p,
        "criteria": dict(finding.criteria),
        "without": list(finding.without),
        "tests": parts,
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
