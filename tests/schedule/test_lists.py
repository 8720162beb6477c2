"""Lists in the schedule under a value policy: which are read, that they are no pages, and when they are read next."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from tests.schedule.tables import LIMITS, LIVE, NOW, summaries
from webstrata.clock import DAY_S
from webstrata.records import Announcement, IntervalLimit, Page, SignalKind, SignalSource
from webstrata.schedule.next_visit import SeenPage
from webstrata.schedule.overrides import IntervalLimits, Overrides
from webstrata.schedule.registry import budgeted_policy
from webstrata.schedule.value_schedule import ValueSchedule

LIST = SignalSource(
    id=9, url="http://h0.test/0", kind="sitemap-lastmod", announced=40.0, announced_changed=40.0,
    announced_expected=4.0, changes=41.0, days=800.0, reads=11, recent_reads=10.0, entries=41.0, page_days=800.0,
    read_days=30.0, read_at=NOW * DAY_S, listed=39,
)  # fmt: skip


def schedule_with(source: SignalSource, news: tuple[int, ...] = ()) -> ValueSchedule:
    """Forty pages; the page in row 0 is a list of all others."""
    schedule = ValueSchedule(budgeted_policy("value", LIVE))
    pages = summaries(40)
    start = schedule.policy.start(1, NOW)[0].tobytes()
    schedule.page_table.add(pages, [start] * len(pages), NOW)
    schedule.page_table.apply_overrides(Overrides(), LIMITS, {}, NOW * DAY_S)
    announced = [
        Announcement(page_id=page.id, source_id=9, at=None, seen_at=0.0, news=int(row in news))
        for row, page in enumerate(pages)
        if row
    ]
    schedule.page_table.load_sources([source], {source.url: pages[0].id}, announced)
    return schedule


def test_a_list_is_read_when_it_is_worth_it() -> None:
    """Not at once after a read, but after some days; not while the budget is needed for announced pages."""
    schedule = schedule_with(LIST)
    assert schedule.sources_to_read((NOW + 0.01) * DAY_S, 10, 10.0).tolist() == []
    assert schedule.sources_to_read((NOW + 5.0) * DAY_S, 10, 10.0).tolist() == [0]
    busy = schedule_with(LIST, news=tuple(range(1, 11)))
    assert busy.sources_to_read((NOW + 5.0) * DAY_S, 10, 10.0).tolist() == []
    assert busy.sources_to_read((NOW + 5.0) * DAY_S, 11, 10.0).tolist() == [0]
    useless = replace(LIST, announced_changed=4.0, silent_changed=36.0, silent_expected=36.0, reads=100)
    assert schedule_with(useless).sources_to_read((NOW + 5.0) * DAY_S, 10, 10.0).tolist() == []


def test_a_list_that_only_announces_has_no_longest_interval() -> None:
    """The longest interval of all pages holds for a list that leads to new pages, or if it is the list's own."""
    never = SignalSource(id=9, url=LIST.url, kind="sitemap-lastmod", reads=100, recent_reads=100.0, listed=39)
    late = (NOW + LIVE.max_days + 1.0) * DAY_S

    def is_read(source: SignalSource, limits: IntervalLimits | None = None) -> bool:
        schedule = schedule_with(source)
        if limits is not None:
            own = {LIST.url: IntervalLimit(kind="page", name=LIST.url, min_s=limits.min_s, max_s=limits.max_s)}
            row_id = int(schedule.page_table.ids[0])
            schedule.page_table.apply_overrides(Overrides(pages=own), LIMITS, {row_id: LIST.url}, late)
        return schedule.sources_to_read(late, 10, 1e-3, 0.5).tolist() == [0]

    assert not is_read(never)
    assert is_read(replace(never, finds_pages=True))
    assert is_read(never, IntervalLimits(0.0, DAY_S))


@pytest.mark.parametrize(
    ("kind", "listed", "is_page"),
    [("sitemap-lastmod", 39, False), ("sitemap-lastmod", 0, True), ("feed-entry", 39, True)],
)
def test_a_sitemap_of_watched_pages_is_no_page(kind: SignalKind, listed: int, is_page: bool) -> None:
    """It is not chosen for its own changes, and its visits teach nothing. A feed, and a sitemap that lists no watched
    page, are pages as well."""
    schedule = schedule_with(SignalSource(id=9, url=LIST.url, kind=kind, reads=50, listed=listed))
    ranked = schedule.ranked((NOW + 20.0) * DAY_S, 40)
    assert (0 in ranked.tolist()) is is_page
    state = schedule.page_table.policy_state.state
    before = state["levels"][0].copy()
    for day in range(1, 15):
        schedule.page_table.learn(np.array([0]), np.array([NOW + day]), np.array([True]))
    assert (state["levels"][0].tolist() != before.tolist()) is is_page
    assert state["seen_at"][0] == NOW + 14


def test_the_next_read_is_predicted_from_the_reads_so_far() -> None:
    """A list that was read every three days is expected in three days."""
    schedule = schedule_with(LIST)
    page = schedule.page_table
    seen = Page(id=int(page.ids[0]), url=LIST.url, host="h0.test", last_seen_at=NOW * DAY_S)
    (following,) = schedule.after_seen([SeenPage(page=seen, at=(NOW + 3.0) * DAY_S, changed=True)])
    assert following.next_at == pytest.approx((NOW + 6.0) * DAY_S)
