"""`webstrata lab sharp --live`: captures the living web over real HTTP and compares every verdict with the recording."""

from __future__ import annotations

import logging
import runpy
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from webstrata.cli.messages import start_logging
from webstrata.cli.output import print_table
from webstrata.cli.session import run_async

if TYPE_CHECKING:
    from webstrata.lab.livingweb.recording import Recording
    from webstrata.lab.sharp.live import Assemble, LiveRow
    from webstrata.node import Node
    from webstrata.ports import Clock

_SETTINGS = ("polite.contact=lab@example.invalid", "polite.delay=1s", "crawl.workers=0")


FAULT_SHARE = 0.08
"""The share of the requests that sites answer wrongly with `--faults`."""


def live(
    recordings: list[Recording],
    captures: int,
    on_progress: Callable[[str], None],
    ways: Sequence[str] | None = None,
    *,
    with_faults: bool = False,
) -> list[LiveRow]:
    """Run all captures in temporary homes. `with_faults`: sites answer some requests wrongly."""
    from webstrata.lab.sharp.live import WAYS, live_rows

    start_logging(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="webstrata-lab-") as name:
        folder, check = Path(name), _checker()
        assemble = _assembler(folder)
        return run_async(
            lambda: live_rows(
                recordings,
                assemble,
                check,
                folder,
                captures=captures,
                ways=ways or WAYS,
                fault_share=FAULT_SHARE if with_faults else 0.0,
                on_progress=on_progress,
            )
        )


def show(rows: Sequence[LiveRow]) -> None:
    print_table(
        (
            "site",
            "captured",
            "captures",
            "pages",
            "sharp",
            "expected",
            "blurred",
            "absent",
            "error",
            "unreachable",
            "unvisited",
            "changes",
            "wrong answers",
            "false sharp",
            "changed and back",
            "false blurred",
            "faults",
            "violations",
        ),
        [
            (
                row.site,
                row.way,
                row.captures,
                row.pages,
                row.sharp,
                f"{row.expected:.1f}",
                row.blurred,
                row.absent,
                row.error,
                row.unreachable,
                row.unvisited,
                row.changes,
                row.served_faults,
                row.false_sharp - row.changed_and_back,
                row.changed_and_back,
                row.false_blurred,
                row.faults,
                row.politeness_violations,
            )
            for row in rows
        ],
    )


def _assembler(folder: Path) -> Assemble:
    """Creates a new home for every call, so that no way uses what another one learned."""
    from webstrata import settings as settings_file
    from webstrata.home import Home
    from webstrata.node import Node

    numbers = count()

    def assemble(clock: Clock, hosts: Mapping[str, str], exceptions: Sequence[str]) -> Node:
        home, _ = Home.create(folder / f"home-{next(numbers)}")
        loaded, _ = settings_file.load(home.path, environment={}, flags=_SETTINGS)
        fetch = msgspec.structs.replace(loaded.fetch, hosts=dict(hosts), allow_private=tuple(exceptions))
        return Node(home, msgspec.structs.replace(loaded, fetch=fetch), clock)

    return assemble


def _checker() -> Callable[[Path], int]:
    """Counts the faults that the two verifiers find."""
    from webstrata.flows.verify.verification import verify
    from webstrata.node import package

    with resources.as_file(resources.files("webstrata.verifier") / "verify_capture.py") as file:
        second_check: Callable[[str], tuple[Any, list[str]]] = runpy.run_path(str(file))["check"]

    def check(file: Path) -> int:
        with package(file) as evidence:
            failures = verify(evidence).failures
        return len(failures) + len(second_check(str(file))[1])

    return check
