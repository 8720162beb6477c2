"""Noise on synthetic pages: what is learned, after how many visits, and what always counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from random import Random

import pytest

from tests.detect.watched_page import WatchedPage
from webstrata.detect.memory import pack
from webstrata.records import Outcome

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
START = datetime(2026, 3, 1, 9, tzinfo=UTC).timestamp()

ARTICLE = [
    "The bridge over the river",
    "It was built in 1902 and renewed in 1988.",
    "Trains cross it at 40 km/h.",
    "See also",
]
ADS = ["Buy socks, warm as toast", "Fly to the moon and back, half price", "Learn to juggle in nine easy lessons"]
ADS += ["A lamp for every mood", "Tea from the garden next door", "Paint your boat before winter"]

Words = Callable[[Random, float], str]


def clock(random: Random, at: float) -> str:
    return f"It is now {datetime.fromtimestamp(at, UTC):%A, %d %B %Y %H:%M:%S}"


def counter(random: Random, at: float) -> str:
    return f"{int(at - START) + 1_200_345:,} visits so far"


def online(random: Random, at: float) -> str:
    return f"{random.randrange(1000, 9999)} visitors online"


def token(random: Random, at: float) -> str:
    return f"Session {random.getrandbits(96):024x}"


def advertisement(random: Random, at: float) -> str:
    return random.choice(ADS)


def ever_new(random: Random, at: float) -> str:
    return " ".join(random.choice(("sky", "leaf", "stone", "river", "wind", "ember")) for _ in range(9))


def visits(words: Words, every: float, count: int, index: int = 1) -> Iterator[tuple[list[str], float]]:
    random = Random(7)
    for n in range(count):
        at = START + n * every + random.random()
        yield [*ARTICLE[:index], words(random, at), *ARTICLE[index:]], at


CASES = [
    # text that changes, seconds between visits, maximum number of changes that count before it is learned
    (clock, 5 * MINUTE, 2),
    (clock, 7 * DAY, 6),
    (counter, 10 * MINUTE, 2),
    (counter, DAY, 6),
    (online, DAY, 6),
    (token, 5 * MINUTE, 2),
    (token, DAY, 6),
    (advertisement, 5 * MINUTE, 8),
    (advertisement, DAY, 20),
    (ever_new, 5 * MINUTE, 3),
]


@pytest.mark.parametrize(("words", "every", "max_alarms"), CASES)
def test_what_changes_at_every_visit_stops_counting(words: Words, every: float, max_alarms: int) -> None:
    """After a few visits a clock, counter, token or advertisement no longer counts, and an example of it is kept."""
    page = WatchedPage()
    outcomes = [page.visit(lines, at) for lines, at in visits(words, every, 60)]
    assert sum(change.counts for change in outcomes) <= max_alarms
    assert outcomes[-1].outcome is Outcome.SAME
    assert outcomes[-1].raw or words is advertisement
    [noise] = page.learned
    assert noise.example
    assert noise.since > START


def test_daily_news_are_never_noise() -> None:
    """Free text that is new at each daily visit and never returns counts every time."""
    page = WatchedPage()
    changes = [page.visit(lines, at) for lines, at in visits(ever_new, DAY, 40)]
    assert all(change.counts for change in changes[1:])
    assert page.learned == []


@pytest.mark.parametrize(("words", "every"), [(clock, 5 * MINUTE), (counter, DAY), (advertisement, 5 * MINUTE)])
def test_a_real_change_next_to_noise_counts(words: Words, every: float) -> None:
    """Another digit, a new line or a removed line elsewhere on the page is a change, whatever was learned."""
    for edit in (
        lambda lines: [line.replace("1902", "1903") for line in lines],
        lambda lines: [*lines, "Closed until May."],
        lambda lines: [line for line in lines if "Trains" not in line],
    ):
        page = WatchedPage()
        versions = list(visits(words, every, 31))
        for lines, at in versions[:-1]:
            page.visit(lines, at)
        assert page.learned
        lines, at = versions[-1]
        assert page.visit(edit(lines), at).counts


def test_a_noisy_place_with_another_shape_counts() -> None:
    """A learned clock that is replaced by a sentence, or removed, is a change."""
    for instead in (["The clock has been removed"], ["It is now time to leave, 3 minutes"], []):
        page = WatchedPage()
        for lines, at in visits(clock, 5 * MINUTE, 20):
            page.visit(lines, at)
        change = page.visit([*ARTICLE[:1], *instead, *ARTICLE[1:]], START + DAY)
        assert change.counts


def test_a_gap_that_grows_counts() -> None:
    """A long text in a gap that was learned with short advertisements is a change."""
    page = WatchedPage()
    for lines, at in visits(advertisement, 5 * MINUTE, 40):
        page.visit(lines, at)
    assert page.learned
    change = page.visit([*ARTICLE[:1], "We close for good on Friday. " * 9, *ARTICLE[1:]], START + DAY)
    assert change.counts


def test_a_place_that_changes_rarely_counts() -> None:
    """A price that changes at every tenth visit is not noise, whether visits are minutes or days apart."""
    for every in (5 * MINUTE, DAY):
        page = WatchedPage()
        counted = 0
        for n in range(100):
            counted += page.visit([*ARTICLE[:1], f"Price: {n // 10} EUR", *ARTICLE[1:]], START + n * every).counts
        assert counted == 9


def test_a_page_that_is_mostly_noise_counts() -> None:
    """If most words of a page are noise, its changes count."""
    page = WatchedPage()
    assert all(page.visit([f"{n * 37} EUR", "per ounce"], START + n * DAY).counts == (n > 0) for n in range(30))


def test_a_clock_that_stops_is_forgotten() -> None:
    """A learned place that stays the same for as many visits as it had changes counts again at its next change."""
    page = WatchedPage()
    for lines, at in visits(clock, 5 * MINUTE, 20):
        page.visit(lines, at)
    for n in range(19):
        assert page.learned
        page.visit(lines, at + n + 1)
    assert page.learned == []
    assert page.visit([*ARTICLE[:1], clock(Random(0), at + DAY), *ARTICLE[1:]], at + DAY).counts


def test_a_learned_place_can_be_denied() -> None:
    """A denied place counts at every visit; when the denial is removed, it is learned again."""
    page = WatchedPage()
    versions = list(visits(clock, 5 * MINUTE, 60))
    for lines, at in versions[:10]:
        page.visit(lines, at)
    [noise] = page.learned
    page.counted = (noise.key,)
    assert all(page.visit(lines, at).counts for lines, at in versions[10:20])
    page.counted = ()
    assert sum(page.visit(lines, at).counts for lines, at in versions[20:]) <= 2


def test_learning_is_deterministic() -> None:
    """The same history gives the same packed memory."""
    packed = []
    for _ in range(2):
        page = WatchedPage()
        for lines, at in visits(advertisement, 5 * MINUTE, 30):
            page.visit(lines, at)
        packed.append(pack(page.memory))
    assert packed[0] == packed[1]


def test_many_places_are_bounded() -> None:
    """The memory of a page with a thousand counters is bounded."""
    page = WatchedPage()
    for n in range(12):
        page.visit([f"Station {chr(97 + i % 26)} {i}: {i * n} passengers" for i in range(1000)], START + n * DAY)
        page.visit([f"Place {chr(97 + i % 20)}: {i * n}" for i in range(20)], START + n * DAY + 9)
    assert len(page.memory.noise) <= 48
    assert len(pack(page.memory)) < 30_000
