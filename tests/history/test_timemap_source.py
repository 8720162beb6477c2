"""TimeMaps from servers: paging, indexes, aggregators, and servers that fail."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.fetch.local_site import Answer, Asked, Site, serving
from tests.history.played_archive import Importer, Killed, OpenSource
from webstrata.errors import SourceError
from webstrata.node import Node
from webstrata.ports import CopySource

PAGE = "http://foo.example/"
_MONTHS = ("Jan", "Feb", "Mar", "Apr")


@pytest.fixture
def importer(tmp_path: Path) -> Importer:
    return Importer(tmp_path)


def asking(site: Site, *, refresh: bool = False) -> OpenSource:
    @asynccontextmanager
    async def open_source(node: Node) -> AsyncIterator[CopySource]:
        async with node.timemaps([PAGE], server=f"{site.url}/timemap/link/", refresh=refresh) as (source,):
            yield source

    return open_source


class PagedMaps:
    """An archive whose TimeMaps have three mementos each, and name the one before and the one after."""

    def __init__(self, pages: int, *, has_index: bool = False) -> None:
        self.pages = pages
        self.has_index = has_index
        self.broken: Answer | None = None
        self.targets: list[str] = []

    def __call__(self, asked: Asked) -> Answer:
        self.targets.append(asked.target)
        path = asked.target.removeprefix("/timemap/link/")
        number = int(path.partition("/")[0]) if path[0].isdigit() else 0
        if self.broken is not None and number == 2:
            return self.broken
        links = [f'<{PAGE}>; rel="original"']
        if self.has_index and not number:
            links += [self._map(page) for page in range(1, self.pages + 1)]
        else:
            number = number or 1
            links += [self._map(page) for page in (number - 1, number + 1) if 0 < page <= self.pages]
            links += [
                f'<http://archive.example/2015{number:02d}{day:02d}000000/{PAGE}>; rel="memento"; '
                f'datetime="Fri, {day:02d} {_MONTHS[number - 1]} 2015 00:00:00 GMT"'
                for day in (1, 2, 3)
            ]
        return Answer(headers={"Content-Type": "application/link-format"}, body=",\n".join(links).encode())

    @staticmethod
    def _map(number: int) -> str:
        return f'</timemap/link/{number}/{PAGE}>; rel="timemap"; type="application/link-format"; from="a"; until="b"'


@pytest.mark.parametrize("has_index", [False, True])
def test_every_page_is_read_once(importer: Importer, has_index: bool) -> None:
    """TimeMaps that name each other, or an index that names them, bring all mementos, and none twice."""
    maps = PagedMaps(4, has_index=has_index)
    with serving(maps) as site:
        result = importer.run(asking(site))

    assert len(maps.targets) == len(set(maps.targets))
    assert {row.archive for row in importer.copies(PAGE)} == {"archive.example"}
    assert result.kept == 12


def test_an_interrupted_import_continues(importer: Importer) -> None:
    """After an end in the middle the import goes on with the next TimeMap."""
    with serving(PagedMaps(4, has_index=True)) as site:
        with pytest.raises(Killed):
            importer.run(asking(site), stop_after=4)
        result = importer.run(asking(site))

    assert (result.read, result.kept, result.skipped) == (12, 12, {})
    assert result.continued_from == 6


def test_a_page_that_fails(importer: Importer) -> None:
    """A TimeMap in the middle that cannot be read ends the import with a message; the same command continues."""
    maps = PagedMaps(4, has_index=True)
    maps.broken = Answer(500)
    with serving(maps) as site:
        with pytest.raises(
            SourceError, match=r"2/http://foo.example/ cannot be read: HTTP status 500.*continues there"
        ):
            importer.run(asking(site))
        maps.broken = None
        result = importer.run(asking(site))

    assert (result.kept, result.continued_from) == (12, 3)


def test_a_cached_timemap(importer: Importer) -> None:
    """A TimeMap is requested again after a day, or with `refresh`."""
    maps = PagedMaps(1)
    with serving(maps) as site:
        importer.run(asking(site))
        importer.run(asking(site), restart=True)
        assert len(maps.targets) == 1
        importer.run(asking(site, refresh=True), restart=True)

    assert len(maps.targets) == 2


def test_an_endless_answer(tmp_path: Path) -> None:
    """An answer above the limit on sizes ends the import with a message, not the memory."""
    importer = Importer(tmp_path, max_body=100_000)
    body = b"<http://a.example/>; rel=memento,\n" * 10_000
    with serving(lambda _: Answer(body=body)) as site, pytest.raises(SourceError, match="larger than 100000 bytes"):
        importer.run(asking(site))


def test_an_aggregator(importer: Importer) -> None:
    """Of an aggregator's TimeMap each copy has the archive that holds it; those of one second are one copy."""
    mementos = [
        {"datetime": "2015-01-01T00:00:00Z", "uri": f"http://one.example/20150101000000/{PAGE}"},
        {"datetime": "2015-01-01T00:00:00Z", "uri": f"http://two.example/20150101000000/{PAGE}"},
        {"datetime": "2015-01-02T00:00:00Z", "uri": f"http://two.example/20150102000000/{PAGE}"},
    ]
    body = json.dumps({"original_uri": PAGE, "mementos": {"list": mementos}}).encode()
    with serving(lambda asked: Answer(body=body)) as site:
        result = importer.run(asking(site))

    assert result.skipped == {"duplicate": 1}
    assert [row.archive for row in importer.copies(PAGE)] == ["one.example", "two.example"]


def test_rows_of_an_index(importer: Importer) -> None:
    """The Wayback Machine answers `timemap/json` with rows of its index: they have digests."""
    rows = [
        ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest"],
        ["example,foo)/", "20150101000000", "http://www.foo.example:80/", "text/html", "200", "A" * 32],
    ]
    with serving(lambda asked: Answer(body=json.dumps(rows).encode())) as site:
        importer.run(asking(site))

    assert [row.digest for row in importer.copies(PAGE)] == [f"sha1:{'A' * 32}"]
