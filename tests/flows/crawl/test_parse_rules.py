"""How pages are looked at, through the real loop: rules of pages and tags, the layer that counts, the least size."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.conftest import DAY_S, Life
from tests.flows.town import reply
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
def test_what_is_ignored_does_not_count(live: Callable[..., None], name: str, by: str) -> None:
    """Rules of a page or of its tag: only what they leave is compared; all bytes are archived."""
    page_rules, kind, make = RULES[name]

    async def scenario(life: Life) -> None:
        changed = make(3).replace(b"4.2", b"4.3").replace(b"[1,", b"[5,").replace(b"three", b"3")
        life.town.play(PAGE, *(reply(body, kind=kind) for body in (make(1), make(2), changed)))
        if by == "page":
            await life.watch(PAGE, page_rules=page_rules)
        else:
            await life.watch(PAGE, tags=("rates",))
            async with life.node.store() as store:
                await store.pages.set_tag_rules("rates", page_rules)
        for _ in range(3):
            await life.crawl(after_s=2 * DAY_S)
        assert await life.outcomes(PAGE) == ["new", "same", "changed"]
        assert [visit.raw_changed for visit in await life.visits(PAGE)] == [False, True, True]
        assert len([record for record in life.records(PAGE) if record.kind == "response"]) == 3
        assert (await life.page(PAGE)).page_rules == (page_rules if by == "page" else None)

    live(scenario)


def test_a_page_s_own_wish_goes_before_its_tags(live: Callable[..., None]) -> None:
    """A page with a wish of its own is not looked at as its tag says."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, reply(html(1)), reply(html(2)))
        await life.watch(PAGE, tags=("rates",), page_rules=PageRules(layer="raw"))
        async with life.node.store() as store:
            await store.pages.set_tag_rules("rates", PageRules(include=("css:b",)))
        for _ in range(2):
            await life.crawl(after_s=2 * DAY_S)
        assert await life.outcomes(PAGE) == ["new", "changed"]

    live(scenario)


@pytest.mark.parametrize(("least", "outcome"), [(0.0, "changed"), (0.2, "same")])
def test_small_changes(live: Callable[..., None], least: float, outcome: str) -> None:
    """A change of a smaller share than asked for does not count; a large one does."""
    long = "".join(f"<p>Paragraph number {number} stays as it is.</p>" for number in range(30))

    async def scenario(life: Life) -> None:
        small = long.replace("number 7 stays", "number 7 remains")
        large = "<p>All is new.</p>" * 20
        life.town.play(PAGE, *(reply(html(1, text)) for text in (long, small, large)))
        await life.watch(PAGE, page_rules=PageRules(min_size=least))
        for _ in range(3):
            await life.crawl(after_s=2 * DAY_S)
        assert await life.outcomes(PAGE) == ["new", outcome, "changed"]

    live(scenario)


@pytest.mark.parametrize(
    ("layer", "outcomes"),
    [
        ("raw", ["new", "changed", "changed", "changed"]),
        ("text", ["new", "same", "changed", "same"]),
        ("links", ["new", "same", "same", "changed"]),
    ],
)
def test_layers(live: Callable[..., None], layer: str, outcomes: list[str]) -> None:
    """The layer that was asked for decides: bytes, text or links."""

    async def scenario(life: Life) -> None:
        versions = [
            "<p>a <a href=/x>b</a>",
            "<p id=i>a <a href=/x>b</a>",
            "<p>c <a href=/x>b</a>",
            "<p>c <a href=/y>b</a>",
        ]
        life.town.play(PAGE, *map(reply, versions))
        await life.watch(PAGE, page_rules=PageRules(layer=layer))
        for _ in versions:
            await life.crawl(after_s=2 * DAY_S)
        assert await life.outcomes(PAGE) == outcomes

    live(scenario)


@pytest.mark.parametrize("by", ["page", "tag", "watching again"])
def test_another_wish_asks_in_full(live: Callable[..., None], by: str) -> None:
    """After a wish was changed the next request is unconditional: a 304 would stand for what nobody looked at."""

    async def scenario(life: Life) -> None:
        life.town.play(
            PAGE, reply(html(1), ETag='"v1"'), reply("", 304, kind="", ETag='"v1"'), reply(html(1), ETag='"v1"')
        )
        await life.watch(PAGE, tags=("rates",))
        await life.crawl()
        await life.crawl(after_s=2 * DAY_S)
        async with life.node.store() as store:
            if by == "page":
                await store.pages.set_rules((await life.page(PAGE)).id, PageRules(include=("css:b",)))
            elif by == "tag":
                await store.pages.set_tag_rules("rates", PageRules(include=("css:b",)))
            else:
                await life.watch(PAGE, page_rules=PageRules(include=("css:b",)))
        await life.crawl(after_s=2 * DAY_S)
        assert ["if-none-match" in asked.headers for asked in life.town.requests("a.test", "/page")] == [
            False,
            True,
            False,
        ]
        assert await life.outcomes(PAGE) == ["new", "same", "same"]
        mark = (await life.page(PAGE)).fingerprint
        assert mark is not None
        assert mark.selected is not None

    live(scenario)


def test_accept_is_sent(live: Callable[..., None]) -> None:
    """The Accept header that was asked for is what the server gets, and `Vary` is in the log."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, reply(document(1), kind=JSON, Vary="Accept"))
        await life.watch(PAGE, page_rules=PageRules(accept="application/json"))
        await life.crawl()
        assert life.town.requests("a.test", "/page")[0].headers["accept"] == "application/json"
        assert (await life.last(PAGE)).headers["vary"] == "Accept"

    live(scenario)
