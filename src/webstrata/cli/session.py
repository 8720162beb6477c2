"""The start of every command: the home folder, its settings, the assembled node, and the event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from webstrata import settings as settings_file
from webstrata.clock import parse_instant, parse_span
from webstrata.errors import UsageError
from webstrata.home import Home

if TYPE_CHECKING:
    from webstrata.node import Node
    from webstrata.settings import Settings

T = TypeVar("T")

_global_home: Path | None = None
_opened: list[Node] = []
"""The node of the running command."""


def remember_home(home: Path | None) -> None:
    """Store the value of the global option: `webstrata --home X list` is the same as `webstrata list --home X`."""
    global _global_home
    _global_home = home
    _opened.clear()


def optional_home(home: Path | None) -> Path | None:
    """The home named by the command's option or the global option."""
    return home or _global_home


def named_home(home: Path | None) -> Path | None:
    """The home named by the command's option, the global option or the environment, in this order."""
    if optional_home(home) is not None:
        return optional_home(home)
    path = os.environ.get("WEBSTRATA_HOME")
    return Path(path) if path else None


def home_path(home: Path | None) -> Path:
    """The named home, or the default one."""
    return named_home(home) or Home.default()


def open_node(home: Path | None, flags: list[str] | None = None) -> Node:
    """The assembled program for a home, with the settings of its file, the environment and `flags`."""
    from webstrata.node import Node  # slow to import: only after the command line was found to be valid

    path = home_path(home)
    opened = Home.open(path)
    settings, _ = load_settings(path, flags)
    node = Node(opened, settings, reread=lambda: load_settings(path, flags)[0], creates_database=False)
    _opened[:] = [node]
    return node


def load_settings(path: Path, flags: list[str] | None = None) -> tuple[Settings, dict[str, str]]:
    """The checked settings of a home, and the source of each value that is not a default."""
    from webstrata.setting_values import check_values

    settings, sources = settings_file.load(path, flags=flags or ())
    check_values(settings, sources)
    return settings, sources


def database_damage() -> str | None:
    """What is wrong with the database of the running command: values that changed by themselves cause any error."""
    if not _opened:
        return None
    try:
        found = run_async(_opened[0].database_damage)
    except Exception:  # the first error is the one to report
        return None
    return str(found) if found is not None else None


def with_policy(flags: list[str] | None, policy: str | None) -> list[str] | None:
    """The `--set` options of a run, extended by its `--policy` option."""
    return flags if policy is None else [*(flags or ()), f"schedule.policy={policy}"]


def time_range(since: str | None, until: str | None) -> tuple[float | None, float | None]:
    """The instants of --from and --to."""
    start = parse_instant(since) if since is not None else None
    end = parse_instant(until) if until is not None else None
    if start is not None and end is not None and start > end:
        raise UsageError("--from is later than --to. Exchange them.")
    return start, end


def instant_or_ago(text: str, now: float) -> float:
    """An instant, or a duration before now: `2026-11-15`, `30d`."""
    try:
        return parse_instant(text)
    except UsageError:
        pass
    try:
        return now - parse_span(text)
    except UsageError:
        raise UsageError(
            f"neither a time nor a duration: {text!r}. Write it like 2026-11-15, 2026-11-15T08:30:00Z, 30d or 12h."
        ) from None


def run_async(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine on uvloop."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())
