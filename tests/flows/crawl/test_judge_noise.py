"""Noise in the loop: what keeps changing stops counting, all of it is archived, and the user has the last word."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from tests.flows.conftest import DAY_S, Life
from tests.flows.town import Asked, Reply, reply
from webstrata.detect.memory import unpack
from webstrata.detect.noise import NoisyPlace

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


def restless(template: str, edits: dict[int, str]) -> Callable[[Asked], Reply]:
    """A page that is different at every request; `edits` are added from that request on."""
    numbers = count(1)

    def answer(asked: Asked) -> Reply:
        number = next(numbers)
        edit = "".join(text for since, text in edits.items() if number >= since)
        return reply("<title>Story</title>" + template.format(n=number, story=STORY, edit=edit))

    return answer


async def learned(life: Life) -> list[NoisyPlace]:
    return [place for place in unpack((await life.page(PAGE)).memory).noise if place.state == "learned"]


@pytest.mark.parametrize("name", NOISY)
def test_noise_is_learned_and_archived(live: Callable[..., None], name: str) -> None:
    """Visits end up `same` though no two answers are, and every answer is in the archive in full."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, restless(NOISY[name], {}))
        await life.watch(PAGE)
        for _ in range(12):
            await life.crawl(after_s=30 * 60)
        outcomes = await life.outcomes(PAGE)
        assert outcomes[0] == "new"
        assert outcomes.count("changed") <= 3
        assert set(outcomes[-6:]) == {"same"}
        visits = await life.visits(PAGE)
        assert len({visit.raw for visit in visits}) == len(visits) == 12
        assert all(visit.raw_changed for visit in visits[1:])
        assert [record.kind for record in life.records(PAGE)] == ["response"] * 12

    live(scenario, "schedule.start_interval=10m", "schedule.min_interval=1m", "schedule.max_interval=20m")


def test_an_edit_counts_though_noise_is_learned(live: Callable[..., None]) -> None:
    """Learned noise hides itself only: a sentence added beside it is a change, and the noise stays learned."""

    async def scenario(life: Life) -> None:
        edits = {10: "<p>The mayor resigned on Tuesday after a long debate in the council.</p>"}
        life.town.play(PAGE, restless(NOISY["a counter in the text"], edits))
        await life.watch(PAGE)
        for _ in range(14):
            await life.crawl(after_s=30 * 60)
        outcomes = await life.outcomes(PAGE)
        assert outcomes[8:] == ["same", "changed", "same", "same", "same", "same"]
        edited = (await life.visits(PAGE))[9]
        assert (edited.kind, edited.counts) == ("content", True)
        assert 0 < edited.significance <= 1
        assert await learned(life)

    live(scenario, "schedule.start_interval=10m", "schedule.min_interval=1m", "schedule.max_interval=20m")


def test_the_user_may_say_that_it_counts(live: Callable[..., None]) -> None:
    """A place that the user wants counted counts from the next visit on, and is not learned again."""

    async def scenario(life: Life) -> None:
        life.town.play(PAGE, restless(NOISY["a counter in the text"], {}))
        await life.watch(PAGE)
        for _ in range(8):
            await life.crawl(after_s=30 * 60)
        (place,) = await learned(life)
        assert "visitor number" in place.example
        page = await life.page(PAGE)
        async with life.node.store() as store:
            await store.pages.set_counted(page.id, [place.key])
        for _ in range(8):
            await life.crawl(after_s=30 * 60)
        assert (await life.outcomes(PAGE))[8:] == ["changed"] * 8
        assert await learned(life) == []

    live(scenario, "schedule.start_interval=10m", "schedule.min_interval=1m", "schedule.max_interval=20m")


def test_news_are_no_noise(live: Callable[..., None]) -> None:
    """A page with a new headline every day never stops changing."""

    async def scenario(life: Life) -> None:
        words = ("flood", "strike", "vote", "storm", "treaty", "fire", "harvest", "bridge", "budget", "comet")
        script = [
            reply(f"<title>News</title><main>{STORY}<p>Today in the news: the {word} is all that people talk of.</p>")
            for word in words
        ]
        life.town.play(PAGE, *script)
        await life.watch(PAGE)
        for _ in words:
            await life.crawl(after_s=2 * DAY_S)
        assert await life.outcomes(PAGE) == ["new"] + ["changed"] * (len(words) - 1)

    live(scenario, "schedule.max_interval=1d")
