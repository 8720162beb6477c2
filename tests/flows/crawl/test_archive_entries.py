"""Conditional requests and revisit records: a content that is not sent again is still found in the archive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, moved, reply
from webstrata.flows.crawl.archive_entries import BatchEntries, new_originals
from webstrata.records import Exchange, Outcome, Page, Position, Resource, VisitResult

PAGE, OTHER, THIRD = "http://a.test/page", "http://b.test/copy", "http://c.test/copy"
BODY = "<p>the same words</p>"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
DATE = "Mon, 02 Jan 2023 00:00:00 GMT"


@pytest.mark.parametrize(
    ("sent", "asked_with"),
    [
        ({"ETag": '"v1"', "Last_Modified": DATE}, {"if-none-match": '"v1"'}),
        ({"ETag": 'W/"v1"'}, {"if-none-match": 'W/"v1"'}),
        ({"Last_Modified": DATE}, {"if-modified-since": DATE}),
    ],
)
def test_not_modified_is_same_and_refers_to_the_original(
    run_scenario: Callable[..., None], sent: dict[str, Any], asked_with: dict[str, str]
) -> None:
    """A 304 is the outcome `same`; each revisit record refers to the record with the content."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply(BODY, **sent), reply("", 304, kind="", **sent))
        await archiver.watch(PAGE)
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "same", "same"]
        unconditional, *conditional = archiver.servers.requests("a.test", "/page")
        assert not [name for name in unconditional.headers if name.startswith("if-")]
        for request in conditional:
            assert {name: value for name, value in request.headers.items() if name.startswith("if-")} == asked_with
        original, *revisits = archiver.records(PAGE)
        assert original.kind == "response"
        for record in revisits:
            assert (record.kind, record.headers["WARC-Profile"]) == ("revisit", NOT_MODIFIED)
            assert record.headers["WARC-Refers-To"] == original.headers["WARC-Record-ID"]
            assert record.headers["WARC-Refers-To-Date"] == original.headers["WARC-Date"]
        visits = await archiver.visits(PAGE)
        assert {visit.payload for visit in visits} == {original.headers["WARC-Payload-Digest"]}
        assert len({visit.raw for visit in visits}) == 1
        assert (await archiver.page(PAGE)).changes == 0
        last = visits[-1].position
        assert last is not None
        reader = archiver.node.reader()
        assert reader.read(last).body == BODY.encode()
        reader.close()

    run_scenario(scenario)


def test_not_modified_without_a_copy_is_a_failure(run_scenario: Callable[..., None]) -> None:
    """A 304 without an archived copy is logged as a failure, and the next request is unconditional."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply("", 304, kind="", ETag='"x"'), reply(BODY, ETag='"y"'))
        await archiver.watch(PAGE)
        await archiver.crawl()
        assert await archiver.outcomes(PAGE) == ["not-modified-without-copy"]
        await archiver.crawl(after_s=DAY_S)
        assert await archiver.outcomes(PAGE) == ["not-modified-without-copy", "new"]
        assert not [name for name in archiver.servers.requests("a.test", "/page")[1].headers if name.startswith("if-")]

    run_scenario(scenario)


def test_not_modified_for_an_unconditional_request_is_a_failure(run_scenario: Callable[..., None]) -> None:
    """A 304 to an unconditional request proves nothing about the page, even if a copy is archived."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply(BODY), reply("", 304, kind=""), reply("<p>other</p>"))
        await archiver.watch(PAGE)
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "not-modified-without-copy", "changed"]

    run_scenario(scenario)


def test_a_truncated_copy_is_never_requested_conditionally(run_scenario: Callable[..., None]) -> None:
    """A body truncated at the limit has no complete copy to which a 304 could refer."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply("x" * 5000, ETag='"long"'))
        await archiver.watch(PAGE)
        await archiver.crawl()
        await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "same"]
        assert [visit.truncated for visit in await archiver.visits(PAGE)] == ["length", "length"]
        assert "if-none-match" not in archiver.servers.requests("a.test", "/page")[1].headers
        assert {record.headers["WARC-Truncated"] for record in archiver.records(PAGE)} == {"length"}

    run_scenario(scenario, "fetch.max_body=1KB")


def test_a_gone_page_is_requested_unconditionally(run_scenario: Callable[..., None]) -> None:
    """The validators of a gone page are not sent: a 304 would not say whether it is back."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply(BODY, ETag='"v"'), reply("", 404), reply(BODY, ETag='"v"'))
        await archiver.watch(PAGE)
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "gone", "back"]
        assert [("if-none-match" in request.headers) for request in archiver.servers.requests("a.test", "/page")] == [
            False,
            True,
            False,
        ]

    run_scenario(scenario)


def test_identical_payloads_refer_to_the_first_and_never_to_a_revisit(run_scenario: Callable[..., None]) -> None:
    """The same bytes at other URLs and other times are revisits of the one record that holds them."""

    async def scenario(archiver: Archiver) -> None:
        for url in (PAGE, OTHER, THIRD):
            archiver.servers.serve(url, reply(BODY))
        for url in (PAGE, OTHER, THIRD):
            await archiver.watch(url)
            await archiver.crawl()
        await archiver.crawl(after_s=2 * DAY_S)
        original, *revisits = [record for record in archiver.records() if not record.url.endswith("robots.txt")]
        assert (original.kind, original.url, len(revisits)) == ("response", PAGE, 5)
        for record in revisits:
            assert (record.kind, record.headers["WARC-Profile"]) == ("revisit", IDENTICAL)
            assert record.headers["WARC-Refers-To"] == original.headers["WARC-Record-ID"]
            assert record.headers["WARC-Refers-To-Target-URI"] == PAGE
        for url in (PAGE, OTHER, THIRD):
            assert (await archiver.outcomes(url))[0] == Outcome.NEW
            last = (await archiver.last(url)).position
            assert last is not None
            reader = archiver.node.reader()
            assert reader.read(last).body == BODY.encode()
            reader.close()

    run_scenario(scenario)


def test_a_304_refers_to_the_original_even_at_another_url(run_scenario: Callable[..., None]) -> None:
    """If the record of a page's content is a revisit, its 304 refers to the record with the bytes."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply(BODY))
        archiver.servers.serve(OTHER, reply(BODY, ETag='"o"'), reply("", 304, kind="", ETag='"o"'))
        await archiver.watch(PAGE)
        await archiver.crawl()
        await archiver.watch(OTHER)
        await archiver.crawl()
        await archiver.crawl(after_s=2 * DAY_S)
        (original, *_) = archiver.records(PAGE)
        first, second = archiver.records(OTHER)
        assert (first.headers["WARC-Profile"], second.headers["WARC-Profile"]) == (IDENTICAL, NOT_MODIFIED)
        assert second.headers["WARC-Refers-To"] == original.headers["WARC-Record-ID"]

    run_scenario(scenario)


def test_validators_stay_with_their_own_url(run_scenario: Callable[..., None]) -> None:
    """After a redirect the target does not get the page's validators, nor the page those of the target."""

    async def scenario(archiver: Archiver) -> None:
        target = "http://b.test/target"

        def first_content_then_redirect(request: ReceivedRequest) -> Reply:
            return moved(target) if "if-none-match" in request.headers else reply(BODY, ETag='"page"')

        archiver.servers.serve(PAGE, first_content_then_redirect, first_content_then_redirect, moved(target))
        archiver.servers.serve(target, reply("<p>elsewhere</p>", ETag='"target"'))
        await archiver.watch(PAGE)
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "changed", "same"]
        sent = [request.headers.get("if-none-match") for request in archiver.servers.requests("a.test", "/page")]
        assert sent == [None, '"page"', None]
        assert [request.headers.get("if-none-match") for request in archiver.servers.requests("b.test", "/target")] == [
            None,
            None,
        ]

    run_scenario(scenario)


def test_positions_belong_to_records_not_to_objects() -> None:
    """The same exchange in two visits is two records, and each visit gets the position of its own record."""
    page = Page(id=1, url="http://a.test/", host="a.test")
    exchange = Exchange(
        url=page.url, at=0.0, duration_s=0.0, request_head=b"", status=200, response_head=b"HTTP/1.1 200 OK", body=b"x"
    )
    unanswered = Exchange(url=page.url, at=0.0, duration_s=0.0, request_head=b"")
    content = Resource(url="urn:data:http://a.test/", at=0.0, content_type="text/plain", body=b"made")
    batch = [
        VisitResult(page=page, at=0.0, exchanges=(exchange,)),
        VisitResult(page=page, at=1.0, exchanges=(unanswered, exchange), content=content, extras=(content,)),
    ]
    entries = BatchEntries(batch, [None, None], robots=[exchange, unanswered])
    captures = entries.captures({})
    assert len(captures) == 5
    written = [Position(file="f", offset=n, length=1, record_id=f"urn:uuid:{n}") for n in range(5)]
    first, second = entries.positions(written)
    assert (first.exchanges, first.content) == ((written[0],), None)
    assert (second.exchanges, second.content) == ((None, written[1]), written[2])
    assert [original.offset for original in new_originals(captures, written)] == [0, 2]
