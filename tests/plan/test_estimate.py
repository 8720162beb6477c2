"""The estimated duration of a round."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webstrata.errors import UsageError
from webstrata.plan.downloads import DownloadTimes
from webstrata.plan.estimate import CrawlTimeEstimate, estimate, typical_round
from webstrata.plan.load import HostLoad, SpacingModel

STEADY = DownloadTimes(
    [(host, seconds, 1) for host, seconds in (("a", 0.5), ("b", 4.0), ("c", 1.0)) for _ in range(100)]
)
"""Hosts that always take the same time."""
SPACING = SpacingModel()


def _median(
    loads: list[HostLoad], threads: int = 64, spacing: SpacingModel = SPACING, downloads: DownloadTimes = STEADY
) -> CrawlTimeEstimate:
    return estimate(loads, downloads, spacing, threads)


CASES = [
    ("the delay decides", [HostLoad(host="a", docs=10, asked_s=0)], 18.5),
    ("the rest after slow answers decides", [HostLoad(host="b", docs=10, asked_s=0)], 76.0),
    ("the Crawl-delay decides", [HostLoad(host="a", docs=10, asked_s=30)], 270.5),
    ("a longer one is cut", [HostLoad(host="a", docs=3, asked_s=1000)], 600.5),
    ("robots.txt comes first", [HostLoad(host="a", docs=1, asked_s=30, needs_robots=True)], 31.0),
    ("a resting host begins later", [HostLoad(host="a", docs=1, asked_s=0, free_in_s=100)], 100.5),
    ("the slowest host decides", [HostLoad(host=h, docs=10, asked_s=0) for h in "abc"], 76.0),
    ("loads of one host add up", [HostLoad(host="a", docs=5, asked_s=0), HostLoad(host="a", docs=5, asked_s=0)], 18.5),
]


@pytest.mark.parametrize(("loads", "seconds"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_known_hosts(loads: list[HostLoad], seconds: float) -> None:
    """If times hardly vary, the estimate is the sum of the gaps between requests."""
    found = _median(loads)

    assert found.median_s == pytest.approx(seconds, rel=0.03)
    assert found.low_s <= found.median_s <= found.high_s
    assert found.high_s - found.low_s < 0.3 * seconds


def test_bottlenecks_are_named() -> None:
    """The host that ends last comes first, with the share of rounds in which it ends last."""
    found = _median([HostLoad(host="a", docs=10, asked_s=0), HostLoad(host="b", docs=10, asked_s=0)])

    assert [one.host for one in found.bottlenecks] == ["b", "a"]
    assert found.bottlenecks[0].last_share == 1.0
    assert found.bottlenecks[0].gap_s == pytest.approx(8, rel=0.03)
    assert (found.requests, found.hosts, found.method) == (20, 2, "independent")


def test_threads_needed_are_enough_and_not_too_many() -> None:
    """With `threads_needed` the round takes about as long as with all threads, with half of them longer."""
    loads = [HostLoad(host=f"{n}", docs=20, asked_s=0) for n in range(30)]
    downloads = DownloadTimes([(f"{n}", 1.5, 1) for n in range(30) for _ in range(100)])
    all_of = _median(loads, 64, downloads=downloads)
    needed = all_of.threads_needed

    assert 15 < needed < 30
    assert not all_of.threads_are_short
    assert _median(loads, needed, downloads=downloads).median_s < all_of.median_s * 1.04
    short = _median(loads, needed // 2, downloads=downloads)
    assert short.threads_are_short
    assert short.median_s > all_of.median_s * 1.1


def test_hosts_at_one_address_share_it() -> None:
    """Twenty hosts at one address are requested one after the other."""
    loads = [HostLoad(host=f"{n}", docs=1, asked_s=0, address="192.0.2.1") for n in range(20)]

    assert _median(loads, spacing=SpacingModel(address_gap_s=5)).median_s > 19 * 5
    assert _median(loads, spacing=SpacingModel(address_gap_s=0)).median_s < 20


def test_an_unknown_host_makes_it_uncertain() -> None:
    """The interval of an unknown host is wide; its Crawl-delay may be that of other hosts."""
    known = _median([HostLoad(host="b", docs=10, asked_s=0)])
    unknown = _median([HostLoad(host="new", docs=10, asked_s=0)])
    asked = _median([HostLoad(host="new", docs=10), *[HostLoad(host=h, docs=1, asked_s=60) for h in "abc"]])

    assert unknown.high_s / unknown.low_s > 2 * known.high_s / known.low_s
    assert asked.median_s > 500


def test_nothing_and_nonsense() -> None:
    """Without visits the duration is 0; invalid times count as unknown; zero threads are an error."""
    assert _median([]) == CrawlTimeEstimate(threads=64)
    assert _median([HostLoad(host="a", docs=0), HostLoad(host="b", docs=-5)]).median_s == 0
    odd = _median([HostLoad(host="a", docs=2, asked_s=math.nan, free_in_s=math.nan)])
    assert odd.median_s == pytest.approx(2.5, rel=0.03)
    zero = _median(
        [HostLoad(host="a", docs=10, asked_s=0)], spacing=SpacingModel(delay_s=0, delay_factor=0, address_gap_s=0)
    )
    assert zero.median_s == pytest.approx(5, rel=0.03)
    with pytest.raises(UsageError):
        _median([], 0)
    with pytest.raises(UsageError):
        SpacingModel(delay_s=math.nan)


def test_very_large_plans_have_an_answer() -> None:
    """A host with a million documents, and tens of thousands of hosts, are estimated without events."""
    one = _median([HostLoad(host="a", docs=10**6, asked_s=0)])
    many = _median([HostLoad(host=f"{n}", docs=4, asked_s=0) for n in range(30_000)], 16)

    assert one.median_s == pytest.approx(2e6, rel=0.01)
    assert many.method == "bounds"
    assert many.median_s > 30_000 * 4 * 0.5 / 16


_LOADS = st.lists(
    st.builds(
        HostLoad,
        host=st.sampled_from("abcdef"),
        docs=st.integers(0, 30),
        asked_s=st.none() | st.floats(0, 50),
        needs_robots=st.booleans(),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda load: load.host,
)


@settings(deadline=None, max_examples=15)
@given(_LOADS, st.sampled_from("abcdef"), st.integers(1, 9))
def test_more_documents_never_take_less(loads: list[HostLoad], host: str, docs: int) -> None:
    """With a thread for every host, further documents never make the round shorter."""
    before = _median(loads)
    known = [load.asked_s for load in loads if load.host == host]
    after = _median([*loads, HostLoad(host=host, docs=docs, asked_s=known[0] if known else 0.0)])

    if known or not any(load.asked_s is None for load in loads):
        assert after.median_s >= before.median_s - 1e-9
    assert after.requests > before.requests


@settings(deadline=None, max_examples=15)
@given(_LOADS, st.integers(1, 6))
def test_more_threads_never_take_longer(loads: list[HostLoad], threads: int) -> None:
    """A further thread makes the round longer by at most half a per cent."""
    fewer, more = (_median(loads, n) for n in (threads, threads + 1))

    assert more.median_s <= fewer.median_s * 1.005 + 1e-9


def test_a_typical_round_can_be_drawn() -> None:
    """The round for the picture contains every request and ends near the median."""
    loads = [HostLoad(host="a", docs=10, asked_s=0), HostLoad(host="b", docs=5, asked_s=0)]

    hosts, bars = typical_round(loads, STEADY, SPACING, 8)

    assert (hosts, len(bars)) == (["a", "b"], 15)
    assert max(end for _, _, end in bars) == pytest.approx(_median(loads).median_s, rel=0.1)
    assert typical_round([], STEADY, SPACING, 8) == ([], [])
