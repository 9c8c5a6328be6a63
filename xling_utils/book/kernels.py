"""Executes notebooks with papermill, each in a kernel of its own; several at a time, and ended together."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, TextIO
from uuid import uuid4

if TYPE_CHECKING:
    from nbformat import NotebookNode

SECONDS_BETWEEN_LINES = 30.0
SECONDS_TO_START = 180
SECONDS_TO_END = 15.0
MOST_WORDS = 1 << 20  # bytes


class Interrupted(Exception):
    """What was under way was ended by :meth:`Kernels.end`."""


class Kernels:
    """The kernels alive now, so that all can be interrupted together."""

    def __init__(self) -> None:
        self._pids: set[int] = set()
        self._guard = threading.Lock()
        self._ended = threading.Event()

    def execute(self, source: Path, target: Path, folder: Path, parameters: dict[str, Any]) -> NotebookNode:
        """The notebook ``source``, executed in ``folder`` and kept in ``target``, also where it fails.

        Raises what papermill raises, with a note of what the kernel itself said (of a crash, for one), and
        :class:`Interrupted`. May be called by several threads at once, so the working directory of this process is
        left alone: papermill would change it."""
        import papermill

        self.pause(0)
        with TemporaryFile() as own_words:
            try:
                return papermill.execute_notebook(
                    source,
                    target,
                    parameters=parameters,
                    progress_bar=False,
                    request_save_on_cell_execute=False,
                    stderr_file=_Relay(sys.stderr),
                    start_timeout=SECONDS_TO_START,
                    coalesce_streams=True,
                    kernel_manager_class=self._manager(target.stem, folder, own_words),
                )
            except Exception as error:
                if self._ended.is_set():
                    raise Interrupted from None
                own_words.seek(0)
                if said := own_words.read(MOST_WORDS).decode(errors="replace").strip():
                    error.add_note(f"The kernel said:\n{said}")
                raise

    def pause(self, seconds: float) -> None:
        """Lets so much time pass. Raises :class:`Interrupted` once all is to end."""
        if self._ended.wait(seconds):
            raise Interrupted

    def end(self) -> None:
        """Interrupts all kernels, which end what they have begun, and kills those that are there fifteen seconds
        later."""
        with self._guard:
            self._ended.set()
            pids = set(self._pids)
        for pid in pids:
            _signal(pid, signal.SIGINT)
        until = time.monotonic() + SECONDS_TO_END
        while self._pids and time.monotonic() < until:
            time.sleep(0.05)
        for pid in set(self._pids):
            _signal(pid, signal.SIGKILL)

    def _manager(self, name: str, folder: Path, own_words: IO[bytes]) -> type:
        """A kernel manager that starts the Python that runs this, whatever kernels the user has installed, in
        ``folder``; a list of processes shows the ``name``. What cells write is in the notebook; what the kernel
        itself writes, and at times it ends with a traceback of its own, goes to ``own_words``."""
        from ipykernel.kernelspec import get_kernel_dict
        from jupyter_client import AsyncKernelManager
        from jupyter_client.kernelspec import KernelSpec
        from jupyter_core.paths import jupyter_runtime_dir

        kernels = self

        class ThisPython(AsyncKernelManager):
            _pid = 0  # until it has started

            @property
            def kernel_spec(self) -> KernelSpec:
                spec = get_kernel_dict()
                # Else every kernel warns that it listens on this machine, and reports its own end as an error.
                options = ["-f", "{connection_file}", "--log-level=CRITICAL"]
                return KernelSpec(**{**spec, "argv": [sys.executable, "-m", "ipykernel_launcher", *options]})

            async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
                os.makedirs(jupyter_runtime_dir(), mode=0o700, exist_ok=True)
                self.connection_file = os.path.join(jupyter_runtime_dir(), f"kernel-{name}-{uuid4()}.json")
                await super().start_kernel(**{**options, "cwd": str(folder), "stderr": own_words})
                self._pid = self.provisioner.pid  # type: ignore[union-attr]
                with kernels._guard:
                    kernels._pids.add(self._pid)
                    late = kernels._ended.is_set()
                if late:
                    _signal(self._pid, signal.SIGKILL)

            async def cleanup_resources(self, restart: bool = False) -> None:  # type: ignore[override]
                with kernels._guard:
                    kernels._pids.discard(self._pid)
                await super().cleanup_resources(restart)

        return ThisPython


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


class _Relay:
    """Passes on what a kernel writes to standard error. Where that is no terminal, of a bar that is redrawn
    in place one line every half minute is shown, and its last."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._last = -SECONDS_BETWEEN_LINES
        self._shown = self._pending = ""

    def write(self, text: str) -> None:
        if self._stream.isatty():
            self._stream.write(text)
            return
        *complete, rest = (self._pending + text).split("\n")
        for line in complete:
            self._show(line.rpartition("\r")[2])
        self._pending = rest.rpartition("\r")[2]
        if self._pending and time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            self._show(self._pending)

    def flush(self) -> None:
        self._stream.flush()

    def _show(self, line: str) -> None:
        if line.strip() and line != self._shown:
            self._shown = line
            self._stream.write(line.strip() + "\n")
