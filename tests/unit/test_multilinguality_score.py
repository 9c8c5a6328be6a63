"""English and its double: read each by its own ids and parts, found as often as they are alike."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
import torch

from xling_utils.chapters.minimult import plan as minimult
from xling_utils.claims import ledger
from xling_utils.core.errors import UserError
from xling_utils.core.scales import FIRST_REPORTED_SEED, scale
from xling_utils.core.specs import DOUBLE, Change, CorpusSpec, EncoderSpec, TokenizerSpec, run_from_dict, to_dict
from xling_utils.corpora.transforms import UNUSED
from xling_utils.measures.encoders.stored_run import masked_lm
from xling_utils.measures.tasks import multilinguality_score
from xling_utils.models import tokenization, transformers_format
from xling_utils.runs.store import TOKENIZER_FILE

SMOKE = scale("smoke")
CORPUS = CorpusSpec("controlled", ("en", DOUBLE), 300, 1)
PIECES = TokenizerSpec("wordpiece", 900)
SHAPE = EncoderSpec(2, 32, 1, 64, 32)


@pytest.mark.parametrize(
    "pieces", [PIECES, replace(PIECES, separate=True), replace(PIECES, separate=True, specials=True)]
)
@pytest.mark.parametrize("positions", [False, True])
def test_a_language_is_read_with_its_own_ids_and_parts(stored, pieces, positions):
    run = stored(CORPUS, pieces, replace(SHAPE, separate_positions=positions))
    encoders = transformers_format.load_all(run.path, run.spec.model, CORPUS.languages)
    coders = tokenization.coders(tokenization.load(run.path / TOKENIZER_FILE), pieces, CORPUS.languages)
    for language in CORPUS.languages:
        (found,) = masked_lm(run, language).states(["the old fisherman sells fish"])
        coder = coders[language]
        ids = [tokenization.CLS + coder.special, *coder.encode(["the old fisherman sells fish"])[0], coder.separator]
        assert found.ids.tolist() == [ids]
        assert found.special.tolist() == [[True, *[False] * (len(ids) - 2), True]]
        with torch.no_grad():
            ours = torch.stack(encoders.of(language).hidden_states(torch.tensor([ids])))
        torch.testing.assert_close(found.layers.cpu(), ours, atol=1e-5, rtol=0)
    if pieces.own_ids or positions:
        with pytest.raises(UserError, match="name one of them"):
            masked_lm(run)


def measured(run) -> pd.DataFrame:
    return pd.DataFrame(list(multilinguality_score.rows(run, SMOKE, None)))


def test_what_is_read_alike_is_found_and_what_is_not_is_not(stored):
    alike, apart = (measured(stored(CORPUS, pieces, SHAPE)) for pieces in (PIECES, replace(PIECES, separate=True)))
    for table in (alike, apart):
        assert set(table["task"]) == {multilinguality_score.TRANSLATION, multilinguality_score.RETRIEVAL}
        assert set(table["layer"]) == {0, 1, 2} and (table["n"] > 50).all()
        shuffled = table[table["metric"] == "p_at_1_shuffled"]
        assert shuffled["value"].max() < 0.1
    assert (alike.loc[alike["metric"] == "p_at_1", "value"] == 1).all()
    assert apart.loc[apart["metric"] == "p_at_1", "value"].max() < 0.2


@pytest.mark.parametrize("faked", [(DOUBLE,), ("en",), ("en", DOUBLE)])
def test_words_are_read_as_each_side_spells_them(stored, monkeypatch, faked):
    read = []
    vectors = multilinguality_score.sentence_vectors
    monkeypatch.setattr(
        multilinguality_score, "sentence_vectors", lambda lm, texts: read.append(list(texts)) or vectors(lm, texts)
    )
    table = measured(stored(replace(CORPUS, changes=(Change("fake", faked),)), PIECES, SHAPE))
    there = table.loc[table["metric"] == "p_at_1", "value"]
    assert (there == 1).all() if len(faked) > 1 else there.max() < 0.2, "alike only where both are spelt alike"
    for words, language in zip(read, CORPUS.languages, strict=False):
        assert all((min(word) >= chr(UNUSED.start)) == (language in faked) for word in words)


def test_other_languages_are_refused(stored):
    with pytest.raises(UserError, match="reads en fr, not en enfake"):
        measured(stored(replace(CORPUS, languages=("en", "fr")), PIECES, SHAPE))


@pytest.mark.parametrize("name", ["smoke", "controlled", "natural", "paper"])
def test_each_condition_differs_from_the_original_in_what_it_says(name):
    grid = minimult.grid(scale(name), ("fr",), 2, "all")
    runs = {dict(p.condition)["condition"]: p.spec for p in grid if p.spec.seed == FIRST_REPORTED_SEED}
    assert tuple(runs) == minimult.CONDITIONS and len({p.spec for p in grid}) == len(grid) == 2 * len(runs)
    assert all(run_from_dict(to_dict(run)) == run and run.corpus.languages == ("en", DOUBLE) for run in runs.values())
    original = runs[minimult.ORIGINAL]
    changed = {
        condition: {part for part in ("corpus", "tokenizer", "model", "training")
                    if getattr(run, part) != getattr(original, part)}
        for condition, run in runs.items()
    }  # fmt: skip
    assert changed == {
        minimult.ORIGINAL: set(),
        minimult.POSITIONS: {"model"},
        minimult.SPECIALS: {"tokenizer"},
        minimult.NO_RANDOM: {"training"},
        minimult.ALL_THREE: {"model", "tokenizer", "training"},
        minimult.LARGE: {"model", "training"},
        minimult.REVERSED: {"corpus"},
        minimult.UNTRAINED: {"training"},
        minimult.UNTRAINED_OWN: {"model", "training"},
    }
    headline = minimult.grid(scale(name), ("fr",), 1, "headline")
    assert tuple(dict(p.condition)["condition"] for p in headline) == minimult.HEADLINE
    assert minimult.grid(scale(name), ("fr",), 1, "none") == []


def table_of(scores: dict[str, list[float]]) -> pd.DataFrame:
    """Rows whose four shares lie around the score of a condition, one a seed, and far from it at other layers."""
    return pd.DataFrame(
        [
            {"condition": condition, "seed": seed, "task": task, "metric": "p_at_1", "layer": layer,
             "value": 0.9 if layer in (1, 3) else score + (0.1 if layer else -0.1)}
            for condition, values in scores.items()
            for seed, score in enumerate(values, 11)
            for task in (multilinguality_score.TRANSLATION, multilinguality_score.RETRIEVAL)
            for layer in range(4)
        ]
    )  # fmt: skip


def test_a_score_is_the_mean_of_two_tasks_at_two_layers_and_claims_take_the_same():
    table = table_of(
        {minimult.ORIGINAL: [0.5, 0.7, 0.6], minimult.POSITIONS: [0.31, 0.49, 0.4], minimult.LARGE: [0.6] * 3}
        | {minimult.UNTRAINED: [0.1, 0.11, 0.12]}
    )
    found = minimult.values(table)
    score = found[found["measure"] == minimult.SCORE].set_index(["condition", "seed"])["value"]
    assert score[minimult.ORIGINAL, 12] == pytest.approx(0.7)
    rows = table.assign(source="en", target=DOUBLE, run="r")
    claims_of = {finding.claim.id: finding for finding in ledger.load().test({"08_minimult": rows}, "natural")}
    assert claims_of["M-01"].verdict == "holds" and claims_of["M-06"].verdict == "cannot tell"
    assert [part.interval.value for part in claims_of["M-01"].parts] == pytest.approx([0.2, 0.2])
    rows.loc[rows["condition"] == minimult.UNTRAINED, "value"] = 0.6
    on_its_floor = {finding.claim.id: finding for finding in ledger.load().test({"08_minimult": rows}, "natural")}
    assert {on_its_floor[name].verdict for name in ("M-01", "M-06")} == {"not testable at this size"}
    assert "M-08" in on_its_floor["M-01"].reason and on_its_floor["M-08"].parts
