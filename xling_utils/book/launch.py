"""Buttons that open a chapter elsewhere: in Binder, or in Colab, from the repository that a book is published from."""

from __future__ import annotations

import re
from pathlib import Path

from xling_utils.core.errors import UserError
from xling_utils.core.files import yaml_mapping

SERVICES = {"binderhub_url": "https://mybinder.org", "colab_url": "https://colab.research.google.com"}
_REPOSITORY = re.compile(r"https://github\.com/[\w-]+/[\w.-]+")


def with_buttons(config: Path, repository: str, branch: str) -> bytes:
    """``_config.yml`` with buttons on every chapter that open its notebook of ``branch`` (or a tag).

    Raises :class:`UserError` where ``repository`` is none that both services open."""
    import yaml

    if not _REPOSITORY.fullmatch(repository):
        raise UserError(f"repository {repository!r}: write https://github.com/OWNER/NAME, which Binder and Colab open")
    content = yaml_mapping(config)
    content["sphinx"]["config"]["html_theme_options"] |= {
        "repository_url": repository,
        "repository_branch": branch,
        "launch_buttons": {"notebook_interface": "jupyterlab", **SERVICES},
    }
    return yaml.safe_dump(content).encode()
