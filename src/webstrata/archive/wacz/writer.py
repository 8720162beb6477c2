"""Writing of WACZ 1.1.1 files: a web archive in one ZIP file, which replay software can read by range requests.

archive/data.warc.gz            the records, stored without further compression
indexes/index.cdx.gz, .idx      CDXJ lines in gzip members of 300, and the first line of each member
pages/pages.jsonl               the pages at which a capture began; of other packages, all pages
pages/extraPages.jsonl          the other pages of a capture
proof/certificate.json          the certificate of a capture
datapackage.json                the list of all files above with their SHA-256
datapackage-digest.json         the SHA-256 of datapackage.json and the signature of the package
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from isal import isal_zlib
from msgspec import Struct

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
from webstrata.archive.wacz.pages import EXTRA_PAGES, PAGES, ListedPage, PackagePages, PageLists
from webstrata.clock import iso

CERTIFICATE = "proof/certificate.json"
_LINES_PER_MEMBER = 300
_WARC = "data.warc.gz"

Certified = Callable[[ExportedRecords, dict[str, str]], bytes]
"""(the copied records, path -> digest of all files) -> the bytes of the certificate."""
Sign = Callable[[str, float], dict[str, str]]
"""(digest of `datapackage.json`, its time) -> the object `signedData`."""


class PackageOrder(Struct, frozen=True, kw_only=True):
    """What a WACZ file contains besides records and index."""

    software: str
    title: str = ""
    pages: PackagePages = PackagePages()
    certify: Certified | None = None
    sign: Sign | None = None


def export_wacz(
    source: OpenArchive,
    selection: Selection,
    out: Path,
    order: PackageOrder,
    *,
    at: float,
    on_progress: Callable[[int], object] = lambda count: None,
) -> int:
    """Write a selection as a WACZ file; returns the number of captures, including the originals of revisits."""
    records = selected_records(source.index, source.reader, selection)
    return write_wacz(source, records, out, order, now=lambda: at, on_progress=on_progress)


def write_wacz(
    source: OpenArchive,
    records: Sequence[SelectedRecord],
    out: Path,
    order: PackageOrder,
    *,
    now: Callable[[], float],
    on_progress: Callable[[int], object] = lambda count: None,
) -> int:
    """Write records as a WACZ file; returns the number of captures."""
    at = now()
    with atomic_file(out) as file, ZipFile(file, "w", ZIP_STORED) as package:
        writer = _ZipWriter(package, at)
        with writer.entry(f"archive/{_WARC}") as write:
            copied = copy_records(source, records, write, _WARC, order.software, at, on_progress)
        in_order = sorted_segment(copied.lines).splitlines(keepends=True)
        data, index = _zipped_index(in_order)
        writer.add("indexes/index.cdx.gz", [data])
        writer.add("indexes/index.idx", [index])
        pages = PageLists(source, copied, order.pages)
        writer.add(PAGES, pages.seeds())
        if (header := next(others := pages.others(), None)) is not None:
            writer.add(EXTRA_PAGES, chain([header], others))
        if order.certify is not None:
            writer.add(CERTIFICATE, [order.certify(copied, writer.digests())])
        # An authority stamps the signature after the time in it, and not much later.
        writer.finish(order, pages.main_page(), float(int(now())))
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
        name = path.rpartition("/")[2].lower()  # names of resources have no capital letters
        self._resources.append({"name": name, "path": path, "hash": f"sha256:{digest.hexdigest()}", "bytes": size})

    def add(self, path: str, parts: Iterable[bytes]) -> None:
        with self.entry(path) as write:
            for part in parts:
                write(part)

    def digests(self) -> dict[str, str]:
        """Path -> digest of all files written so far."""
        return {resource["path"]: resource["hash"] for resource in self._resources}

    def finish(self, order: PackageOrder, main_page: ListedPage | None, created: float) -> None:
        """Write the description of the package, and its digest with the signature."""
        about: dict[str, Any] = {
            "profile": "data-package",
            "resources": self._resources,
            "wacz_version": "1.1.1",
            "created": iso(created),
            "software": order.software,
        }
        about |= {"title": order.title} if order.title else {}
        if order.pages.seeds:
            about["mainPageUrl"] = order.pages.seeds[0]
        about |= {"mainPageDate": main_page.ts} if main_page is not None else {}
        package = json.dumps(about, indent=2).encode()
        self._zip.writestr(ZipInfo("datapackage.json", self._date()), package)
        value = f"sha256:{hashlib.sha256(package).hexdigest()}"
        digest: dict[str, Any] = {"path": "datapackage.json", "hash": value}
        if order.sign is not None:
            digest["signedData"] = order.sign(value, created)
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
