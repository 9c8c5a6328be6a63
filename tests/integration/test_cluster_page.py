"""The page on clusters: its commands, run as they are written, train chapters of the controlled world."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import yaml

from tests import scratch, smoke
from tests.faults import free_port, wait_for
from xling_utils.chapters import declared
from xling_utils.core.scales import scale
from xling_utils.runs.keys import key_of
from xling_utils.runs.store import RunStore

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book/cluster.md").read_text(encoding="utf-8")
FAKE_SBATCH = """#!/bin/sh
# Starts the job here, two of them at most; the others wait in the queue.
if mkdir first || mkdir second; then setsid sh "$1" > job-$$.log 2>&1 & fi 2> /dev/null
echo $$ >> jobs
echo Submitted batch job $$
"""
FAKE_SCANCEL = """#!/bin/sh
echo "$@" >> cancelled
"""


def blocks(heading: str, kind: str) -> list[str]:
    """The code blocks of a kind under a heading of the page, lines that go on joined."""
    (section,) = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    found = re.findall(rf"^```{kind}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return [block.replace("\\\n", "") for block in found]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A copy of the book that a command may write to, its environment in ``.venv``."""
    for name in ("notebooks", "book"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("_toc.yml", "_config.yml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    scratch.share_ledger(tmp_path)
    return tmp_path


@pytest.fixture
def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XLING_")}
    return kept | {"HF_HUB_OFFLINE": "1"}


@pytest.fixture
def started(book: Path, environment: dict[str, str]) -> Iterator[list[subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def executed(book: Path, command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=book, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.soak
def test_the_command_for_two_processes(book: Path, environment: dict[str, str]) -> None:
    (command,) = blocks("One machine", "sh")
    executed(book, shlex.split(command), environment)
    store = RunStore(book / "runs")
    made = [store.get(key) for key in store.keys()]  # noqa: SIM118
    trained = [run for run in made if run is not None and run.spec.kind == "bert" and run.spec.training]
    assert trained and all(run.provenance["processes"] == 2 for run in trained)
    assert (book / "_build/records/02_window_size.smoke.csv").exists()


@pytest.mark.parametrize("chapters", [None, pytest.param("all", marks=pytest.mark.soak)])
def test_a_scheduler_two_workers_and_the_book(
    book: Path, environment: dict[str, str], started: list[subprocess.Popen[bytes]], chapters: str | None
) -> None:
    (block,) = blocks("Several machines: Dask", "sh")
    host, port = "127.0.0.1", str(free_port())
    scheduler, worker, run = block.replace("HOST:8786", f"{host}:{port}").splitlines()
    for command in (f"{scheduler} --host {host} --port {port}", worker, worker):
        arguments = shlex.split(command, comments=True)
        with (book / f"dask-{len(started)}.log").open("wb") as log:
            process = subprocess.Popen(
                arguments, cwd=book, env=environment, stdout=log, stderr=log, start_new_session=True
            )
        started.append(process)
    arguments = shlex.split(run)
    names = [word for word in arguments if re.fullmatch(r"\d\d_\w+", word)]
    assert names == ["01_data_size", "02_window_size"]
    if chapters:
        arguments = [word for word in arguments if word not in names]
        names = sorted(path.stem for path in (ROOT / "notebooks").glob("*.py"))
    else:  # three runs are left for the workers
        planned = [each for name in names for each in declared(name).grid(scale("smoke"), ["fr"], 1, "headline")]
        specs = list(dict.fromkeys(spec for each in planned for spec in each.specs))
        left = [spec for spec in specs if spec.kind == "bert"][-3:]
        smoke.trained(RunStore(book / "runs"), *(spec for spec in specs if spec not in left))
    executed(book, arguments, environment)
    assert sorted(path.stem for path in (book / "_build/executed").glob("*.ipynb")) == names
    store = RunStore(book / "runs")
    assert len(store.keys()) >= 4 and store.verify() == {}
    if not chapters:
        assert all(store.get(key_of(spec)) for spec in left)
    logs = [path.read_text() for path in sorted(book.glob("dask-*.log"))]
    assert logs[0].count("Register worker") == 2
    assert psutil.Process(started[0].pid).is_running(), "the cluster is there for the next command"


@pytest.mark.soak
def test_slurm_jobs(book: Path, environment: dict[str, str]) -> None:
    (command,) = blocks("SLURM", "text")
    tools = book / "tools"
    tools.mkdir()
    for name, text in (("sbatch", FAKE_SBATCH), ("scancel", FAKE_SCANCEL)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    environment["PATH"] = f"{tools}{os.pathsep}{environment['PATH']}"
    executed(book, shlex.split(command), environment)
    assert (book / "_build/records/02_window_size.smoke.csv").exists()
    jobs = set((book / "jobs").read_text().split())
    assert len(jobs) >= 20 and set((book / "cancelled").read_text().split()) == jobs
    logs = [path.read_text() for path in book.glob("job-*.log")]
    assert len(logs) == 2 and any("Start worker at" in log for log in logs)
    (scheduler,) = set(re.findall(r"Waiting to connect to: +(tcp://\S+)", "".join(logs)))
    wait_for(lambda: not any(scheduler in line for line in command_lines()))


def command_lines() -> list[str]:
    return [" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])]


def test_the_parts_of_the_kubernetes_job_agree() -> None:
    job = yaml.safe_load((ROOT / "book/recipes/on_kubernetes.yaml").read_text(encoding="utf-8"))
    assert (job["apiVersion"], job["kind"]) == ("kubernetes.dask.org/v1", "DaskJob")
    name, cluster = job["metadata"]["name"], job["spec"]["cluster"]["spec"]
    service, scheduler = cluster["scheduler"]["service"], cluster["scheduler"]["spec"]["containers"][0]
    assert service["selector"]["dask.org/cluster-name"] == name
    ports = {port["name"] for port in scheduler["ports"]}
    assert {port["targetPort"] for port in service["ports"]} == ports == {"tcp-comm", "http-dashboard"}
    pods = [job["spec"]["job"]["spec"], cluster["worker"]["spec"]]
    for pod in pods:
        mounted = {mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}
    dask = Path(sys.executable).with_name("dask")
    for container in (scheduler, cluster["worker"]["spec"]["containers"][0]):
        assert container["args"][0] == dask.name
        shown = subprocess.run([dask, container["args"][1], "--help"], capture_output=True, text=True, check=True)
        assert all(option in shown.stdout for option in container["args"] if option.startswith("--"))
    assert job["spec"]["job"]["spec"]["containers"][0]["args"][:2] == ["xling", "run"]
