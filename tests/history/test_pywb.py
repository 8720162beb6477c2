"""Imports from a real server: pywb serves WARC files that the archive of this project wrote."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.history.conftest import COPIES, DAY_S, PAGES, START_AT
from tests.history.played_archive import Importer, OpenSource
from webstrata.clock import digits14
from webstrata.history.cdx_query import cdx_query
from webstrata.history.cdx_server import CdxServer
from webstrata.node import Node
from webstrata.ports import CopySource


@pytest.fixture
def importer(tmp_path: Path) -> Importer:
    return Importer(tmp_path)


def cdx(server: str, pattern: str, page_rows: int = 10) -> OpenSource:
    @asynccontextmanager
    async def open_source(node: Node) -> AsyncIterator[CdxServer]:
        async with node.archive_requests() as requests:
            query = cdx_query(pattern)
            yield CdxServer(f"{server}/cdx", query, requests=requests, now=node.clock.now(), page_rows=page_rows)

    return open_source


def timemap(text: str, server: str | None = None) -> OpenSource:
    @asynccontextmanager
    async def open_source(node: Node) -> AsyncIterator[CopySource]:
        async with node.timemaps([text], server=server) as (source,):
            yield source

    return open_source


@pytest.mark.parametrize("page_rows", [7, 10, 30, 1000])
def test_cdx_of_a_page(pywb: str, importer: Importer, page_rows: int) -> None:
    """All copies of a page come in, revisits too, and neighbours have one digest as long as the page did not change."""
    result = importer.run(cdx(pywb, PAGES[0], page_rows))

    assert (result.kept, result.skipped) == (COPIES, {})
    copies = importer.copies(PAGES[0])
    assert [digits14(copy.at) for copy in copies] == [digits14(START_AT + day * DAY_S) for day in range(COPIES)]
    assert [copy.digest == copies[index - 1].digest for index, copy in enumerate(copies)][1:] == [
        day % 3 != 0 for day in range(1, COPIES)
    ]


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [
        ("http://foo.example/*", COPIES + 2),
        ("http://foo.example/docs/*", 1),
        ("*.foo.example", COPIES + 3),
        ("http://none.example/*", 0),
    ],
)
def test_cdx_of_a_site(pywb: str, importer: Importer, pattern: str, kept: int) -> None:
    """Wildcards bring the pages of a folder, a host or a domain; errors that the archive kept are left out."""
    result = importer.run(cdx(pywb, pattern, page_rows=10))

    assert result.kept == kept
    assert result.skipped == ({"error-status": 1} if kept > 1 else {})


@pytest.mark.parametrize("form", ["link", "json", "cdxj"])
def test_timemap(pywb: str, importer: Importer, form: str) -> None:
    """pywb's TimeMaps have all copies of a page; in two of its forms they are rows of the index, with digests."""
    result = importer.run(timemap(PAGES[0], f"{pywb}/timemap/{form}/"))

    assert (result.kept, result.skipped) == (COPIES, {})
    digests = {copy.digest for copy in importer.copies(PAGES[0])}
    assert len(digests) == (1 if form == "link" else COPIES // 3)


def test_timemap_by_its_url(pywb: str, importer: Importer) -> None:
    """The URL of a TimeMap needs no server: the TimeMap names the page."""
    result = importer.run(timemap(f"{pywb}/timemap/link/{PAGES[2]}"))

    assert (result.kept, result.skipped) == (1, {})
    assert len(importer.copies(PAGES[2])) == 1


def test_timemap_of_an_unknown_page(pywb: str, importer: Importer) -> None:
    """A page without copies is no error: the import is finished with none."""
    result = importer.run(timemap("http://none.example/", f"{pywb}/timemap/link/"))

    assert (result.read, result.kept) == (0, 0)
