"""Pages in memory: found by their ids, small, valued with what sources say; and when they will be worth a visit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from webstrata.clock import DAY_S
from webstrata.records import Announcement, Boost, IntervalLimit, PageSummary, SignalSource
from webstrata.schedule.budgeted_registry import budgeted_names, budgeted_policy
from webstrata.schedule.crossing import crossing_days
from webstrata.schedule.overrides import IntervalLimits, Overrides
from webstrata.schedule.page_table import PageTable, replayed
from webstrata.schedule.policy import Bounds

NOW = 20_000.0
USUAL = IntervalLimits(300.0, 180 * DAY_S)
LIVE = Bounds(min_days=1 / 288, max_days=180.0)


def outlines(n: int, per_host: int = 4) -> list[PageSummary]:
    """Pages with ids that do not come in order."""
    ids = np.random.default_rng(3).permutation(n) * 7 + 5
    return [
        PageSummary(id=int(id_), url=f"http://h{i // per_host}.test/{i}", host=f"h{i // per_host}.test")
        for i, id_ in enumerate(ids)
    ]


def crowd_of(n: int, name: str = "value") -> PageTable:
    policy = budgeted_policy(name, LIVE)
    crowd = PageTable(policy)
    pages = outlines(n)
    for part in (pages[: n // 2], pages[n // 2 :]):
        crowd.take_in(part, [policy.start(1, NOW)[0].tobytes() for _ in part], NOW)
    crowd.wish(Overrides(), USUAL, {}, NOW * DAY_S)
    return crowd


def test_pages_are_found_by_their_ids() -> None:
    """In whatever order they came; a stranger is told apart."""
    crowd = crowd_of(50)
    ids = [one.id for one in outlines(50)]
    assert crowd.rows(ids).tolist() == list(range(50))
    assert crowd.rows([ids[7], 1, ids[3]]).tolist() == [7, -1, 3]
    assert crowd.rows([]).tolist() == []


def test_state_survives_growth() -> None:
    """What was learned of pages and of their sites is the same after others came."""
    crowd = crowd_of(40)
    rows = np.arange(20)
    crowd.learn(rows, np.full(20, NOW + 5), rows % 3 == 0)
    before, sites = crowd.population.state[:40].copy(), dict(crowd.changed_sites())
    more = [PageSummary(id=10_000 + i, url=f"http://new{i}.test/", host=f"new{i}.test") for i in range(5)]
    crowd.take_in(more, [None] * 5, NOW + 5)
    assert crowd.population.state[:40].tobytes() == before.tobytes()
    crowd.learn(rows, np.full(20, NOW + 5), rows < 0)
    assert crowd.ready.tolist() == [True] * 40 + [False] * 5
    other = crowd_of(40)
    other.put_sites(sites)
    assert other.population.sites is not None
    kept = other.population.sites[other.population.site[0]]
    assert kept["day"] == int(NOW + 5)
    other.put_sites({"h0.test": b"nonsense", "strange.test": sites["h0.test"]})


def test_a_page_takes_little_memory() -> None:
    """All columns of a page together take at most 256 bytes, those of the policy and of sources among them."""
    n = 4000
    crowd = crowd_of(n)
    crowd.population.values(NOW + 1.0)
    parts = [crowd, crowd.population, crowd.population.heard, crowd.population._outlook]
    arrays = {id(value): value for part in parts for value in _values(part) if isinstance(value, np.ndarray)}
    size = sum(array.nbytes for array in arrays.values() if len(array) >= n)
    assert size <= 256 * n, size / n


def _values(part: object) -> Iterator[object]:
    names = getattr(part, "__struct_fields__", None) or vars(part)
    return (getattr(part, name) for name in names)


def source(right: float, wrong: float, announced: float, silent: float, **more: float) -> SignalSource:
    return SignalSource(
        id=9, url="http://h0.test/sitemap.xml", kind="sitemap-lastmod", right=right, wrong=wrong, announced=announced,
        silent=silent, **more,
    )  # fmt: skip


def test_what_a_good_source_says_counts_and_its_silence_too() -> None:
    """Told of a change a page is worth more, passed over less; of a source that lies neither moves much."""
    values = {}
    for name, one in {
        "good": source(30, 0, 30, 1, read_at=(NOW + 3) * DAY_S),
        "liar": source(0, 300, 0, 300, read_at=(NOW + 3) * DAY_S),
    }.items():
        crowd = crowd_of(8)
        quiet = crowd.population.values(NOW + 3.0).copy()
        said = [(row, Announcement(page_id=0, source_id=9, at=None, seen_at=0.0, news=int(row == 0))) for row in (0, 1)]
        crowd.population.hear([one], said)
        values[name] = crowd.population.values(NOW + 3.0) / quiet
    assert values["good"][0] > 3
    assert values["good"][1] < 0.6
    assert values["good"][2:].tolist() == pytest.approx([1.0] * 6, rel=1e-3)
    assert values["liar"][0] < 1.5
    assert values["liar"][1] > 0.9


def test_a_list_is_worth_what_it_would_reveal() -> None:
    """The longer unread the more; a list that tells nothing is worth nothing; what is told is known already."""
    crowd = crowd_of(8)
    said = [(row, Announcement(page_id=0, source_id=9, at=None, seen_at=0.0)) for row in range(8)]

    def worth(one: SignalSource, news: int, days: float) -> float:
        told = [(row, Announcement(page_id=0, source_id=9, at=None, seen_at=0.0, news=news)) for row, _ in said]
        crowd.population.hear([one], told)
        return crowd.population.heard.worth(crowd.population, NOW + days, 0.01)[one.url]

    good = source(30, 0, 30, 1, read_at=NOW * DAY_S)
    assert 0 < worth(good, 0, 1.0) < worth(good, 0, 10.0)
    assert worth(source(30, 0, 0, 30, read_at=NOW * DAY_S), 0, 10.0) == pytest.approx(0.0, abs=1e-6)
    assert worth(good, 1, 10.0) == 0.0


@pytest.mark.parametrize("name", budgeted_names())
def test_the_crossing_is_where_the_value_passes_the_price(name: str) -> None:
    """A moment before a page is not worth its price, a moment after it is; a higher price is passed later."""
    crowd = crowd_of(8, name)
    rows = np.arange(8)
    crowd.learn(rows[:4], np.full(4, NOW + 2), np.array([True, True, False, False]))
    ones = np.ones(8, dtype=np.float32)
    price = float(crowd.policy.value(crowd.population.state, rows, NOW + 9.0).mean())
    low, high = (crossing_days(crowd.population, rows, NOW + 2, factor * price, ones) for factor in (0.5, 1.0))
    assert (low <= high).all()
    assert (low < high).any()
    if crowd.population.siblings is None:
        for row in rows[np.isfinite(high)].tolist():
            before, after = (
                float(crowd.policy.value(crowd.population.state, np.array([row]), NOW + 2 + high[row] * share)[0])
                for share in (0.8, 1.25)
            )
            assert before <= price * 1.001
            assert after >= price * 0.999


def test_wishes_become_columns() -> None:
    """Boosts hold while they last, a page's own limit goes before its tags'."""
    policy = budgeted_policy("value", LIVE)
    crowd = PageTable(policy)
    pages = [
        PageSummary(id=1, url="http://a.test/1", host="a.test", tags=("news",)),
        PageSummary(id=2, url="http://a.test/2", host="a.test", tags=("news", "other")),
        PageSummary(id=3, url="http://a.test/3", host="a.test", weight=float("nan")),
    ]
    crowd.take_in(pages, [None] * 3, NOW)
    wishes = Overrides(
        boosts={"news": Boost(tag="news", factor=3.0, since=10.0, until=20.0)},
        pages={"http://a.test/2": IntervalLimit(kind="page", name="http://a.test/2", max_s=DAY_S)},
        tags={"news": IntervalLimit(kind="tag", name="news", min_s=2 * DAY_S)},
    )
    for now, factor in ((9.0, 1.0), (10.0, 3.0), (19.9, 3.0), (20.0, 1.0)):
        crowd.wish(wishes, USUAL, {2: "http://a.test/2"}, now)
        assert crowd.factor.tolist() == [factor, factor, 1.0]
    assert crowd.min_days.tolist() == pytest.approx([2.0, 1 / 288, 1 / 288])
    assert crowd.max_days.tolist() == [180.0, 1.0, 180.0]
    assert crowd.weight.tolist() == [1.0, 1.0, 1.0]


def test_a_log_is_learned_as_if_it_had_been_lived() -> None:
    """The row made of a log is the row that visits one by one would have left."""
    policy = budgeted_policy("value", LIVE)
    log = [(1, 10 * DAY_S, False), (1, 12 * DAY_S, True), (1, 20 * DAY_S, False), (2, 11 * DAY_S, False)]
    made = replayed(policy, log)
    lived = policy.start(1, 10.0)
    one = np.array([0])
    policy.learn(lived, one, np.array([2.0]), np.array([True]))
    policy.learn(lived, one, np.array([8.0]), np.array([False]))
    assert made == {1: lived[0].tobytes(), 2: policy.start(1, 11.0)[0].tobytes()}
    assert replayed(policy, []) == {}
