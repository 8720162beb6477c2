"""Lookup of captures: binary search in the sorted segments, merged with the lines of growing files."""

from __future__ import annotations

import heapq
import mmap
import threading
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from webstrata.archive.index import cdxj
from webstrata.archive.index.cdxj import CdxjEntry
from webstrata.archive.warc.walk import OPEN_SUFFIX

Match = Literal["exact", "prefix", "host", "domain"]

# Sorts after every line.
_LAST = b"\xff"


class Index:
    """All index lines of a folder. Segments that were added, changed or removed are noticed at each lookup."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._segments: dict[str, _Segment] = {}
        self._growing: dict[str, _GrowingSegment] = {}
        self._lock = threading.Lock()

    def lookup(
        self,
        url: str,
        *,
        match: Match = "exact",
        since: str = "",
        until: str = "",
        limit: int | None = None,
    ) -> Iterator[CdxjEntry]:
        """Captures of a URL (or SURT) in index order; `since` and `until` are inclusive, with up to 14 digits."""
        lines = self.lookup_lines(url, match=match, since=since, until=until)
        return islice((entry for line in lines if (entry := cdxj.parse(line))), limit)

    def lookup_lines(self, url: str, *, match: Match = "exact", since: str = "", until: str = "") -> Iterator[bytes]:
        """The same as `lookup`, as lines with their line ends."""
        is_surt = ")" in url and "://" not in url.split(")", 1)[0]
        key = url if is_surt else cdxj.surt_key(url)
        for start, end in _ranges(key, match, since, until):
            yield from self._merged(start, end, since, until)

    def entries(self) -> Iterator[CdxjEntry]:
        """All entries, sorted by SURT, time, file and offset."""
        return (entry for line in self.lines() if (entry := cdxj.parse(line)))

    def lines(self, *, since: str = "", until: str = "") -> Iterator[bytes]:
        """All lines, sorted by SURT, time, file and offset."""
        return self._merged(b"", _LAST, since, until)

    def close(self) -> None:
        with self._lock:
            for segment in self._segments.values():
                segment.close()
            self._segments.clear()
            self._growing.clear()

    def _merged(self, start: bytes, end: bytes, since: str, until: str) -> Iterator[bytes]:
        # Segments are sorted by name and the merge is stable: lines with equal keys are in order of file and offset.
        runs = [segment.between(start, end) for segment in self._all_segments()]
        merged = heapq.merge(*runs, key=cdxj.sort_key)
        if not since and not until:
            return merged
        first, last = since.encode(), until.encode() + _LAST if until else _LAST
        return (line for line in merged if first <= cdxj.sort_key(line).rpartition(b" ")[2] <= last)

    def _all_segments(self) -> list[_Segment | _GrowingSegment]:
        with self._lock:
            while True:
                try:
                    return self._current_segments()
                except FileNotFoundError:
                    continue  # a growing file was finished after the folder was listed

    def _current_segments(self) -> list[_Segment | _GrowingSegment]:
        names = {path.name for path in self._folder.iterdir()} if self._folder.is_dir() else set()
        for gone in self._segments.keys() - names:
            self._segments.pop(gone).close()
        for gone in self._growing.keys() - names:
            del self._growing[gone]
        segments: dict[str, _Segment | _GrowingSegment] = {}
        for name in names:
            if name.endswith(".cdxj"):
                segments[name] = self._segment(name)
            elif name.endswith(".cdxj" + OPEN_SUFFIX) and name.removesuffix(OPEN_SUFFIX) not in names:
                growing = self._growing.setdefault(name, _GrowingSegment(self._folder / name))
                growing.refresh()
                segments[name.removesuffix(OPEN_SUFFIX)] = growing
        return [segments[name] for name in sorted(segments)]

    def _segment(self, name: str) -> _Segment:
        path = self._folder / name
        stat = path.stat()
        identity = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        known = self._segments.get(name)
        if known is None or known.identity != identity:
            if known:
                known.close()
            known = self._segments[name] = _Segment(path, identity)
        return known


class _Segment:
    """A finished segment: sorted lines in a memory-mapped file."""

    def __init__(self, path: Path, identity: tuple[int, int, int]) -> None:
        self.identity = identity
        self._map: mmap.mmap | bytes = b""
        if identity[1]:
            with path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def between(self, start: bytes, end: bytes) -> Iterator[bytes]:
        data = self._map
        at, size = self._first(start), len(data)
        while at < size:
            stop = data.find(b"\n", at) + 1 or size
            line = data[at:stop]
            if line >= end:
                return
            yield line
            at = stop

    def _first(self, start: bytes) -> int:
        """The offset of the first line that is not less than `start`."""
        data = self._map
        low, high = 0, len(data)
        while low < high:
            middle = (low + high) // 2
            line_at = data.rfind(b"\n", 0, middle) + 1
            if data[line_at : line_at + len(start)] < start:
                low = data.find(b"\n", middle) + 1 or len(data)
            else:
                high = line_at
        return low

    def close(self) -> None:
        # An iterator may still use the map; it is unmapped when the last reference is gone.
        self._map = b""


class _GrowingSegment:
    """The lines of a growing WARC file: unsorted on the disk, sorted in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_bytes = 0
        self._lines: list[bytes] = []

    def refresh(self) -> None:
        with self._path.open("rb") as file:
            if file.seek(0, 2) < self._read_bytes:  # rewritten
                self._read_bytes, self._lines = 0, []
            file.seek(self._read_bytes)
            new = file.read()
        complete = new[: new.rfind(b"\n") + 1]
        if complete:
            self._read_bytes += len(complete)
            self._lines = sorted([*self._lines, *complete.splitlines(keepends=True)], key=cdxj.sort_key)

    def between(self, start: bytes, end: bytes) -> Iterator[bytes]:
        lines = self._lines
        for at in range(bisect_left(lines, start), len(lines)):
            if lines[at] >= end:
                return
            yield lines[at]


def _ranges(key: str, match: Match, since: str, until: str) -> list[tuple[bytes, bytes]]:
    """(Start, end) of the ranges of lines that match; the end is exclusive."""
    raw = key.encode("ascii", "replace")
    if match == "exact":
        return [(raw + b" " + since.encode(), raw + b" " + until.encode() + _LAST if until else raw + b"!")]
    if match == "prefix":
        return [(raw, raw + _LAST)]
    host = raw.split(b")", 1)[0]
    if match == "host":
        return [(host + b")", host + b")" + _LAST)]
    domain = host.split(b":", 1)[0]
    return [(domain + separator, domain + separator + _LAST) for separator in (b")", b",", b":")]
