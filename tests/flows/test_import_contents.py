"""Copies from contents: the layers that only a content has, revisits, and what is left out."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from tests.archive.foreign_warc import http, record, record_id, response, revisit, sha1_base32, write_warc
from tests.history.reading import batches_of, counts_of
from webstrata.archive.contents import ContentFile
from webstrata.clock import parse_instant
from webstrata.columns import COPY_LINK, LinkKind
from webstrata.flows import import_contents
from webstrata.flows.crawl.parse import ParseJob, parse_content
from webstrata.flows.import_contents import ContentSource
from webstrata.flows.original_contents import OriginalContents
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.wanted_pages import WantedPages, wanted_pages

URL = "http://example.org/"
NOW = parse_instant("20260101000000")
PAGE = b"<html><title>T</title><body><p>Some words of a page.</p><a href='/a'>a</a><a href='http://b.org/'>b</a>"


class _CountingPool(ParserPool):
    """Parses in this process, and counts."""

    def __init__(self) -> None:
        super().__init__(0)
        self.parsed = 0

    async def submit(self, job: ParseJob, *, lane: str = "") -> import_contents.ParsedContent:
        self.parsed += 1
        return await super().submit(job, lane=lane)


def _source(path: Path, *, wanted: WantedPages | None = None, archive: str = "", pool: ParserPool | None = None,
            originals: OriginalContents | None = None, max_body_bytes: int = 10**6) -> ContentSource:  # fmt: skip
    return ContentSource(
        key=str(path),
        read=ContentFile(path, max_body_bytes=max_body_bytes).read,
        parsers=pool or ParserPool(0),
        originals=originals or OriginalContents(),
        wanted=wanted or WantedPages(),
        archive=archive,
        default_archive="file",
        now=NOW,
        max_decoded=10**7,
    )


def _day(number: int) -> str:
    return f"2020-01-{number:02}T00:00:00Z"


def test_layers_are_those_of_visits(tmp_path: Path) -> None:
    """A copy has the digest of the payload, the text and the links that a visit of the same content would have."""
    path = write_warc(tmp_path / "a.warc.gz", [response(URL, _day(1), PAGE)])
    batch = batches_of(_source(path))[0]
    visit = parse_content(ParseJob(url=URL, body=PAGE, content_type="text/html", max_decoded=10**7))
    copy = batch.copies[0]
    assert (copy.digest, copy.text, copy.links) == (visit.payload, visit.fingerprint.text, visit.seen_links)
    assert copy.text
    kinds = np.frombuffer(copy.links or b"", COPY_LINK)["kind"].tolist()
    assert sorted(kinds) == [LinkKind.INTERNAL, LinkKind.EXTERNAL]
    assert [(one.url, one.features["words"] > 0) for one in batch.features] == [(URL, True)]
    assert (copy.archive, copy.status) == ("file", 200)


def test_revisits_have_the_layers_of_their_original(tmp_path: Path) -> None:
    """By the identifier or by the digest; without its original, a revisit has its digest only."""
    id_ = record_id()
    sha1 = sha1_base32(PAGE)
    records = [
        revisit(URL, _day(1), WARC_Payload_Digest=sha1),
        response(URL, _day(2), PAGE, WARC_Record_ID=id_, WARC_Payload_Digest=sha1),
        revisit(URL, _day(3), WARC_Payload_Digest=sha1),
        revisit(URL, _day(4), http(b"", 304), WARC_Refers_To=id_),
        revisit("http://example.org/b", _day(5), WARC_Payload_Digest=sha1, WARC_Refers_To=id_),
        revisit(URL, _day(6), WARC_Payload_Digest=sha1_base32(b"other"), WARC_Refers_To=id_),
        revisit(URL, _day(7), http(b"", 304)),
    ]
    copies = batches_of(_source(write_warc(tmp_path / "a.warc.gz", records)))[0].copies
    text = copies[1].text
    assert [copy.text for copy in copies] == ["", text, text, text, text, "", ""]
    assert [copy.digest for copy in copies] == [sha1, sha1, sha1, sha1, sha1, sha1_base32(b"other"), ""]
    assert copies[3].links == copies[1].links


def test_originals_in_another_file(tmp_path: Path) -> None:
    """The files of one import share their originals."""
    originals = OriginalContents()
    first = write_warc(tmp_path / "a.warc.gz", [response(URL, _day(1), PAGE)])
    second = write_warc(tmp_path / "b.warc.gz", [revisit(URL, _day(2), WARC_Payload_Digest=sha1_base32(PAGE))])
    text = batches_of(_source(first, originals=originals))[0].copies[0].text
    assert batches_of(_source(second, originals=originals))[0].copies[0].text == text


def test_what_is_left_out(tmp_path: Path) -> None:
    """Wrong digests, errors, soft errors, other schemes, wrong and future dates, damage: each has its reason."""
    soft_404 = b"<html><title>404 Not Found</title><h1>Not Found</h1><p>The requested URL was not found on this server."
    records = [
        response(URL, _day(1), PAGE, WARC_Payload_Digest=sha1_base32(b"other")),
        response(URL, _day(2), PAGE, 404),
        response(URL, _day(3), b"", 302, "Location: /a"),
        response(URL, _day(4), soft_404),
        response("dns:example.org", _day(5), b"x"),
        response("http://exa mple.org:x/", _day(6), PAGE),
        response(URL, "today", PAGE),
        response(URL, "2031-01-01T00:00:00Z", PAGE),
        response(URL, _day(7), PAGE),
        record("metadata", URL, _day(7), b"via: x"),
    ]
    counts = counts_of(batches_of(_source(write_warc(tmp_path / "a.warc.gz", records))))
    assert counts == {
        "kept": 1, "bad-checksum": 1, "error-status": 3, "not-a-page": 1, "invalid-url": 1, "invalid-date": 1,
        "future": 1,
    }  # fmt: skip


def test_contents_are_parsed_once(tmp_path: Path) -> None:
    """The same content of a page, an unwanted page, a cut one and one that is too large are not parsed."""
    path = write_warc(tmp_path / "a.warc.gz", [response(URL, _day(n), PAGE) for n in range(1, 6)])
    pool, originals = _CountingPool(), OriginalContents()
    batches_of(_source(path, pool=pool, originals=originals))
    first = pool.parsed
    assert len({copy.text for copy in batches_of(_source(path, pool=pool, originals=originals))[0].copies}) == 1
    assert pool.parsed == first
    pool = _CountingPool()
    batches_of(_source(path, pool=pool, wanted=wanted_pages(["http://other.org/*"])))
    large = batches_of(_source(path, pool=pool, max_body_bytes=10))[0].copies
    cut = write_warc(tmp_path / "b.warc.gz", [response(URL, _day(1), PAGE, WARC_Truncated="length")])
    assert [copy.digest for copy in batches_of(_source(cut, pool=pool))[0].copies] == [""]
    assert [copy.text for copy in large] == [""] * 5
    assert pool.parsed == 0


def test_resumed_reading_gives_the_same_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the position of any batch, reading goes on with the same copies."""
    monkeypatch.setattr(import_contents, "_BATCH_CONTENTS", 2)
    records = [response(f"http://example.org/{n}", _day(n + 1), PAGE + b"%d" % n) for n in range(7)]
    path = write_warc(tmp_path / "a.warc.gz", records)
    batches = batches_of(_source(path))
    assert counts_of(batches) == {"kept": 7}
    assert len(batches) == 4
    for index, batch in enumerate(batches):
        assert batches_of(_source(path), batch.position) == batches[index + 1 :]


def test_hostile_contents_do_not_end_the_import(tmp_path: Path) -> None:
    """A content that expands without limit, and nesting without end, are compared by their bytes."""
    import gzip

    bomb = gzip.compress(b"\0" * 50_000_000)
    deep = b"<div>" * 200_000
    records = [
        response(URL, _day(1), bomb, 200, "Content-Encoding: gzip"),
        response("http://example.org/deep", _day(2), deep),
        response("http://example.org/a", _day(3), PAGE),
    ]
    path = write_warc(tmp_path / "a.warc.gz", records)

    async def read() -> dict[str, int]:
        pool = ParserPool(1)
        pool.start()
        try:
            batches = [batch async for batch in _source(path, pool=pool).batches()]
        finally:
            pool.close()
        return counts_of(batches)

    assert asyncio.run(read()) == {"kept": 3}
