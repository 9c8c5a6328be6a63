"""Word retrieval on a stored run: which words are asked, and what becomes of those without a vector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors.torch import save_file

from xling_utils import corpora
from xling_utils.chapters.data_size import explorer
from xling_utils.core.errors import UserError
from xling_utils.core.scales import scale as scale_of
from xling_utils.core.specs import Change, CorpusSpec, EncoderSpec, StaticSpec, TokenizerSpec
from xling_utils.corpora import treebanks
from xling_utils.measures.encoders.stored_run import Reading
from xling_utils.measures.tasks import word_retrieval
from xling_utils.measures.tasks.word_retrieval import Dictionary, dictionary, restrict
from xling_utils.models import transformers_format
from xling_utils.runs.store import SNAPSHOTS, Run

SCALE = replace(scale_of("smoke"), sentences=(200, 200), candidates=50, context_tokens=2_000)
ENCODER = EncoderSpec(layers=1, width=8, heads=2, intermediate=16, positions=32)
PIECES = TokenizerSpec("wordpiece", 600)

Stored = Callable[..., Run]


def corpus(*languages: str, changes: tuple[Change, ...] = ()) -> CorpusSpec:
    return CorpusSpec("controlled", languages, 200, 1, changes)


PAIR = corpus("en", "fr")
FAKED = corpus("en", "fr", changes=(Change("fake", ("en",)),))


def measured(run: Run) -> pd.DataFrame:
    return pd.DataFrame(word_retrieval.rows(run, SCALE, None))


def test_a_dictionary_holds_the_common_words_its_own_targets_first() -> None:
    english = Counter({"dog": 9, "cat": 9, "rare": 4})
    german = Counter({"und": 30, "hund": 9, "katze": 8, "kater": 7, "selten": 9, "knapp": 4})
    pairs = [("dog", "hund"), ("cat", "katze"), ("cat", "kater"), ("rare", "selten"), ("dog", "knapp")]
    found = restrict(pairs, english, german, "de", 9)
    assert (found.sources, found.dictionary_targets) == (["cat", "dog"], 3)
    assert found.targets == ["hund", "kater", "katze", "und", "selten"]
    assert found.gold == [{1, 2}, {0}]
    assert restrict(pairs, english, german, "de", 1).targets == ["hund", "kater", "katze", "und"]
    assert found.without_others().targets == ["hund", "kater", "katze"]
    with pytest.raises(UserError, match="en-de: none of its 1 pairs"):
        restrict([("rare", "selten")], english, german, "de", 9)


def test_a_translation_of_several_units_needs_each_of_them_in_the_text() -> None:
    counts = Counter({"con": 9, "chó": 9, "mèo": 4})
    found = restrict([("dog", "con chó"), ("cat", "con mèo")], Counter({"dog": 9, "cat": 9}), counts, "vi", 0)
    assert found.targets == ["con chó"]


@pytest.mark.parametrize("text", [PAIR, FAKED])
def test_pairs_spelt_alike_come_on_request(stored: Stored, monkeypatch: pytest.MonkeyPatch, text: CorpusSpec) -> None:
    pairs = [("and", "et"), (".", "."), ("?", "?")]
    monkeypatch.setattr(corpora, "dictionary", lambda *_: pairs)
    reading = Reading(stored(text, PIECES, ENCODER), SCALE)
    assert dictionary(reading, "fr").targets == ["et"]
    assert dictionary(reading, "fr", identical=True).targets == [".", "?", "et"]


def test_a_faked_language_is_asked_for_the_same_words(stored: Stored) -> None:
    usual = dictionary(Reading(stored(PAIR, PIECES, ENCODER), SCALE), "fr")
    faked = dictionary(Reading(stored(FAKED, PIECES, ENCODER), SCALE), "fr")
    assert sorted(map(corpora.respelled(FAKED, "en"), usual.sources)) == faked.sources != usual.sources
    assert usual.targets == faked.targets
    tagged = [measured(stored(text, PIECES, ENCODER)).dropna(subset="part_of_speech") for text in (PAIR, FAKED)]
    usual_rows, faked_rows = (rows[["part_of_speech", "layer", "n"]].to_numpy().tolist() for rows in tagged)
    assert usual_rows == faked_rows


def test_every_other_language_is_measured_and_each_text_encoded_once(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, asked = stored(corpus("en", "fr", "de", "ru"), PIECES, ENCODER), []
    vectors = Reading.vectors

    def counted(reading: Reading, language: str, *rest: Any) -> Any:
        asked.append(language)
        return vectors(reading, language, *rest)

    monkeypatch.setattr(Reading, "vectors", counted)
    rows = measured(run)
    assert sorted(asked) == ["de", "en", "fr", "ru"]
    assert set(rows["target"]) == {"fr", "de", "ru"} and set(rows["layer"]) == {0, 1}
    assert rows.groupby("target")["metric"].nunique().tolist() == [8, 8, 8]
    assert rows["value"].between(0, 1).all()


def test_the_control_for_spelling_asks_for_words_with_no_translation_spelt_alike(stored: Stored) -> None:
    english = Counter({"nation": 9, "water": 9, "night": 9, "cat": 9})
    french = Counter({"nation": 9, "eau": 9, "flotte": 9, "nuit": 9, "chat": 9, "matou": 9})
    pairs = [("nation", "nation"), ("water", "eau"), ("water", "flotte"), ("night", "nuit"), ("cat", "matou")]
    found = restrict([*pairs, ("cat", "chat")], english, french, "fr", 9)
    assert dict(zip(found.sources, found.unlike, strict=True)) == {
        "cat": False, "nation": False, "night": False, "water": True
    }  # fmt: skip
    rows = measured(stored(PAIR, PIECES, ENCODER)).query("part_of_speech.isna()").set_index(["metric", "layer"])
    assert 0 < rows.loc[("mrr_unlike", 0), "n"] < rows.loc[("mrr_centred", 0), "n"]


def test_the_rows_of_a_pair_are_those_of_its_dictionary(stored: Stored) -> None:
    run = stored(corpus("en", "fr", "de"), PIECES, ENCODER)
    reading = Reading(run, SCALE)
    asked = dictionary(reading, "de")
    x, y = reading.vectors("en", asked.sources), reading.vectors("de", asked.targets)
    rows = measured(run).query("target == 'de' and metric == 'mrr' and part_of_speech.isna()")
    for layer, value in zip(rows["layer"], rows["value"], strict=True):
        unit = [v[layer] / np.linalg.norm(v[layer], axis=1, keepdims=True) for v in (x, y)]
        scores = unit[0] @ unit[1].T
        best = [max(row[list(gold)]) for row, gold in zip(scores, asked.gold, strict=True)]
        others = [np.delete(row, list(gold)) for row, gold in zip(scores, asked.gold, strict=True)]
        ranks = [1 + (other > top).sum() for other, top in zip(others, best, strict=True)]
        assert value == pytest.approx(np.mean(1 / np.array(ranks)), abs=0.01)


def test_real_words_have_the_tags_of_the_english_treebank(stored: Stored, tmp_path: Path) -> None:
    said = {"en": "the old fish swims in Paris", "fr": "le vieux poisson nage dans Lutece"}
    for language, line in said.items():
        (tmp_path / "text" / language).mkdir(parents=True)
        lines = "\n\n".join(f"{line} {number}" for number in range(60))
        (tmp_path / "text" / language / "book.txt").write_text(lines, encoding="utf-8")
    pairs = zip(*(line.lower().split() for line in said.values()), strict=True)
    (tmp_path / "dictionaries/wiktionary").mkdir(parents=True)
    (tmp_path / "dictionaries/wiktionary/en-fr.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs))
    text = CorpusSpec("directory", ("en", "fr"), 40, 1, (Change("fake", ("en",)),))
    run = stored(text, TokenizerSpec("words", 100), ENCODER, data=tmp_path)
    scale = replace(SCALE, source="directory", sentences=(40, 40))
    untagged = pd.DataFrame(word_retrieval.rows(run, scale, tmp_path))
    assert "part_of_speech" not in untagged, "there is no treebank"

    words = [("the", "DET"), ("old", "ADJ"), ("fish", "NOUN"), ("swims", "VERB"), ("Paris", "PROPN"), ("here", "ADV")]
    (tmp_path / "ud/UD_English-EWT").mkdir(parents=True)
    tree = "".join(f"{i}\t{w}\t_\t{tag}\t_\t_\t{i - 1}\tdep\t_\t_\n" for i, (w, tag) in enumerate(words, 1))
    (tmp_path / "ud/UD_English-EWT/en_ewt-ud-train.conllu").write_text(f"{tree}\n" * 3)
    treebanks.commonest_tags.cache_clear()
    tagged = pd.DataFrame(word_retrieval.rows(run, scale, tmp_path)).query("layer == 0 and part_of_speech.notna()")
    asked = {"closed": 1, "open": 3, "NOUN": 1, "VERB": 1, "ADJ": 1}
    assert dict(zip(tagged["part_of_speech"], tagged["n"], strict=True)) == asked, "names are in no class"


@pytest.mark.parametrize("languages", [("tr", "fr"), ("en",)])
def test_english_and_another_language_are_needed(languages: tuple[str, ...], stored: Stored) -> None:
    with pytest.raises(UserError, match=f"key: reads {' '.join(languages)}; English and another language are needed"):
        measured(stored(corpus(*languages), PIECES, ENCODER))


def test_snapshots_give_rows_with_a_step(stored: Stored) -> None:
    run = stored(PAIR, PIECES, ENCODER)
    (run.path / SNAPSHOTS).mkdir()
    state = transformers_format.to_transformers(transformers_format.load(run.path))
    for step in (5, 10):
        save_file(state, run.path / SNAPSHOTS / f"{step:08d}.safetensors", metadata={"format": "pt"})
    rows = measured(run).dropna(subset="step")
    assert rows[["metric", "step", "layer"]].to_numpy().tolist() == [
        ["mrr_centred", step, layer] for step in (5, 10) for layer in (0, 1)
    ]


@pytest.mark.parametrize("model", [ENCODER, StaticSpec("glove", 8)])
def test_words_without_a_vector_are_not_found(stored: Stored, model: EncoderSpec | StaticSpec) -> None:
    rows = measured(stored(PAIR, TokenizerSpec("words", 6), model))
    rows = rows[rows["part_of_speech"].isna()].pivot_table(index="layer", columns="metric", values="value")
    for metric in ("mrr", "mrr_centred", "mrr_shuffled"):  # none of the words is the one that is known
        assert (rows[metric] < rows["chance"] / 3).all()
    assert (rows["mrr_vocabulary"] < rows["chance_vocabulary"]).all()


def test_a_translation_without_a_vector_ranks_behind_all_others() -> None:
    x = np.array([[1, 0], [1, 0], [0, 0]], dtype=np.float32)
    y = np.array([[0, 0], [-1, 0], [-1, 1], [-2, 1]], dtype=np.float32)
    found = word_retrieval._reciprocal_ranks(x, y, [{0}, {0, 2}, {1}])
    assert found.tolist() == [1 / 4, 1 / 2, 1 / 4]


def test_explorer_begins_with_a_word_that_is_found_and_says_where_a_translation_stands() -> None:
    words = Dictionary("fr", ["dog", "cat"], ["chat", "chien", "vache"], 2, [{1}, {0}])
    sources = np.array([[[1, 0], [0, 1]]], np.float32)
    targets = np.array([[[0, 2], [1, 2], [3, 0]]], np.float32)
    explored = explorer.Explorer(words, sources, targets)
    assert explored.start() == ("cat", 0), "of dog the nearest is a cow"
    found = explored.neighbours("dog", 0)
    assert found.told == "chien: number 2 of 3"
    assert [(word, correct) for word, _, correct in found.words] == [("vache", False), ("chien", True), ("chat", False)]


def test_explorer_takes_an_encoder_of_english_and_one_other_language(stored: Stored) -> None:
    run = stored(FAKED, PIECES, replace(ENCODER, separate_blocks=1))
    explored = explorer.Explorer.of(run, SCALE)
    assert explored.sources.shape == (2, len(explored.dictionary.sources), 8)
    assert len(explored.neighbours(explored.dictionary.sources[0], 1).words) == 5
    others = [(corpus("en", "fr", "de"), ENCODER), (corpus("fr", "de"), ENCODER), (PAIR, StaticSpec("glove", 8))]
    for text, model in others:
        with pytest.raises(UserError, match="give one of an encoder of English and one other language"):
            explorer.Explorer.of(stored(text, PIECES, model), SCALE)
