"""Whether the archive can be written: free space, permission, and the limit on the size of files.

The loop asks before it requests pages: what cannot be archived must not be requested, again and again, from hosts that
cannot do anything about it.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from pathlib import Path

from webstrata.errors import ArchiveError

RESERVE_BYTES = 100_000_000
"""What must stay free: for a batch of large bodies, and for the database, which grows with it."""

_MB = 1e6


def free_bytes(folder: Path) -> int:
    """Free space of the file system that this user may write."""
    state = os.statvfs(folder)
    return state.f_bavail * state.f_frsize


def largest_file() -> int | None:
    """The largest file that this process may write (`ulimit -f`); None without a limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return None if soft == resource.RLIM_INFINITY else soft


def check_room(folder: Path, *, reserve: int, free: Callable[[Path], int] = free_bytes) -> None:
    """Raise ArchiveError, with what to do, if nothing should be written to this folder now."""
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise ArchiveError(f"{existing} cannot be written. Give this user the permission to write there.")
    try:
        left = free(existing)
    except OSError as problem:
        raise ArchiveError(f"the free space of {existing} is not known: {problem.strerror}.") from None
    if left < reserve:
        raise ArchiveError(
            f"the file system of {existing} has {left / _MB:.0f} MB left, and {reserve / _MB:.0f} MB must stay free "
            "(archive.reserve). Free space there, or move the home."
        )
    largest = largest_file()
    if largest is not None and largest <= reserve:
        raise ArchiveError(
            f"this process may write files of at most {largest / _MB:.0f} MB, and more than {reserve / _MB:.0f} MB are "
            "needed (archive.reserve). Raise the limit (`ulimit -f`)."
        )
