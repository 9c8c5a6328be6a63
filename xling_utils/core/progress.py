"""One bar over all runs being trained, or over anything else that takes a while."""

from __future__ import annotations

import sys
from typing import Any, TextIO


class Progress:
    """A bar in training steps that also shows runs done, tokens a second and the time left.

    At a terminal and in a notebook it is redrawn in place; elsewhere, as in a log file, it is one line
    every half minute. Steps that a continued run had done before count as done, and not in the speed.
    """

    def __init__(self, steps: dict[str, int], runs: int, shown: bool = True) -> None:
        from tqdm import tqdm

        self._steps = dict(steps)
        self._done: dict[str, int] = {}
        self._tokens: dict[str, tuple[int, int]] = {}
        self._notes: set[str] = set()
        self._runs = runs
        self._runs_done = runs - len(steps)
        self._bar = tqdm(
            desc=f"{self._runs_done}/{runs} runs",
            total=sum(steps.values()),
            unit="step",
            disable=not shown,
            smoothing=0,
            dynamic_ncols=sys.stderr.isatty(),
            **_place(),
            bar_format="{desc} {percentage:3.0f}%|{bar:20}| {n_fmt}/{total_fmt} steps [{elapsed}<{remaining}{postfix}]",
        )

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.close()

    def event(self, key: str, event: dict[str, Any]) -> None:
        """Takes a worker's ``progress`` and ``note`` events, the same note once; ignores the others."""
        if event["event"] == "note" and event["message"] not in self._notes:
            self._notes.add(event["message"])
            self.say(event["message"])
        if self._bar.disable or event["event"] != "progress":
            return
        if event["total"] != self._steps[key]:
            self._bar.total += event["total"] - self._steps[key]
            self._steps[key] = event["total"]
        if key not in self._done:
            self._bar.initial += event["done"]
            self._tokens[key] = (event["tokens"], 0)
        first, _ = self._tokens[key]
        self._tokens[key] = (first, event["tokens"] - first)
        self._advance(key, event["done"])

    def say(self, line: str) -> None:
        """Prints a line on standard error without breaking into the bar."""
        self._bar.write(line, file=sys.stderr)

    def finished(self, key: str) -> None:
        """Counts a run that is stored."""
        self._runs_done += 1
        if not self._bar.disable:
            self._advance(key, self._steps[key])

    def _advance(self, key: str, done: int) -> None:
        before = self._done.get(key, 0)
        self._done[key] = done
        self._describe()
        self._bar.update(done - before)

    def _describe(self) -> None:
        self._bar.set_description_str(f"{self._runs_done}/{self._runs} runs", refresh=False)
        elapsed = self._bar.format_dict["elapsed"]
        tokens = sum(seen for _, seen in self._tokens.values())
        if tokens and elapsed > 0:
            rate = self._bar.format_sizeof(tokens / elapsed)
            self._bar.set_postfix_str(f"{rate} tokens/s", refresh=False)


def bar(total: int, what: str) -> Any:
    """A plain bar over ``total`` things of ``what``, placed as :class:`Progress` is."""
    from tqdm import tqdm

    return tqdm(desc=what, total=total, **_place())


def _place() -> dict[str, Any]:
    """Redrawn in place where that can be seen, else a line every half minute."""
    in_place = sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel")
    file = sys.stderr if in_place else _Lines(sys.stderr)
    return {"mininterval": 1 if in_place else 30, "miniters": 1, "file": file}


class _Lines:
    """Writes each redrawing of a bar as a line of its own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        if line := text.strip():
            self._stream.write(line + "\n")

    def flush(self) -> None:
        self._stream.flush()
