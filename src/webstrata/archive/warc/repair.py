"""What a crash left: growing files are cut behind their last whole record, indexed, and finished.

Nothing that was whole is lost, and nothing is thrown away: the torn bytes go into a file beside.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from webstrata.archive.index.segment import (
    HEAD_BYTES,
    growing_name,
    index_lines,
    record_line,
    remove_sync_marker,
    segment_name,
    sync_marker_path,
    synced_lines,
    write_segment,
)
from webstrata.archive.warc.growing import sync_folder, write_atomically
from webstrata.archive.warc.members import DamagedBytes
from webstrata.archive.warc.walk import OPEN_SUFFIX, archive_files, plain_name, walk


class Repair(Struct, frozen=True, kw_only=True):
    """One thing that was put right."""

    file: str
    what: str
    """One sentence for the log."""
    torn_bytes: int = 0
    kept_in: str | None = None
    """Where the torn bytes are now."""


def repair_archive(archive_folder: Path, index_folder: Path, *, fsync: bool = True) -> list[Repair]:
    """Finish every `.open` file and give every finished one its segment. Call it before a writer starts."""
    done: list[Repair] = []
    for path in archive_files(archive_folder):
        if path.name.endswith(OPEN_SUFFIX):
            done.append(_finish(path, index_folder, fsync=fsync))
        elif not (index_folder / segment_name(path.name)).exists():
            write_segment(index_folder, path.name, index_lines(path), fsync=fsync)
            done.append(Repair(file=path.name, what="its index segment was missing and was built again"))
    _sweep(archive_folder, index_folder)
    return done


def _finish(path: Path, index_folder: Path, *, fsync: bool) -> Repair:
    name = plain_name(path.name)
    size = path.stat().st_size
    lines, start = synced_lines(index_folder, name, size)
    good_end = start
    damaged = 0
    for item in walk(path, start, HEAD_BYTES):
        if isinstance(item, DamagedBytes):
            damaged += item.kind == "damaged"
            continue
        good_end = max(good_end, item.offset + item.length)
        line = record_line(item, name)
        if line:
            lines.append(line)
    kept_in = cut_tail(path, good_end, fsync=fsync) if good_end < size else None
    if good_end:
        write_segment(index_folder, name, lines, fsync=fsync)
        path.rename(path.with_name(name))
    else:
        path.unlink()
        (index_folder / growing_name(name)).unlink(missing_ok=True)
    remove_sync_marker(index_folder, name)
    sync_folder(path.parent, fsync)
    return Repair(file=name, what=_sentence(good_end, size, damaged), torn_bytes=size - good_end, kept_in=kept_in)


def cut_tail(path: Path, good_end: int, *, fsync: bool = True) -> str:
    """Put the bytes behind the last whole record into a file beside, then shorten the file; the new file's name."""
    with path.open("r+b") as file:
        file.seek(good_end)
        aside = _free_name(path.with_name(f"{plain_name(path.name)}.torn"))
        write_atomically(aside, file.read(), fsync=fsync)
        file.truncate(good_end)
        if fsync:
            os.fsync(file.fileno())
    return aside.name


def _free_name(path: Path) -> Path:
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}{number}")
    return free


def _sentence(good_end: int, size: int, damaged: int) -> str:
    said = "was left open by a crash and is finished now" if good_end else "held no whole record and was removed"
    if size > good_end:
        said += f"; {size - good_end} torn bytes at its end were put aside"
    if damaged:
        said += f"; {damaged} damaged places inside are left as they are (`webstrata check` lists them)"
    return said


def _sweep(archive_folder: Path, index_folder: Path) -> None:
    """Lines and marks of files that are finished, and halves of files that were never put in place."""
    for path in archive_files(archive_folder):
        if not path.name.endswith(OPEN_SUFFIX):
            (index_folder / growing_name(path.name)).unlink(missing_ok=True)
            sync_marker_path(index_folder, path.name).unlink(missing_ok=True)
    for folder in (archive_folder, index_folder):
        for part in folder.glob("*.part"):
            part.unlink()
