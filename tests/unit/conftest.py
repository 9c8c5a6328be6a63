"""Stored runs that were never trained, for tests of what is measured on runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from xling_utils.core.specs import CorpusSpec, EncoderSpec, RunSpec, StaticSpec, TokenizerSpec, TrainingSpec
from xling_utils.runs.store import Run

Stored = Callable[..., Run]


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    """Writes a run with its initial weights, as training writes a trained one; a second call replaces the first."""
    import numpy as np
    import torch
    from safetensors.numpy import save_file

    from xling_utils import corpora
    from xling_utils.models import tokenization, transformers_format
    from xling_utils.models.encoder import Encoders
    from xling_utils.runs.store import TOKENIZER_FILE, VECTORS_FILE

    def write(
        corpus: CorpusSpec,
        pieces: TokenizerSpec,
        model: EncoderSpec | StaticSpec,
        training: TrainingSpec | None = None,
        data: Path | None = None,
    ) -> Run:
        tokenizer = tokenization.build(pieces, corpora.load(corpus, data))
        tokenizer.save(str(tmp_path / TOKENIZER_FILE))
        size = tokenization.vocabulary_size(tokenizer, pieces, corpus.languages)
        if isinstance(model, EncoderSpec):
            torch.manual_seed(0)
            transformers_format.save_all(Encoders(model, size, corpus.languages), tmp_path)
        else:
            vectors = np.random.default_rng(0).normal(size=(size, model.width)).astype(np.float32)
            save_file({"vectors": vectors}, tmp_path / VECTORS_FILE)
        return Run("key", tmp_path, RunSpec(corpus, pieces, model, training, corpus.seed), {})

    return write
