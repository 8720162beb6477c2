"""Two homes that share their tables: each archive is readable without the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.flows.conftest import DAILY, DAY_S, Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, reply
from tests.remember.conftest import postgres, postgres_database  # noqa: F401 - fixtures
from webstrata.home import Home
from webstrata.node import Node

PAGE = "http://a.test/"
BODY = "<title>t</title><p>always the same words"


def test_a_home_asks_in_full_for_what_only_the_other_has(
    run_scenario: Callable[..., None],
    postgres_database: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    """The first visit of each home is answered with 200, although the tables know the validator of the other's version;
    later visits are conditional, and their revisit records refer to the own archive."""
    asked: list[str | None] = []

    def answer(request: ReceivedRequest) -> Reply:
        asked.append(request.headers.get("if-none-match"))
        return reply("", 304, kind="", ETag='"v"') if asked[-1] else reply(BODY, ETag='"v"')

    async def scenario(archiver: Archiver) -> None:
        home, _ = Home.create(tmp_path / "neighbour")
        other = Node(home, archiver.settings, archiver.clock, make_parsers=archiver.make_parsers)
        archiver.servers.serve(PAGE, answer)
        await archiver.watch(PAGE)
        for node in (archiver.node, other, archiver.node, other):
            await archiver.clock.sleep_until(archiver.clock.now() + 10 * DAY_S)
            async with node.crawling() as loop:
                assert await loop.crawl() == 1
        assert asked == [None, None, '"v"', '"v"']
        for node in (archiver.node, other):
            result = await node.check(repair=False, deep=True)
            assert (result.bad, result.dangling, result.lost, result.elsewhere) == (0, 0, 0, 2), result.findings
        own = archiver.records(PAGE)
        assert [record.kind for record in own] == ["response", "revisit"]
        assert own[1].headers["WARC-Refers-To-Filename"] == archiver.warcs()[0].name

    run_scenario(scenario, DAILY, f"store.url={postgres_database}", "store.schema=together")
