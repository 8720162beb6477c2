"""Announcements of feeds and sitemaps in the values of pages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.schedule.tables import NOW, table_of
from webstrata.clock import DAY_S
from webstrata.records import Announcement, SignalSource


def source(right: float, wrong: float, announced: float, silent: float, **more: Any) -> SignalSource:
    return SignalSource(
        id=9, url="http://h0.test/sitemap.xml", kind="sitemap-lastmod", right=right, wrong=wrong, announced=announced,
        silent=silent, **more,
    )  # fmt: skip


def test_announcements_and_silence_of_a_good_source() -> None:
    """An announced page is worth more, a listed one without announcement less; a bad source has no effect."""
    values = {}
    for name, sitemap in {
        "good": source(30, 0, 30, 1, read_at=(NOW + 3) * DAY_S),
        "wrong": source(0, 300, 0, 300, read_at=(NOW + 3) * DAY_S),
    }.items():
        table = table_of(8)
        quiet = table.policy_state.values(NOW + 3.0).copy()
        listed = [
            (row, Announcement(page_id=0, source_id=9, at=None, seen_at=0.0, news=int(row == 0))) for row in (0, 1)
        ]
        table.policy_state.load_announcements([sitemap], listed)
        values[name] = table.policy_state.values(NOW + 3.0) / quiet
    assert values["good"][0] > 3
    assert values["good"][1] < 0.6
    assert values["good"][2:].tolist() == pytest.approx([1.0] * 6, rel=1e-3)
    assert values["wrong"][0] < 1.5
    assert values["wrong"][1] > 0.9


def test_a_list_is_worth_what_it_would_reveal() -> None:
    """A list is worth more the longer it was not read; without recall, or if all is announced, it is worth nothing."""
    table = table_of(8)

    def worth(sitemap: SignalSource, news: int, days: float) -> float:
        announcements = [
            (row, Announcement(page_id=0, source_id=9, at=None, seen_at=0.0, news=news)) for row in range(8)
        ]
        table.policy_state.load_announcements([sitemap], announcements)
        return table.policy_state.source_values(NOW + days, 0.01)[sitemap.url]

    good = source(30, 0, 30, 1, read_at=NOW * DAY_S)
    assert 0 < worth(good, 0, 1.0) < worth(good, 0, 10.0)
    assert worth(source(30, 0, 0, 30, read_at=NOW * DAY_S), 0, 10.0) == pytest.approx(0.0, abs=1e-6)
    assert worth(good, 1, 10.0) == 0.0
