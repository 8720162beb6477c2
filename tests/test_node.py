"""`Node`: what it opens, locks and closes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from webstrata import settings as settings_file
from webstrata.clock import ManualClock
from webstrata.errors import BadSettings, HomeError, StoreError, WebstrataError
from webstrata.home import Home
from webstrata.node import Node
from webstrata.records import AddressState, Batch, HostState, NewPage, RobotsState

NOW = 1_790_000_000.0
FORBIDDEN = b"User-agent: *\nDisallow: /"


def node(folder: Path, *flags: str) -> Node:
    home, _ = Home.create(folder)
    settings, _ = settings_file.load(folder, environment={}, flags=flags)
    return Node(home, settings, ManualClock(NOW))


def test_the_agent_names_product_and_contact(tmp_path: Path) -> None:
    """The User-Agent header names the product and the contact."""
    assert "me@example.org" in node(tmp_path, "polite.contact=me@example.org").agent
    assert node(tmp_path, "polite.robots_token=examplebot").agent.startswith("examplebot/")
    assert "no contact" in node(tmp_path).agent


def test_leases_of_a_killed_run_end(tmp_path: Path) -> None:
    """Pages that a killed crawl of this home had leased are due again when the next one starts."""

    async def main() -> None:
        one = node(tmp_path)
        async with one.store() as store:
            await store.pages.add([NewPage(url="http://a.test/", host="a.test")], NOW)
            assert len(await store.queue.claim(NOW, 10, NOW + 9999, one.home.node_name)) == 1
        async with one.crawling():
            pass
        async with one.store() as store:
            assert (await store.maintenance.totals(NOW)).in_flight == 0
            assert await store.queue.next_due() == NOW

    asyncio.run(main())


def test_leases_of_other_nodes_stay(tmp_path: Path) -> None:
    """Pages that another node has leased stay leased."""

    async def main() -> None:
        one = node(tmp_path)
        async with one.store() as store:
            await store.pages.add([NewPage(url="http://a.test/", host="a.test")], NOW)
            await store.queue.claim(NOW, 10, NOW + 9999, "another")
        async with one.crawling():
            pass
        async with one.store() as store:
            assert (await store.maintenance.totals(NOW)).in_flight == 1

    asyncio.run(main())


def test_politeness_survives_a_restart(tmp_path: Path) -> None:
    """The back-off of hosts, the gaps of addresses and the robots.txt files of an earlier run apply to the next."""

    async def main() -> None:
        one = node(tmp_path)
        async with one.store() as store:
            await store.visit_log.commit(
                Batch(
                    hosts=(HostState(host="a.test", next_at=NOW + 5, backoff_until=NOW + 700, backoff_count=2),),
                    addresses=(AddressState(address="127.0.0.2", next_at=NOW + 3),),
                    robots=(
                        RobotsState(origin="http://b.test", at=NOW, status=200, body=b"User-agent: *\nDisallow: /"),
                    ),
                )
            )
            gate = await one.gate(store)
        assert gate.free_at("a.test", NOW) == NOW + 700
        assert gate.explain("http://b.test/x", NOW)["robots"] == "forbidden"

    asyncio.run(main())


def test_a_home_is_locked_while_crawling_and_checking(tmp_path: Path) -> None:
    """Only one crawl, check or reindex runs in a home at a time, and the home is unlocked after each."""

    async def main() -> None:
        one, two = node(tmp_path), node(tmp_path)
        async with one.crawling():
            with pytest.raises(HomeError, match="in use"):
                await two.check(repair=False)
            with pytest.raises(HomeError, match="in use"):
                two.reindex()
            with pytest.raises(HomeError, match="in use"):
                async with two.crawling():
                    pytest.fail("two crawls in one home")
        assert (await two.check(repair=False)).bad == 0
        assert two.reindex() == (0, 0)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("flag", "kind"),
    [
        ("schedule.policy=nonsense", BadSettings),
        ("schedule.policy=no.such.module:Class", BadSettings),
        ("schedule.min_interval=0s", BadSettings),
        ("fetch.allow_private=localhost", BadSettings),
        ("fetch.hosts=a.test=nowhere", BadSettings),
        ("fetch.ca_file=missing.pem", BadSettings),
        ("store.url=nonsense", WebstrataError),
        ("store.url=sqlite:////no/such/folder/x.db", StoreError),
    ],
)
def test_unusable_settings_are_errors_and_unlock_the_home(
    tmp_path: Path, flag: str, kind: type[WebstrataError]
) -> None:
    """Settings that only the node can check raise an error of the package, and the home is not left locked."""

    async def main() -> None:
        with pytest.raises(kind):
            async with node(tmp_path, flag).crawling():
                pytest.fail("must not start")
        async with node(tmp_path).crawling():
            pass

    asyncio.run(main())
