"""A model from elsewhere, examined once before anything is measured on it: in a process of its own, with a limit of
memory and of time, so that one that explodes takes nothing with it."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xling_utils.core.errors import UserError, first_line, named

if TYPE_CHECKING:
    from xling_utils.measures.encoders.hidden_states import LanguageModel

SENTENCES = 64
"""A language, that the tokenizer is tried on."""
READ = 16
"""Of them, that the model reads."""
MOST_UNKNOWN = 1 / 3
"""Of a language's tokens; beyond it a measure is one of the tokenizer's [UNK]."""
SECONDS = 300
MEMORY = 6 << 30
"""Bytes that a tokenizer and the states of a few sentences may take, beside four times the weights."""
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}
"""Reserves more addresses than the limit allows, before anything is read."""
FILES = ["*.json", "*.txt", "*.model", "*.safetensors"]
"""Of a model on the Hub, those that are read."""
TWICE = ["consolidated*", "original/*"]
"""The same weights in a form that nothing here reads."""
CODE = "from xling_utils.measures.encoders.examined import main; main()"


def examine(
    name: str,
    languages: Sequence[str],
    data: Path | None,
    sentences: int,
    aligned: str | None = None,
    pooling: str | None = None,
) -> None:
    """Raises :class:`UserError`, with the cause, if the model ``name`` (a folder, or a name on the Hub, which is
    fetched) cannot be measured with ``pooling`` on the text of ``languages`` in ``data``, of which ``sentences`` are
    read, perhaps none, and on the translations ``aligned``."""
    _fetch(name)
    asked = {"name": name, "languages": list(languages), "data": data and str(data), "sentences": sentences}
    asked |= {"aligned": aligned, "pooling": pooling, "memory": MEMORY}
    try:
        done = subprocess.run(
            [sys.executable, "-c", CODE], input=json.dumps(asked), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, errors="replace", timeout=SECONDS, check=False, env=os.environ | NO_GPU,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        told = error.stdout.decode("utf-8", "replace") if isinstance(error.stdout, bytes) else error.stdout or ""
        raise UserError(f"{name}: {_last(told)} takes over {SECONDS} s on {SENTENCES} sentences") from None
    last = _last(done.stdout)
    if wrong := last.partition("wrong: ")[2]:
        raise UserError(wrong)
    if done.returncode:
        why = f"signal {-done.returncode}" if done.returncode < 0 else f"exit status {done.returncode}"
        raise UserError(f"{name}: {last} ends the process ({why}), within {MEMORY >> 30} GB and its weights")


def _fetch(name: str) -> None:
    """What a name on the Hub stands for, to this machine: the limits are for reading it. Where that fails, reading it
    says why."""
    if Path(name).exists():
        return
    from huggingface_hub import snapshot_download

    place, _, revision = name.partition("@")
    with suppress(OSError, ValueError):
        snapshot_download(place, revision=revision or None, allow_patterns=FILES, ignore_patterns=TWICE)


def _last(told: str) -> str:
    return (told.strip().splitlines() or ["reading the model"])[-1]


def main() -> None:
    """Examines what standard input asks for, as JSON; tells on standard output what it does, and what is wrong."""
    asked = json.load(sys.stdin)
    asked["data"], memory = Path(asked["data"]) if asked["data"] else None, asked.pop("memory")
    _limit(sum(file.stat().st_size for file in _folder(asked["name"]).glob("*") if file.is_file()), memory)
    try:
        examine_here(**asked)
    except UserError as error:
        print(f"wrong: {error}")
    except MemoryError:
        print(f"wrong: {asked['name']}: more memory than its weights and {memory >> 30} GB")
    except Exception as error:  # a kind of model that nobody here knows
        print(f"wrong: {asked['name']}: this kind of model cannot be read ({named(error)})")
    sys.stdout.flush()


def examine_here(
    name: str,
    languages: list[str],
    data: Path | None,
    sentences: int,
    aligned: str | None = None,
    pooling: str | None = None,
) -> None:
    """:func:`examine` in this process, without limits."""
    from xling_utils.measures.encoders.subject import Subject

    _step("reading the model")
    subject = Subject.of_model(name, ("en", *languages), data, sentences, aligned, pooling)
    _check_weights(name, subject.model)
    _step("reading text")
    of_running = {language: subject.text(language, sentences) for language in subject.languages if sentences}
    texts = {language: list(lines[:SENTENCES]) for language, lines in (of_running or subject.said(SENTENCES)).items()}
    subject.said(1)
    for language, lines in texts.items():
        _step(f"the tokenizer, on {language},")
        _check_tokens(name, language, subject.tokenizer, lines)
    for language, lines in texts.items():
        _step(f"the model, on {language},")
        _check_states(name, language, subject, lines[:READ])


def _step(what: str) -> None:
    print(what, flush=True)


def _folder(name: str) -> Path:
    """Where the files of a model are: ``name`` itself, or what this machine has of a name on the Hub."""
    from huggingface_hub import try_to_load_from_cache

    place, _, revision = name.partition("@")
    with suppress(ValueError):  # no name that the Hub has; reading the model says so
        found = None if Path(name).exists() else try_to_load_from_cache(place, "config.json", revision=revision or None)
        if isinstance(found, str):
            return Path(found).parent
    return Path(name)


def _limit(weights: int, memory: int) -> None:
    with suppress(ValueError, OSError):  # where less is allowed already
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + memory + 4 * weights,) * 2)


def _check_weights(name: str, model: Any) -> None:
    for part, tensor in model.named_parameters():
        if not tensor.isfinite().all():
            raise UserError(f"{name}: weights of {part} are not finite; copy the model again")


def _check_tokens(name: str, language: str, tokenizer: Any, lines: Sequence[str]) -> None:
    try:
        ids = tokenizer(lines, add_special_tokens=False, verbose=False)["input_ids"]
    except Exception as error:  # whatever its parts, read from files, stumble over
        raise UserError(f"{name}: the tokenizer cannot read {language} ({first_line(error)})") from None
    tokens = [token for line in ids for token in line]
    if not tokens:
        raise UserError(f"{name}: the tokenizer finds no token in {len(lines)} sentences of {language}")
    unknown = tokens.count(tokenizer.unk_token_id) / len(tokens)
    if unknown > MOST_UNKNOWN:
        raise UserError(f"{name}: {unknown:.0%} of the tokens of {language} are unknown; leave it out of --languages")


def _check_states(name: str, language: str, lm: LanguageModel, lines: Sequence[str]) -> None:
    try:
        for batch in lm.states(lines):
            finite = batch.layers[:, batch.tokens].isfinite().all(-1).all(-1).tolist()
            if False in finite:
                raise UserError(f"{name}: states of layer {finite.index(False)} are not finite, of {language}")
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        raise UserError(f"{name}: the model cannot read {language} ({first_line(error)})") from None
