"""Training state on disk: written aside, renamed in one step, verified on read; the last good one is used."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from xling_utils.core.errors import UserError
from xling_utils.core.files import json_object, raise_if_passing

STATE_FILE, META_FILE = "state.safetensors", "meta.json"
KEPT = 2


def save(folder: Path, step: int, tensors: dict[str, torch.Tensor], meta: dict[str, Any]) -> None:
    """Keeps ``tensors`` and JSON ``meta`` as the state after ``step`` updates; the two latest states stay."""
    final, draft = folder / f"checkpoint-{step:08d}", folder / ".checkpoint"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    save_file(tensors, draft / STATE_FILE)
    meta = {**meta, "step": step}
    with open(draft / META_FILE, "w", encoding="utf-8") as file:
        json.dump({**meta, "sha256": _digest(meta, draft / STATE_FILE)}, file)
        file.flush()
        os.fsync(file.fileno())
    shutil.rmtree(final, ignore_errors=True)
    draft.rename(final)
    for old in sorted(folder.glob("checkpoint-*"))[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def latest(folder: Path, wanted: Mapping[str, torch.Tensor]) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
    """The newest state that reads back whole and has tensors of the names and shapes ``wanted``, or ``None``. Any
    other is warned of and removed: it is damaged, or an earlier version of this package wrote it. Raises
    :class:`UserError` where one cannot be read now (:data:`files.PASSING`)."""
    for path in sorted(folder.glob("checkpoint-*"), reverse=True):
        try:
            (path / META_FILE).read_bytes()  # an error of reading it is one, and not a mistake of the caller
            meta = json_object(path / META_FILE)
            if meta.pop("sha256") != _digest(meta, path / STATE_FILE):
                raise ValueError("sha256 differs")
            tensors = load_file(path / STATE_FILE)
            others = [name for name, like in wanted.items() if name not in tensors or tensors[name].shape != like.shape]
            if others:
                raise ValueError(f"written for another encoder: no {others[0]} of this shape")
            return tensors, meta
        except (UserError, OSError, ValueError, KeyError, SafetensorError) as error:
            if isinstance(error, OSError):
                raise_if_passing(path, error)
            warnings.warn(f"{path.name} cannot be used ({error}); going back to the one before", stacklevel=2)
            shutil.rmtree(path, ignore_errors=True)
    return None


def _digest(meta: dict[str, Any], state: Path) -> str:
    text = json.dumps(meta, sort_keys=True).encode()
    return hashlib.sha256(text + state.read_bytes()).hexdigest()


def optimizer_tensors(optimizers: Sequence[torch.optim.Optimizer]) -> dict[str, torch.Tensor]:
    """What optimizers remember, named by the numbers of the optimizer and of the parameter."""
    return {
        f"optimizer.{which}.{number}.{key}": value.detach().cpu()
        for which, optimizer in enumerate(optimizers)
        for number, row in optimizer.state_dict()["state"].items()
        for key, value in row.items()
    }


def restore_optimizers(optimizers: Sequence[torch.optim.Optimizer], tensors: Mapping[str, torch.Tensor]) -> None:
    """Puts back what :func:`optimizer_tensors` took."""
    states: list[dict[int, dict[str, torch.Tensor]]] = [{} for _ in optimizers]
    for name, value in tensors.items():
        if name.startswith("optimizer."):
            _, which, number, key = name.split(".")
            states[int(which)].setdefault(int(number), {})[key] = value
    for optimizer, state in zip(optimizers, states, strict=True):
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
