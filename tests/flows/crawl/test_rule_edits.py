"""Rules that are edited between visits: both versions are compared under the new rules."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Thread

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import Reply, reply
from webstrata.archive.warc.archive import WarcArchive
from webstrata.detect.memory import unpack
from webstrata.errors import ArchiveError
from webstrata.records import PageRules

PAGE = "http://a.test/page"


def html(ad: object, rate: object, alt: str = "chart") -> str:
    paragraphs = "".join(f"<p>Paragraph {word} stays as it is.</p>" for word in ("one", "two", "three"))
    return (
        f"<title>Rates</title><main><h1>Rates</h1><p class=ad>Buy {ad} now</p><p>The rate is <b>{rate}</b>.</p>"
        f"<img src=/c.png alt='{alt}'>{paragraphs}</main>"
    )


async def set_rules(archiver: Archiver, rules: PageRules | None, by: str = "page") -> None:
    async with archiver.node.store() as store:
        if by == "page":
            await store.pages.set_rules((await archiver.page(PAGE)).id, rules)
        else:
            await store.pages.set_tag_rules("rates", rules)


async def visit_with_edit(
    archiver: Archiver, before: PageRules | None, edited: PageRules | None, *bodies: str, kind: str, by: str = "page"
) -> None:
    """Visit the first body under some rules, and the others, one at each visit, after an edit of the rules.

    The first body is visited in two spellings, so that its runs are remembered.
    """
    archiver.servers.serve(PAGE, *(reply(body, kind=kind) for body in (f"{bodies[0]}\n", *bodies)))
    await archiver.watch(PAGE, tags=("rates",))
    await set_rules(archiver, before, by)
    for _ in range(2):
        await archiver.crawl(after_s=2 * DAY_S)
    await set_rules(archiver, edited, by)
    for _ in bodies[1:]:
        await archiver.crawl(after_s=2 * DAY_S)


def editing_reply(archiver: Archiver, then: Reply) -> Callable[[object], Reply]:
    """A reply that is sent after another process, so to speak, has set the rules `AD` for all pages."""

    async def edit() -> None:
        async with archiver.node.store() as store:
            for page in [page async for page in store.pages.stream()]:
                await store.pages.set_rules(page.id, AD)

    def answer(request: object) -> Reply:
        thread = Thread(target=lambda: asyncio.run(edit()))
        thread.start()
        thread.join()
        return then

    return answer


HTML, JSON, CSV, TEXT = "text/html; charset=utf-8", "application/json", "text/csv", "text/plain"
AD = PageRules(ignore=("css:.ad",))
EDITS: dict[str, tuple[PageRules | None, PageRules | None, str, str, str, str]] = {
    "ignore added": (None, AD, html(1, 1), html(2, 1), html(3, 2), HTML),
    "ignore replaced": (PageRules(ignore=("css:b",)), AD, html(1, 1), html(2, 1), html(3, 2), HTML),
    "select added": (None, PageRules(include=("css:b",)), html(1, 1), html(2, 1), html(3, 2), HTML),
    "select removed": (PageRules(include=("css:.ad",)), None, html(1, 1), html(1, 1), html(1, 2), HTML),
    "text ignored": (None, PageRules(ignore_text=(r"Buy \d+ now",)), html(1, 1), html(2, 1), html(2, 2), HTML),
    "layer": (None, PageRules(layer="links"), html(1, 1), html(2, 2), html(2, 2) + "<a href=/x>x</a>", HTML),
    "min_size": (None, PageRules(min_size=0.5), html(1, 1), html(1, 2), "<main><p>Else.</p><p>All.</p></main>", HTML),
    "attributes": (None, PageRules(attributes=("image",)), html(1, 1), html(1, 1), html(1, 1, "graph"), HTML),
    "attributes removed": (
        PageRules(attributes=("image",)),
        PageRules(ignore_attributes=("product",)),
        html(1, 1, "a"),
        html(1, 1, "b"),
        html(1, 2, "b"),
        HTML,
    ),
    "jsonpath": (
        None,
        PageRules(ignore=("jsonpath:$.serial",)),
        '{"rate": 1, "serial": 1}',
        '{"rate": 1, "serial": 2}',
        '{"rate": 2, "serial": 3}',
        JSON,
    ),
    "unordered": (
        None,
        PageRules(unordered=True),
        "a,b\n1,x\n1,y\n",
        "a,b\n1,y\n1,x\n",
        "a,b\n1,y\n1,z\n",
        CSV,
    ),
    "ordered": (
        PageRules(unordered=True),
        PageRules(ordered=True),
        "id,b\n1,x\n2,y\n",
        "id,b\n1,x\n2,y\n",
        "id,b\n2,y\n1,x\n",
        CSV,
    ),
    "indentation": (
        None,
        PageRules(indentation=True),
        "a:\n  b: 1\n  c: 2\n",
        "a:\n  b: 1\n  c: 2\n",
        "a:\n  b: 1\nc: 2\n",
        TEXT,
    ),
    "indentation removed": (
        PageRules(indentation=True),
        None,
        "a:\n  b: 1\n  c: 2\n",
        "a:\n  b: 1\nc: 2\n",
        "a:\n  b: 1\nc: 3\n",
        TEXT,
    ),
}


@pytest.mark.parametrize("by", ["page", "tag"])
@pytest.mark.parametrize("name", EDITS)
def test_edited_rules_are_no_change(run_scenario: Callable[..., None], name: str, by: str) -> None:
    """After an edit, a version that differs in nothing that the new rules compare is the same, another one counts."""
    before, edited, first, second, third, kind = EDITS[name]

    async def scenario(archiver: Archiver) -> None:
        await visit_with_edit(archiver, before, edited, first, second, third, kind=kind, by=by)
        assert await archiver.outcomes(PAGE) == ["new", "same", "same", "changed"]

    run_scenario(scenario)


@pytest.mark.parametrize("name", EDITS)
def test_a_change_at_the_first_visit_after_an_edit(run_scenario: Callable[..., None], name: str) -> None:
    """A change under the new rules counts already at the first visit after the edit."""
    before, edited, first, _, third, kind = EDITS[name]

    async def scenario(archiver: Archiver) -> None:
        await visit_with_edit(archiver, before, edited, first, third, kind=kind)
        assert await archiver.outcomes(PAGE) == ["new", "same", "changed"]

    run_scenario(scenario)


def test_the_size_of_a_change_after_an_edit(run_scenario: Callable[..., None]) -> None:
    """The runs of the old version are extracted under the new rules: one word of the selected text differs."""

    async def scenario(archiver: Archiver) -> None:
        await visit_with_edit(archiver, None, AD, html(1, 1), html(2, 1), html(3, 2), kind=HTML)
        reasons = (await archiver.last(PAGE)).reasons
        assert any("about 1 word added, 1 removed" in reason for reason in reasons), reasons

    run_scenario(scenario)


def test_a_304_after_an_edit(run_scenario: Callable[..., None]) -> None:
    """A visit that was under way during the edit is answered with 304: no change, and the next one is compared."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(
            PAGE,
            reply(html(1, 1), ETag='"v1"'),
            editing_reply(archiver, reply("", 304, kind="", ETag='"v1"')),
            reply(html(2, 1), ETag='"v2"'),
            reply(html(3, 2), ETag='"v3"'),
        )
        await archiver.watch(PAGE)
        for _ in range(4):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "same", "same", "changed"]

    run_scenario(scenario)


def test_an_edit_during_a_visit(run_scenario: Callable[..., None]) -> None:
    """A visit that began before the edit is judged by the old rules; the next one compares it under the new ones."""

    async def scenario(archiver: Archiver) -> None:
        during = editing_reply(archiver, reply(html(2, 1)))
        archiver.servers.serve(PAGE, reply(html(1, 1)), during, reply(html(3, 1)), reply(html(4, 2)))
        await archiver.watch(PAGE)
        for _ in range(4):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "changed", "same", "changed"]

    run_scenario(scenario)


def test_identical_bytes_after_an_edit(run_scenario: Callable[..., None]) -> None:
    """The same bytes are never a change; what is remembered of them belongs to the new rules from then on."""

    async def scenario(archiver: Archiver) -> None:
        bodies = (html(1, 1), html(2, 1))
        archiver.servers.serve(PAGE, *map(reply, (*bodies, bodies[1], html(3, 1), html(3, 2))))
        await archiver.watch(PAGE)
        for _ in range(2):
            await archiver.crawl(after_s=2 * DAY_S)
        assert unpack((await archiver.page(PAGE)).memory).runs
        await set_rules(archiver, AD)
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "changed", "same", "same", "changed"]

    run_scenario(scenario)


def test_an_unreadable_version_after_an_edit(
    run_scenario: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the old version cannot be read, the first visit after the edit counts nothing and says so in its reasons."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, *map(reply, (html(1, 1), html(2, 2), html(3, 2), html(3, 3))))
        await archiver.watch(PAGE)
        await archiver.crawl()
        await set_rules(archiver, AD)
        with monkeypatch.context() as patch:
            patch.setattr(WarcArchive, "read", fail)
            await archiver.crawl(after_s=2 * DAY_S)
        last = await archiver.last(PAGE)
        assert last.raw_changed
        assert any("cannot be read" in reason for reason in last.reasons), last.reasons
        for _ in range(2):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "same", "same", "changed"]

    async def fail(self: WarcArchive, position: object) -> None:
        raise ArchiveError("cannot be read, says the test")

    run_scenario(scenario)


def test_another_request_is_a_new_baseline(run_scenario: Callable[..., None]) -> None:
    """Rules that ask for another representation: its first version is no change of the page, its second one is."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(
            PAGE,
            reply(html(1, 1)),
            reply("<main><p>The mobile page.</p></main>"),
            reply("<main><p>The mobile page changed.</p></main>"),
        )
        await archiver.watch(PAGE)
        await archiver.crawl()
        await set_rules(archiver, PageRules(accept="text/html;profile=mobile"))
        await archiver.crawl(after_s=2 * DAY_S)
        assert any("request" in reason for reason in (await archiver.last(PAGE)).reasons)
        await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "same", "changed"]

    run_scenario(scenario)


def test_an_edit_while_the_page_is_gone(run_scenario: Callable[..., None]) -> None:
    """A page that comes back is reported as back, and is compared under the new rules from then on."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(
            PAGE, reply(html(1, 1)), reply("gone", 410), reply(html(2, 1)), reply(html(3, 1)), reply(html(3, 2))
        )
        await archiver.watch(PAGE)
        for _ in range(2):
            await archiver.crawl(after_s=2 * DAY_S)
        await set_rules(archiver, AD)
        for _ in range(3):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "gone", "back", "same", "changed"]

    run_scenario(scenario)


def test_a_retagged_page(run_scenario: Callable[..., None]) -> None:
    """A tag whose rules apply from now on is an edit of the rules, too."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, *map(reply, (html(1, 1), html(2, 1), html(3, 2))))
        await archiver.watch(PAGE)
        await set_rules(archiver, AD, by="tag")
        await archiver.crawl()
        async with archiver.node.store() as store:
            await store.pages.retag([(await archiver.page(PAGE)).id], ["rates"], [])
        for _ in range(2):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "same", "changed"]

    run_scenario(scenario)


def test_the_first_change_of_a_price(run_scenario: Callable[..., None]) -> None:
    """The reasons of the first change name both prices: the first version is parsed again from the archive."""

    def product(price: str) -> str:
        data = f'{{"@type": "Product", "name": "Lamp", "offers": {{"@type": "Offer", "price": "{price}"}}}}'
        return f'<title>Lamp</title><script type="application/ld+json">{data}</script><main><p>A lamp.</p></main>'

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, *map(reply, (product("99.00"), product("4.99"))))
        await archiver.watch(PAGE)
        for _ in range(2):
            await archiver.crawl(after_s=2 * DAY_S)
        changes = [(value.before, value.after) for value in (await archiver.last(PAGE)).product_values]
        assert changes == [("99.00", "4.99")]

    run_scenario(scenario)


def test_content_that_a_handler_made(run_scenario: Callable[..., None]) -> None:
    """The last version may be a resource record: data in a page, which a handler extracted."""

    def embedded(size: int, name: str) -> str:
        block = f'{{"@id": "{PAGE}", "http://e.test/size": {size}, "http://e.test/name": "{name}"}}'
        return f'<title>Thing</title><script type="application/ld+json">{block}</script><p>a thing for people'

    async def scenario(archiver: Archiver) -> None:
        bodies = [embedded(1, "a"), embedded(2, "a"), embedded(3, "a"), embedded(4, "b")]
        archiver.servers.serve(PAGE, *map(reply, bodies))
        await archiver.watch(PAGE, page_rules=PageRules(handler="rdf"))
        for _ in range(2):
            await archiver.crawl(after_s=2 * DAY_S)
        await set_rules(archiver, PageRules(handler="rdf", ignore_text=(r'"\d+"',)))
        for _ in range(2):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "changed", "same", "changed"]

    run_scenario(scenario)


def test_an_empty_version(run_scenario: Callable[..., None]) -> None:
    """An empty body has no original in the archive, and is compared under new rules like any other version."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, reply(b"", kind="text/plain"), reply(b"rate", kind="text/plain"))
        await archiver.watch(PAGE)
        await archiver.crawl()
        async with archiver.node.store() as store:
            await store.pages.set_rules((await archiver.page(PAGE)).id, PageRules(ignore_text=("x",)))
        await archiver.crawl(after_s=30 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new", "changed"]

    run_scenario(scenario)
