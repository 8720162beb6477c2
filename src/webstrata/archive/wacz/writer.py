"""WACZ 1.1.1: a web archive in one ZIP file that players read with range requests.

archive/data.warc.gz            the records, stored and not deflated again
indexes/index.cdx.gz, .idx      CDXJ lines in gzip members of 300, and the first line of each member
pages/pages.jsonl               where a reader can begin
proof/certificate.json          of a capture: what it proves, signed
datapackage.json                every file above with its SHA-256
datapackage-digest.json         the SHA-256 of that
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from isal import isal_zlib

from webstrata.archive.export import (
    ExportedRecords,
    OpenArchive,
    SelectedRecord,
    Selection,
    copy_records,
    selected_records,
    write_with_progress,
    atomic_file,
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
    """The selection as one WACZ file; how many captures it holds (originals of revisits come along)."""
    wanted = selected_records(source.index, source.reader, selection)
    return write_wacz(source, wanted, out, software=software, at=at, title=title, on_progress=on_progress)


def write_wacz(
    source: OpenArchive,
    wanted: Sequence[SelectedRecord],
    out: Path,
    *,
    software: str,
    at: float,
    title: str = "",
    on_progress: Callable[[int], object] = lambda count: None,
    certify: Callable[[dict[str, str], dict[str, str]], bytes] | None = None,
) -> int:
    """The wanted records as one WACZ file; how many captures.

    `certify` makes the certificate from the digests of all records (id -> SHA-256) and of all files (path -> digest).
    """
    with atomic_file(out) as file, ZipFile(file, "w", ZIP_STORED) as package:
        made = _ZipWriter(package, at)
        copied = ExportedRecords([], {})

        def copy(write: Callable[[bytes], object]) -> None:
            nonlocal copied
            copied = copy_records(source, wanted, write_with_progress(write, on_progress), _WARC, software, at)

        made.add(f"archive/{_WARC}", copy)
        in_order = sorted_segment(copied.lines).splitlines(keepends=True)
        data, index = _zipped_index(in_order)
        made.add_bytes("indexes/index.cdx.gz", data)
        made.add_bytes("indexes/index.idx", index)
        made.add_bytes("pages/pages.jsonl", _pages(in_order))
        if certify is not None:
            made.add_bytes(CERTIFICATE, certify(copied.digests, made.digests()))
        made.finish(software, title)
    return len(copied.lines)


class _ZipWriter:
    """Files of a ZIP with their digests."""

    def __init__(self, package: ZipFile, at: float) -> None:
        self._zip = package
        self._at = at
        self._resources: list[dict[str, Any]] = []

    def add(self, path: str, fill: Callable[[Callable[[bytes], object]], object]) -> None:
        digest, size = hashlib.sha256(), 0
        with self._zip.open(ZipInfo(path, self._date()), "w", force_zip64=True) as entry:

            def write(data: bytes) -> None:
                nonlocal size
                size += len(data)
                digest.update(data)
                entry.write(data)

            fill(write)
        name = path.rpartition("/")[2]
        self._resources.append({"name": name, "path": path, "hash": f"sha256:{digest.hexdigest()}", "bytes": size})

    def add_bytes(self, path: str, data: bytes) -> None:
        self.add(path, lambda write: write(data))

    def digests(self) -> dict[str, str]:
        """Every file so far with its digest."""
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
        """As ZIP files can say it: not before 1980."""
        stamp = max(cdxj.timestamp(iso(self._at)), "19800101000000")
        return (
            int(stamp[:4]),
            int(stamp[4:6]),
            int(stamp[6:8]),
            int(stamp[8:10]),
            int(stamp[10:12]),
            int(stamp[12:14]),
        )


def _zipped_index(lines: list[bytes]) -> tuple[bytes, bytes]:
    """The lines in gzip members, and a line for each member with its place: `cdxj-gzip-1.0`."""
    data = bytearray()
    index = [b'!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n']
    for at in range(0, len(lines), _LINES_PER_MEMBER):
        group = lines[at : at + _LINES_PER_MEMBER]
        member: bytes = isal_zlib.compress(b"".join(group), 3, 31)
        place = f' {{"offset": {len(data)}, "length": {len(member)}}}\n'.encode()
        index.append(cdxj.sort_key(group[0]) + place)
        data += member
    return bytes(data), b"".join(index)


def _pages(lines: list[bytes]) -> bytes:
    """Captured documents, as places to begin."""
    pages = [{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}]
    for line in lines:
        entry = cdxj.parse(line)
        if entry and entry.status == "200" and entry.mime in _PAGE_TYPES:
            at = iso(cdxj.at_of(entry.timestamp))
            name = hashlib.sha256(line).hexdigest()[:16]
            pages.append({"id": name, "url": entry.url, "ts": at})
    return "".join(json.dumps(page) + "\n" for page in pages).encode()
