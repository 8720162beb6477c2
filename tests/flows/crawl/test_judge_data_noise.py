"""Noise in data: fields that change at every visit stop counting, all other fields count."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from tests.flows.conftest import DAILY, DAY_S, Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, reply
from webstrata.clock import iso
from webstrata.detect.memory import unpack

PAGE = "http://a.test/data"
MADE = {
    "json": (
        "application/json",
        '{{"rows":[1,2,{edit}],"meta":{{"serving":"{at}","x":1}},"name":"N"}}',
        "meta.serving",
    ),
    "csv": ("text/csv", "id,value,seen\n1,a{edit},{at}\n2,b,{at}\n", "seen"),
    "turtle": (
        "text/turtle",
        '@prefix d: <http://purl.org/dc/terms/> . <x> d:title "T{edit}" ; d:issued "2020" ; d:modified "{at}" .',
        "<http://purl.org/dc/terms/modified>",
    ),
    "xml": ("application/xml", "<a made='{at}'><b>{edit}</b><c>1</c><d>2</d></a>", "/a/@made"),
    "sitemap": (
        "application/xml",
        "<urlset><url><loc>http://a.test/{edit}</loc><lastmod>{at}</lastmod></url></urlset>",
        "lastmod",
    ),
}


def restless(name: str, edits: int) -> Callable[[ReceivedRequest], Reply]:
    kind, template, _ = MADE[name]
    numbers = count(1)
    return lambda request: reply(template.format(at=iso(request.at), edit=int(next(numbers) >= edits)), kind=kind)


@pytest.mark.parametrize("apart", ["minutes", "days"])
@pytest.mark.parametrize("name", MADE)
def test_generation_times_are_learned(run_scenario: Callable[..., None], name: str, apart: str) -> None:
    """A time that differs at every visit stops counting and is named; any other change counts, as data."""
    apart_s, visits = (600.0, 6) if apart == "minutes" else (2 * DAY_S, 12)

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, restless(name, visits))
        await archiver.watch(PAGE)
        for _ in range(visits + 1):
            await archiver.crawl(after_s=apart_s)
        outcomes = await archiver.outcomes(PAGE)
        assert outcomes[visits - 2 :] == ["same", "changed", "same"], outcomes
        assert (await archiver.visits(PAGE))[visits - 1].kind == "data"
        page = await archiver.page(PAGE)
        (place,) = [one for one in unpack(page.memory).noise if one.state == "learned"]
        assert (place.kind, place.example.partition(": ")[0]) == ("data", MADE[name][2])
        assert len(page.memory) < 2_000
        async with archiver.node.store() as store:
            await store.pages.set_counted(page.id, [place.key])
        await archiver.crawl(after_s=apart_s)
        assert (await archiver.outcomes(PAGE))[-1] == "changed", "the user lets it count"

    run_scenario(scenario, DAILY, "schedule.start_interval=5m", "schedule.min_interval=1m", "schedule.max_interval=1d")


def test_prices_are_not_noise(run_scenario: Callable[..., None]) -> None:
    """A price that differs every day counts every day."""

    async def scenario(archiver: Archiver) -> None:
        numbers = count(1)
        body = '{{"name": "N", "unit": "EUR", "note": "x", "price": {}}}'
        archiver.servers.serve(PAGE, lambda request: reply(body.format(next(numbers)), kind="application/json"))
        await archiver.watch(PAGE)
        for _ in range(12):
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new"] + ["changed"] * 11

    run_scenario(scenario, "schedule.max_interval=1d")
