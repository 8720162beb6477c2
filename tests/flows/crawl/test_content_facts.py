"""Visits write what first and changed versions say: features for the classifier, links for the link graph."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.flows.conftest import DAILY, DAY_S, START_AT, Archiver
from tests.flows.scripted_servers import reply
from webstrata.columns import SEEN_LINK
from webstrata.observe.copy_links import link_values
from webstrata.observe.static_features import STATIC_FEATURES
from webstrata.records import PageRole

PAGE = "http://a.test/page"
FEED = "http://a.test/feed"
RSS = (
    '<rss version="2.0"><channel><title>news</title><link>http://a.test/</link><description>d</description>'
    "<item><title>one</title><link>http://a.test/one</link></item></channel></rss>"
)


async def facts(archiver: Archiver, url: str) -> tuple[dict[str, float], dict[int, float] | None]:
    """The stored features of a page, and the time of each of its links; None: no links are stored."""
    page = await archiver.page(url)
    async with archiver.node.store() as store:
        features = (await store.facts.features([page.id])).get(page.id, {})
        packed = (await store.facts.links([page.id])).get(page.id)
    if packed is None:
        return features, None
    rows = np.frombuffer(packed, SEEN_LINK)
    return features, dict(zip(rows["value"].tolist(), rows["first_at"].tolist(), strict=True))


def test_first_and_changed_versions_are_written(run_scenario: Callable[..., None]) -> None:
    """Features are those of the last version; a link keeps the time of the version that first had it; a version that
    did not change, an error and a missing page write nothing."""

    async def scenario(archiver: Archiver) -> None:
        first = reply("<p>one <a href='/x'>x</a> <a href='/y'>y</a>")
        second = reply("<p>one two three <img src=i> <a href='/y'>y</a> <a href='/z'>z</a>")
        archiver.servers.serve(PAGE, first, first, second, reply("oops", 500), reply("gone", 410))
        await archiver.watch(PAGE)
        for _ in range(5):
            await archiver.crawl(after_s=2 * DAY_S)
        visits = await archiver.visits(PAGE)
        features, links = await facts(archiver, PAGE)
        assert set(features) == set(STATIC_FEATURES)
        assert (features["images"], features["internal_links"], features["is_page"]) == (1, 2, 1)
        at = dict(zip("xyz", link_values([f"http://a.test/{name}" for name in "xyz"]).tolist(), strict=True))
        assert links == {at["x"]: visits[0].at, at["y"]: visits[0].at, at["z"]: visits[2].at}
        assert visits[0].at >= START_AT

    run_scenario(scenario, DAILY)


def test_feeds_have_features_and_requisites_have_none(run_scenario: Callable[..., None]) -> None:
    """Nothing is learned from requisites, which have no schedule of their own."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(FEED, reply(RSS, kind="application/rss+xml"))
        archiver.servers.serve("http://a.test/i.css", reply("<p><a href='/x'>x</a>", kind="text/html"))
        await archiver.watch(FEED)
        await archiver.watch("http://a.test/i.css", role=PageRole.REQUISITE)
        await archiver.crawl()
        features, _ = await facts(archiver, FEED)
        assert (features["is_feed"], features["is_page"]) == (1, 0)
        assert (await archiver.page("http://a.test/i.css")).visits == 1
        assert await facts(archiver, "http://a.test/i.css") == ({}, None)

    run_scenario(scenario, DAILY)
