"""The state of training on disk: what is damaged goes, what cannot be read now stays."""

import errno
import os
from pathlib import Path

import pytest
import torch

from xling_utils.core.errors import UserError
from xling_utils.runs import checkpoints

STATE = {"weight": torch.arange(3.0)}


def test_a_checkpoint_that_cannot_be_read_now_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in (10, 20):
        checkpoints.save(tmp_path, step, STATE, {})

    def failing(path: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "load_file", failing)
        with pytest.raises(UserError, match="Input/output error; try again"):
            checkpoints.latest(tmp_path, STATE)
    found = checkpoints.latest(tmp_path, STATE)
    assert found and found[1]["step"] == 20
    (tmp_path / "checkpoint-00000020" / checkpoints.STATE_FILE).write_bytes(b"harmed")
    with pytest.warns(UserWarning, match="going back to the one before"):
        found = checkpoints.latest(tmp_path, STATE)
    assert found and found[1]["step"] == 10 and len(list(tmp_path.iterdir())) == 1
