"""Noise on synthetic pages: what is learned, after how many visits, and what always counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from random import Random
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.detect.watched_page import WatchedPage
from webstrata.columns import RUN, Part
from webstrata.detect.memory import pack
from webstrata.observe.text_runs import run_shape
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


def filled(line: str) -> list[str]:
    """An article that is long enough that a figure in it is not its subject."""
    return [
        *ARTICLE,
        "The towers are of granite from the hills nearby; the deck is of steel and was painted green.",
        line,
    ]


def test_a_learned_figure_that_jumps_counts() -> None:
    """A figure that was learned as noise counts when it leaves its range, and what follows does not."""
    for jump in ("4", "0", "4.99", "9,900"):
        page = WatchedPage()
        for n in range(30):
            change = page.visit(filled(f"Widgets {90 + n * 7 % 11}"), START + n * DAY)
        assert not change.counts
        assert page.learned
        assert page.visit(filled(f"Widgets {jump}"), START + 30 * DAY).counts, jump
        assert page.visit(filled("Widgets 95"), START + 31 * DAY).counts, "the way back"
        assert not page.visit(filled("Widgets 94"), START + 32 * DAY).counts


def test_a_view_count_never_counts_again() -> None:
    """It grows steadily, stands still for many visits, and grows by much during a pause of weeks."""
    page = WatchedPage()
    views = [100 + 7 * n for n in range(10)] + [163] * 30 + [163 + 7 * n for n in range(10)]
    told = [page.visit(filled(f"{count} views"), START + n * DAY).counts for n, count in enumerate(views)]
    assert sum(told) == 2
    assert not page.visit(filled(f"{226 + 7 * 40} views"), START + (len(views) + 40) * DAY).counts


def test_a_shuffled_list_with_another_item_counts() -> None:
    """After its order was learned as noise, a new item, a missing item and exchanged prices still count."""
    names = ("Lamp", "Chair", "Table", "Rug", "Clock", "Vase")
    for edit in (
        lambda items: [*items[:2], "Sofa", *items[2:]],
        lambda items: items[1:],
        lambda items: [item.replace("Lamp", "Lamps") for item in items],
    ):
        page, random = WatchedPage(), Random(3)
        for n in range(12):
            change = page.visit([*ARTICLE[:2], *random.sample(names, 6), *ARTICLE[2:]], START + n * DAY)
        assert not change.counts
        assert [place.kind for place in page.learned] == ["order"]
        items = edit(random.sample(names, 6))
        assert page.visit([*ARTICLE[:2], *items, *ARTICLE[2:]], START + 12 * DAY).counts


def test_states_that_alternate_count() -> None:
    """Two states are no rotation, and a word such as sold out is watched: each change is told."""
    for states in (("Add to cart", "Sold out"), ("The lift is in service", "The lift is being repaired")):
        page = WatchedPage()
        told = [page.visit(filled(states[n // 2 % 2]), START + n * DAY).counts for n in range(40)]
        assert sum(told) == 19


def links(*addresses: tuple[str, str]) -> np.ndarray:
    """Rows of links: (address, address with tokens and numbers masked)."""
    rows = np.zeros(len(addresses), dtype=RUN)
    rows["value"], rows["shape"] = ([crc32(one[i].encode()) for one in addresses] for i in range(2))
    rows["part"], rows["figure"] = Part.MAIN_LINK, np.nan
    return rows


def test_a_session_id_in_a_link_is_noise_of_this_link() -> None:
    """One link changes at every visit and is learned; the others keep counting, and so does its removal."""
    for every in (5 * MINUTE, DAY):
        for edit in ("another link", "no session link"):
            page, told = WatchedPage(), []
            for n in range(13):
                rows = [("/about", "/about"), (f"/cart?sid={n}", "/cart?sid=#"), ("/help", "/help")]
                if n == 12:
                    rows = rows[:1] + rows[2:] if edit == "no session link" else [*rows, ("/new", "/new")]
                told.append(page.visit(ARTICLE, START + n * every, links=links(*rows)).counts)
            assert sum(told) == 6
            assert told[-1]
            assert [place.kind for place in page.learned] == ["link"]


def test_a_list_of_links_with_a_new_entry_is_not_noise() -> None:
    """In a list of numbered links all places change at each new entry, but its links only moved."""
    page = WatchedPage()
    for n in range(1, 20):
        rows = [(f"/news/{n + 9 - i}", "/news/#") for i in range(10)]
        assert page.visit(ARTICLE, START + n * DAY, links=links(*rows)).counts == (n > 1)
    assert page.learned == []


LINES = st.lists(
    st.sampled_from(
        [
            "Hall {}",
            "{} views",
            "Seen 2026-03-{:02d}",
            "Price {} EUR",
            "Old gate",
            "New gate",
            "The river",
            "By {} trees",
        ]
    ),
    min_size=1,
    max_size=6,
)


@given(st.lists(st.tuples(LINES, st.integers(1, 28)), min_size=2, max_size=14), st.sampled_from([5 * MINUTE, DAY]))
def test_what_learning_hides(versions: list[tuple[list[str], int]], every: float) -> None:
    """An equal page is never told. A hidden difference has no other words, unless they were there before; no price."""
    page = WatchedPage()
    last: list[str] = []
    seen: set[str] = set()
    for n, (templates, figure) in enumerate(versions):
        lines = [template.format(figure) for template in templates]
        change = page.visit(lines, START + n * every)
        if lines == last:
            assert not change.counts
        elif last and not change.counts:
            free = [place for place in page.memory.noise if place.kind == "gap"]
            assert {run_shape(line) for line in lines} <= seen or free
            assert [line for line in lines if "Price" in line] == [line for line in last if "Price" in line]
        last = lines
        seen |= {run_shape(line) for line in lines}


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
