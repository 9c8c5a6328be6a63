"""Figures and tables of chapters 2 to 4: what a condition does to retrieval and to zero-shot transfer.

Charts are imported where one is drawn: the chapters' modules import this one, also where runs are only measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from xling_utils.chapters.data_size.plan import headline_layer, summary, with_sources
from xling_utils.chapters.shared.contrasts import of_partners, targets
from xling_utils.core.scales import Scale
from xling_utils.measures import Interval, over_seeds, share_of_means
from xling_utils.measures.names import ENTITIES, INFERENCE

if TYPE_CHECKING:
    from xling_utils.chapters.opening import Opened

RETRIEVAL = "word retrieval (MRR)"
MEASURES = {
    RETRIEVAL: ("word retrieval", "mrr_centred"),
    "inference (accuracy)": (INFERENCE, "accuracy"),
    "named entities (F1)": (ENTITIES, "f1"),
}
"""Name of a measure in figures -> its task and metric."""
PAPER_TASKS = {"XNLI": "inference (accuracy)", "NER": "named entities (F1)"}
FLOORS = {
    RETRIEVAL: ("chance", "word retrieval", "chance"),
    "inference (accuracy)": ("commonest label", INFERENCE, "majority"),
    "named entities (F1)": ("at random", ENTITIES, "random"),
}
"""Name of a measure -> what a model that knows nothing gets: name, task and metric."""
METRICS = [metric for _, metric in MEASURES.values()] + [metric for _, _, metric in FLOORS.values()]


def values(table: pd.DataFrame, scale: Scale, by: Sequence[str], base: str) -> pd.DataFrame:
    """One row a condition, measure and seed: columns ``by``, ``measure``, ``seed``, ``partner``, ``value``, and
    ``floor``, what knowing nothing gets there (NaN where the rows do not say).

    English with each seed's partner (:func:`of_partners`); retrieval is centred and read at the middle layer (0 for
    static vectors).
    """
    rows = of_partners(table[table["metric"].isin(METRICS) & table["step"].isna()], base)
    middle = headline_layer(scale)
    deepest = rows.groupby("run")["layer"].transform("max")
    at = rows["layer"].isna() | (rows["layer"] == deepest.clip(upper=middle))
    keys = [*by, "measure", "seed", "partner"]
    frames = []
    for measure, (task, metric) in MEASURES.items():
        _, *floor = FLOORS[measure]
        read = {
            name: rows[at & (rows["task"] == where[0]) & (rows["metric"] == where[1])]
            .assign(measure=measure)
            .groupby(keys, sort=False)["value"]
            .mean()
            for name, where in (("value", (task, metric)), ("floor", floor))
        }
        frames.append(read["value"].to_frame().join(read["floor"].rename("floor")).reset_index())
    return pd.concat(frames, ignore_index=True)


def rows_of(live: pd.DataFrame, recorded: pd.DataFrame, scale: Scale, by: str, base: str) -> pd.DataFrame:
    """Rows as ``contrast_shapes.contrasts`` takes them; each seed of this machine a mark, recorded seeds a mean."""
    frames = []
    for shown, table in with_sources(live, recorded):
        found = values(table, scale, [by], base)
        keys = [by, "measure"] if shown == "recorded" else [by, "measure", "seed"]
        frames.append(summary(found, keys).assign(shown=shown))
    return _drawn(frames, by)


def _drawn(frames: Sequence[pd.DataFrame], by: str) -> pd.DataFrame:
    if not frames:
        return pd.DataFrame(columns=["condition", "measure", "value", "low", "high", "seeds", "shown"])
    return pd.concat(frames, ignore_index=True).rename(columns={by: "condition"})


def each_language(table: pd.DataFrame, scale: Scale, by: str) -> dict[str, pd.DataFrame]:
    """Language beside English -> its :func:`values`, of those that a table measures."""
    found = {target: values(table[table["target"] == target], scale, [by], target) for target in targets(table)}
    return {target: rows for target, rows in found.items() if len(rows)}


def means_of_languages(found: Mapping[str, pd.DataFrame], by: str) -> pd.DataFrame:
    """What :func:`each_language` found as ``contrast_shapes.contrasts`` takes it: a mean over seeds for each, with its
    interval."""
    from xling_utils.charts import LANGUAGE_NAMES

    means = [summary(rows, [by, "measure"]).assign(shown=LANGUAGE_NAMES[target]) for target, rows in found.items()]
    return _drawn(means, by)


def by_language(table: pd.DataFrame, scale: Scale, by: str) -> pd.DataFrame:
    """Recorded rows as ``contrast_shapes.contrasts`` takes them: a mean over seeds for each language beside English,
    and, of several, the mean over those that a condition was run in, with its interval."""
    from xling_utils.charts import shapes

    found = each_language(table, scale, by)
    means = means_of_languages(found, by)
    if len(found) < 2:
        return means
    whole = summary(pd.concat(found.values(), ignore_index=True), [by, "measure"]).assign(shown=shapes.MEAN)
    return pd.concat([_drawn([whole], by), means.assign(low=float("nan"), high=float("nan"))], ignore_index=True)


def floors(table: pd.DataFrame) -> pd.DataFrame:
    """What knowing nothing gets in the languages of a table, on average, as ``contrast_shapes.contrasts`` takes it."""
    found = []
    for measure, (name, task, metric) in FLOORS.items():
        rows = table[(table["task"] == task) & (table["metric"] == metric)]
        if len(rows):
            found.append({"measure": measure, "name": name, "value": rows["value"].mean()})
    return pd.DataFrame(found, columns=["measure", "name", "value"])


def paper_rows(table: pd.DataFrame, condition: str, names: Mapping[Any, str], shown: str) -> pd.DataFrame:
    """A published table as ``contrast_shapes.contrasts`` takes it, its conditions renamed: shares instead of percent,
    means over the languages it tests on. ``shown`` names the paper."""
    rows = table[table["task"].isin(list(PAPER_TASKS)) & table[condition].isin(list(names))]
    rows = rows[~rows["test"].isin(["enfake", "en", "avg", "difference"])]
    found = rows.assign(
        condition=rows[condition].map(dict(names)),
        measure=rows["task"].map(PAPER_TASKS),
        value=rows["value"].astype(float) / 100,
    )
    means = found.groupby(["condition", "measure"], sort=False)["value"].mean().reset_index()
    return means.assign(low=float("nan"), high=float("nan"), seeds=1, shown=shown)


def figure(rows: pd.DataFrame, floor: pd.DataFrame, conditions: Sequence[str], description: str) -> Any:
    """Figure: every condition, for the measure that the reader picks; none where fewer than two were run."""
    from xling_utils.charts import contrast_shapes, shapes

    there = [name for name in conditions if name in rows["condition"].unique()]
    run = rows[~rows["shown"].isin(shapes.PAPER_SHAPES) & rows["condition"].isin(there)]
    if run["condition"].nunique() < 2:
        return None
    rows = rows[rows["condition"].isin(there)]
    measures = [name for name in MEASURES if name in rows["measure"].unique()]
    return contrast_shapes.contrasts(rows, floor, conditions=there, measures=measures, description=description)


def on_real_text(chapter: Opened, rows: pd.DataFrame, description: str) -> Any:
    """Figure: the conditions of recorded ``rows`` (with a column ``condition``) in every language and on average; above
    what knowing nothing gets."""
    recorded = chapter.recorded
    floor = floors(recorded[recorded["target"].isin(targets(recorded))])
    drawn = by_language(rows, chapter.sizes, "condition")
    return figure(drawn, floor, list(rows["condition"].unique()), description)


def differences(found: pd.DataFrame, by: str, base: str) -> pd.DataFrame:
    """What each condition changes, in percent of what ``base`` has above its floor in the same seeds, with its 95 %
    interval (:func:`share_of_means`): a row a condition, a column a measure, empty where ``base`` is not above it.
    ``found`` is what :func:`values` returns."""
    rows: dict[str, dict[str, str | None]] = {}
    for measure, group in found.groupby("measure", sort=False):
        of = {name: one.set_index(["seed", "partner"]) for name, one in group.groupby(by, sort=False)}
        for name in of if base in of else ():
            if name != base:
                both = of[base].join(of[name]["value"].rename("changed"), how="inner")
                rows.setdefault(name, {})[short(str(measure))] = _changed(both)
    return pd.DataFrame([{"condition": name, **cells} for name, cells in rows.items()])


def _changed(both: pd.DataFrame) -> str | None:
    """In percent what ``changed`` is more than ``value``, of what that has above ``floor``."""
    above, partners = both["value"] - both["floor"], both.index.get_level_values("partner").tolist()
    known = over_seeds(above.tolist(), partners)
    if not (known.low if known.n > 1 else known.value) > 0:
        return None
    change = share_of_means((both["changed"] - both["value"]).tolist(), above.tolist(), partners)
    if change.n < 2:
        return _percent(change.value)
    return f"{_percent(change.value)} ({_percent(change.low)} to {_percent(change.high)})"


def _percent(share: float) -> str:
    return f"{100 * share:+.0f}" if round(100 * share) else "0"


def paired(first: pd.DataFrame, second: pd.DataFrame) -> Interval:
    """Mean over seeds of ``first`` - ``second`` (columns ``seed``, ``value``), seeds that both have.

    A seed's several rows (languages) are averaged before; ``partner``, where there is such a column, is the language
    that it took in turn.
    """
    keys = ["seed", *(["partner"] if "partner" in first else [])]
    one, other = (frame.groupby(keys)["value"].mean() for frame in (first, second))
    differences = (one - other).dropna()
    if differences.empty:
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    return over_seeds(differences.tolist(), differences.index.get_level_values(-1) if len(keys) > 1 else ())


def short(measure: str) -> str:
    """``"word retrieval"`` of the name that says how it is measured."""
    return measure.split(" (")[0]
