"""The map of the front page: words of English and French while an encoder trains, out of its snapshots.

All frames are in one projection, that of the last: the two directions in which the middles of translations differ
most. A word's vector is the mean of its contexts, less its language's mean, of length one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from xling_utils.chapters.data_size.plan import headline_layer
from xling_utils.core import files
from xling_utils.core.project import checkout
from xling_utils.core.scales import FIRST_REPORTED_SEED
from xling_utils.core.scales import scale as scale_of

SNAPSHOTS = 24
LANGUAGE = "fr"
CONCEPTS = (
    "dog", "cat", "horse", "cow", "bird", "fish", "bread", "cheese", "milk", "wine", "water", "mother", "father",
    "sister", "king", "doctor", "teacher", "hand", "head", "house", "school", "market", "bridge", "mountain",
    "river", "sea", "tree", "flower", "sun", "moon", "rain", "car", "train", "table", "chair", "door", "window",
    "gold", "iron", "book", "letter", "song", "morning", "winter", "war", "peace", "money", "eat", "read", "write",
)  # fmt: skip
"""Words of the controlled world's lexicon, which real text has as well."""
NAMED = ("cat", "milk", "mother", "king", "house", "river", "sun", "car", "table", "gold", "book", "winter", "eat")
"""Those that the map writes beside their marks before any other, where there is room."""
WORLDS = {"controlled": "controlled world", "natural": "real text"}
COLUMNS = ("frame", "step", "alignment", "chance", "concept", "language", "word", "x", "y")
PICTURE = "book/map.png"
_FOLDER = "book/records"


def make(scale: str, data: Path | None = None) -> Path:
    """Trains the base run of the first reported seed with many snapshots, and writes the committed map of ``scale``;
    its last frame is the README's picture."""
    table = frames(scale, data)
    path = _path(scale)
    path.write_text(table.to_csv(index=False, float_format="%.4g"), encoding="utf-8")
    checkout("records").joinpath(PICTURE).write_bytes(picture())
    return path


def picture() -> bytes:
    """The map as it opens, a PNG."""
    import vl_convert

    return vl_convert.vegalite_to_png({**figure().to_dict(), "width": 640, "background": "white"}, scale=1.25)


def load(scale: str) -> pd.DataFrame:
    """The committed map of a scale; none where there is no file."""
    path = _path(scale)
    if not path.exists():
        return pd.DataFrame(columns=list(COLUMNS))
    return files.table(path, COLUMNS, numbers=("frame", "step", "alignment", "chance", "x", "y"))


def _path(scale: str) -> Path:
    return checkout("records") / _FOLDER / f"word_map.{scale}.csv"


def frames(scale: str, data: Path | None) -> pd.DataFrame:
    """One row a frame and word: :data:`COLUMNS`. Frame 0 is the encoder before training; ``alignment`` is centred
    retrieval over the whole dictionary, ``chance`` what a guess has of it."""
    from xling_utils.corpora.controlled import lexicon
    from xling_utils.measures import Reading, chance_reciprocal_rank, dictionary, mean_reciprocal_rank
    from xling_utils.runs import Compute, RunStore, ensure

    sizes = scale_of(scale)
    spec = sizes.bert(("en", LANGUAGE), sizes.sentences[-1], FIRST_REPORTED_SEED, SNAPSHOTS)
    untrained = sizes.untrained(("en", LANGUAGE), sizes.sentences[-1], FIRST_REPORTED_SEED)
    runs = ensure([spec, untrained], store=RunStore(), compute=Compute(data=data))
    reading = Reading(runs[spec], sizes, data)
    asked = dictionary(reading, LANGUAGE).without_others()
    forms = {key: (lexicon.words("en")[key], lexicon.words(LANGUAGE)[key]) for key in CONCEPTS}
    english, other = ([form[side] for form in forms.values()] for side in (0, 1))
    layer, found = headline_layer(sizes), []
    first = Reading(runs[untrained], sizes, data)
    for reader, step, encoder in [(first, 0, None), *((reading, *each) for each in reading.snapshots())]:
        here = reader.vectors("en", [*asked.sources, *english], encoder)[layer]
        there = reader.vectors(LANGUAGE, [*asked.targets, *other], encoder)[layer]
        x, y = (_directions(v, len(own)) for v, own in ((here, asked.sources), (there, asked.targets)))
        score = mean_reciprocal_rank(x[: len(asked.sources)], y[: len(asked.targets)], asked.gold)
        found.append((step, score, x[len(asked.sources) :], y[len(asked.targets) :]))
    plane, chance = _plane(*found[-1][2:]), chance_reciprocal_rank(len(asked.targets), asked.gold)
    rows = [
        (frame, step, score, chance, key, language, form, *(vector @ plane))
        for frame, (step, score, *pair) in enumerate(found)
        for language, words, vectors in zip(("en", LANGUAGE), (english, other), pair, strict=True)
        for key, form, vector in zip(forms, words, vectors, strict=True)
        if vector.any()
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _directions(vectors: npt.NDArray[np.float32], dictionary: int) -> npt.NDArray[np.float32]:
    """Each row less the mean of the ``dictionary``'s, the first, and of length one; a word never seen stays zero."""
    seen = np.flatnonzero(vectors.any(axis=1))
    found = np.zeros_like(vectors)
    found[seen] = vectors[seen] - vectors[seen[seen < dictionary]].mean(axis=0)
    found[seen] /= np.linalg.norm(found[seen], axis=1, keepdims=True)
    return found


def _plane(x: npt.NDArray[np.float32], y: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The first two principal directions (d, 2) of the middles of pairs."""
    middle = (x + y)[x.any(axis=1) & y.any(axis=1)] / 2
    return np.linalg.svd(middle - middle.mean(axis=0), full_matrices=False)[2][:2].T  # type: ignore[no-any-return]


def figure() -> Any:
    """Figure: the map, frame by frame, in each world that is recorded."""
    from xling_utils.charts import map_shapes

    tables = [load(scale).assign(world=world) for scale, world in WORLDS.items()]
    rows = pd.concat([table for table in tables if len(table)], ignore_index=True)
    rows = rows[rows.groupby(["world", "frame", "concept"])["word"].transform("size") == 2]  # both words were seen
    return map_shapes.word_map(
        rows,
        languages=("en", LANGUAGE),
        worlds=list(rows["world"].unique()),
        first=NAMED,
        description="Words of English and French in two dimensions, joined to their translations, frame by frame.",
    )
