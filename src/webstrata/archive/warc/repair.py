"""Repair after a crash: growing files are cut after their last complete record, indexed and finished.

No complete record is lost. The torn bytes after the cut are not deleted but saved to a `.torn` file in the same folder.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from msgspec import Struct

from webstrata.archive.index.segment import (
    growing_name,
    index_lines,
    record_line,
    segment_name,
    sync_marker_path,
    synced_lines,
    write_segment,
)
from webstrata.archive.warc.growing import sync_folder, unwritable
from webstrata.archive.warc.members import DamagedBytes
from webstrata.archive.warc.record_pieces import HEAD_BYTES
from webstrata.archive.warc.walk import OPEN_SUFFIX, archive_files, plain_name, walk


class Repair(Struct, frozen=True, kw_only=True):
    """One repair that was made."""

    file: str
    what: str
    """Description for the log."""


def repair_archive(archive_folder: Path, index_folder: Path, *, fsync: bool = True) -> list[Repair]:
    """Finish all `.open` files and write missing index segments. To be called before a writer starts."""
    repairs: list[Repair] = []
    for path in archive_files(archive_folder):
        if path.name.endswith(OPEN_SUFFIX):
            repairs.append(_finish(path, index_folder, fsync=fsync))
        elif not (index_folder / segment_name(path.name)).exists():
            write_segment(index_folder, path.name, index_lines(path), fsync=fsync)
            repairs.append(Repair(file=path.name, what="the index segment was missing and was rebuilt"))
    _remove_leftovers(archive_folder, index_folder)
    return repairs


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
    if good_end < size:
        cut_tail(path, good_end, fsync=fsync)
    if good_end:
        write_segment(index_folder, name, lines, fsync=fsync)
        path.rename(path.with_name(name))
    else:
        path.unlink()
        (index_folder / growing_name(name)).unlink(missing_ok=True)
    sync_marker_path(index_folder, name).unlink(missing_ok=True)
    sync_folder(path.parent, fsync)
    return Repair(file=name, what=_description(good_end, size, damaged))


def cut_tail(path: Path, good_end: int, *, fsync: bool = True) -> str:
    """Save the bytes after the last complete record to a `.torn` file, then truncate the file; returns the new name."""
    with path.open("r+b") as file:
        file.seek(good_end)
        torn_file = _unused_name(path.with_name(f"{plain_name(path.name)}.torn"))
        part = torn_file.with_name(torn_file.name + ".part")
        try:
            with part.open("wb") as torn:
                shutil.copyfileobj(file, torn, HEAD_BYTES)
                torn.flush()
                if fsync:
                    os.fsync(torn.fileno())
            part.rename(torn_file)
            sync_folder(path.parent, fsync)
        except OSError as error:
            raise unwritable(torn_file, error) from error
        file.truncate(good_end)
        if fsync:
            os.fsync(file.fileno())
    return torn_file.name


def _unused_name(path: Path) -> Path:
    number, unused = 1, path
    while unused.exists():
        number += 1
        unused = path.with_name(f"{path.name}{number}")
    return unused


def _description(good_end: int, size: int, damaged: int) -> str:
    text = "left open by a crash, now finished" if good_end else "contained no complete record and was removed"
    if size > good_end:
        text += f"; {size - good_end} torn bytes at the end were saved to a .torn file"
    if damaged:
        text += f"; {damaged} damaged sections inside are unchanged (`webstrata check` lists them)"
    return text


def _remove_leftovers(archive_folder: Path, index_folder: Path) -> None:
    """Remove growing segments and sync markers of finished files, and unfinished temporary files."""
    for path in archive_files(archive_folder):
        if not path.name.endswith(OPEN_SUFFIX):
            (index_folder / growing_name(path.name)).unlink(missing_ok=True)
            sync_marker_path(index_folder, path.name).unlink(missing_ok=True)
    for folder in (archive_folder, index_folder):
        for part in folder.glob("*.part"):
            part.unlink()
