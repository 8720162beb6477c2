"""Finds the families and runs those for which the data folder has cases.

A family is one file in `families/` with `FAMILY` (the name of its folder of data) and `run(folder) -> Verdict`;
nothing else has to be registered. A folder without a runner is one unplayed row.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.conformance import families
from tests.conformance.case import count_error
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
    """(family, verdict) for every folder in `data`, or for those named, by name."""
    runners = {family.name: family.run for family in known_families()}
    for folder in sorted(data.iterdir()):
        if folder.is_dir() and not folder.name.startswith((".", "_")) and (not only or folder.name in only):
            yield folder.name, verdict_of(runners.get(folder.name), folder)


def verdict_of(run: Callable[[Path], Verdict] | None, folder: Path) -> Verdict:
    """The verdict of one folder. Never raises because of the data."""
    verdict = Verdict()
    if run is None:
        verdict.leave_out(folder.name, "no runner")
        return verdict
    try:
        verdict.add(run(folder))
    except Exception as error:  # data that damage the family as a whole
        count_error(folder.name, error, verdict)
    return verdict
