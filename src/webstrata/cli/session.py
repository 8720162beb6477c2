"""What every command needs first: which home, which settings, and an event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from webstrata import settings as settings_file
from webstrata.clock import parse_instant
from webstrata.errors import UsageError
from webstrata.home import Home

if TYPE_CHECKING:
    from webstrata.node import Node
    from webstrata.ports import Clock

HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home", help="Home folder; else $WEBSTRATA_HOME, else the platform's place for data.", show_default=False
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="A setting for this run, like polite.delay=5s.", show_default=False
    ),
]

PolicyOption = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="Schedule by this policy: a name, or module:Class of your own.",
        show_default=False,
    ),
]

T = TypeVar("T")

_root_home: Path | None = None


def remember_home(home: Path | None) -> None:
    """`webstrata --home X list` and `webstrata list --home X` mean the same."""
    global _root_home
    _root_home = home


def named_home(home: Path | None) -> Path | None:
    """The home that was asked for: after the command, before it, or in the environment."""
    if home is not None or _root_home is not None:
        return home or _root_home
    named = os.environ.get("WEBSTRATA_HOME")
    return Path(named) if named else None


def home_path(home: Path | None) -> Path:
    return named_home(home) or Home.default()


def open_node(home: Path | None, flags: list[str] | None = None, clock: Clock | None = None) -> Node:
    from webstrata.node import Node  # the adapters are heavy: not before the words on the command line make sense

    path = home_path(home)
    opened = Home.open(path)
    settings, _ = settings_file.load(path, flags=flags or ())
    return Node(opened, settings, clock, reread=lambda: settings_file.load(path, flags=flags or ())[0])


def with_policy(flags: list[str] | None, policy: str | None) -> list[str] | None:
    """Settings of this run with a policy that was named for it."""
    return flags if policy is None else [*(flags or ()), f"schedule.policy={policy}"]


def window(since: str | None, until: str | None) -> tuple[float | None, float | None]:
    """The instants of --from and --to."""
    start = parse_instant(since) if since is not None else None
    end = parse_instant(until) if until is not None else None
    if start is not None and end is not None and start > end:
        raise UsageError("--from is later than --to. Exchange them.")
    return start, end


def run_async(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run on the fastest event loop there is."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())
