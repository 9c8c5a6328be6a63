"""What tests of text share: where real data is, files to be read, and the one line that a mistake gives."""

from __future__ import annotations

import lzma
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from xling_utils.core.errors import UserError

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("XLING_TEST_DATA", ROOT.parent / "shared" / "data"))


def real(*folders: str) -> pytest.MarkDecorator:
    """Skips a test, visibly, where the directory of real data does not have these folders."""
    there = DATA.is_dir() and all((DATA / folder).is_dir() for folder in folders)
    return pytest.mark.skipif(not there, reason=f"no real data at {DATA}; set XLING_TEST_DATA")


def write(path: Path, content: str | bytes, packed: bool = False) -> Path:
    """Writes the file and its folders; ``packed``, with ``.xz`` after its name."""
    content = content.encode() if isinstance(content, str) else content
    path = path.with_name(f"{path.name}.xz") if packed else path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(content) if packed else content)
    return path


def failure(call: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """The one line that a call, or what it yields, ends with."""
    with pytest.raises(UserError) as caught:
        found = call(*arguments, **options)
        if isinstance(found, Iterable):
            list(found)
    assert "\n" not in str(caught.value)
    return str(caught.value)
