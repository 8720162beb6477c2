"""Looking up captures: binary search over the sorted segments, merged with the lines of the file that grows."""

from __future__ import annotations

import heapq
import mmap
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from webstrata.archive.index import cdxj
from webstrata.archive.index.cdxj import CdxjEntry
from webstrata.archive.warc.walk import OPEN_SUFFIX

Match = Literal["exact", "prefix", "host", "domain"]

# Behind every byte that a line can begin with.
_LAST = b"\xff"


class Index:
    """All index lines of a folder. Cheap to keep: it notices segments that came, grew or went."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._segments: dict[str, _Segment] = {}
        self._growing: dict[str, _Growing] = {}
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
        """Captures of a URL (or SURT) in the order of the index; times as up to 14 digits, both included."""
        lines = self.lookup_lines(url, match=match, since=since, until=until)
        return islice((entry for line in lines if (entry := cdxj.parse(line))), limit)

    def lookup_lines(self, url: str, *, match: Match = "exact", since: str = "", until: str = "") -> Iterator[bytes]:
        """The same as lines, each with its line end."""
        key = url if _is_surt(url) else cdxj.surt_key(url)
        for start, end in _ranges(key, match, since, until):
            yield from self._merged(start, end, since, until)

    def entries(self) -> Iterator[CdxjEntry]:
        """Every line, merged: SURT, time, file, offset."""
        return (entry for line in self.lines() if (entry := cdxj.parse(line)))

    def lines(self, *, since: str = "", until: str = "") -> Iterator[bytes]:
        return self._merged(b"", _LAST, since, until)

    def close(self) -> None:
        with self._lock:
            for segment in self._segments.values():
                segment.close()
            self._segments.clear()
            self._growing.clear()

    def _merged(self, start: bytes, end: bytes, since: str, until: str) -> Iterator[bytes]:
        # Parts come by name, and merge is stable: equal SURT and time are in the order of file, then offset.
        runs = [part.between(start, end) for part in self._parts()]
        merged = heapq.merge(*runs, key=cdxj.sort_key)
        if not since and not until:
            return merged
        first, last = since.encode(), until.encode() + _LAST if until else _LAST
        return (line for line in merged if first <= cdxj.line_timestamp(line) <= last)

    def _parts(self) -> list[_Segment | _Growing]:
        with self._lock:
            while True:
                try:
                    return self._parts_now()
                except FileNotFoundError:
                    continue  # a growing file was finished between the listing and the look

    def _parts_now(self) -> list[_Segment | _Growing]:
        names = {path.name for path in self._folder.iterdir()} if self._folder.is_dir() else set()
        for gone in self._segments.keys() - names:
            self._segments.pop(gone).close()
        for gone in self._growing.keys() - names:
            del self._growing[gone]
        parts: dict[str, _Segment | _Growing] = {}
        for name in names:
            if name.endswith(".cdxj"):
                parts[name] = self._segment(name)
            elif name.endswith(".cdxj" + OPEN_SUFFIX) and name.removesuffix(OPEN_SUFFIX) not in names:
                parts[name.removesuffix(OPEN_SUFFIX)] = self._grown(name)
        return [parts[name] for name in sorted(parts)]

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

    def _grown(self, name: str) -> _Growing:
        known = self._growing.setdefault(name, _Growing(self._folder / name))
        known.refresh()
        return known


class _Segment:
    """A finished segment: sorted lines in a mapped file."""

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
        """Offset of the first line that is not below `start`."""
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
        # A reader may still be inside: the map itself goes with its last user.
        self._map = b""


class _Growing:
    """The lines of a WARC that still grows: unsorted on the disk, sorted here."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self._lines: list[bytes] = []

    def refresh(self) -> None:
        with self._path.open("rb") as file:
            if file.seek(0, 2) < self._read:  # written anew
                self._read, self._lines = 0, []
            file.seek(self._read)
            fresh = file.read()
        whole = fresh[: fresh.rfind(b"\n") + 1]
        if whole:
            self._read += len(whole)
            self._lines = sorted([*self._lines, *whole.splitlines(keepends=True)], key=cdxj.sort_key)

    def between(self, start: bytes, end: bytes) -> Iterator[bytes]:
        lines = self._lines
        low, high = 0, len(lines)
        while low < high:
            middle = (low + high) // 2
            if lines[middle] < start:
                low = middle + 1
            else:
                high = middle
        for at in range(low, len(lines)):
            if lines[at] >= end:
                return
            yield lines[at]


def _is_surt(text: str) -> bool:
    return ")" in text and "://" not in text.split(")", 1)[0]


def _ranges(key: str, match: Match, since: str, until: str) -> list[tuple[bytes, bytes]]:
    raw = key.encode("ascii", "replace")
    if match == "exact":
        return [(raw + b" " + since.encode(), raw + b" " + until.encode() + _LAST if until else raw + b"!")]
    if match == "prefix":
        return [(raw, raw + _LAST)]
    host = raw.split(b")", 1)[0]
    if match == "host":
        return [(host + b")", host + b")" + _LAST)]
    domain = host.split(b":", 1)[0]
    return [(domain + mark, domain + mark + _LAST) for mark in (b")", b",", b":")]
