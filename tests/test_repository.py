"""Files of the repository that no program imports: workflows, hooks, the changelog and the version."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import webstrata

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
HOOKS = ROOT / ".pre-commit-config.yaml"


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def commands(path: Path) -> Iterator[str]:
    """The command lines that a workflow or the hooks run."""
    document = load(path)
    if path == HOOKS:
        yield from (hook["entry"] for repository in document["repos"] for hook in repository["hooks"])
        return
    for job in document["jobs"].values():
        for step in job["steps"]:
            yield from step.get("run", "").splitlines()


@pytest.mark.parametrize("path", [*WORKFLOWS, HOOKS], ids=lambda path: path.name)
def test_commands_exist(path: Path) -> None:
    """Workflows and hooks run only targets of the Makefile and executable files of the repository."""
    lines = [*commands(path)]
    for line in lines:
        command, *arguments = shlex.split(line)
        if command == "make":
            targets = {argument for argument in arguments if not argument.startswith("-")}
            assert targets, line
            assert targets <= make_targets(), line
        else:
            assert os.access(ROOT / command, os.X_OK), line
    assert lines or path.name == "wheels.yml"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows(path: Path) -> None:
    """Every job says where it runs, has a time limit, may only read, and uses actions of a stated version."""
    document = load(path)
    assert document["permissions"] == {"contents": "read"}
    for job in document["jobs"].values():
        assert job["runs-on"]
        assert job["timeout-minutes"] <= 60
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert "uses" not in step or re.fullmatch(r"[\w/-]+@v[\d.]+", step["uses"]), step


def test_every_supported_python_is_tested() -> None:
    """The test workflow runs the versions of Python that the package says it supports."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {row.rpartition(" ")[2] for row in project["classifiers"] if re.search(r":: Python :: 3\.\d+$", row)}
    tested = load(ROOT / ".github" / "workflows" / "test.yml")["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert named == set(tested)
    assert f">={min(tested)}" == project["requires-python"]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_issue_forms(path: Path) -> None:
    """Every issue form has a name, a description and fields with labels."""
    form = load(path)
    if path.name == "config.yml":
        return
    assert form["name"]
    assert form["description"]
    assert all(field["type"] == "markdown" or field["attributes"]["label"] for field in form["body"])


def test_one_version() -> None:
    """The package, its metadata and the newest release in the changelog have the same version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", changelog, re.MULTILINE)
    assert headings[0] == ("Unreleased", "")
    (newest, date), *_ = headings[1:]
    assert project["version"] == webstrata.__version__ == newest
    assert date
