"""The real worker with a training function that only counts.

The spec says what happens: 100 steps a second, a checkpoint a step; seed 13 breaks, seed 14 is the caller's
mistake, seed 15 fills the disk, seed 16 ignores requests to end. A test that does something in the middle of runs holds
them there (:func:`hold`), so that it does not matter how fast they, or the test, are.
"""

import os
import signal
import sys
import time
import types
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from xling_utils.core.errors import UserError
from xling_utils.core.specs import RunSpec
from xling_utils.runs import worker
from xling_utils.runs.store import RunStore


def train(
    spec: RunSpec, data: Path | None, workdir: Path, out: Path, report: Callable[[dict[str, Any]], None], key: str
) -> dict[str, Any]:
    print("a library says hello")
    assert key == workdir.name
    if spec.seed == 13:
        raise ValueError("loss is not a number")
    if spec.seed == 14:
        raise UserError("data/en.txt:3: not UTF-8")
    if spec.seed == 15:
        (out / "model.safetensors").write_bytes(bytes(10_000_000))
    if spec.seed == 16:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.environ.get("RANK", "0") != "0":
        return {}
    assert spec.training
    checkpoint = workdir / "checkpoint"
    began = int(checkpoint.read_text()) if checkpoint.exists() else 0
    for step in range(began + 1, spec.training.steps + 1):
        time.sleep(0.01)
        (workdir / "next").write_text(str(step))
        (workdir / "next").replace(checkpoint)
        report({"done": step, "total": spec.training.steps, "tokens": step * 100})
        if step >= spec.training.steps // 2:
            _wait_while_held(workdir)
    (out / "model.safetensors").write_bytes(bytes([spec.seed % 256]) * 1000)
    (out / "tokenizer.json").write_text("{}")
    (out / "trace.csv").write_text("step,loss,tokens,seconds\n10,3.5,1000,0.1\n")
    processes = os.environ.get("WORLD_SIZE", "1")
    return {"tokens": spec.training.steps * 100, "began": began, "world": processes}


def hold(store: Path, finished: int = 0) -> None:
    """From now on runs wait in their middle, with a checkpoint, once ``finished`` of the store are (one more may slip
    through); until :func:`release`."""
    store.mkdir(parents=True, exist_ok=True)
    (store / ".holding").write_text(str(finished))
    (store / ".holding").replace(store / ".hold")


def held(store: Path) -> list[int]:
    """The steps of the runs that wait, those of processes that are no more left out."""
    found = []
    for path in store.glob(".work/*/held"):
        with suppress(OSError, ValueError):
            if Path("/proc", path.read_text(), "cmdline").read_bytes():  # a zombie has none
                found.append(int(path.with_name("checkpoint").read_text()))
    return found


def release(store: Path) -> None:
    (store / ".hold").unlink()


def _wait_while_held(workdir: Path) -> None:
    store, waiting = workdir.parents[1], workdir / "held"
    with suppress(FileNotFoundError):  # released
        while len(RunStore(store).keys()) >= int((store / ".hold").read_text()):
            waiting.write_text(str(os.getpid()))
            time.sleep(0.02)
    waiting.unlink(missing_ok=True)


def recorded(store: Path) -> list[str]:
    """The keys of the runs that took their place in the store, once each time one did."""
    return (store / ".recorded").read_text().split()


def install() -> None:
    """Puts ``train`` in the place of the real one, and keeps a list of what takes its place in the store. What asks
    PyTorch for instructions of the processor is left out, for it takes seconds to import."""
    worker._emulated = lambda spec: False
    rename = os.rename

    def rename_and_tell(source: Any, target: Any) -> None:
        rename(source, target)
        if Path(source).parent.name == ".partial":
            with (Path(target).parent / ".recorded").open("a") as file:
                file.write(f"{Path(target).name}\n")

    os.rename = rename_and_tell
    module = types.ModuleType("xling_utils.runs.pretraining")
    module.train = train  # type: ignore[attr-defined]
    sys.modules["xling_utils.runs.pretraining"] = module


if __name__ == "__main__":
    install()
    sys.exit(worker.main(sys.argv[1:]))
