"""The capture of a site: pages with the same content on both sides of the instant are sharp, others are not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from tests.flows.capture.capturing import SITE, capture, changing_at, links, site
from tests.flows.conftest import START_AT, Archiver


def test_a_site_without_changes_is_sharp(run_scenario: Callable[..., None]) -> None:
    """Every page of a site that does not change is sharp; each is requested twice, except the one at the instant."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links("/deep"), b=links("/"), deep=links())
        taken = await capture(archiver)
        assert taken.verdicts() == {"/": "sharp", "/a": "sharp", "/b": "sharp", "/deep": "sharp"}
        asked = [path for path in archiver.servers.paths("a.test") if path != "/robots.txt"]
        assert sorted(asked.count(path) for path in set(asked)) == [1, 2, 2, 2]
        assert min(after - before for before, after in pairwise(archiver.servers.times("a.test"))) >= 2
        assert taken.capture.stopped == ""

    run_scenario(scenario)


def test_a_page_that_changes_is_blurred(run_scenario: Callable[..., None]) -> None:
    """Only the page whose content changes between its visit and its revisit is blurred."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links(), b=changing_at(START_AT + 9), c=links(), d=links())
        taken = await capture(archiver)
        verdicts = taken.verdicts()
        assert verdicts.pop("/b") == "blurred", taken.observations("/b")
        assert set(verdicts.values()) == {"sharp"}

    run_scenario(scenario)


def test_chance_of_changed_and_back(run_scenario: Callable[..., None]) -> None:
    """A page that changed and changed back between its downloads is sharp; the certificate has its probability."""

    async def scenario(archiver: Archiver) -> None:
        moments = [START_AT + 9.5, START_AT + 9.9]
        seen = {"then": links(text="another text for a moment"), "else": links(text="the usual text")}
        site(
            archiver,
            a=lambda request: seen["then" if moments[0] <= request.at < moments[1] else "else"],
            b=links(),
            c=links(),
        )
        taken = await capture(archiver)
        assert taken.page("/a")["verdict"] == "sharp"
        revisited = [page for page in taken.certificate["pages"] if page["revisit"] is not None]
        assert all(float(page["changed_and_back"]) > 0 for page in revisited)
        assert "does not prove that a page was never another in between" in taken.certificate["statement"]

    run_scenario(scenario)


def test_a_single_pass_proves_one_page(run_scenario: Callable[..., None]) -> None:
    """Without revisits the download of one page is the instant, and all other pages are blurred."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links(), b=links())
        taken = await capture(archiver, sharp=False)
        assert sorted(taken.verdicts().values()) == ["blurred", "blurred", "sharp"]
        assert len(archiver.servers.requests("a.test", "/a")) == 1
        assert taken.certificate["policy"]["sharp"] is False

    run_scenario(scenario)


def test_captured_pages_are_stored_and_never_due(run_scenario: Callable[..., None]) -> None:
    """Captured pages and their visits are in the store; the pages are tagged and paused, so no crawl visits them."""

    async def scenario(archiver: Archiver) -> None:
        site(archiver, a=links())
        await capture(archiver)
        page = await archiver.page(f"{SITE}a")
        assert (page.tags, page.state) == ((), "captured")
        assert await archiver.outcomes(f"{SITE}a") in (["new", "same"], ["new"])
        asked = len(archiver.servers.received)
        assert await archiver.crawl(after_s=30 * 86_400) == 0
        assert len(archiver.servers.received) == asked

    run_scenario(scenario)
