"""Writing of WACZ 1.1.1 files: a web archive in one ZIP file, which replay software can read by range requests.

archive/data.warc.gz            the records, stored without further compression
indexes/index.cdx.gz, .idx      CDXJ lines in gzip members of 300, and the first line of each member
pages/pages.jsonl               captured HTML pages, as entry points
proof/certificate.json          the signed certificate of a site capture
datapackage.json                the list of all files above with their SHA-256
datapackage-digest.json         the SHA-256 of datapackage.json
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from isal import isal_zlib

from webstrata.archive.export import (
    ExportedRecords,
    OpenArchive,
    SelectedRecord,
    Selection,
    atomic_file,
    copy_records,
    selected_records,
)
from webstrata.archive.index import cdxj
from webstrata.archive.index.segment import sorted_segment
from webstrata.clock import iso

CERTIFICATE = "proof/certificate.json"
_LINES_PER_MEMBER = 300
_WARC = "data.warc.gz"
_PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml"})


def export_wacz(
    source: OpenArchive,
    selection: Selection,
    out: Path,
    *,
    software: str,
    at: float,
    title: str = "",
    on_progress: Callable[[int], object] = lambda count: None,
) -> int:
    """Write a selection as a WACZ file; returns the number of captures, including the originals of revisits."""
    records = selected_records(source.index, source.reader, selection)
    return write_wacz(source, records, out, software=software, at=at, title=title, on_progress=on_progress)


def write_wacz(
    source: OpenArchive,
    records: Sequence[SelectedRecord],
    out: Path,
    *,
    software: str,
    at: float,
    title: str = "",
    on_progress: Callable[[int], object] = lambda count: None,
    certify: Callable[[ExportedRecords, dict[str, str]], bytes] | None = None,
) -> int:
    """Write records as a WACZ file; returns the number of captures.

    `certify` returns the certificate for the records and the digests of all files (path -> digest).
    """
    with atomic_file(out) as file, ZipFile(file, "w", ZIP_STORED) as package:
        writer = _ZipWriter(package, at)
        with writer.entry(f"archive/{_WARC}") as write:
            copied = copy_records(source, records, write, _WARC, software, at, on_progress)
        in_order = sorted_segment(copied.lines).splitlines(keepends=True)
        data, index = _zipped_index(in_order)
        writer.add_bytes("indexes/index.cdx.gz", data)
        writer.add_bytes("indexes/index.idx", index)
        writer.add_bytes("pages/pages.jsonl", _pages(in_order))
        if certify is not None:
            writer.add_bytes(CERTIFICATE, certify(copied, writer.digests()))
        writer.finish(software, title)
    return len(copied.lines)


class _ZipWriter:
    """Writes the files of a ZIP file and collects their digests."""

    def __init__(self, package: ZipFile, at: float) -> None:
        self._zip = package
        self._at = at
        self._resources: list[dict[str, Any]] = []

    @contextmanager
    def entry(self, path: str) -> Iterator[Callable[[bytes], object]]:
        """The function that writes the content of a new file."""
        digest, size = hashlib.sha256(), 0
        with self._zip.open(ZipInfo(path, self._date()), "w", force_zip64=True) as entry:

            def write(data: bytes) -> None:
                nonlocal size
                size += len(data)
                digest.update(data)
                entry.write(data)

            yield write
        name = path.rpartition("/")[2]
        self._resources.append({"name": name, "path": path, "hash": f"sha256:{digest.hexdigest()}", "bytes": size})

    def add_bytes(self, path: str, data: bytes) -> None:
        with self.entry(path) as write:
            write(data)

    def digests(self) -> dict[str, str]:
        """Path -> digest of all files written so far."""
        return {resource["path"]: resource["hash"] for resource in self._resources}

    def finish(self, software: str, title: str) -> None:
        about = {
            "profile": "data-package",
            "resources": self._resources,
            "wacz_version": "1.1.1",
            "created": iso(float(int(self._at))),
            "software": software,
        } | ({"title": title} if title else {})
        package = json.dumps(about, indent=2).encode()
        self._zip.writestr(ZipInfo("datapackage.json", self._date()), package)
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(package).hexdigest()}"}
        self._zip.writestr(ZipInfo("datapackage-digest.json", self._date()), json.dumps(digest, indent=2).encode())

    def _date(self) -> tuple[int, int, int, int, int, int]:
        """The time in the format of ZIP files, which begins in 1980."""
        return time.strptime(max(cdxj.timestamp(iso(self._at)), "19800101000000"), "%Y%m%d%H%M%S")[:6]


def _zipped_index(lines: list[bytes]) -> tuple[bytes, bytes]:
    """The lines in gzip members, and a line with the position of each member: `cdxj-gzip-1.0`."""
    data = bytearray()
    index = [b'!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n']
    for start in range(0, len(lines), _LINES_PER_MEMBER):
        group = lines[start : start + _LINES_PER_MEMBER]
        member: bytes = isal_zlib.compress(b"".join(group), 3, 31)
        position = f' {{"offset": {len(data)}, "length": {len(member)}}}\n'.encode()
        index.append(cdxj.sort_key(group[0]) + position)
        data += member
    return bytes(data), b"".join(index)


def _pages(lines: list[bytes]) -> bytes:
    """The list of captured HTML pages, as entry points for readers."""
    pages = [{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}]
    for line in lines:
        entry = cdxj.parse(line)
        if entry and entry.status == "200" and entry.mime in _PAGE_TYPES:
            at = iso(cdxj.at_of(entry.timestamp))
            name = hashlib.sha256(line).hexdigest()[:16]
            pages.append({"id": name, "url": entry.url, "ts": at})
    return "".join(json.dumps(page) + "\n" for page in pages).encode()
