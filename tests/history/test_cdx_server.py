"""Imports from CDX servers: dialects, paging, refusals, broken answers, resumption and the cache."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from tests.fetch.local_site import Answer, Asked, Site, serving
from tests.history.played_archive import (
    NAMES,
    PAGE,
    Dialect,
    Importer,
    Killed,
    OpenSource,
    PlayedArchive,
    capture,
    captures,
)
from webstrata.clock import digits14
from webstrata.errors import SourceError, UsageError
from webstrata.history.cdx_query import cdx_query
from webstrata.history.cdx_server import CdxServer
from webstrata.node import Node


def asking(
    site: Site, pattern: str = PAGE, *, page_rows: int = 100, refresh: bool = False, **more: float
) -> OpenSource:
    """The source for a query to the served archive."""

    @asynccontextmanager
    async def open_source(node: Node) -> AsyncIterator[CdxServer]:
        async with node.archive_requests(refresh=refresh) as requests:
            query = cdx_query(pattern, more.get("since"), more.get("until"))
            yield CdxServer(f"{site.url}/cdx", query, requests=requests, now=node.clock.now(), page_rows=page_rows)

    return open_source


@pytest.fixture
def importer(tmp_path: Path) -> Importer:
    return Importer(tmp_path)


@pytest.mark.parametrize("dialect", ["wayback", "text", "pywb", "pages"])
@pytest.mark.parametrize("count", [0, 99, 100, 101, 1000, 1234])
def test_every_dialect_gives_every_row_once(importer: Importer, dialect: Dialect, count: int) -> None:
    """A list of captures of any length comes in whole, once, and in order, whatever way the server continues."""
    with serving(PlayedArchive(captures(count), dialect)) as site:
        result = importer.run(asking(site))

    assert (result.read, result.kept, result.skipped) == (count, count, {})
    stored = importer.copies(PAGE) if count else []
    assert [digits14(row.at) for row in stored] == [row[1] for row in captures(count)]


@pytest.mark.parametrize("dialect", ["wayback", "text", "pywb", "pages"])
@pytest.mark.parametrize("batches", [1, 2])
def test_an_interrupted_import_continues(importer: Importer, dialect: Dialect, batches: int) -> None:
    """After an end in the middle the same import goes on at its position: each row is read and counted once."""
    archive = PlayedArchive(captures(450), dialect)
    with serving(archive) as site:
        with pytest.raises(Killed):
            importer.run(asking(site), stop_after=batches)
        result = importer.run(asking(site))
        again = importer.run(asking(site))

    assert (result.read, result.kept, result.skipped) == (450, 450, {})
    assert result.continued_from > 0
    assert again.finished_before is not None
    assert len(importer.copies(PAGE)) == 450


def test_an_import_that_is_repeated_asks_nothing(importer: Importer) -> None:
    """`--restart` reads the answers of the cache, `--refresh` asks again; neither adds anything."""
    archive = PlayedArchive(captures(250))
    with serving(archive) as site:
        importer.run(asking(site))
        asked = len(archive.queries)
        restarted = importer.run(asking(site), restart=True)
        assert len(archive.queries) == asked
        refreshed = importer.run(asking(site, refresh=True), restart=True)

    assert len(archive.queries) == 2 * asked
    for result in (restarted, refreshed):
        assert (result.kept, result.skipped) == (0, {"duplicate": 250})


def test_the_cache_forgets_an_open_end(importer: Importer) -> None:
    """After a day the last answer is requested again, and brings new captures; earlier answers of a page are kept."""
    archive = PlayedArchive(captures(150))
    with serving(archive) as site:
        importer.run(asking(site))
        archive.rows = captures(160)
        at_once = importer.run(asking(site), restart=True)
        later = importer.run(_later(importer, asking(site)), restart=True)

    assert (at_once.kept, later.kept) == (0, 10)
    assert ["resumeKey" in query for query in archive.queries] == [False, True, True]


def _later(importer: Importer, open_source: OpenSource) -> OpenSource:
    @asynccontextmanager
    async def later(node: Node) -> AsyncIterator[CdxServer]:
        await importer.clock.sleep_until(importer.clock.now() + 2 * 86_400)
        async with open_source(node) as source:
            yield source  # type: ignore[misc]

    return later


def test_requests_are_spaced(importer: Importer) -> None:
    """At most 24 requests a minute are sent, also across imports, and robots.txt is not requested."""
    times: list[float] = []

    def note(asked: Asked) -> None:
        times.append(importer.clock.now())
        assert "cdx" in asked.target

    archive = PlayedArchive(captures(1000))
    archive.faults.append(note)
    with serving(archive) as site:
        importer.run(asking(site))

    assert len(times) == 10
    assert min(after - before for before, after in pairwise(times)) >= 2.5


@pytest.mark.parametrize(
    ("answer", "least_s"),
    [
        (Answer(429), 60.0),
        (Answer(429, {"Retry-After": "1"}), 60.0),
        (Answer(429, {"Retry-After": "300"}), 300.0),
        (Answer(503, {"Retry-After": "120"}), 120.0),
        (Answer(503), 60.0),
        (Answer(500), 10.0),
        (Answer(502, body=b"<html>bad gateway"), 10.0),
        (Answer(200, body=b"<html><title>Please wait</title>"), 10.0),
        (Answer(200, body=b'[["urlkey", "timestamp", "orig'), 10.0),
        (Answer(200, {"Content-Encoding": "gzip"}, b"\x1f\x8b\x08\x00"), 10.0),
        (Answer(200, body=b"[[", length=1000), 10.0),
    ],
)
def test_one_bad_answer_is_asked_again(importer: Importer, answer: Answer, least_s: float) -> None:
    """After a refusal or an unusable answer the import waits, asks again and goes on."""
    faults = iter([answer])
    archive = PlayedArchive(captures(150))
    archive.faults.append(lambda asked: next(faults, None) if "resumeKey" in asked.target else None)
    with serving(archive) as site:
        result = importer.run(asking(site))

    assert result.kept == 150
    assert importer.clock.now() >= 1_790_000_000.0 + least_s


@pytest.mark.parametrize(
    ("answer", "told", "requests"),
    [
        (Answer(429), "HTTP status 429", 5),
        (Answer(429, {"Retry-After": "3600"}), "HTTP status 429, until 20", 1),
        (Answer(503), "HTTP status 503", 5),
        (Answer(500), "HTTP status 500", 5),
        (Answer(403, body=b"Blocked Site Error"), "HTTP status 403 (Blocked Site Error)", 1),
        (Answer(404), "HTTP status 404: there is no CDX server", 1),
        (Answer(200, body=b"<!doctype html><title>Log in</title>"), "HTML or XML instead of an index (Log in)", 5),
        (Answer(200, body=b'{"message": "no"}'), "no rows of an index", 5),
        (Answer(200, body=b"org.archive.Exception: no\n"), "no rows of an index", 5),
        (Answer(200, body=b'[["a", "b"], ["c", "d"]]'), "without the fields", 5),
        (Answer(302, {"Location": "http://10.0.0.1/"}), "10.0.0.1", 1),
        (Answer(302, {"Location": "/cdx?resumeKey=x"}), "redirect loop", 2),
    ],
)
def test_a_server_that_does_not_answer(importer: Importer, answer: Answer, told: str, requests: int) -> None:
    """The import ends with a message after a bounded number of tries; what was read before is kept and continued."""
    is_broken = True
    archive = PlayedArchive(captures(150))
    archive.faults.append(lambda asked: answer if is_broken and "resumeKey" in asked.target else None)
    with serving(archive) as site:
        with pytest.raises(SourceError) as raised:
            importer.run(asking(site))
        assert told in str(raised.value)
        assert "the same command continues there" in str(raised.value)
        assert len(archive.queries) == 1 + requests
        assert len(importer.copies(PAGE)) == 100
        is_broken = False
        result = importer.run(_later(importer, asking(site)))

    assert (result.kept, result.continued_from) == (150, 100)


def test_slow_answers_are_divided(importer: Importer) -> None:
    """If answers of many rows come to no end, fewer rows are requested."""
    archive = PlayedArchive(captures(900))
    archive.faults.append(lambda asked: Answer(504) if archive.queries[-1].get("limit", "0") > "200" else None)
    with serving(archive) as site:
        result = importer.run(asking(site, page_rows=800))

    assert result.kept == 900
    assert {query["limit"] for query in archive.queries} == {"800", "400", "200"}


def test_an_endless_list_ends(importer: Importer) -> None:
    """A server that names the same resume key for ever does not keep the import for ever."""
    rows = [NAMES, *captures(5), [], ["key"]]
    body = json.dumps(rows).encode()
    with serving(lambda asked: Answer(body=body)) as site, pytest.raises(SourceError, match="repeats the resume key"):
        importer.run(asking(site))


def test_redirects_are_followed(importer: Importer) -> None:
    """A redirect to another host is followed within the address guard; the archive keeps the name of the server."""
    with serving(PlayedArchive(captures(3))) as archive:
        moved = lambda asked: Answer(301, {"Location": f"http://other.example:{archive.port}{asked.target}"})  # noqa: E731
        with serving(moved) as site:
            importer.run(asking(site))

    assert {row.archive for row in importer.copies(PAGE)} == {"127.0.0.1"}


def test_copies_of_a_page_are_those_of_its_key(importer: Importer) -> None:
    """A page's copies with other schemes and `www.` count for it; another page that the server adds does not."""
    rows = [
        capture("http://www.foo.example/", "20200101000000", "A"),
        capture("https://foo.example:443/", "20200102000000", "B"),
        capture("http://foo.example/", "20200102000000", "C"),
        capture("http://foo.example/", "20200103000000", "C", "301"),
    ]
    rows.append([rows[0][0], "20200104000000", "http://foo.example/other", "text/html", "200", "D" * 32, "1"])
    with serving(PlayedArchive(rows)) as site:
        result = importer.run(asking(site, "https://foo.example/"))

    assert result.skipped == {"duplicate": 1, "error-status": 1, "outside": 1}
    assert [row.digest for row in importer.copies("https://foo.example/")] == [f"sha1:{'A' * 32}", f"sha1:{'B' * 32}"]


@pytest.mark.parametrize("pattern", ["foo.example/*", "http://foo.example/*", "*.foo.example"])
def test_a_site(importer: Importer, pattern: str) -> None:
    """A wildcard brings all pages of a site, each with its own URL."""
    rows = [capture(f"http://foo.example/{name}", "20200101000000", "A") for name in ("", "a", "b")]
    with serving(PlayedArchive(rows)) as site:
        result = importer.run(asking(site, pattern))

    assert result.kept == 3
    assert len(importer.copies("http://foo.example/b")) == 1


def test_the_range_of_times_is_asked_for(importer: Importer) -> None:
    """--from and --to are part of the request, and of the key of the import."""
    archive = PlayedArchive(captures(100))
    with serving(archive) as site:
        result = importer.run(asking(site, since=1_577_923_200.0, until=1_577_934_000.0))

    assert archive.queries[0]["from"] == "20200102000000"
    assert archive.queries[0]["to"] == "20200102030000"
    assert result.kept == 4
    assert "from 2020-01-02T00:00:00Z to 2020-01-02T03:00:00Z" in result.key


def test_a_position_of_another_kind(importer: Importer) -> None:
    """A stored position that cannot be read is reported."""
    with serving(PlayedArchive([])) as site, pytest.raises(UsageError, match="--restart"):
        importer.run(_at(asking(site), "{"))


def _at(open_source: OpenSource, position: str) -> OpenSource:
    class Moved:
        def __init__(self, source: CdxServer) -> None:
            self.key = source.key
            self.batches: Callable[[str], object] = lambda _: source.batches(position)

    @asynccontextmanager
    async def moved(node: Node) -> AsyncIterator[Moved]:
        async with open_source(node) as source:
            yield Moved(source)  # type: ignore[arg-type]

    return moved  # type: ignore[return-value]
