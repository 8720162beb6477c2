"""How far a growing WARC and its index lines are known to be on the disk together.

Without it a start after a crash would inflate the whole growing file to build its index; with it only what came
after the last mark.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from webstrata.archive.growing import write_atomically
from webstrata.archive.segment import growing_name, segment_name

_ENDING = ".mark"


class SyncMark(Struct, frozen=True, kw_only=True):
    warc_bytes: int
    """Records up to here are synced, and …"""
    index_bytes: int
    """… their lines are too: this much of the growing segment."""


def mark_path(index_folder: Path, warc: str) -> Path:
    return index_folder / (segment_name(warc) + _ENDING)


def put_mark(index_folder: Path, warc: str, mark: SyncMark, *, fsync: bool) -> None:
    """Both files must have been synced before."""
    write_atomically(mark_path(index_folder, warc), msgspec.json.encode(mark), fsync=fsync)


def marked_lines(index_folder: Path, warc: str, warc_size: int) -> tuple[list[bytes], int]:
    """Index lines that can be trusted, and the offset in the WARC from which on they must be made again."""
    try:
        mark = msgspec.json.decode(mark_path(index_folder, warc).read_bytes(), type=SyncMark)
        known = (index_folder / growing_name(warc)).read_bytes()[: mark.index_bytes]
    except (OSError, msgspec.DecodeError):
        return [], 0
    fits = len(known) == mark.index_bytes and known.endswith(b"\n") and mark.warc_bytes <= warc_size
    return (known.splitlines(keepends=True), mark.warc_bytes) if fits else ([], 0)


def drop_mark(index_folder: Path, warc: str) -> None:
    mark_path(index_folder, warc).unlink(missing_ok=True)
