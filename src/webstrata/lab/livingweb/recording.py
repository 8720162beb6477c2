"""Recorded sites: every version that a site published, read from two Parquet files into memory.

`NAME.versions.parquet` has one row for each publication of a path (`path`, `at`, `blob`; without a blob the path was
deleted). `NAME.blobs.parquet` has each content once (`blob`, `content`). `licence` and `source` are read from the
schema metadata of the files, if present.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import as_file, files
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow.parquet as pq
from msgspec import Struct

from webstrata.clock import parse_instant
from webstrata.errors import UsageError

# Characters that a canonical URL does not escape in a path, so that the URL of a page is already canonical.
_UNESCAPED = "/!$&'()*+,;=:@~-._"

_INDEX = "index.html"

Window = tuple[float, float]


class Recording(Struct, frozen=True, kw_only=True):
    """One site over time. `pages[path]` has (published at, content id or None if deleted), strictly ascending."""

    site: str
    licence: str = ""
    source: str = ""
    pages: dict[str, list[tuple[float, str | None]]]
    contents: dict[str, bytes]

    @property
    def host(self) -> str:
        """The host name under which the living web serves this site."""
        return f"{self.site}.test"

    def url(self, path: str) -> str:
        """The page's URL. The URL of an index page is that of its folder."""
        head, _, name = path.rpartition("/")
        shown = path if name != _INDEX else f"{head}/" if head else ""
        return f"http://{self.host}/{quote(shown, safe=_UNESCAPED)}"

    def version_at(self, path: str, at: float) -> tuple[float, str | None] | None:
        """The last publication up to and including `at`, or None if the path did not exist before."""
        versions = self.pages.get(path, [])
        index = bisect_right(versions, at, key=itemgetter(0))
        return versions[index - 1] if index else None

    def alive_at(self, at: float) -> list[str]:
        """Paths that exist at an instant."""
        return [path for path in self.pages if (version := self.version_at(path, at)) and version[1]]

    def within(self, window: Window, paths: Iterable[str] | None = None) -> Recording:
        """The versions that exist between the two instants (with `paths`, of these pages only)."""
        pages: dict[str, list[tuple[float, str | None]]] = {}
        for path in self.pages if paths is None else paths:
            if versions := _clip(self.pages[path], window):
                pages[path] = versions
        used = {blob for versions in pages.values() for _, blob in versions if blob}
        return Recording(
            site=self.site,
            licence=self.licence,
            source=self.source,
            pages=pages,
            contents={blob: content for blob, content in self.contents.items() if blob in used},
        )


def read_recording(folder: Path, site: str, window: Window | None = None) -> Recording:
    """Read one site from its pair of files; with a window, only the versions that exist in it."""
    versions_file = folder / f"{site}.versions.parquet"
    blobs_file = folder / f"{site}.blobs.parquet"
    for file in (versions_file, blobs_file):
        if not file.is_file():
            raise UsageError(f"no recording of {site!r}: {file.name} is not in {folder}.")
    pages, metadata = _read_versions(versions_file)
    if window is not None:
        pages = {path: clipped for path, versions in pages.items() if (clipped := _clip(versions, window))}
    blobs = {blob for versions in pages.values() for _, blob in versions if blob}
    contents = _read_contents(blobs_file, blobs)
    if missing := blobs - contents.keys():
        raise UsageError(f"{blobs_file.name} lacks {len(missing)} contents that {versions_file.name} names.")
    return Recording(
        site=site,
        licence=metadata.get("licence", ""),
        source=metadata.get("source", ""),
        pages=pages,
        contents=contents,
    )


def read_recordings(folder: Path, sites: Sequence[str] | None = None, window: Window | None = None) -> list[Recording]:
    """Read several sites of a folder. Without `sites`: all of them, sorted by name."""
    names = sites or sorted(file.name.removesuffix(".versions.parquet") for file in folder.glob("*.versions.parquet"))
    return [read_recording(folder, name, window) for name in names]


def tidy(rows: Iterable[tuple[float, str | None]]) -> list[tuple[float, str | None]]:
    """The versions that a visitor can observe: of several at one instant the last, and no repeated contents."""
    versions: list[tuple[float, str | None]] = []
    for at, blob in rows:
        if versions and versions[-1][0] == at:
            versions.pop()
        if (versions[-1][1] if versions else None) != blob:
            versions.append((at, blob))
    return versions


def _clip(versions: list[tuple[float, str | None]], window: Window) -> list[tuple[float, str | None]]:
    """The version at the window's start (with its own, earlier time) and those published up to its end."""
    start, end = window
    first = max(0, bisect_right(versions, start, key=itemgetter(0)) - 1)
    last = bisect_right(versions, end, key=itemgetter(0))
    clipped = versions[first:last]
    return clipped[1:] if clipped and clipped[0][1] is None and clipped[0][0] <= start else clipped


def _read_versions(file: Path) -> tuple[dict[str, list[tuple[float, str | None]]], dict[str, str]]:
    table = pq.read_table(file, columns=["path", "at", "blob"])
    rows: dict[str, list[tuple[float, str | None]]] = {}
    milliseconds = table["at"].cast("int64").to_pylist()
    for path, at_ms, blob in zip(table["path"].to_pylist(), milliseconds, table["blob"].to_pylist(), strict=True):
        rows.setdefault(path, []).append((at_ms / 1000.0, blob))
    metadata: Mapping[bytes, bytes] = table.schema.metadata or {}
    decoded = {key.decode(): value.decode() for key, value in metadata.items() if key in (b"licence", b"source")}
    return {path: versions for path, listed in rows.items() if (versions := tidy(listed))}, decoded


def _read_contents(file: Path, blobs: set[str]) -> dict[str, bytes]:
    """Read one row group at a time, because a file may have hundreds of megabytes that are not needed."""
    contents: dict[str, bytes] = {}
    parquet: Any = pq.ParquetFile(file)
    for group in range(parquet.num_row_groups):
        names = parquet.read_row_group(group, columns=["blob"])["blob"].to_pylist()
        if blobs.isdisjoint(names):
            continue
        column = parquet.read_row_group(group, columns=["content"])["content"]
        for name, content in zip(names, column, strict=True):
            if name in blobs:
                contents[name] = content.as_py()
    return contents


SHIPPED_WINDOW: Window = (parse_instant("2023-01-01"), parse_instant("2025-01-01"))
"""The two years of the shipped extract: the state at the first instant and all publications up to the second."""


def load_shipped() -> list[Recording]:
    """Read all shipped sites, sorted by name. Their sources and licences are in README.md in the same folder."""
    with as_file(files("webstrata.lab") / "data" / "sites") as folder:
        return read_recordings(folder)
