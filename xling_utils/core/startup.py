"""How this package's own processes begin: the command line, the kernels of chapters, the renderer."""

from __future__ import annotations

import sys


def spare() -> None:
    """Spares this process an import that takes a second: where it is installed, jsonschema builds a grammar of
    international addresses (RFC 3987), which nothing here checks, and it does without where it is not."""
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def command(code: str) -> list[str]:
    """The command of a Python process that runs ``code``, so begun."""
    return [sys.executable, "-c", f"from xling_utils.core.startup import spare; spare(); {code}"]


KERNEL = "import runpy; runpy.run_module('ipykernel_launcher', run_name='__main__')"
RENDERER = "from jupyter_book.cli.main import main; main()"
