from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webstrata.schedule.next_visit import FIRST_RETRY_S, retry_after_s

WEEK_S = 7 * 86_400.0


def test_doubles_from_minutes_to_the_interval() -> None:
    """Waits double from five minutes and stop at the page's own interval."""
    waits = [retry_after_s(failures, WEEK_S, "https://a.test/") for failures in range(1, 20)]
    for number, wait in enumerate(waits):
        whole = min(FIRST_RETRY_S * 2**number, WEEK_S)
        assert 0.75 * whole < wait <= whole


def test_spread_is_fixed_by_the_page() -> None:
    """Pages of one host get different waits; the wait of a page is deterministic."""
    waits = {retry_after_s(1, WEEK_S, f"https://a.test/{page}") for page in range(100)}
    assert len(waits) > 90
    assert retry_after_s(3, WEEK_S, "https://a.test/") == retry_after_s(3, WEEK_S, "https://a.test/")


@given(st.integers(-5, 10**9), st.floats(0, 1e12), st.text())
def test_always_between_zero_and_the_interval(failures: int, interval_s: float, key: str) -> None:
    """The wait is never negative or longer than the interval."""
    assert 0 <= retry_after_s(failures, interval_s, key) <= interval_s
