"""Conditional requests and revisit records: what was not sent again is still provable."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.conftest import DAY_S, Life
from tests.flows.town import Asked, Reply, moved, reply
from webstrata.records import Outcome

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
    live: Callable[..., None], sent: dict[str, str], asked_with: dict[str, str]
) -> None:
    """A 304 is the outcome `same`; its revisit record names the record that holds the content, again and again."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, reply(BODY, **sent), reply("", 304, kind="", **sent))
        await life.watch(PAGE)
        for _ in range(3):
            await life.crawl(after_s=2 * DAY_S)
        assert await life.outcomes(PAGE) == ["new", "same", "same"]
        unconditional, *conditional = life.town.requests("a.test", "/page")
        assert not [name for name in unconditional.headers if name.startswith("if-")]
        for asked in conditional:
            assert {name: value for name, value in asked.headers.items() if name.startswith("if-")} == asked_with
        original, *revisits = life.records(PAGE)
        assert original.kind == "response"
        for record in revisits:
            assert (record.kind, record.headers["WARC-Profile"]) == ("revisit", NOT_MODIFIED)
            assert record.headers["WARC-Refers-To"] == original.headers["WARC-Record-ID"]
            assert record.headers["WARC-Refers-To-Date"] == original.headers["WARC-Date"]
        visits = await life.visits(PAGE)
        assert {visit.payload for visit in visits} == {original.headers["WARC-Payload-Digest"]}
        assert len({visit.raw for visit in visits}) == 1
        assert (await life.page(PAGE)).changes == 0
        last = visits[-1].position
        assert last is not None
        reader = life.node.reader()
        assert reader.read(last).body == BODY.encode()
        reader.close()

    live(scenario)


def test_not_modified_without_a_copy_is_a_failure(live: Callable[..., None]) -> None:
    """A 304 that stands for nothing is logged with its class, and the next request is unconditional."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, reply("", 304, kind="", ETag='"x"'), reply(BODY, ETag='"y"'))
        await life.watch(PAGE)
        await life.crawl()
        assert await life.outcomes(PAGE) == ["not-modified-without-copy"]
        await life.crawl(after_s=DAY_S)
        assert await life.outcomes(PAGE) == ["not-modified-without-copy", "new"]
        assert not [name for name in life.town.requests("a.test", "/page")[1].headers if name.startswith("if-")]

    live(scenario)


def test_not_modified_that_was_not_asked_for_is_no_answer(live: Callable[..., None]) -> None:
    """A server that says 304 to an unconditional request tells nothing of the page, though a copy is held."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, reply(BODY), reply("", 304, kind=""), reply("<p>other</p>"))
        await life.watch(PAGE)
        for _ in range(3):
            await life.crawl(after_s=2 * DAY_S)
        assert await life.outcomes(PAGE) == ["new", "not-modified-without-copy", "changed"]

    live(scenario)


def test_a_cut_copy_is_never_asked_for_conditionally(live: Callable[..., None]) -> None:
    """Of a body that was cut at the limit no whole copy is held, so no 304 may stand for it."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, reply("x" * 5000, ETag='"long"'))
        await life.watch(PAGE)
        await life.crawl()
        await life.crawl(after_s=2 * DAY_S)
        assert await life.outcomes(PAGE) == ["new", "same"]
        assert [visit.truncated for visit in await life.visits(PAGE)] == ["length", "length"]
        assert "if-none-match" not in life.town.requests("a.test", "/page")[1].headers
        assert {record.headers["WARC-Truncated"] for record in life.records(PAGE)} == {"length"}

    live(scenario, "fetch.max_body=1KB")


def test_a_page_that_is_gone_is_asked_for_in_full(live: Callable[..., None]) -> None:
    """Validators of a page that disappeared are not sent: a 304 would not say that it is back."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, reply(BODY, ETag='"v"'), reply("", 404), reply(BODY, ETag='"v"'))
        await life.watch(PAGE)
        for _ in range(3):
            await life.crawl(after_s=2 * DAY_S)
        assert await life.outcomes(PAGE) == ["new", "gone", "back"]
        assert [("if-none-match" in asked.headers) for asked in life.town.requests("a.test", "/page")] == [
            False,
            True,
            False,
        ]

    live(scenario)


def test_identical_payloads_refer_to_the_first_and_never_to_a_revisit(live: Callable[..., None]) -> None:
    """The same bytes under other addresses and at other times are revisits of the one record that holds them."""

    async def scenario(life: Life) -> None:
        for url in (PAGE, OTHER, THIRD):
            life.town.play(url, reply(BODY))
        for url in (PAGE, OTHER, THIRD):
            await life.watch(url)
            await life.crawl()
        await life.crawl(after_s=2 * DAY_S)
        original, *revisits = [record for record in life.records() if not record.url.endswith("robots.txt")]
        assert (original.kind, original.url, len(revisits)) == ("response", PAGE, 5)
        for record in revisits:
            assert (record.kind, record.headers["WARC-Profile"]) == ("revisit", IDENTICAL)
            assert record.headers["WARC-Refers-To"] == original.headers["WARC-Record-ID"]
            assert record.headers["WARC-Refers-To-Target-URI"] == PAGE
        for url in (PAGE, OTHER, THIRD):
            assert (await life.outcomes(url))[0] == Outcome.NEW
            last = (await life.last(url)).position
            assert last is not None
            reader = life.node.reader()
            assert reader.read(last).body == BODY.encode()
            reader.close()

    live(scenario)


def test_a_304_refers_to_the_first_holder_though_that_is_another_url(live: Callable[..., None]) -> None:
    """Where a page's own content is already a revisit, its 304 refers past that to the record with the bytes."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, reply(BODY))
        life.town.play(OTHER, reply(BODY, ETag='"o"'), reply("", 304, kind="", ETag='"o"'))
        await life.watch(PAGE)
        await life.crawl()
        await life.watch(OTHER)
        await life.crawl()
        await life.crawl(after_s=2 * DAY_S)
        (original, *_) = life.records(PAGE)
        first, second = life.records(OTHER)
        assert (first.headers["WARC-Profile"], second.headers["WARC-Profile"]) == (IDENTICAL, NOT_MODIFIED)
        assert second.headers["WARC-Refers-To"] == original.headers["WARC-Record-ID"]

    live(scenario)


def test_validators_stay_with_their_own_url(live: Callable[..., None]) -> None:
    """After a redirect neither the target gets the page's validators nor the page the target's."""

    async def scenario(life: Life) -> None:
        target = "http://b.test/target"

        def first_content_then_redirect(asked: Asked) -> Reply:
            return moved(target) if "if-none-match" in asked.headers else reply(BODY, ETag='"page"')

        life.town.play(PAGE, first_content_then_redirect, first_content_then_redirect, moved(target))
        life.town.play(target, reply("<p>elsewhere</p>", ETag='"target"'))
        await life.watch(PAGE)
        for _ in range(3):
            await life.crawl(after_s=2 * DAY_S)
        assert await life.outcomes(PAGE) == ["new", "changed", "same"]
        sent = [asked.headers.get("if-none-match") for asked in life.town.requests("a.test", "/page")]
        assert sent == [None, '"page"', None]
        assert [asked.headers.get("if-none-match") for asked in life.town.requests("b.test", "/target")] == [None, None]

    live(scenario)
