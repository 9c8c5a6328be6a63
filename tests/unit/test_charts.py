"""Charts: every one compiles, says what it shows, and keeps a model's colour."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import vl_convert

from xling_utils.charts import bar_shapes, contrast_shapes, layer_shapes, offline, shapes, share_shapes, shift_shapes
from xling_utils.charts.name_sides import sides
from xling_utils.core.errors import UserError

RUNS = pd.DataFrame(
    {
        "model": ["BERT", "GloVe"] * 2,
        "size": ["small", "small", "large", "large"],
        "language": ["French"] * 4,
        "shown": ["recorded"] * 4,
        "value": [0.1, 0.2, 0.3, 0.4],
        "low": [0.05] * 4,
        "high": [0.5] * 4,
        "seeds": [5] * 4,
    }
)
CHANCE = pd.DataFrame({"language": ["French"], "value": [0.02]})


def intervals(rows: pd.DataFrame = RUNS, chance: pd.DataFrame = CHANCE) -> Any:
    return shapes.intervals(
        rows,
        x="size",
        x_order=["small", "large"],
        models=["BERT", "GloVe"],
        y_title="MRR",
        chance=chance,
        description="what it shows",
    )


def curves() -> Any:
    rows = pd.DataFrame({"step": [0, 1], "seed": 11, "series": ["BERT", "untrained"], "layer": 1, "value": [0.1, 0.2]})
    rows = pd.concat([rows, rows.assign(layer=2)])
    return shapes.curves(rows, layer=1, y_title="MRR", chance=CHANCE, description="what it shows")


def by_layer() -> Any:
    rows = pd.DataFrame({"language": "French", "layer": 1, "value": 0.1, "low": 0.0, "high": 0.2, "seeds": 3}, [0])
    return bar_shapes.by_layer(rows, languages=["French"], layers=3, description="what it shows")


def grouped_bars() -> Any:
    rows = pd.DataFrame(
        {"group": ["NOUN"], "shown": ["paper"], "value": [0.4], "low": [0.4], "high": [0.4], "seeds": [1]}
    )
    return bar_shapes.grouped_bars(rows, groups=["NOUN"], description="what it shows")


def distances() -> Any:
    rows = pd.DataFrame(
        {"language": ["French"], "distance": [0.1], "value": [0.2], "low": [0.1], "high": [0.3], "script": ["Latin"]}
    )
    return shapes.distances(rows, description="what it shows")


def test_names_that_would_lie_on_each_other_stand_on_other_sides() -> None:
    rows = {"distance": [0.10, 0.21, 0.22, 0.40], "value": [0.10, 0.30, 0.30, 0.20], "language": ["Vietnamese"] * 4}
    at = pd.DataFrame(rows).assign(low=lambda rows: rows["value"] - 0.01, high=lambda rows: rows["value"] + 0.01)
    assert sides(at) == ["right", "left", "right", "right"]
    assert sides(at[1:]) == ["above", "right", "right"], "to the left of the first there is the axis"
    assert sides(at[:1]) == ["right"]


@pytest.mark.parametrize("make", [intervals, curves, by_layer, grouped_bars, distances])
def test_chart_is_drawn_and_described(make: Callable[[], Any]) -> None:
    bundle = offline.mime_bundle(make().to_dict())
    assert len(bundle["image/png"]) > 2000  # vl-convert raises on a chart that Vega cannot compile
    assert bundle["text/plain"] == "what it shows"


@pytest.mark.parametrize("make", [intervals, curves, by_layer, grouped_bars, distances])
def test_jupyterlab_has_what_a_chart_needs(make: Callable[[], Any]) -> None:
    """It has Vega-Lite 5, of which the oldest at hand draws the same as the newest."""
    spec = offline.mime_bundle(make().to_dict())["application/vnd.vegalite.v5+json"]
    assert spec["width"] == shapes.WIDTH, "in JupyterLab nothing gives a chart the width of its container"
    assert vl_convert.vegalite_to_svg(spec, vl_version="5.8") == vl_convert.vegalite_to_svg(spec)


def test_a_png_is_drawn_once_and_again_for_another_chart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[dict[str, Any]] = []
    monkeypatch.setattr(vl_convert, "vegalite_to_png", lambda spec, scale: drawn.append(spec) or b"a PNG")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "_toc.yml").touch()
    monkeypatch.chdir(tmp_path / "notebooks")
    one, other = curves().to_dict(), curves().to_dict()
    other["height"] = 7

    def in_a_new_process(*specs: dict[str, Any]) -> list[str]:
        offline._shown.clear()
        return [offline.mime_bundle(spec)["image/png"] for spec in specs]

    assert in_a_new_process(one, other) == in_a_new_process(one, other)
    assert [spec.get("height") for spec in drawn] == [one.get("height"), 7]
    in_a_new_process(other, other)
    assert len(drawn) == 3, "the first of these has changed"
    for still in (tmp_path / "_build/stills").iterdir():
        still.write_bytes(b"harmed")
    in_a_new_process(other)
    assert len(drawn) == 4
    monkeypatch.chdir(tmp_path.parent)  # in no book
    in_a_new_process(other)
    assert len(drawn) == 5


def test_a_chart_without_any_interval_is_json() -> None:
    none = pd.Series([float("nan")] * len(RUNS), dtype=object)
    bundle = offline.mime_bundle(intervals(RUNS.assign(low=none, high=none)).to_dict())
    (rows,) = (rows for rows in bundle[offline.VEGALITE]["datasets"].values() if "low" in rows[0])
    assert {row["low"] for row in rows} == {None}
    json.dumps(bundle, allow_nan=False)


def test_numbers_have_six_digits() -> None:
    spec = {"datasets": {"rows": [{"value": 2 / 3, "tokens": 13_327_805.0, "n": 123_456_789, "name": "a"}]}}
    (rows,) = offline.mime_bundle(intervals(RUNS).to_dict() | spec)[offline.VEGALITE]["datasets"].values()
    assert rows == [{"value": 0.666667, "tokens": 13_327_805.0, "n": 123_456_789, "name": "a"}]


def test_a_table_is_written_by_column_and_different_values_once() -> None:
    values = [0, False, None, 0.0, "a", 1, True, 1.0]
    rows = [{"value": value, "name": "a name that repeats", "seed": seed} for seed, value in enumerate(values)]
    shown = offline.chart_html({"datasets": {"rows": rows, "ragged": [{"a": 1}, {"b": 1}], "none": []}}, "")
    tables = json.loads(shown.partition('json">')[2].partition("</script>")[0])["datasets"]
    columns = tables["rows"]["columns"]
    assert tables["rows"]["count"] == len(rows) and list(columns) == ["value", "name", "seed"]
    assert columns["name"] == {"of": ["a name that repeats"], "at": [0] * len(rows)}
    assert [repr(value) for value in columns["value"]] == [repr(value) for value in values]
    assert columns["seed"] == list(range(len(rows)))
    assert tables["ragged"] == [{"a": 1}, {"b": 1}] and tables["none"] == []


def test_without_scripts_a_chart_is_told_in_words() -> None:
    shown = offline.chart_html({}, "a < b")
    assert "<noscript><p>a &lt; b</p></noscript>" in shown


def test_a_list_of_languages_appears_only_where_there_are_several() -> None:
    both = pd.concat([RUNS, RUNS.assign(language="German")], ignore_index=True)
    assert "language_shown" not in json.dumps(intervals().to_dict())
    spec = json.dumps(intervals(both).to_dict())
    assert '"options": ["French", "German"]' in spec


def test_of_several_languages_one_is_drawn() -> None:
    both = pd.concat([RUNS, RUNS.assign(language="German")], ignore_index=True)
    chances = pd.concat([CHANCE, CHANCE.assign(language="German", value=0.05)], ignore_index=True)
    drawn = [vl_convert.vegalite_to_svg(intervals(rows, chances).to_dict()) for rows in (RUNS, both)]
    marks = [svg.count('aria-roledescription="point"') for svg in drawn]
    assert marks == [len(RUNS)] * 2
    assert [svg.count(">chance<") for svg in drawn] == [2, 1]  # with one language nothing is left out


def test_long_labels_take_two_lines() -> None:
    rows = RUNS.assign(
        condition=["with next sentence prediction", "separate embeddings, bottom two thirds", "2 of 3, 50 %", "x"],
        measure="MRR",
    )
    floors = pd.DataFrame({"measure": ["MRR"], "name": ["chance"], "value": [0.02]})
    chart = contrast_shapes.contrasts(
        rows, floors, conditions=list(rows["condition"]), measures=["MRR"], description="x"
    )
    labels = re.findall(r"<text [^>]*>(.*?)</text>", vl_convert.vegalite_to_svg(chart.to_dict()), re.DOTALL)
    lines = [re.findall(r">([^<]+)<", label) for label in labels]
    assert ["with next sentence", "prediction"] in lines and ["separate embeddings,", "bottom two thirds"] in lines
    assert "2 of 3, 50 %" in labels


def test_a_model_has_one_colour_everywhere() -> None:
    scale = intervals().to_dict()["layer"][0]["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == {
        name: shapes.MODEL_COLOURS[name] for name in ("BERT", "GloVe")
    }


def test_an_unknown_model_has_no_colour() -> None:
    with pytest.raises(KeyError):
        shapes.colours(["something else"])


def test_rows_of_ones_own_are_drawn_over_layers() -> None:
    rows = pd.DataFrame({"metric": ["mrr", "mrr", "chance"], "layer": [0, 1, 0], "value": 0.1, "low": 0.0, "high": 0.2})
    spec = layer_shapes.over_layers([rows[:2], rows[2:]], ["mrr", "chance"]).to_dict()
    (shown,) = spec["datasets"].values()
    assert [row["kind"] for row in shown] == ["mrr", "mrr", "chance"]
    vl_convert.vegalite_to_svg(spec)
    with pytest.raises(UserError, match="no rows of 'cka'; there are mrr, chance"):
        layer_shapes.over_layers([rows], ["mrr", "cka"])
    with pytest.raises(UserError, match="several rows of 'mrr' at a layer"):
        layer_shapes.over_layers([rows, rows], ["mrr"])


def contrasts() -> dict[str, Any]:
    """French has both conditions, Russian one; a paper has the second measure alone."""
    marks = [("all", "French", "f1"), ("all", "Russian", "f1"), ("one", "Russian", "f1"), ("all", "French", "mrr"),
             ("all", "paper E", "mrr")]  # fmt: skip
    rows = pd.DataFrame(marks, columns=["condition", "shown", "measure"])
    rows = rows.assign(value=0.1, low=-0.2, high=0.4, seeds=3)
    floors = pd.DataFrame(columns=["measure", "name", "value"])
    return contrast_shapes.contrasts(
        rows, floors, conditions=["all", "one"], measures=["f1", "mrr"], description="Contrasts."
    ).to_dict()


def test_marks_stand_around_the_middle_of_their_line() -> None:
    spec = contrasts()
    rows = next(rows for rows in spec["datasets"].values() if rows and "place" in rows[0])
    places = {(row["condition"], row["measure"], row["shown"]): row["place"] for row in rows}
    assert places["one", "f1", "Russian"] == 0
    assert places["all", "f1", "French"] == -places["all", "f1", "Russian"] == -0.5
    offset = next(layer["encoding"]["yOffset"] for layer in spec["layer"] if "yOffset" in layer["encoding"])
    assert offset["field"] == "place" and sum(offset["scale"]["domain"]) == 0


def test_a_legend_names_what_the_chosen_measure_shows() -> None:
    shown = {"f1": ["French", "Russian"], "mrr": ["paper E", "French"]}
    for layer in contrasts()["layer"][:2]:
        legend = layer["encoding"]["color"]["legend"]["values"]["expr"]
        assert json.loads(legend[1 : legend.rindex(")")]) == shown and legend.endswith("[measure_shown]")


def layers(*kinds: str) -> dict[str, Any]:
    rows = pd.DataFrame(
        {"kind": kinds, "measure": "f1", "whose": "all", "layer": 0, "value": 0.9, "low": -0.1, "high": 1.2, "seeds": 3}
    )
    return layer_shapes.profiles(
        rows, kinds=[*kinds, "never measured"], measures=["f1"], y_title="F1", description="Layers."
    ).to_dict()


def test_grey_is_what_nothing_was_learned_for() -> None:
    colours = layers("two monolingual", "one untrained", "one bilingual", "commonest label")["layer"][0]["encoding"]
    scale = colours["color"]["scale"]
    assert scale["domain"] == ["two monolingual", "one untrained", "one bilingual", "commonest label"]
    assert [colour in layer_shapes.GREYS for colour in scale["range"]] == [False, True, False, True]
    assert not {*layer_shapes.HUES, *shapes.SHOWN_COLOURS.values()} & {*layer_shapes.GREYS} - {
        shapes.MODEL_COLOURS["untrained"]
    }


def test_bars_end_where_the_measure_does() -> None:
    first = layers("one")["layer"][0]
    transforms = {each["as"]: each["calculate"] for each in first["transform"] if "as" in each}
    assert "max(0, datum.low)" in transforms["bottom"] and "min(1, datum.high)" in transforms["top"]
    assert all("isValid" in each for each in transforms.values()), "no bar where there is no interval"


def test_bars_of_two_kinds_stand_beside_each_other() -> None:
    drawn = vl_convert.vegalite_to_svg(layers("one", "other"))
    bars = re.findall(r'rule mark" transform="translate\(([\d.]+),', drawn)
    assert len(bars) == len(set(bars)) == 2


def test_bars_that_go_on_end_in_an_arrow() -> None:
    ends = {"letters": (0.7, 0.9), "order": (-0.4, 1.9)}
    rows = [
        {"taken": name, "world": "real text", "left": 0.8, "low": low, "high": high, "seeds": 5}
        for name, (low, high) in ends.items()
    ]
    chart = share_shapes.shares(
        pd.DataFrame(rows), order=list(ends), groups=["real text"], x_title="left", description="What is left."
    )
    drawn = vl_convert.vegalite_to_svg(chart.to_dict())
    marks = re.findall(r'"point" transform="translate\(([\d.]+),', drawn)
    assert sorted(marks, key=float)[:: len(marks) - 1] == ["0", str(shapes.WIDTH)] and len(marks) == len(ends) + 2


@pytest.mark.parametrize(("high", "end"), [(1.03, 1.1), (1.4, 1.7)])
def test_the_axis_of_shares_ends_where_they_do(high: float, end: float) -> None:
    rows = pd.DataFrame([{"taken": "order", "world": "real text", "left": 0.9, "low": 0.8, "high": high, "seeds": 5}])
    chart = share_shapes.shares(rows, order=["order"], groups=["real text"], x_title="", description="Shares.")
    domains = [layer["encoding"]["x"].get("scale", {}).get("domain") for layer in chart.to_dict()["layer"]]
    assert [-0.1, end] in domains


def test_the_axis_says_the_measure_that_is_chosen() -> None:
    assert ">f1</text>" in vl_convert.vegalite_to_svg(contrasts())


def test_languages_stand_by_value_with_their_gain_beside_them() -> None:
    rows = pd.DataFrame({"kind": ["as it is", "shifted"] * 2, "language": ["Thai", "Thai", "Urdu", "Urdu"],
                         "value": [0.4, 0.5, 0.6, 0.9], "gained": [None, -0.1, None, 0.3]})  # fmt: skip
    rows = rows.assign(measure="f1", low=0.1, high=0.9, seeds=3)
    floors = pd.DataFrame({"measure": ["f1", "las"], "name": ["a guess", "a rule"], "value": [0.3, 0.2]})
    chart = shift_shapes.by_language(
        rows, floors, kinds=["as it is", "shifted"], measures=["f1"], gain="gain", description="By language."
    )
    drawn = vl_convert.vegalite_to_svg(chart.to_dict() | {"width": 500})
    assert drawn.index(">Urdu<") < drawn.index(">Thai<")
    assert ">+0.300<" in drawn and ">\N{MINUS SIGN}0.100<" in drawn and ">gain<" in drawn and drawn.count(".100<") == 1
    assert ">a guess<" in drawn and ">a rule<" not in drawn
