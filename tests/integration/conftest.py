"""The store that tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from xling_utils.runs.store import RunStore


@pytest.fixture(scope="session")
def smoke_store(tmp_path_factory: pytest.TempPathFactory) -> RunStore:
    """For tests that read runs of the scale ``smoke`` and what was measured of them, and write nothing else: each is
    trained once, by the first that asks (``tests/smoke.py``), in whichever process of pytest."""
    own: Path = tmp_path_factory.getbasetemp()
    return RunStore((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "smoke")
