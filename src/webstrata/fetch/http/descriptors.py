"""`connection_limits`: how many connections the limit on open files of this process permits."""

from __future__ import annotations

import logging
import resource
from typing import NamedTuple

log = logging.getLogger("webstrata.fetch")

_OTHER_FILES = 44
"""Left for the database, the archive, parser processes, lookups, the event loop and connections that are closing."""
_IDLE_PER_CONNECTION = 8
"""Idle connections kept for each concurrent one: a polite crawl visits many other hosts before it returns to a host."""


class ConnectionLimits(NamedTuple):
    """Numbers of connections."""

    active: int
    idle: int


def connection_limits(connections: int, open_files: int | None = None) -> ConnectionLimits:
    """The limits for a wanted number of simultaneous requests.

    All connections together use at most half of the files that the process may open, and leave at least 44 of them.
    Active ones use at most half of that. If fewer connections than wanted fit, a warning is logged.
    """
    if open_files is None:
        open_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if open_files == resource.RLIM_INFINITY:
            return ConnectionLimits(connections, _IDLE_PER_CONNECTION * connections)
    usable = max(2, min(open_files // 2, open_files - _OTHER_FILES))
    active = min(connections, usable // 2)
    if active < connections:
        log.warning(
            "%d connections instead of %d: this process may open only %d files. Raise the limit (ulimit -n).",
            active,
            connections,
            open_files,
        )
    return ConnectionLimits(active, min(_IDLE_PER_CONNECTION * connections, usable - active))
