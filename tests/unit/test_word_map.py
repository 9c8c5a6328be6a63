"""The map of the front page: words of two languages, frame by frame, in one plane."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from xling_utils.chapters.data_size import word_map
from xling_utils.charts import map_shapes
from xling_utils.corpora.controlled import lexicon


def test_its_words_are_the_lexicons() -> None:
    known = {key for key, entry in lexicon.concepts().items() if entry.upos in ("NOUN", "VERB")}
    assert set(word_map.CONCEPTS) <= known and set(word_map.NAMED) <= set(word_map.CONCEPTS)


def test_words_lose_their_languages_mean_and_their_length() -> None:
    vectors = np.random.default_rng(1).normal(3, 1, (6, 4)).astype(np.float32)
    vectors[2] = vectors[5] = 0  # never seen
    found = word_map._directions(vectors, 4)
    mean = vectors[[0, 1, 3]].mean(axis=0)
    for row in (0, 1, 3, 4):
        expected = vectors[row] - mean
        np.testing.assert_allclose(found[row], expected / np.linalg.norm(expected), rtol=1e-5)
    assert not found[[2, 5]].any()


def test_the_plane_is_where_pairs_differ_most() -> None:
    rng = np.random.default_rng(2)
    spread = np.array([0.1, 9.0, 0.1, 3.0])
    middle = (rng.normal(size=(400, 4)) * spread).astype(np.float32)
    apart = rng.normal(size=(400, 4)).astype(np.float32) * 9  # of languages, which cancels
    plane = word_map._plane(middle + apart, middle - apart)
    np.testing.assert_allclose(plane.T @ plane, np.eye(2), atol=1e-5)
    assert abs(plane[1, 0]) > 0.99 and abs(plane[3, 1]) > 0.99


def apart(pairs: pd.DataFrame) -> float:
    """How far translations lie from each other, against words that are none: a ratio of medians."""
    english, french = (pairs.xs(language, axis=1, level="language")[["x", "y"]].to_numpy() for language in ("en", "fr"))
    distances = np.linalg.norm(english[:, None] - french, axis=-1)
    own = np.eye(len(pairs), dtype=bool)
    return float(np.median(distances[own]) / np.median(distances[~own]))


@pytest.mark.parametrize("scale", list(word_map.WORLDS))
def test_the_committed_map_tells_what_its_caption_says(scale: str) -> None:
    table = word_map.load(scale)
    assert list(table["frame"].unique()) == list(range(word_map.SNAPSHOTS + 1))
    assert (table.groupby("frame")["step"].nunique() == 1).all() and table["step"].is_monotonic_increasing
    ends = table.groupby("frame")[["alignment", "chance"]].first().iloc[[0, -1]]
    times = (ends["alignment"] / ends["chance"]).to_list()
    assert times[1] > 5 and times[1] > 3 * times[0]
    pairs = table.pivot_table(index=["frame", "concept"], columns="language", values=["x", "y"]).dropna()
    distance = np.hypot(pairs["x"]["en"] - pairs["x"]["fr"], pairs["y"]["en"] - pairs["y"]["fr"])
    last, first = distance[word_map.SNAPSHOTS], distance[0]
    assert len(last) > 35 and len(last) == len(first)
    first_apart, last_apart = (apart(pairs.loc[frame]) for frame in (0, word_map.SNAPSHOTS))
    assert last_apart < 0.7 and last_apart < 0.7 * first_apart


def test_a_frame_is_chosen_below_the_chart() -> None:
    rows = pd.DataFrame(
        [
            {"frame": frame, "step": 10 * frame, "alignment": 0.1, "chance": 0.05, "concept": "cat", "word": word,
             "language": language, "x": 0.1 * frame, "y": 0.2, "world": "real text"}
            for frame in (0, 1) for language, word in (("en", "cat"), ("fr", "chat"))
        ]
    )  # fmt: skip
    asked = {"languages": ("en", "fr"), "worlds": ["real text"], "first": ["cat"]}
    spec = map_shapes.word_map(rows, **asked, description="A map").to_dict()
    bound = {each["name"]: each for each in spec["params"]}
    assert bound["frame_shown"]["value"] == 1 and bound["frame_shown"]["bind"]["max"] == 1
    assert bound["world_shown"]["bind"]["options"] == ["real text"]


def test_no_name_lies_on_another() -> None:
    at = {"cat": (0.0, 0.0, 0.0, 0.0), "dog": (0.05, 0.0, 0.5, 0.5), "sea": (0.5, -0.5, -0.5, -0.5)}
    frame = pd.DataFrame(
        [
            {"concept": concept, "language": language, "word": concept, "x": x, "y": y}
            for concept, place in at.items()
            for language, x, y in (("en", *place[:2]), ("fr", *place[2:]))
        ]
    )
    assert map_shapes._apart(frame, ["cat"], "en", 1.0) == ["cat", "sea"], (
        "a pair in one place is written on both sides"
    )
    assert map_shapes._apart(frame, ["dog"], "en", 1.0) == ["dog", "sea"]
    assert map_shapes._apart(frame.assign(x=frame["x"] + 0.45), ["sea"], "en", 1.0) == ["cat"], "names do not leave"


def test_in_no_frame_lies_a_name_on_another() -> None:
    at = {("cat", 0): 0.0, ("dog", 0): 0.01, ("cat", 1): -1.0, ("dog", 1): 1.0}
    rows = pd.DataFrame(
        [
            {"frame": frame, "step": frame, "alignment": 0.1, "chance": 0.05, "concept": concept, "word": concept,
             "language": language, "x": 0.0, "y": y, "world": "real text"}
            for (concept, frame), y in at.items() for language in ("en", "fr")
        ]
    )  # fmt: skip
    spec = map_shapes.word_map(rows, languages=("en", "fr"), worlds=["real text"], first=["dog"], description="A map")
    (table,) = spec.to_dict()["datasets"].values()
    named = {(row["concept"], row["frame"]): row["named"] for row in table}
    assert named == {("cat", 0): False, ("dog", 0): True, ("cat", 1): True, ("dog", 1): True}
