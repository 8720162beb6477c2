"""Noise in the loop: parts that change at every visit stop counting unless the user lets them, and are archived."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from tests.flows.conftest import DAILY, DAY_S, Archiver
from tests.flows.scripted_servers import ReceivedRequest, Reply, reply
from webstrata.detect.memory import unpack
from webstrata.detect.noisy_place import NoisyPlace

PAGE = "http://a.test/page"
STORY = "".join(
    f"<p>Paragraph {word} of the story says what happened in {word}, at length, and nobody ever edits it.</p>"
    for word in ("Rome", "Oslo", "Lima", "Kyoto", "Dakar", "Quito", "Turin", "Cairo")
)

NOISY = {
    "a clock in the footer": "<main><h1>Story</h1>{story}{edit}</main><footer>Generated at 12:{n:02}:07 UTC</footer>",
    "a counter in the text": "<main><h1>Story</h1><p>You are visitor number {n}.</p>{story}{edit}</main>",
    "a token in the text": "<main><h1>Story</h1><p>Your session: 9f{n:04x}e0c1d2a3b4c5</p>{story}{edit}</main>",
}


def restless(template: str, edits: dict[int, str]) -> Callable[[ReceivedRequest], Reply]:
    """A page that is different at every request; `edits` are added from that request on."""
    numbers = count(1)

    def answer(request: ReceivedRequest) -> Reply:
        number = next(numbers)
        edit = "".join(text for since, text in edits.items() if number >= since)
        return reply("<title>Story</title>" + template.format(n=number, story=STORY, edit=edit))

    return answer


async def learned(archiver: Archiver) -> list[NoisyPlace]:
    return [place for place in unpack((await archiver.page(PAGE)).memory).noise if place.state == "learned"]


@pytest.mark.parametrize("name", NOISY)
def test_noise_is_learned_and_archived(run_scenario: Callable[..., None], name: str) -> None:
    """Visits become `same` though no two responses are equal, and every response is archived in full."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, restless(NOISY[name], {}))
        await archiver.watch(PAGE)
        for _ in range(12):
            await archiver.crawl(after_s=30 * 60)
        outcomes = await archiver.outcomes(PAGE)
        assert outcomes[0] == "new"
        assert outcomes.count("changed") <= 3
        assert set(outcomes[-6:]) == {"same"}
        visits = await archiver.visits(PAGE)
        assert len({visit.raw for visit in visits}) == len(visits) == 12
        assert all(visit.raw_changed for visit in visits[1:])
        assert [record.kind for record in archiver.records(PAGE)] == ["response"] * 12

    run_scenario(
        scenario, DAILY, "schedule.start_interval=10m", "schedule.min_interval=1m", "schedule.max_interval=20m"
    )


def test_an_edit_counts_though_noise_is_learned(run_scenario: Callable[..., None]) -> None:
    """Only the noise itself is ignored: an added sentence is a change, and the noise stays learned."""

    async def scenario(archiver: Archiver) -> None:
        edits = {10: "<p>The mayor resigned on Tuesday after a long debate in the council.</p>"}
        archiver.servers.serve(PAGE, restless(NOISY["a counter in the text"], edits))
        await archiver.watch(PAGE)
        for _ in range(14):
            await archiver.crawl(after_s=30 * 60)
        outcomes = await archiver.outcomes(PAGE)
        assert outcomes[8:] == ["same", "changed", "same", "same", "same", "same"]
        edited = (await archiver.visits(PAGE))[9]
        assert (edited.kind, edited.counts) == ("content", True)
        assert 0 < edited.significance <= 1
        assert await learned(archiver)

    run_scenario(
        scenario, DAILY, "schedule.start_interval=10m", "schedule.min_interval=1m", "schedule.max_interval=20m"
    )


def test_a_user_can_let_a_noisy_place_count(run_scenario: Callable[..., None]) -> None:
    """A place that the user lets count counts from the next visit on, and is not learned as noise again."""

    async def scenario(archiver: Archiver) -> None:
        archiver.servers.serve(PAGE, restless(NOISY["a counter in the text"], {}))
        await archiver.watch(PAGE)
        for _ in range(8):
            await archiver.crawl(after_s=30 * 60)
        (place,) = await learned(archiver)
        assert "visitor number" in place.example
        page = await archiver.page(PAGE)
        async with archiver.node.store() as store:
            await store.pages.set_counted(page.id, [place.key])
        for _ in range(8):
            await archiver.crawl(after_s=30 * 60)
        assert (await archiver.outcomes(PAGE))[8:] == ["changed"] * 8
        assert await learned(archiver) == []

    run_scenario(
        scenario, DAILY, "schedule.start_interval=10m", "schedule.min_interval=1m", "schedule.max_interval=20m"
    )


def test_news_is_not_noise(run_scenario: Callable[..., None]) -> None:
    """A page with a new headline every day never stops changing."""

    async def scenario(archiver: Archiver) -> None:
        words = ("flood", "strike", "vote", "storm", "treaty", "fire", "harvest", "bridge", "budget", "comet")
        script = [
            reply(f"<title>News</title><main>{STORY}<p>Today in the news: the {word} is all that people talk of.</p>")
            for word in words
        ]
        archiver.servers.serve(PAGE, *script)
        await archiver.watch(PAGE)
        for _ in words:
            await archiver.crawl(after_s=2 * DAY_S)
        assert await archiver.outcomes(PAGE) == ["new"] + ["changed"] * (len(words) - 1)

    run_scenario(scenario, "schedule.max_interval=1d")
