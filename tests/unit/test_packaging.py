"""The files that install the project agree with each other, and vendored files are what they claim to be."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, GROUPS = PYPROJECT["project"], PYPROJECT["dependency-groups"]
LOCK = [
    line for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines() if not line.startswith("#")
]
VENDOR = ROOT / "xling_utils" / "book" / "static" / "vendor"
VENDORS = (VENDOR, ROOT / "tests" / "book" / "vendor")
VENDORED = [
    (folder / name, digest)
    for folder in VENDORS
    for name, digest in re.findall(
        r"^\| (\S+) \|.*\| ([0-9a-f]{64}) \|$", (folder / "VENDOR.md").read_text("utf-8"), re.MULTILINE
    )
]


def locked() -> dict[str, str]:
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in LOCK)}


@pytest.mark.parametrize("line", PROJECT["dependencies"] + PROJECT["optional-dependencies"]["test"])
def test_lock_satisfies_the_project(line: str) -> None:
    requirement = Requirement(line)
    version = locked().get(canonicalize_name(requirement.name))
    assert version, f"{requirement.name} is not in requirements.lock: run `make lock`"
    assert version in requirement.specifier, f"requirements.lock has {requirement.name} {version}, not {requirement}"


def test_what_measures_is_part_of_what_the_project_needs() -> None:
    assert set(GROUPS["measuring"]) < set(PROJECT["dependencies"])


def test_lock_is_plain_and_leaves_the_project_out() -> None:
    assert len(locked()) == len(LOCK)
    assert canonicalize_name(PROJECT["name"]) not in locked()
    for name, version in locked().items():
        assert Version(version).local is None, f"{name}: a local version exists on one machine only"


def test_conda_environment_installs_from_the_lock() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    conda = [item for item in environment["dependencies"] if isinstance(item, str)]
    (pip,) = [item["pip"] for item in environment["dependencies"] if isinstance(item, dict)]
    assert pip == ["-r requirements.lock", "-e ."]
    (python,) = [item.removeprefix("python=") for item in conda if item.startswith("python=")]
    assert Requirement(f"python{PROJECT['requires-python']}").specifier.contains(python)


def test_citation_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]


def test_vendored_files_are_those_named() -> None:
    scripts = {path for folder in VENDORS for path in folder.rglob("*") if path.suffix in (".js", ".woff2")}
    assert scripts == {path for path, _ in VENDORED}


@pytest.mark.parametrize(("path", "digest"), VENDORED, ids=lambda value: getattr(value, "name", None))
def test_vendored_file_is_unchanged(path: Path, digest: str) -> None:
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest


def test_the_change_to_a_vendored_file_is_the_one_described() -> None:
    described = (VENDOR / "VENDOR.md").read_text(encoding="utf-8")
    published, here = (re.search(rf"^- {name}: `(.+)`$", described, re.MULTILINE) for name in ("as published", "here"))
    (digest,) = re.findall(r"^- sha256 as published: ([0-9a-f]{64})$", described, re.MULTILINE)
    assert published and here
    changed = (VENDOR / "widgets/embed.js").read_bytes()
    original = changed.replace(here[1].encode(), published[1].encode())
    assert hashlib.sha256(original).hexdigest() == digest, "undone, it must be the published file"
