"""Datamonitor's crawl-time estimate."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webstrata.errors import UsageError
from webstrata.plan.firstfit import Domain, pack

PAPER = [
    Domain(name="A", docs=6, download_s=3.2, delay_s=1),
    Domain(name="B", docs=4, download_s=2, delay_s=1),
    Domain(name="C", docs=3, download_s=2, delay_s=1),
    Domain(name="D", docs=2, download_s=0.5, delay_s=1),
]

VECTORS = [
    (100, 8.4, 7, (("A",), ("B", "D"), ("C",))),
    (7, 8.4, 7, (("A",), ("B", "D"), ("C",))),
    (5, 10.6, 4, (("A",), ("B", "C", "D"))),
    (4, 10.6, 4, (("A",), ("B", "C", "D"))),
    (2, 19.2, 2, (("A",), ("B", "C", "D"))),
]


@pytest.mark.parametrize(("limit", "crawl_s", "threads", "bins"), VECTORS)
def test_the_papers_rule(limit: int, crawl_s: float, threads: int, bins: tuple[tuple[str, ...], ...]) -> None:
    """Time, threads and bins of figure 7's domain (A) and three others at each limit."""
    found = pack(reversed(PAPER), limit)

    assert found.crawl_s == pytest.approx(crawl_s)
    assert (found.threads, found.bins) == (threads, bins)


def test_short_downloads_are_named() -> None:
    """Domains whose downloads are shorter than their delay are named as underestimated."""
    assert pack(PAPER, 100).hurried == ("D",)
    assert pack([Domain(name="x", docs=100, download_s=0.5, delay_s=10)], 8).crawl_s == pytest.approx(50)


def test_one_thread_does_everything_in_turn() -> None:
    """At a cap of one the only bin grows until all documents fit."""
    found = pack(PAPER, 1)

    assert (found.threads, found.cap, len(found.bins)) == (1, 1, 1)
    total_s = 6 * 3.2 + 4 * 2 + 3 * 2 + 2 * 0.5
    assert total_s <= found.crawl_s * 1.000001 <= total_s * 1.02


BAD_TIMES = [None, math.nan, math.inf, -1.0]


@pytest.mark.parametrize("bad", BAD_TIMES)
def test_unknown_times_take_the_papers_defaults(bad: float | None) -> None:
    """With downloads of two seconds and a delay of one, ten documents take eleven seconds with two threads."""
    found = pack([Domain(name="x", docs=10, download_s=bad, delay_s=bad)], 10)

    assert (found.crawl_s, found.threads) == (pytest.approx(11), 2)


def test_nothing_to_do_takes_no_time() -> None:
    """Without documents the result is zero seconds and no threads; a limit of zero threads is an error."""
    assert (pack([], 5).crawl_s, pack([], 5).threads) == (0, 0)
    assert pack([Domain(name="x", docs=0)], 5).bins == ()
    with pytest.raises(UsageError):
        pack(PAPER, 0)


def test_without_a_delay_only_the_limit_counts() -> None:
    """A domain without delay gets all threads."""
    found = pack([Domain(name="x", docs=80, download_s=1, delay_s=0)], 8)

    assert (found.threads, found.crawl_s) == (8, pytest.approx(10))


def test_many_domains_are_packed_soon() -> None:
    """Tens of thousands of domains, and one of a million documents, are packed within the limit."""
    many = [Domain(name=str(n), docs=1 + n % 7, download_s=0.1 + n % 5, delay_s=1 + n % 3) for n in range(30_000)]

    assert pack(many, 64).threads <= 64
    assert pack([*many[:10], Domain(name="big", docs=10**6)], 64).crawl_s == pytest.approx(10**6 + 1)


_SECONDS = st.floats(0, 100)
_DOMAINS = st.lists(
    st.builds(Domain, name=st.text(max_size=3), docs=st.integers(0, 50), download_s=_SECONDS, delay_s=_SECONDS),
    max_size=12,
)


@given(_DOMAINS, st.integers(1, 20))
def test_a_packing_keeps_its_promises(domains: list[Domain], limit: int) -> None:
    """Every domain with documents is in one bin, the limit holds, and the longest domain fits."""
    found = pack(domains, limit)

    packed = sorted(name for one in found.bins for name in one)
    assert packed == sorted(domain.name for domain in domains if domain.docs)
    assert found.threads <= limit
    assert len(found.bins) <= found.threads or not packed
    assert 0 <= found.crawl_s < math.inf
