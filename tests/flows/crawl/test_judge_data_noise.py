"""Noise in data, through the real loop: places that change at every visit stop counting, the rest never does."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from tests.flows.conftest import DAY_S, Life
from tests.flows.town import Asked, Reply, reply
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


def restless(name: str, edits: int) -> Callable[[Asked], Reply]:
    kind, template, _ = MADE[name]
    numbers = count(1)
    return lambda asked: reply(template.format(at=iso(asked.at), edit=int(next(numbers) >= edits)), kind=kind)


@pytest.mark.parametrize("apart", ["minutes", "days"])
@pytest.mark.parametrize("name", MADE)
def test_times_of_making_are_learned(live: Callable[..., None], name: str, apart: str) -> None:
    """A time that is another at every visit stops counting and is named; what else changes counts, as data."""
    apart_s, visits = (600.0, 6) if apart == "minutes" else (2 * DAY_S, 12)

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, restless(name, visits))
        await life.watch(PAGE)
        for _ in range(visits + 1):
            await life.crawl(after_s=apart_s)
        outcomes = await life.outcomes(PAGE)
        assert outcomes[visits - 2 :] == ["same", "changed", "same"], outcomes
        assert (await life.visits(PAGE))[visits - 1].kind == "data"
        page = await life.page(PAGE)
        (place,) = [one for one in unpack(page.memory).noise if one.state == "learned"]
        assert (place.kind, place.example.partition(": ")[0]) == ("data", MADE[name][2])
        assert len(page.memory) < 2_000
        async with life.node.store() as store:
            await store.pages.set_counted(page.id, [place.key])
        await life.crawl(after_s=apart_s)
        assert (await life.outcomes(PAGE))[-1] == "changed", "the user has the last word"

    live(scenario, "schedule.start_interval=5m", "schedule.min_interval=1m", "schedule.max_interval=1d")


def test_figures_are_no_noise(live: Callable[..., None]) -> None:
    """A price that is another every day counts every day."""

    async def scenario(life: Life) -> None:
        numbers = count(1)
        body = '{{"name": "N", "unit": "EUR", "note": "x", "price": {}}}'
        life.town.play(PAGE, lambda asked: reply(body.format(next(numbers)), kind="application/json"))
        await life.watch(PAGE)
        for _ in range(12):
            await life.crawl(after_s=2 * DAY_S)
        assert await life.outcomes(PAGE) == ["new"] + ["changed"] * 11

    live(scenario, "schedule.max_interval=1d")
