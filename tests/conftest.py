"""What all tests start from."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from xling_utils.cli import main
from xling_utils.core.startup import KEEP_MEMORY

# Nothing here asks the Hub: without a network its library tries for half a minute a call.
os.environ.setdefault("HF_HUB_OFFLINE", "1")

# The processes of pytest train and measure, too. This one has begun, and what it starts takes these along.
for name, value in KEEP_MEMORY.items():
    os.environ.setdefault(name, value)

# A job in the background ignores interrupts and hands that on to its children, which tests here interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is compared here comes out bit for bit on a CPU alone, and the workers that only count cannot stack runs. Who has
# a GPU shows it to the one file that needs it: XLING_TEST_GPU=1 pytest tests/integration/test_gpu.py
if not os.environ.get("XLING_TEST_GPU"):
    os.environ["CUDA_VISIBLE_DEVICES"] = ""

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def xling(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """The command line in this process, where every library is imported once."""
    for name in [name for name in os.environ if name.startswith("XLING_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(sys.modules["__main__"], "__package__", "", raising=False)  # the usage names it

    def call(book: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(book)
        monkeypatch.setattr(sys, "argv", ["xling", *arguments])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main.main()
        out, errors = capfd.readouterr()
        return subprocess.CompletedProcess(arguments, int(ended.value.code or 0), out, errors)

    return call


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Operations on little are slower when they are split, and on a busy machine much slower."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
