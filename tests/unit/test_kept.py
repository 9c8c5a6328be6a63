"""Text that was drawn comes from disk the second time, and anew when anything that decides them has changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import pytest

from xling_utils import corpora
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale
from xling_utils.core.specs import CorpusSpec, EncoderSpec, RunSpec, StaticSpec, TokenizerSpec
from xling_utils.corpora import controlled, directory, labelled, parallel, treebanks
from xling_utils.measures import names, pool
from xling_utils.measures.tasks import registry
from xling_utils.runs import Run, RunStore, keys
from xling_utils.runs.pretraining import train

SPEC = CorpusSpec("directory", ("en",), 30, seed=1)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    folder = tmp_path / "data" / "text" / "en"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("".join(f"Sentence number {i} .\n\n" for i in range(60)), encoding="utf-8")
    return tmp_path / "data"


def test_the_second_time_nothing_is_drawn(data, monkeypatch):
    first = corpora.load(SPEC, data)["en"]
    monkeypatch.setattr(directory, "sample", None)
    again = corpora.load(SPEC, data)["en"]
    assert again["text"][:] == first["text"][:] and again["document"][:] == first["document"][:]
    assert again.features == first.features and len(again) == 30


def test_other_text_or_another_seed_is_drawn_anew(data):
    first = corpora.load(SPEC, data)["en"]["text"][:]
    assert corpora.load(CorpusSpec("directory", ("en",), 30, seed=2), data)["en"]["text"][:] != first
    path = data / "text" / "en" / "a.txt"
    path.write_text(path.read_text(encoding="utf-8").replace("number", "no"), encoding="utf-8")
    assert all(" no " in line for line in corpora.load(SPEC, data)["en"]["text"][:])


def test_the_controlled_world_is_drawn_once(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")

    def asked() -> list[object]:
        spec = CorpusSpec("controlled", ("en", "fr"), 20, seed=1)
        texts = [text for held_out in (False, True) for text in corpora.load(spec, held_out=held_out).values()]
        given = {"count": 9, "seed": 0}
        labels = [labelled.inference("controlled", "fr", "dev", **given)]
        labels += [labelled.named_entities("controlled", "fr", "dev", **given)]
        labels += [treebanks.treebank("controlled", "fr", "dev", **given)]
        return [*(x.to_dict() for x in (*texts, *labels)), parallel.multiway("controlled", ("en", "fr"), 9)]

    first = asked()
    labelled._pairs.cache_clear()
    for room, name in ((controlled, "text"), (controlled, "parallel"), (labelled, "pairs"), (labelled, "documents"),
                       (treebanks, "sentences")):  # fmt: skip
        monkeypatch.setattr(room, name, None)
    assert asked() == first


def test_a_cache_that_cannot_be_written_is_named_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("a file where the folder should be", encoding="utf-8")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    with pytest.raises(UserError, match="set HF_DATASETS_CACHE to a folder that can be written"):
        corpora.load(CorpusSpec("controlled", ("en",), 20, seed=1))


@pytest.mark.parametrize("damaged", [
    lambda whole: b"", lambda whole: whole[:20], lambda whole: whole[:-1],
    lambda whole: whole[:-90] + bytes(80) + whole[-10:], lambda whole: whole.replace(b"number 7", b"number 8"),
], ids=["empty", "begun", "cut", "overwritten", "another text"])  # fmt: skip
def test_what_is_damaged_is_drawn_again(data, damaged):
    first = corpora.load(SPEC, data)["en"]["text"][:]
    (path,) = (data.parent / "cache" / "xling_utils").glob("*.arrow")
    whole = path.read_bytes()
    path.write_bytes(damaged(whole))
    draft = path.with_name(f"{path.name.partition('-')[0]}.draft")
    draft.write_bytes(b"of a process that was killed")
    assert corpora.load(SPEC, data)["en"]["text"][:] == first
    assert path.read_bytes() == whole and not draft.exists(), "kept for the next"


def test_a_lock_that_cannot_be_written_is_named_in_one_line(data):
    corpora.load(SPEC, data)
    (path,) = (data.parent / "cache" / "xling_utils").glob("*.arrow")
    path.unlink()
    lock = path.with_name(f"{path.name.partition('-')[0]}.lock")
    lock.unlink()
    lock.mkdir()
    with pytest.raises(UserError, match=r"cannot write .*/xling_utils/\w+: .*; set HF_DATASETS_CACHE to a folder"):
        corpora.load(SPEC, data)


def _changing(of: Callable[..., Any], path: Path) -> Callable[..., Any]:
    """``of``, while it runs somebody changes the file ``path``."""

    def changed(*given: Any, **also: Any) -> Any:
        found = of(*given, **also)
        path.write_text(path.read_text(encoding="utf-8") + "One more sentence .\n", encoding="utf-8")
        return found

    return changed


def test_text_that_changes_while_it_is_drawn_is_not_kept(data, monkeypatch):
    monkeypatch.setattr(directory, "sample", _changing(directory.sample, data / "text/en/a.txt"))
    with pytest.raises(UserError, match=r"text of en changed while it was read; run it again$"):
        corpora.load(SPEC, data)
    assert not list((data.parent / "cache" / "xling_utils").glob("*.arrow"))


@pytest.mark.parametrize("model", [EncoderSpec(1, 8, 1, 8, 32), StaticSpec("glove", 4, 1, 2)], ids=["bert", "glove"])
def test_text_that_changes_between_a_request_and_its_training_is_refused(model, data, tmp_path):
    spec = RunSpec(SPEC, TokenizerSpec("words", 50), model, None, 1)
    for folder in ("work", "out"):
        (tmp_path / folder).mkdir()
    asked = keys.key_of(spec, data)
    given = (spec, data, tmp_path / "work", tmp_path / "out", lambda row: None)
    train(*given, asked)
    _changing(str, data / "text/en/a.txt")()
    with pytest.raises(UserError, match=r"text of en changed while it was read; run it again$"):
        train(*given, asked)


def test_rows_of_text_that_changes_while_it_is_measured_are_not_kept(data, tmp_path, monkeypatch):
    """Their name says which text they are of."""
    corpus, size = CorpusSpec("directory", ("en", "fr"), 30, seed=1), scale("smoke")
    spec = RunSpec(corpus, TokenizerSpec("words", 50), EncoderSpec(1, 8, 1, 8, 32), None, 1)
    dictionary = data / "dictionaries" / "wiktionary" / "en-fr.tsv"
    dictionary.parent.mkdir(parents=True)
    dictionary.write_text("one\tun\n", encoding="utf-8")
    monkeypatch.setattr(RunStore, "get", lambda store, key: Run(key, tmp_path, spec, {}))
    tests = pool.tested_with(pool.real_languages(corpus), data)
    path = tmp_path / pool.file_name(("a",), names.WORDS, size, tests)
    measured = registry.arranged(pd.DataFrame({"task": ["words"], "value": [0.5]}))
    monkeypatch.setattr(registry, "rows", lambda *_: measured)
    pool._measure(("a",), names.WORDS, size, data, tmp_path, path)
    path.unlink()
    monkeypatch.setattr(registry, "rows", _changing(lambda *_: measured, dictionary))
    with pytest.raises(UserError, match=r"what word retrieval reads changed while it was read; run it again$"):
        pool._measure(("a",), names.WORDS, size, data, tmp_path, path)
    assert not path.exists()
