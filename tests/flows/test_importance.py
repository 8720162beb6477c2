"""The importance of pages is computed from the links of their visits, and may count as their weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import reply
from webstrata.flows.crawl.selection.schedule_input import ScheduleInput
from webstrata.flows.importance import ImportanceResult, update_importance
from webstrata.records import ArchivedCopy, Importance

A = "http://a.test"
PAGES = {
    f"{A}/": "<a href='/hub'>hub</a> <a href='http://b.test/'>b</a> <a href='http://unknown.test/'>u</a>",
    f"{A}/hub": "<a href='/leaf'>leaf</a> <a href='/hub'>itself</a>",
    f"{A}/leaf": "<a href='/hub'>hub</a>",
    f"{A}/alone": "<a href='/hub'>hub</a>",
    "http://b.test/": f"<a href='{A}/hub'>hub</a>",
}


async def computed(archiver: Archiver) -> tuple[ImportanceResult, dict[str, Importance]]:
    """Serve and visit the pages, and compute their importance: the result, and what is stored by URL."""
    for url, links in PAGES.items():
        archiver.servers.serve(url, reply(f"<html><body><p>words of a page</p>{links}</body></html>"))
    await archiver.watch(*PAGES)
    await archiver.crawl()
    pages = await archiver.pages()
    async with archiver.node.store() as store:
        result = await update_importance(store)
        stored = await store.facts.importance([page.id for page in pages.values()])
    return result, {url: stored[page.id] for url, page in pages.items()}


def test_links_of_visits_give_importance(run_scenario: Callable[..., None]) -> None:
    """Each page has its rank, its linking pages and its depth on its host; links to unknown pages and to the page
    itself do not count."""

    async def scenario(archiver: Archiver) -> None:
        result, found = await computed(archiver)
        assert (len(result.rows), result.links, result.unknown_links) == (5, 6, 1)
        assert {url: row.in_links for url, row in found.items()} == {
            f"{A}/": 0, f"{A}/hub": 4, f"{A}/leaf": 1, f"{A}/alone": 0, "http://b.test/": 1,
        }  # fmt: skip
        assert {url: row.link_depth for url, row in found.items()} == {
            f"{A}/": 0, f"{A}/hub": 1, f"{A}/leaf": 2, f"{A}/alone": None, "http://b.test/": 0,
        }  # fmt: skip
        assert max(found, key=lambda url: found[url].rank) == f"{A}/hub"
        assert abs(sum(row.rank for row in found.values()) - 5) < 1e-6

    run_scenario(scenario)


def test_pages_of_imports_and_new_pages_are_in_the_graph(run_scenario: Callable[..., None]) -> None:
    """A page that only an archive holds links to others; a page without links has a rank."""

    async def scenario(archiver: Archiver) -> None:
        await computed(archiver)
        async with archiver.node.store() as store:
            links = (await store.facts.links([(await archiver.page(f"{A}/leaf")).id])).popitem()[1]
            copied = links[:9]  # of its first link the hash and the kind
            await store.copies.add([ArchivedCopy(url=f"{A}/old", at=1.0, archive="x", links=copied)], None, 2.0)
            await archiver.watch(f"{A}/new")
            result = await update_importance(store)
            hub = (await store.facts.importance([(await archiver.page(f"{A}/hub")).id])).popitem()[1]
        assert (len(result.rows), hub.in_links) == (7, 5)

    run_scenario(scenario)


def test_importance_counts_as_weight_if_it_is_set(run_scenario: Callable[..., None]) -> None:
    """`why` shows the weight and the importance; a weight of the page's own takes precedence."""

    async def scenario(archiver: Archiver) -> None:
        await archiver.watch(f"{A}/leaf", weight=3.0)
        _, found = await computed(archiver)

        async def evidence(name: str) -> dict[str, Any]:
            page = await archiver.page(f"{A}/{name}")
            async with archiver.node.store() as store:
                source = ScheduleInput(store, archiver.node.schedule())
                return await source.evidence(page, archiver.clock.now() + DAY_S)

        hub = await evidence("hub")
        assert hub["weight"] == found[f"{A}/hub"].rank ** 0.5 > 1
        assert hub["importance"] == round(found[f"{A}/hub"].rank, 6)
        leaf = await evidence("leaf")
        assert leaf["weight"] == 3.0
        assert "importance" not in leaf

    run_scenario(scenario, "schedule.importance=0.5")


def test_importance_is_no_weight_by_default(run_scenario: Callable[..., None]) -> None:
    """Without the setting all pages weigh the same."""

    async def scenario(archiver: Archiver) -> None:
        await computed(archiver)
        async with archiver.node.store() as store:
            source = ScheduleInput(store, archiver.node.schedule())
            hub = await source.evidence(await archiver.page(f"{A}/hub"), archiver.clock.now())
        assert hub["weight"] == 1.0
        assert "importance" not in hub

    run_scenario(scenario)


def test_a_running_loop_computes_importance_each_day(run_scenario: Callable[..., None]) -> None:
    """If importance counts as weight: after the first day of the loop."""

    async def stored(archiver: Archiver) -> int:
        pages = await archiver.pages()
        async with archiver.node.store() as store:
            return len(await store.facts.importance([page.id for page in pages.values()]))

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(f"{A}/hub", reply(f"<p>hub <a href='{A}/leaf'>leaf</a>"))
        await archiver.watch(f"{A}/hub")
        await archiver.run(for_s=0.9 * DAY_S)
        assert await stored(archiver) == 0
        await archiver.run(for_s=1.5 * DAY_S)
        assert await stored(archiver) == 1

    run_scenario(scenario, "schedule.importance=0.5")
