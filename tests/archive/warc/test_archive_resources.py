"""Resource records: content derived from responses."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.archive.conftest import START_AT, Home, check_files, make_capture, open_archive
from webstrata.archive.export import OpenArchive, Selection
from webstrata.archive.index.cdxj import parse
from webstrata.archive.index.segment import reindex
from webstrata.archive.wacz.writer import PackageOrder, export_wacz
from webstrata.archive.warc.record import sha1
from webstrata.records import Capture, Original, Position, Resource, ResourceCapture

PAGE = "http://example.com/a"
DOM = b"<!doctype html><p>rendered"


def resource_capture(
    body: bytes = DOM, at: float = START_AT, kind: str = "text/html; charset=utf-8", name: str = "dom"
) -> ResourceCapture:
    resource = Resource(url=f"urn:{name}:{PAGE}", at=at, content_type=kind, body=body)
    return ResourceCapture(resource=resource, payload=sha1(body))


def revisit_of_resource(first: ResourceCapture, position: Position, at: float) -> ResourceCapture:
    original = Original(
        payload=first.payload,
        record_id=position.record_id,
        at=first.resource.at,
        url=first.resource.url,
        file=position.file,
        offset=position.offset,
    )
    return ResourceCapture(resource=resource_capture(at=at).resource, payload=first.payload, original=original)


def write(folder: Path) -> Home:
    """An archive of a page, its DOM, its screenshot, and an hour later the same DOM again."""

    async def use() -> list[Position]:
        archive = open_archive(folder)
        first: list[Capture | ResourceCapture] = [
            make_capture(PAGE, b"<script>"),
            resource_capture(),
            resource_capture(b"\x89PNG\r\n", kind="image/png", name="view"),
        ]
        positions = await archive.append(first)
        page, same = (
            make_capture(PAGE, b"<script>x", START_AT + 3600),
            revisit_of_resource(resource_capture(), positions[1], START_AT + 3600),
        )
        positions += await archive.append([page, same])
        for position, body in zip(positions, (b"<script>", DOM, b"\x89PNG\r\n", b"<script>x", DOM), strict=True):
            assert (await archive.read(position)).body == body
        await archive.close()
        return positions

    return Home(folder / "archive", folder / "index", asyncio.run(use()))


def test_kinds_and_positions(tmp_path: Path) -> None:
    """A derived resource is a resource record without a request; the same content again is a revisit of it."""
    home = write(tmp_path)
    assert [position.kind for position in home.positions] == ["response", "resource", "resource", "response", "revisit"]


def test_reads_back(tmp_path: Path) -> None:
    """Body, media type, URI and time are read back; a revisit has the original's content and its own time."""
    home = write(tmp_path)

    async def use() -> None:
        archive = open_archive(tmp_path)
        for position, at in ((home.positions[1], START_AT), (home.positions[4], START_AT + 3600)):
            stored = await archive.read(position)
            assert (stored.body, stored.status, stored.at) == (DOM, 200, at)
            assert stored.url == f"urn:dom:{PAGE}"
            assert stored.headers == (("content-type", "text/html; charset=utf-8"),)
        await archive.close()

    asyncio.run(use())


def test_check_is_clean(tmp_path: Path) -> None:
    """The check finds no faults in records and positions of resources, and the index can be rebuilt."""
    home = write(tmp_path)
    payloads = [sha1(b"<script>"), sha1(DOM), sha1(b"\x89PNG\r\n"), sha1(b"<script>x"), sha1(DOM)]
    result = check_files(home.archive, home.index, zip(home.positions, payloads, strict=True))
    assert (result.bad, result.dangling, result.lost, result.findings) == (0, 0, 0, [])
    before = home.segment.read_bytes()
    reindex(home.archive, home.index)
    assert home.segment.read_bytes() == before


def test_index_lines(tmp_path: Path) -> None:
    """Resources are indexed under their own URIs with their media types, never under the page's URL."""
    home = write(tmp_path)
    entries = [parse(line) for line in home.segment.read_bytes().splitlines(keepends=True)]
    rows = sorted((entry.url, entry.mime) for entry in entries if entry is not None)
    assert rows == [
        (PAGE, "text/html"),
        (PAGE, "text/html"),
        (f"urn:dom:{PAGE}", "text/html"),
        (f"urn:dom:{PAGE}", "warc/revisit"),
        (f"urn:view:{PAGE}", "image/png"),
    ]


def test_peers(tmp_path: Path, peer: Callable[[str], str]) -> None:
    """warcio passes all digests, cdxj-indexer prints the same segment, and wacz validates the export."""
    home = write(tmp_path)
    checked = subprocess.run([peer("warcio"), "check", "-v", home.warc], capture_output=True, text=True, check=True)
    assert "failed" not in checked.stdout
    lines = subprocess.run([peer("cdxj-indexer"), "-s", home.warc], capture_output=True, check=True).stdout
    assert lines == home.segment.read_bytes()
    out = tmp_path / "out.wacz"
    source = OpenArchive(home.archive, home.index)
    export_wacz(source, Selection(), out, PackageOrder(software="webstrata/0.1", title="A test"), at=1.79e9)
    source.close()
    validated = subprocess.run([peer("wacz"), "validate", "-f", out], capture_output=True, text=True, check=False)
    assert validated.returncode == 0, validated.stdout + validated.stderr


def test_request_bodies(tmp_path: Path) -> None:
    """The request record of a POST contains the request body."""

    async def use() -> None:
        archive = open_archive(tmp_path)
        head = b"POST /sparql HTTP/1.1\r\nHost: example.com\r\nContent-Length: 9\r\n\r\n"
        await archive.append([make_capture(request_head=head, request_body=b"query=ASK")])
        await archive.close()

    asyncio.run(use())
    (warc,) = (tmp_path / "archive").glob("*.warc.gz")
    text = subprocess.run(["zcat", warc], capture_output=True, check=True).stdout
    assert b"Content-Length: 9\r\n\r\nquery=ASK\r\n\r\n" in text
    assert check_files(tmp_path / "archive", tmp_path / "index").findings == []
