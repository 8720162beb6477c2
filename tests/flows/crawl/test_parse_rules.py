"""Rules of pages and tags in the loop: ignored parts, the layer that counts, the smallest change that counts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import reply
from webstrata.records import PageRules

PAGE = "http://a.test/page"
WORDS = "".join(f"<p>Paragraph {word} is here to stay, word for word.</p>" for word in ("one", "two", "three", "four"))


def html(number: object, rest: str = WORDS) -> bytes:
    return (
        f"<title>Rates</title><main><h1>Rates</h1><div class=ad>Buy {number} of it now</div>"
        f"<p>Rate <b>4.2</b>, seen {number} times</p>{rest}</main>"
    ).encode()


def document(number: object) -> bytes:
    return f'{{"rate": 4.2, "meta": {{"serial": {number}}}, "rows": [1, 2]}}'.encode()


HTML, JSON = "text/html; charset=utf-8", "application/json"
RULES: dict[str, tuple[PageRules, str, Callable[[object], bytes]]] = {
    "css ignored": (PageRules(ignore=("css:.ad", "css:main > p:nth-of-type(1)")), HTML, html),
    "xpath ignored": (PageRules(ignore=("xpath://div[@class='ad']", "xpath://p[b]")), HTML, html),
    "css selected": (PageRules(include=("css:b",)), HTML, html),
    "xpath selected": (PageRules(include=("xpath://p[contains(., 'three')]",)), HTML, html),
    "text ignored": (PageRules(ignore_text=("Buy .* now", r"seen \d+ times")), HTML, html),
    "jsonpath ignored": (PageRules(ignore=("jsonpath:$.meta.serial",)), JSON, document),
    "jsonpath selected": (PageRules(include=("jsonpath:$.rows[*]",)), JSON, document),
}


@pytest.mark.parametrize("by", ["page", "tag"])
@pytest.mark.parametrize("name", RULES)
def test_ignored_parts_do_not_count(run_scenario: Callable[..., None], name: str, by: str) -> None:
    """Only the parts that the rules of a page or its tag leave are compared; all bytes are archived."""
    page_rules, kind, make = RULES[name]

    async def scenario(archiver: Archiver) -> None:
        changed = make(3).replace(b"4.2", b"4.3").replace(b"[1,", b"[5,").replace(b"three", b"3")
        archiver.servers.serve(PAGE, *(reply(body, kind=kind) for body in (make(1), make(2), changed)))
        if by == "page":
            await archiver.watch(PAGE, page_rules=page_rules)
        else:
            await archiver.watch(PAGE, tags=("rates",))
            async with archiver.node.store() as store:
                await store.pages.set_tag_rules("rates", page_rules)
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "same", "changed"]
        assert [visit.raw_changed for visit in await archiver.visits(PAGE)] == [False, True, True]
        assert len([record for record in archiver.records(PAGE) if record.kind == "response"]) == 3
        assert (await archiver.page(PAGE)).page_rules == (page_rules if by == "page" else None)

    run_scenario(scenario)


def test_rules_of_a_page_replace_those_of_its_tags(run_scenario: Callable[..., None]) -> None:
    """The rules of its tag do not apply to a page with rules of its own."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply(html(1)), reply(html(2)))
        await archiver.watch(PAGE, tags=("rates",), page_rules=PageRules(layer="raw"))
        async with archiver.node.store() as store:
            await store.pages.set_tag_rules("rates", PageRules(include=("css:b",)))
        for _ in range(2):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "changed"]

    run_scenario(scenario)


@pytest.mark.parametrize(("least", "outcome"), [(0.0, "changed"), (0.2, "same")])
def test_small_changes(run_scenario: Callable[..., None], least: float, outcome: str) -> None:
    """A change of a smaller share than the rules set does not count; a larger one does."""
    long = "".join(f"<p>Paragraph number {number} stays as it is.</p>" for number in range(30))

    async def scenario(archiver: Archiver) -> None:
        small = long.replace("number 7 stays", "number 7 remains")
        large = "<p>All is new.</p>" * 20
        archiver.servers.serve(PAGE, *(reply(html(1, text)) for text in (long, small, large)))
        await archiver.watch(PAGE, page_rules=PageRules(min_size=least))
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", outcome, "changed"]

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("layer", "outcomes"),
    [
        ("raw", ["new", "changed", "changed", "changed"]),
        ("text", ["new", "same", "changed", "same"]),
        ("links", ["new", "same", "same", "changed"]),
    ],
)
def test_layers(run_scenario: Callable[..., None], layer: str, outcomes: list[str]) -> None:
    """The layer of the rules decides: bytes, text or links."""

    async def scenario(archiver: Archiver) -> None:
        versions = [
            "<p>a <a href=/x>b</a>",
            "<p id=i>a <a href=/x>b</a>",
            "<p>c <a href=/x>b</a>",
            "<p>c <a href=/y>b</a>",
        ]
        archiver.servers.serve(PAGE, *map(reply, versions))
        await archiver.watch(PAGE, page_rules=PageRules(layer=layer))
        for _ in versions:
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == outcomes

    run_scenario(scenario)


@pytest.mark.parametrize("by", ["page", "tag", "watching again"])
def test_changed_rules_make_the_next_request_unconditional(run_scenario: Callable[..., None], by: str) -> None:
    """After rules were changed the next request is unconditional: no content was compared by them so far."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(
            PAGE, reply(html(1), ETag='"v1"'), reply("", 304, kind="", ETag='"v1"'), reply(html(1), ETag='"v1"')
        )
        await archiver.watch(PAGE, tags=("rates",))
        await archiver.crawl()
        await archiver.crawl(after_s=2 * DAY_S)
        async with archiver.node.store() as store:
            if by == "page":
                await store.pages.set_rules((await archiver.page(PAGE)).id, PageRules(include=("css:b",)))
            elif by == "tag":
                await store.pages.set_tag_rules("rates", PageRules(include=("css:b",)))
            else:
                await archiver.watch(PAGE, page_rules=PageRules(include=("css:b",)))
        await archiver.crawl(after_s=2 * DAY_S)
        assert ["if-none-match" in request.headers for request in archiver.servers.requests("a.test", "/page")] == [
            False,
            True,
            False,
        ]
        assert await archiver.outcomes(PAGE) == ["new", "same", "same"]
        mark = (await archiver.page(PAGE)).fingerprint
        assert mark is not None
        assert mark.selected is not None

    run_scenario(scenario)


def test_accept_is_sent(run_scenario: Callable[..., None]) -> None:
    """The Accept header of the rules is sent, and `Vary` is in the log."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply(document(1), kind=JSON, Vary="Accept"))
        await archiver.watch(PAGE, page_rules=PageRules(accept="application/json"))
        await archiver.crawl()
        assert archiver.servers.requests("a.test", "/page")[0].headers["accept"] == "application/json"
        assert (await archiver.last(PAGE)).headers["vary"] == "Accept"

    run_scenario(scenario)
