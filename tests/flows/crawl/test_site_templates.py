"""The template of a site in the loop: menus are told once for the site, what one page has is told for the page."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.flows.conftest import DAY_S, Archiver
from tests.flows.scripted_servers import reply
from webstrata.detect.template import unpack_template
from webstrata.records import ChangeKind

PAGES = [f"http://a.test/{name}" for name in ("lamp", "chair", "table", "mirror")]
STORY = {
    url: f"<h1>{url}</h1><p>This {url[14:]} was made by hand in a small workshop, of oak that grew close by.</p>"
    f"<p>It has been in use for years, and everybody who sat near that {url[14:]} liked it.</p>"
    for url in PAGES
}
MENU = ("Home", "Products", "About us")


def page(url: str, menu: tuple[str, ...] = MENU, aside: str = "", footer: str = "Made on 3 May 2026") -> str:
    entries = "".join(f"<li><a href=/{entry}>{entry}</a></li>" for entry in menu)
    return (
        f"<title>{url}</title><nav><ul>{entries}</ul></nav><main>{STORY[url]}</main>"
        f"<aside>{aside}</aside><footer>{footer}</footer>"
    )


async def visit_twice(archiver: Archiver, versions: dict[str, tuple[str, str]]) -> dict[str, tuple[str, ChangeKind]]:
    """The outcome and kind of the second visit of each page."""
    for url, (before, after) in versions.items():
        archiver.servers.serve(url, reply(before), reply(after))
    await archiver.watch(*versions)
    await archiver.crawl()
    await archiver.crawl(after_s=8 * DAY_S)
    visits = {url: await archiver.last(url) for url in versions}
    return {url: (visit.outcome.value, visit.kind) for url, visit in visits.items()}


def test_a_new_menu_entry_is_told_once(run_scenario: Callable[..., None]) -> None:
    """All pages get the entry: the first one that is visited is told of it, as a change of the template."""

    async def scenario(archiver: Archiver) -> None:
        versions = {url: (page(url), page(url, menu=(*MENU, "Sale"))) for url in PAGES}
        found = await visit_twice(archiver, versions)
        assert {kind for _, kind in found.values()} == {ChangeKind.TEMPLATE}
        assert sorted(outcome for outcome, _ in found.values()) == ["changed", "same", "same", "same"]

    run_scenario(scenario)


def test_what_one_page_has_is_its_content(run_scenario: Callable[..., None]) -> None:
    """A list outside the main content that no other page has is content of that page."""

    async def scenario(archiver: Archiver) -> None:
        events = "<ul><li>3 May: open day</li><li>9 May: talk on oak</li></ul>"
        versions = {url: (page(url), page(url)) for url in PAGES[1:]}
        more = events.replace("</ul>", "<li>17 May: guided tour</li></ul>")
        versions[PAGES[0]] = (page(PAGES[0], aside=events), page(PAGES[0], aside=more))
        found = await visit_twice(archiver, versions)
        assert found[PAGES[0]] == ("changed", ChangeKind.CONTENT)
        assert {outcome for outcome, _ in list(found.values())[:-1]} == {"same"}

    run_scenario(scenario)


@pytest.mark.parametrize("footer", ["Made on 9 June 2026", "Updated 9 June 2026"])
def test_dates_in_the_footer_are_not_told(run_scenario: Callable[..., None], footer: str) -> None:
    """A footer of which only the date differs says nothing; the pages are archived all the same."""

    async def scenario(archiver: Archiver) -> None:
        before = footer.replace("9 June", "3 May")
        versions = {url: (page(url, footer=before), page(url, footer=footer)) for url in PAGES}
        assert {outcome for outcome, _ in (await visit_twice(archiver, versions)).values()} == {"same"}

    run_scenario(scenario)


def test_the_template_survives_a_restart(run_scenario: Callable[..., None]) -> None:
    """Each crawl opens the loop again; the template is read from the store, and an event is not told twice."""

    async def scenario(archiver: Archiver) -> None:
        new_menu = (*MENU, "Sale")
        for url in PAGES:
            archiver.servers.serve(url, reply(page(url)), reply(page(url, menu=new_menu)))
        await archiver.watch(*PAGES)
        await archiver.crawl()
        await archiver.crawl(after_s=8 * DAY_S)
        for url in PAGES[:2]:
            archiver.servers.serve(url, reply(page(url, menu=(*new_menu, "Jobs"))))
        await archiver.watch(PAGES[0])
        await archiver.crawl(after_s=8 * DAY_S)
        outcomes = [await archiver.outcomes(url) for url in PAGES]
        assert sum(one.count("changed") for one in outcomes) == 2

    run_scenario(scenario)


def test_block_pages_teach_nothing(run_scenario: Callable[..., None]) -> None:
    """An error page with status 200 is not a page of the site, also at the first visit."""

    async def scenario(archiver: Archiver) -> None:
        for url in PAGES:
            archiver.servers.serve(url, reply(page(url), cf_mitigated="challenge"), reply(page(url)))
        await archiver.watch(*PAGES)
        await archiver.crawl()
        assert [await archiver.outcomes(url) for url in PAGES] == [["block-page"]] * len(PAGES)
        async with archiver.node.store() as store:
            assert await store.pages.templates(["a.test"]) == {}
        await archiver.crawl(after_s=8 * DAY_S)
        async with archiver.node.store() as store:
            stored = await store.pages.templates(["a.test"])
        assert unpack_template(stored["a.test"]).pages == len(PAGES)

    run_scenario(scenario)
