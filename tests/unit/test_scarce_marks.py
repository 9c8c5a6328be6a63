"""Charts of more than there are marks or colours for, and of nothing."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest
import vl_convert

from xling_utils.charts import contrast_shapes, layer_shapes, shapes
from xling_utils.core.errors import UserError


def contrasts(shown: Sequence[str]) -> dict[str, Any]:
    rows = pd.DataFrame({"condition": "all", "measure": "f1", "shown": shown, "value": 0.5, "seeds": 3})
    rows = rows.assign(low=0.4, high=0.6)
    floors = pd.DataFrame(columns=["measure", "name", "value"])
    return contrast_shapes.contrasts(
        rows, floors, conditions=["all"], measures=["f1"], description="Contrasts."
    ).to_dict()


def marks(spec: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Name -> colour and shape."""
    channels = next(layer["encoding"] for layer in spec["layer"] if "shape" in layer["encoding"])
    colour, shape = (channels[name]["scale"] for name in ("color", "shape"))
    assert colour["domain"] == shape["domain"]
    return dict(zip(colour["domain"], zip(colour["range"], shape["range"], strict=True), strict=True))


@pytest.mark.parametrize(
    "shown", [["French", "pl", shapes.MEAN], ["this machine", "pl"], [*list(shapes.LANGUAGE_MARKS)[:12], "pl", "nl"]]
)
def test_another_language_has_a_mark_of_its_own(shown: list[str]) -> None:
    found = marks(contrasts(shown))
    assert set(found) == set(shown) and len(set(found.values())) == len(shown)
    assert all(found[name] == shapes.CONTRAST_MARKS[name] for name in shown if name in shapes.CONTRAST_MARKS)


@pytest.mark.parametrize("shown", [[*shapes.LANGUAGE_MARKS, "pl"], [f"l{number}" for number in range(15)]])
def test_marks_come_again_where_there_are_too_few(shown: list[str]) -> None:
    spec = contrasts(shown)
    assert len(marks(spec)) == len(set(marks(spec).values())) + 1
    vl_convert.vegalite_to_svg(spec)


def test_another_language_stands_beside_the_others_beneath_their_mean() -> None:
    spec = contrasts(["French", "pl", shapes.MEAN])
    rows = next(rows for rows in spec["datasets"].values() if rows and "place" in rows[0])
    places = {row["shown"]: row["place"] for row in rows}
    assert places["French"] == places["pl"] > places[shapes.MEAN]


def over_layers(metrics: Sequence[str]) -> dict[str, Any]:
    rows = pd.DataFrame({"metric": metrics, "layer": 0, "value": 0.1, "low": 0.0, "high": 0.2})
    return layer_shapes.over_layers([rows], metrics).to_dict()


@pytest.mark.parametrize(
    ("metrics", "colours"),
    [(list("abcde"), layer_shapes.HUES), (["untrained", "untrained 2", "untrained 3"], layer_shapes.GREYS)],
)
def test_colours_come_again_where_there_are_too_few(metrics: list[str], colours: tuple[str, ...]) -> None:
    spec = over_layers(metrics)
    scale = spec["layer"][0]["encoding"]["color"]["scale"]
    assert (scale["domain"], scale["range"]) == (metrics, [*colours, colours[0]])
    vl_convert.vegalite_to_svg(spec)


def test_of_nothing_nothing_is_drawn() -> None:
    rows = pd.DataFrame({"metric": ["mrr"], "layer": [0], "value": 0.1, "low": 0.0, "high": 0.2})
    for tables, metrics in (([], ["mrr"]), ([rows], []), ([], [])):
        with pytest.raises(UserError, match="nothing to draw over layers: give at least one table and one metric"):
            layer_shapes.over_layers(tables, metrics)
