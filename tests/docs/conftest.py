"""The repository's documents, and the command line that they speak of."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer

from docs.pages import commands
from webstrata.cli.app import application

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def documents() -> list[Path]:
    """Every Markdown file that readers are meant to find."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture(scope="session")
def tracked() -> list[Path]:
    """The files of the repository: what git tracks, or where there is no git (an unpacked archive), nothing."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    names = [name for name in listed.stdout.decode().split("\0") if name]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


@pytest.fixture(scope="session")
def called() -> dict[str, Any]:
    """Every command by the words that call it."""
    return dict(commands(typer.main.get_command(application())))
