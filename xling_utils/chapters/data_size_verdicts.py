"""Chapter 1's verdicts: what the papers claim about data size, tested on tidy rows."""

from __future__ import annotations

import pandas as pd

from xling_utils.chapters.data_size import EQUAL_EPOCHS, MODELS, STATIC, headline_rows
from xling_utils.chapters.data_size_figures import distance_correlation, pos_rows
from xling_utils.retrieval import Interval, over_seeds
from xling_utils.scales import Scale
from xling_utils.verdicts import Verdict, all_of, direction, paired


def verdicts(table: pd.DataFrame, scale: Scale, language: str) -> list[Verdict]:
    """What the papers claim about data size, tested on the rows of English with ``language``."""
    rows = headline_rows(table, scale)
    sizes = sorted(rows[(rows["target"] == language) & rows["model"].isin(MODELS)]["sentences"].unique())
    small, large = sizes[0], sizes[-1]

    def of(model: str, sentences: float, metric: str = "mrr") -> pd.DataFrame:
        found = headline_rows(table, scale, metric)
        return found[(found["model"] == model) & (found["sentences"] == sentences) & (found["target"] == language)]

    def beats(first: str, second: str, size: float) -> Verdict:
        return _part(f"{first} - {second}", paired(of(first, size), of(second, size)))

    def gain(model: str) -> pd.DataFrame:
        before, after = (of(model, size).groupby("seed")["value"].mean() for size in sizes[:: len(sizes) - 1])
        return (after - before).dropna().rename("value").reset_index()

    def gains_more(model: str) -> Verdict:
        return _part(f"BERT's gain - {model}'s", paired(gain("BERT"), gain(model)))

    def control(name: str, first: pd.DataFrame, second: pd.DataFrame) -> Verdict:
        return _part(f"BERT - {name}", paired(first, second))

    little, much = "A Fig. 1; B Fig. 1a", "A Fig. 3; B Fig. 1b"
    found = [
        all_of(
            "With little data static vectors align better than BERT (given as many updates as with much)",
            little,
            [beats(static, "BERT", small) for static in STATIC],
        ),
        all_of(
            "With little data static vectors align better than BERT (given as many passes as with much)",
            little,
            [beats(static, EQUAL_EPOCHS, small) for static in STATIC],
        ),
        all_of(
            "With much data BERT aligns better than static vectors",
            much,
            [beats("BERT", static, large) for static in STATIC],
        ),
        direction("More data improves BERT's alignment", "A sec. 3.2.2", "BERT's gain", over(gain("BERT"))),
        all_of(
            "More data improves BERT more than static vectors",
            "A sec. 3.2.2",
            [gains_more(static) for static in STATIC],
        ),
        all_of(
            "Control: BERT lies above the untrained encoder and the shuffled dictionary",
            "ours",
            [
                control("untrained", of("BERT", large), of("untrained", large)),
                control("shuffled", of("BERT", large, "mrr_centred"), of("BERT", large, "mrr_shuffled")),
            ],
        ),
    ]
    pos = pos_rows(table, scale)
    groups = dict(list(pos[pos["target"] == language].groupby("part_of_speech")))
    if groups:
        order = [(a, b) for a, b in (("ADJ", "NOUN"), ("NOUN", "ADV"), ("ADV", "VERB")) if {a, b} <= set(groups)]
        found += [
            direction(
                "Open-class words align better than closed-class words",
                "B Table 1",
                "open - closed",
                paired(groups["open"], groups["closed"]),
            ),
            all_of(
                "Adjectives align best, then nouns, adverbs, verbs",
                "B Table 1",
                [_part(f"{a} - {b}", paired(groups[a], groups[b])) for a, b in order],
            ),
        ]
    correlation = distance_correlation(table, scale)
    if correlation.n:
        flipped = Interval(-correlation.value, -correlation.high, -correlation.low, correlation.n)
        found.append(
            direction("Distant languages align worse", "C sec. 4.4", "- Spearman correlation with distance", flipped)
        )
    return found


def _part(quantity: str, interval: Interval) -> Verdict:
    return direction("", "", quantity, interval)


def over(values: pd.DataFrame) -> Interval:
    """Interval over seeds of one value a seed."""
    return over_seeds(values["value"].tolist()) if len(values) else paired(values, values)
