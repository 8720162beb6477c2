"""Finds the families and runs those for which the data folder has cases.

A family is one file in `families/` with `FAMILY` (the name of its folder of data) and `run(folder) -> Verdict`;
nothing else has to be registered.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.conformance import families
from tests.conformance.verdict import Verdict

EXTRACT = Path(__file__).parent.parent / "data" / "conformance"
"""The representative extract that is part of the repository."""


class Family(NamedTuple):
    name: str
    run: Callable[[Path], Verdict]


def known_families() -> Iterator[Family]:
    """Every family that has a file, by name."""
    for module_info in sorted(pkgutil.iter_modules(families.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{families.__name__}.{module_info.name}")
        yield Family(module.FAMILY, module.run)


def verdicts(data: Path, only: Collection[str] = ()) -> Iterator[tuple[str, Verdict]]:
    """(family, verdict) for every family that has a folder in `data`, or for those named."""
    for family in known_families():
        if (data / family.name).is_dir() and (not only or family.name in only):
            yield family.name, family.run(data / family.name)
