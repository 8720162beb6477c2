"""The capture of a site: pages with the same content on both sides of the instant are sharp, others are not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from tests.flows.capture.capturing import SITE, capture, changing_at, links, site
from tests.flows.conftest import START_AT, Life


def test_a_site_without_changes_is_sharp(live: Callable[..., None]) -> None:
    """Every page of a site that does not change is sharp; each is requested twice, except the one at the instant."""

    async def scenario(life: Life) -> None:
        site(life, a=links("/deep"), b=links("/"), deep=links())
        taken = await capture(life)
        assert taken.verdicts() == {"/": "sharp", "/a": "sharp", "/b": "sharp", "/deep": "sharp"}
        asked = [path for path in life.town.paths("a.test") if path != "/robots.txt"]
        assert sorted(asked.count(path) for path in set(asked)) == [1, 2, 2, 2]
        assert min(after - before for before, after in pairwise(life.town.times("a.test"))) >= 2
        assert taken.capture.stopped == ""

    live(scenario)


def test_a_page_that_changes_is_blurred(live: Callable[..., None]) -> None:
    """Only the page whose content changes between its visit and its revisit is blurred."""

    async def scenario(life: Life) -> None:
        site(life, a=links(), b=changing_at(START_AT + 9), c=links(), d=links())
        taken = await capture(life)
        verdicts = taken.verdicts()
        visit, revisit = taken.page("/b")["visit"], taken.page("/b")["revisit"]
        assert verdicts.pop("/b") == "blurred", (visit, revisit)
        assert set(verdicts.values()) == {"sharp"}

    live(scenario)


def test_chance_of_changed_and_back(live: Callable[..., None]) -> None:
    """A page that changed and changed back between its downloads is sharp; the certificate has its probability."""

    async def scenario(life: Life) -> None:
        moments = [START_AT + 9.5, START_AT + 9.9]
        seen = {"then": links(text="another text for a moment"), "else": links(text="the usual text")}
        site(
            life, a=lambda asked: seen["then" if moments[0] <= asked.at < moments[1] else "else"], b=links(), c=links()
        )
        taken = await capture(life)
        assert taken.page("/a")["verdict"] == "sharp"
        revisited = [page for page in taken.certificate["pages"] if page["revisit"] is not None]
        assert all(float(page["changed_and_back"]) > 0 for page in revisited)
        assert "does not prove that a page was never another in between" in taken.certificate["statement"]

    live(scenario)


def test_a_single_pass_proves_one_page(live: Callable[..., None]) -> None:
    """Without revisits the download of one page is the instant, and all other pages are blurred."""

    async def scenario(life: Life) -> None:
        site(life, a=links(), b=links())
        taken = await capture(life, sharp=False)
        assert sorted(taken.verdicts().values()) == ["blurred", "blurred", "sharp"]
        assert len(life.town.requests("a.test", "/a")) == 1
        assert taken.certificate["policy"]["sharp"] is False

    live(scenario)


def test_captured_pages_are_stored_and_paused(live: Callable[..., None]) -> None:
    """Captured pages and their visits are in the store; the pages are tagged and paused, so no crawl visits them."""

    async def scenario(life: Life) -> None:
        site(life, a=links())
        await capture(life)
        page = await life.page(f"{SITE}a")
        assert (page.tags, page.state) == (("capture",), "paused")
        assert await life.outcomes(f"{SITE}a") in (["new", "same"], ["new"])
        asked = len(life.town.asked)
        assert await life.crawl(after_s=30 * 86_400) == 0
        assert len(life.town.asked) == asked

    live(scenario)
