"""A store of runs, a model of somebody else's and parameters, in which anything can stand."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file

from tests import families
from tests.mutations import COUNTS, STRANGE, answered, survives, within
from xling_utils import corpora
from xling_utils.book import parameters
from xling_utils.chapters import records
from xling_utils.core.errors import UserError
from xling_utils.core.specs import Change, CorpusSpec, EncoderSpec, RunSpec, TokenizerSpec, TrainingSpec
from xling_utils.corpora import controlled
from xling_utils.measures.encoders import hub
from xling_utils.measures.encoders.stored_run import masked_lm
from xling_utils.models import tokenization, transformers_format
from xling_utils.models.encoder import Encoders
from xling_utils.runs import checkpoints, store
from xling_utils.runs.store import RunStore

KEY = "0123456789abcdef0123"
LANGUAGES = ("en", "fr")
CORPUS = CorpusSpec("controlled", LANGUAGES, 100, changes=(Change("permuted", ("fr",), 0.5),))
PIECES = TokenizerSpec(size=400)
SPEC = RunSpec(CORPUS, PIECES, EncoderSpec(1, 8, 2, 16, 16), TrainingSpec(10), 1)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStore:
    """A store of one run, as training leaves it, but untrained."""
    monkeypatch.setenv("XLING_STORE", str(tmp_path / "runs"))
    made = RunStore()
    assert isinstance(SPEC.model, EncoderSpec)
    with made.lock(KEY), made.writing(KEY, SPEC) as draft:
        tokenizer = tokenization.build(PIECES, corpora.load(CORPUS))
        tokenizer.save(str(draft.path / "tokenizer.json"))
        size = tokenization.vocabulary_size(tokenizer, PIECES, LANGUAGES)
        transformers_format.save_all(Encoders(SPEC.model, size, LANGUAGES), draft.path)
        (draft.path / "trace.csv").write_text("step,loss,held_out_loss,tokens,seconds\n1,2.5,,30,0.1\n2,2,3,60,0.2\n")
        draft.provenance.update(seconds=1.5, versions={"torch": "2"}, finished="2026-01-01")
    return made


FILES = ("spec.json", "manifest.json", "provenance.json", "trace.csv", "tokenizer.json", "model.safetensors")


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", FILES)
def test_a_run_is_what_its_manifest_says_or_counts_as_absent(name: str, runs: RunStore, count: int) -> None:
    path = runs.root / KEY
    sound = (path / name).read_bytes()

    def read() -> int:
        answered("runs", "list")
        verified = answered("runs", "verify")
        store._verified.clear()  # as in a new process
        run = runs.get(KEY)
        assert (run is None) == bool(verified)
        if run is None:
            (damaged,) = (runs.root / ".damaged").iterdir()
            damaged.rename(path)
        elif name != "manifest.json":
            assert (path / name).read_bytes() == sound, "changed, and used"
        return verified

    survives(read, path / name, count)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", ["spec.json", "provenance.json", "trace.csv"])
def test_a_run_of_another_version_is_read_or_refused(name: str, runs: RunStore, count: int) -> None:
    path = runs.root / KEY

    def read() -> int:
        (path / "manifest.json").unlink()
        store._write_manifest(path, KEY)
        code = answered("runs", "show", KEY)
        run = runs.get(KEY)
        assert run is not None
        assert len(run.trace.columns) and len(records._provenance_rows(runs, [KEY])) == 1
        return code

    survives(read, path / name, count)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", [*FILES, "config.json"])
def test_a_copied_run_is_what_its_manifest_says_or_is_refused(name: str, runs: RunStore, count: int) -> None:
    path = runs.root / KEY

    def read() -> None:
        run = hub.run_in(path)
        assert run is not None
        masked_lm(run)

    survives(read, path / name, count)


def test_a_copied_run_has_all_its_weights_and_they_are_no_pickle(runs: RunStore) -> None:
    path = runs.root / KEY

    def opened() -> None:
        (path / "manifest.json").unlink()
        store._write_manifest(path, KEY)
        run = hub.run_in(path)
        assert run is not None
        masked_lm(run)

    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps(config | {"num_hidden_layers": config["num_hidden_layers"] + 1}))
    with pytest.raises(UserError, match=r"the weights lack bert\.encoder\.layer"):
        opened()
    (path / "config.json").write_text(json.dumps(config))
    opened()
    torch.save(load_file(path / "model.safetensors"), path / "pytorch_model.bin")
    (path / "model.safetensors").unlink()
    with pytest.raises(UserError, match=r"no weights that can be read \(.*model\.safetensors"):
        opened()


@pytest.mark.parametrize("name", ["../outside", "/etc/hostname", "\0", "a/../../b"])
def test_a_manifest_speaks_of_its_own_folder_only(name: str, runs: RunStore) -> None:
    manifest = runs.root / KEY / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"trace.csv"', f'"{name}"'.replace("\0", "\\u0000")))
    (runs.root / "outside").write_text("x")
    assert answered("runs", "verify") == 1


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", [checkpoints.META_FILE, checkpoints.STATE_FILE])
def test_a_damaged_checkpoint_is_passed_over(name: str, tmp_path: Path, count: int) -> None:
    wanted = {"a": torch.zeros(3)}
    for step in (1, 2):
        checkpoints.save(tmp_path, step, {"a": torch.full((3,), float(step))}, {"x": 1})
    last = tmp_path / "checkpoint-00000002"

    def read() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = checkpoints.latest(tmp_path, wanted)
        assert found is not None and found[0]["a"].tolist() == [found[1]["step"]] * 3
        if not last.exists():
            checkpoints.save(tmp_path, 2, {"a": torch.full((3,), 2.0)}, {"x": 1})

    survives(read, last / name, count)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = [line for language in LANGUAGES for line in controlled.text(language, 100, 0)["text"][:]]
    return families.saved(tmp_path_factory.mktemp("models") / "mine", "BERT", texts)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"])
def test_a_model_from_elsewhere_is_read_or_refused(name: str, model: Path, count: int) -> None:
    survives(lambda: hub.load(str(model)), model / name, count)


def test_layers_without_weights_are_not_built(model: Path) -> None:
    path = model / "config.json"
    sound = path.read_text()
    path.write_text(sound.replace('"num_hidden_layers": 2', '"num_hidden_layers": 100000000'))
    with within(), pytest.raises(UserError, match=r"config.json: 100000000 layers, but \d+ tensors of weights"):
        hub.load(str(model))
    path.write_text(sound)


DEFAULTS = {"scale": "controlled", "languages": ["en", "fr"], "seeds": 3, "live": "headline", "data": None, "rate": 0.1,
            "model": None, "flag": True}  # fmt: skip
BOMB = "[" + ", ".join(f"&a{n} [{', '.join([f'*a{n - 1}' if n else 'x'] * 9)}]" for n in range(9)) + "]"
"""A few aliases that stand for hundreds of millions of values."""
TYPED = [
    *("[en, [a]]", "[{a: b}]", "2024-01-01", "2001-99-99", "!!python/object/apply:os.system [id]", "&a [*a]", "*a"),
    *("!!int x", "!!float x", "!!timestamp x", "!!binary x", "!!set [a]", "- " * 1000, "{" * 1000, "[null]", "[1]"),
    *("{[a]: b}", BOMB),
]
MANY = [pytest.param(100, id="short"), pytest.param(5000, id="soak", marks=pytest.mark.soak)]


@pytest.mark.parametrize("count", MANY)
def test_a_parameter_of_any_text_is_read_or_refused(count: int) -> None:
    values = st.one_of(st.text(), st.sampled_from(STRANGE), st.sampled_from(TYPED))

    @settings(
        max_examples=count, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.sampled_from([*DEFAULTS, "x"]), values)
    def once(name: str, typed: str) -> None:
        with within():
            try:
                found = parameters.checked("01_data_size", DEFAULTS, {}, {name: typed})
            except UserError as error:
                assert str(error).isprintable()
            else:
                assert DEFAULTS[name] is None or type(found[name]) is type(DEFAULTS[name])

    once()


def test_words_of_yaml_are_text_where_text_is_asked_for() -> None:
    """Norwegian is "no", and a folder may have a year for a name."""
    defaults = {"scale": "natural", "live": "none", "languages": ["fr"], "aligned": None, "model": None}
    typed = {"languages": "[no, de]", "aligned": "2024", "model": "no"}
    wanted = {"languages": ["no", "de"], "aligned": "2024", "model": "no"}
    assert parameters.checked("05_language_means", defaults, {}, typed) == wanted
    assert parameters.checked("05_language_means", defaults, {}, {"aligned": "null"}) == {"aligned": None}


@pytest.mark.parametrize(
    "typed", ["!!python/object/apply:os.system [id]", "&a [*a]", "[" * 1000, "[../../x]", "[[en]]"]
)
def test_a_strange_parameter_is_a_mistake_of_the_caller(typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    assert answered("run", "01_data_size", "-p", "languages", typed) == 2
    assert answered("run", "01_data_size", "--data", "x" * 5000) == 2
    assert answered("runs", "show", typed) == 2
    assert os.getcwd()
