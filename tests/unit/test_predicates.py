"""Predicates over tidy rows: what a selection takes, how selections meet, and what they are compared in."""

import pandas as pd
import pytest

from xling_utils.claims.predicates import Predicate, sample
from xling_utils.claims.rows import Rows
from xling_utils.core.errors import UserError


def row(seed: int = 11, source: str = "en", target: str = "fr", layer: float | None = None, **other: object) -> dict:
    given = {"task": "NLI", "metric": "accuracy", "step": None, "run": f"r{seed}", "value": 0.0}
    return {"seed": seed, "source": source, "target": target, "layer": layer, **given, **other}


def values(rows: list[dict], quantity: str, selections: dict, middle: int = 1, **test: object) -> list[float]:
    table = Rows({"c": pd.DataFrame(rows)}, middle)
    own = {name: {"chapter": "c", **where} for name, where in selections.items()}
    return pytest.approx(list(sample(Predicate(quantity, above=0, **test), own, table).values))


def test_seeds_are_paired_and_others_left_out() -> None:
    rows = [row(11, condition="a", value=0.5), row(12, condition="a", value=0.9), row(13, condition="a", value=1.0)]
    rows += [row(11, condition="b", value=0.4), row(12, condition="b", value=0.7), row(14, condition="b", value=0.0)]
    assert values(rows, "a - b", {"a": {"condition": "a"}, "b": {"condition": "b"}}) == [0.1, 0.2]
    assert values(rows, "(a - b) / a", {"a": {"condition": "a"}, "b": {"condition": "b"}}) == [0.2, 0.2 / 0.9]


def test_english_alone_only_on_request() -> None:
    rows = [row(target="en", value=0.9), row(target="fr", value=0.5), row(target="de", value=0.3)]
    assert values(rows, "x", {"x": {}}) == [0.3, 0.5]  # one seed: a value a language
    assert values(rows, "e - x", {"e": {"language": "en"}, "x": {}}) == [0.6, 0.4]
    assert values(rows, "x", {"x": {"language": ["fr", "de"]}}) == [0.4]


def test_english_is_compared_with_the_language_it_was_read_with() -> None:
    rows = []
    for target, english in (("fr", 0.9), ("de", 0.5)):
        run = {"run": target, "condition": "a"}
        rows += [row(target="en", value=english, **run), row(target=target, value=0.4, **run)]
    rows += [row(target="en", value=0.6, run="b", condition="b"), row(value=0.1, run="b", condition="b")]
    of = {"e": {"language": "en", "condition": "a"}, "x": {"condition": "a"}}
    assert values(rows, "e - x", of) == [0.1, 0.5]
    assert values(rows, "e - f", {**of, "f": {"language": "en", "condition": "b"}}) == [0.3]  # in French alone


def test_languages_are_averaged_within_a_seed_if_most_seeds_have_them() -> None:
    rows = [row(11, value=0.2), row(11, source="de", target="en", value=0.4)]
    rows += [row(12, value=0.5), row(12, target="de", value=0.1)]
    assert values(rows, "x", {"x": {}}) == [0.3, 0.3]
    assert values([*rows, row(13, value=0.6)], "x", {"x": {}}) == [0.2, 0.5, 0.6]
    assert values([*rows, row(13, target="tr", value=0.6)], "x", {"x": {}}) == [0.3, 0.3]


def test_seeds_may_take_languages_in_turn() -> None:
    rows = [row(11, value=0.2), row(12, value=0.5), row(13, target="de", value=0.1), row(14, target="de", value=0.3)]
    found = sample(Predicate("x", above=0), {"x": {"chapter": "c"}}, Rows({"c": pd.DataFrame(rows)}, 1))
    assert found.values == pytest.approx((0.2, 0.5, 0.1, 0.3)) and found.languages == ("fr", "fr", "de", "de")
    one = sample(Predicate("x", above=0), {"x": {"chapter": "c"}}, Rows({"c": pd.DataFrame(rows[:2])}, 1))
    assert one.languages == ()
    uneven = sample(Predicate("x", above=0), {"x": {"chapter": "c"}}, Rows({"c": pd.DataFrame(rows[:3])}, 1))
    assert uneven.languages == ("fr", "fr", "de"), "one seed more of a language drops no other"
    more = [*rows, row(15, target="hi", value=0.4), row(16, target="hi", value=0.4), row(11, target="de", value=0.4)]
    twice = sample(Predicate("x", above=0), {"x": {"chapter": "c"}}, Rows({"c": pd.DataFrame(more)}, 1))
    assert twice.languages == ("de fr", "fr", "de", "de", "hi", "hi"), "nor does a seed with two of them"


def test_layers() -> None:
    rows = [row(layer=layer, value=float(layer)) for layer in range(5)]
    for name, expected in {
        "first": 0, "last": 4, "middle": 2, "8/12": 3, "lower": 1, "upper": 3.5, 3: 3,
    }.items():  # fmt: skip
        assert values(rows, "x", {"x": {"layer": name}}, middle=2) == [expected]
    assert values(rows, "x", {"x": {}}) == [2]
    assert values(rows[:2], "x", {"x": {"layer": "middle"}}, middle=2) == [1]  # a shallow run's last


def test_least_and_most_need_two_levels() -> None:
    rows = [row(n=1, sentences=10, value=0.1), row(sentences=20, value=0.2)]
    assert values(rows, "x", {"x": {"sentences": "least"}}) == [0.1]
    assert values(rows, "x", {"x": {"sentences": "most"}}) == [0.2]
    assert values(rows[1:], "x", {"x": {"sentences": "most"}}) == [0.2]
    assert values(rows[1:], "x", {"x": {"sentences": "least"}}) == []


def test_steps_are_left_out_unless_named() -> None:
    rows = [row(value=0.5), row(step=100, value=0.1)]
    assert values(rows, "x", {"x": {}}) == [0.5]
    assert values(rows, "x", {"x": {"step": 100}}) == [0.1]


def test_a_correlation_a_seed() -> None:
    rows = []
    for seed, sign in ((11, 1), (12, -1)):
        for layer in range(4):
            rows += [
                row(seed, layer=layer, metric="x", value=layer),
                row(seed, layer=layer, metric="y", value=sign * layer),
            ]
    assert values(rows, "x, y", {"x": {"metric": "x"}, "y": {"metric": "y"}}, over="layer") == [1, -1]
    few = [r for r in rows if r["layer"] < 3]
    assert values(few, "x, y", {"x": {"metric": "x"}, "y": {"metric": "y"}}, over="layer") == []


def test_a_correlation_with_distance_over_languages() -> None:
    near_to_far = ("fr", "de", "tr", "hi", "zh")
    rows = [row(seed, target=target, value=0.5) for seed in (11, 12) for target in near_to_far]
    from xling_utils.corpora.controlled import word_order_distance

    for each in rows:
        each["value"] = -word_order_distance("en", each["target"])
    selections = {"x": {}, "d": {"typology": "word order"}}
    assert values(rows, "x, d", selections, over="language", ranks=True) == [-1, -1]


def test_mistakes_are_named() -> None:
    with pytest.raises(UserError, match="no column 'colour'"):
        values([row()], "x", {"x": {"colour": "red"}})
    with pytest.raises(UserError, match="no selection is named 'y'"):
        values([row()], "x - y", {"x": {}})
    with pytest.raises(UserError, match="unknown layer 'top'"):
        values([row(layer=1)], "x", {"x": {"layer": "top"}})
    for quantity, over in (("x", "layer"), ("x, x", None), ("x, x, x", "layer"), ("1", None)):
        with pytest.raises(UserError, match=r"write (a quantity|two quantities, .*) in names of selections"):
            values([row(layer=1)], quantity, {"x": {}}, over=over)
    with pytest.raises(UserError, match="no column 'depth'; known: "):
        values([row(layer=1)], "x, x", {"x": {}}, over="depth")


@pytest.mark.parametrize(("quantity", "over"), [("x,", None), ("x, x", "seed")])
def test_what_no_quantity_is_made_of_is_refused(quantity: str, over: str | None) -> None:
    with pytest.raises(UserError):
        values([row(layer=1, n=1)], quantity, {"x": {}}, over=over)


def test_what_selects_nothing_has_no_values() -> None:
    rows = [row(layer=layer, target=language, value=1.0) for layer in range(3) for language in ("fr", "de")]
    assert values(rows, "x, x", {"x": {"language": "fr"}}, over="language") == []
    assert values(rows, "x", {"x": {"layer": []}}) == []
    assert values(rows, "x", {"x": {"task": "\ud800"}}) == []
    assert values([row(value=1e308), row(12, value=1e308), row(layer=1, value=1e308)], "x", {"x": {}}) == [1e308]


def test_a_quotient_by_nothing_is_no_value() -> None:
    rows = [row(condition="a", value=1.0), row(condition="b", value=0.0)]
    assert values(rows, "a / b", {"a": {"condition": "a"}, "b": {"condition": "b"}}) == []
