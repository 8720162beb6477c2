"""Download times learned from a log."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.plan.downloads import LONGEST_S, SHORTEST_S, DownloadTimes, Sample
from webstrata.plan.draws import keys

RANDOM = np.random.default_rng(1)
LOG: list[Sample] = [
    (f"h{host}", float(RANDOM.lognormal(math.log(0.2 * (host + 1)), 0.5)), 1) for host in range(10) for _ in range(60)
]


def _drawn(downloads: DownloadTimes, host: str, times: int = 4000) -> np.ndarray:
    rows = np.repeat(downloads.rows([host]), times)
    of = np.repeat(keys([host]), times)
    return downloads.draw_s(rows, of, 0, np.arange(times), np.ones(times))


def test_a_hosts_own_times_come_back() -> None:
    """Drawn times of a host with many samples have the quartiles and the mean of the samples."""
    downloads = DownloadTimes(LOG)
    own = [seconds for host, seconds, _ in LOG if host == "h4"]

    drawn = _drawn(downloads, "h4")

    for share in (0.25, 0.5, 0.75):
        assert np.quantile(drawn, share) == pytest.approx(np.quantile(own, share), rel=0.1)
    assert downloads.mean_s(downloads.rows(["h4"]))[0] == pytest.approx(np.mean(own), rel=0.1)


def test_an_unknown_host_is_like_all_and_uncertain() -> None:
    """An unknown host has the mean level of known hosts, with their differences as uncertainty."""
    downloads = DownloadTimes(LOG)
    rows = downloads.rows(["never.seen", "h4"])

    unknown, known = (
        np.std([np.log(downloads.level(rows[n : n + 1], keys(["x"]), replicate)[0]) for replicate in range(200)])
        for n in (0, 1)
    )

    assert 0.5 < np.median(_drawn(downloads, "never.seen")) < 1.6
    assert 0.3 < unknown < 1.2
    assert known < 0.15
    assert (downloads.is_known("h4"), downloads.is_known("never.seen")) == (True, False)


def test_one_sample_is_believed_in_part() -> None:
    """A single slow response raises the level of a host only partly."""
    downloads = DownloadTimes([*LOG, ("new", 30.0, 1)])

    assert 1.5 < np.median(_drawn(downloads, "new")) < 30


def test_sums_serve_where_samples_are_gone() -> None:
    """A host with sums only has their mean; sums of hosts with samples are ignored."""
    downloads = DownloadTimes(LOG, {"old": (1000, 5000.0), "h4": (1000, 9e5), "none": (0, 0.0)})

    assert downloads.mean_s(downloads.rows(["old"]))[0] == pytest.approx(5, rel=0.05)
    assert downloads.mean_s(downloads.rows(["h4"]))[0] < 3
    assert not downloads.is_known("none")


def test_redirects_are_requests_of_their_own() -> None:
    """A visit of three requests in six seconds is three requests of two seconds, two of them extra."""
    downloads = DownloadTimes([("a", 6.0, 3)] * 100)
    rows = downloads.rows(["a", "other"])

    assert np.median(_drawn(downloads, "a")) == pytest.approx(2, rel=0.05)
    assert downloads.extra_requests(rows) == pytest.approx([2, 2])


def test_without_any_log_it_is_the_papers_default() -> None:
    """Without a log, a request takes about two seconds."""
    assert np.median(_drawn(DownloadTimes(), "x")) == pytest.approx(2, rel=0.05)


_SAMPLES = st.lists(
    st.tuples(st.sampled_from("abc"), st.floats(allow_nan=True, allow_infinity=True), st.integers(-1, 5)), max_size=30
)


@given(_SAMPLES)
def test_any_log_gives_times(log: list[Sample]) -> None:
    """Every host has finite positive times, whatever the log contains (NaN, negative, infinite)."""
    downloads = DownloadTimes(log)

    for host in "abcd":
        drawn = _drawn(downloads, host, 50)
        assert np.all((drawn >= SHORTEST_S) & (drawn <= LONGEST_S))
    assert np.all(np.isfinite(downloads.extra_requests(downloads.rows(list("abcd")))))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0.01, 50), st.just(1)), max_size=20), st.randoms())
def test_the_order_of_the_log_does_not_matter(log: list[Sample], chance: object) -> None:
    """The order of hosts in the log does not matter."""
    shuffled = list(log)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]

    one, other = (
        DownloadTimes(rows).quantiles_s(np.arange(len({h for h, _, _ in log}) + 1)) for rows in (log, shuffled)
    )

    assert one == pytest.approx(other)
