"""The licences of the installed packages are those that docs/decisions/0042-licences.md permits."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageMetadata, distribution
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
EXTRAS = ("browser", "postgres", "lab", "learn", "sharp")
"""What users may install besides; `all` is these together, `dev` never reaches a user."""

PERMISSIVE = re.compile(
    r"\b(MIT|MIT-0|MIT-CMU|BSD|0BSD|Apache|ISC|PSF|PSFL|Python Software Foundation|HPND|Zlib|CC0|Unlicense)\b", re.I
)
WEAK = re.compile(r"\b(MPL|Mozilla Public License)\b", re.I)
LESSER = re.compile(r"\bLGPL|Lesser General Public", re.I)
STRONG = re.compile(r"\bA?GPL|(?<!Lesser )General Public License", re.I)

LGPL_ALLOWED = {"psycopg", "psycopg-binary"}
"""By exception, with the reason in the decision."""

UNSAID: dict[str, str] = {}
"""Packages whose metadata names no licence, with the licence and where it was read. None so far."""


class Package(NamedTuple):
    name: str
    licence: str


def test_licences_fit() -> None:
    """Every run-time dependency is under a licence that the decision allows."""
    packages = _dependencies()

    assert {"httptools", "numpy", "psycopg", "pyarrow"} <= {package.name for package in packages}
    assert not [fault for package in packages if (fault := _fault(package)) is not None]


def test_the_test_can_fail() -> None:
    """Strong copyleft, unlisted weak copyleft and silence are refused; permissive licences are not."""
    refused = ["GPL-3.0-or-later", "AGPL-3.0", "GNU Affero General Public License v3", "LGPL-2.1", "Proprietary", ""]
    allowed = [
        "MIT",
        "BSD 3-Clause License",
        "Apache-2.0 AND MIT",
        "License :: OSI Approved :: ISC License (ISCL)",
        "MPL-2.0",
    ]

    for licence in refused:
        assert _fault(Package("somebody", licence)), licence
    for licence in allowed:
        assert _fault(Package("somebody", licence)) is None, licence


def _fault(package: Package) -> str | None:
    licence = package.licence or UNSAID.get(package.name, "")
    if LESSER.search(licence):
        return None if package.name in LGPL_ALLOWED else f"{package.name}: LGPL without an exception"
    if STRONG.search(licence):
        return f"{package.name}: {licence}"
    if PERMISSIVE.search(licence) or WEAK.search(licence):
        return None
    return f"{package.name}: unknown licence {licence!r}"


def _dependencies() -> list[Package]:
    """All that `pyproject.toml` asks for on this machine, and what that asks for, down to the ground."""
    waiting = [Requirement(text) for text in _own_requirements()]
    asked: set[tuple[str, str]] = set()
    found: dict[str, Package] = {}
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        extras = {"", *requirement.extras} - {extra for known, extra in asked if known == name}
        asked |= {(name, extra) for extra in extras}
        if not extras or not _holds(requirement, {""}):
            continue
        package = distribution(name)
        found[name] = Package(name, _licence(package.metadata))
        further = (Requirement(text) for text in package.requires or ())
        waiting += [_without_marker(one) for one in further if _holds(one, extras)]
    return list(found.values())


def _own_requirements() -> list[str]:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    unknown = set(project["optional-dependencies"]) - {*EXTRAS, "all", "dev"}
    assert not unknown, f"new extras {unknown}: say in EXTRAS that users may install them"
    return [*project["dependencies"], *(text for extra in EXTRAS for text in project["optional-dependencies"][extra])]


def _holds(requirement: Requirement, extras: set[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


def _without_marker(requirement: Requirement) -> Requirement:
    requirement.marker = None
    return requirement


def _licence(metadata: PackageMetadata) -> str:
    """What the metadata says: the expression, else the classifiers, else the first line of the old field."""
    if "License-Expression" in metadata:
        return metadata["License-Expression"]
    classifiers = [text for text in metadata.get_all("Classifier") or () if text.startswith("License :: OSI")]
    old_fields = metadata.get_all("License") or [""]
    return "; ".join(classifiers) or old_fields[0].strip().partition("\n")[0]
